"""Running a story: variables, tokens, keys, and reports that say what was expected and found."""

from __future__ import annotations

import pytest

from tests.support.stories import differences_of, run, run_on, scenario_error


def last(report):
    return report["steps"][-1]


def test_variables_have_saved_values_and_ids():
    report = run(
        """
        story:
          - call: initialize_managed_source
            body: {expected_source_generation: 1}
            save: {operation: id, first: response, phase: progress.phase}
          - poll: ${operation}
            expect:
              body:
                id: ${operation}
                progress: {project_id: "${project.shop}", phase: "${phase}"}
          - call: list_deployments
            query: {limit: 1}
            save: {newest: items.0.id}
          - call: create_user_api_key
            body: {name: "key of ${phase}"}
            expect: {body: {key: {name: key of queued, organization_id: "${organization.acme}"}}}
        """
    )

    assert report["passed"], last(report)


def test_a_key_of_a_step_has_the_permissions_of_the_step():
    report = run(
        """
        story:
          - api_key: owner
            body: {name: reading, permissions: [dns.read]}
            save: {secret: value}
          - call: get_dns_authorization
            token: ${secret}
            expect: {status: 200}
          - call: list_deployments
            token: ${secret}
            expect: {status: 403, code: forbidden}
        """
    )

    assert report["passed"], last(report)


def test_a_whole_variable_keeps_its_type():
    report = run(
        """
        story:
          - call: initialize_managed_source
            body: {expected_source_generation: 1}
            save: {operation: id}
          - until: ${operation}
          - poll: ${operation}
            save: {generation: result.source_generation}
          - call: initialize_managed_source
            body: {expected_source_generation: "${generation}"}
            expect: {status: 202}
        """
    )

    assert report["passed"], last(report)


SENDS_NEW_TOKEN = (
    "this step sends a new token: to send an earlier token, create it with sign_in and set token"
)


@pytest.mark.parametrize(
    "step",
    [
        "{call: list_deployments, expect: {status: 401}}",
        "{call: list_deployments, user: owner, expect: {status: [401, 403]}}",
        "{call: list_deployments, expect: {code: unauthenticated}}",
        "{request: 'GET /v1/projects/${project.shop}/edge-dns', user: owner, expect: {status: 401}}",
        "{together: [{call: list_deployments, times: 2, expect: {status: 401}}]}",
    ],
)
def test_a_step_that_signs_in_anew_says_why_its_token_has_not_expired(step: str):
    report = run(f"story: [{{advance: 61m}}, {step}]")

    assert not report["passed"]
    assert last(report)["message"].endswith(f"status 200; {SENDS_NEW_TOKEN}")


def test_a_step_that_signs_in_anew_says_why_its_session_has_not_ended():
    report = run(
        """
        story:
          - intervene: {end_session: {user: owner}}
          - call: create_user_api_key
            body: {name: laptop}
            expect: {code: interactive_login_required}
        """
    )

    assert last(report)["message"] == f"status 201; {SENDS_NEW_TOKEN}"


@pytest.mark.parametrize(
    "step",
    [
        "{call: list_deployments, token: '${kept}', expect: {status: 401}}",
        "{call: list_deployments, expect: {status: 404}}",
        "{call: list_deployments, expect: {status: 4xx}}",
        "{call: list_deployments, expect: {body: {items: []}}}",
        "{request: GET /_emulator/idp/end-session, expect: {status: 401}}",
        "{call: list_deployments, headers: {Authorization: 'Bearer ${kept}'}, expect: {status: 401}}",
    ],
)
def test_another_failure_says_nothing_about_a_new_token(step: str):
    report = run(f"story: [{{sign_in: owner, save: {{kept: access_token}}}}, {step}]")

    assert last(report)["message"] == "status 200"


def test_a_kept_token_expires():
    report = run(
        """
        story:
          - {sign_in: owner, save: {kept: access_token}}
          - advance: 61m
          - {call: list_deployments, token: "${kept}", expect: {status: 401}}
        """
    )

    assert report["passed"], last(report)


@pytest.mark.parametrize(
    ("step", "problem"),
    [
        (
            "{call: apply_project_domains, headers: {Idempotency-Key: null}}",
            (400, "invalid_request"),
        ),
        ("{call: apply_project_domains, headers: {idempotency-key: ''}}", (400, "invalid_request")),
        ("{call: list_deployments, headers: {Authorization: null}}", (401, "unauthenticated")),
        (
            "{call: initialize_managed_source, body: {expected_source_generation: 1},"
            " headers: {Content-Type: null}}",
            (400, "invalid_request"),
        ),
    ],
)
def test_a_header_that_is_null_is_not_sent(step: str, problem: tuple[int, str]):
    report = run(f"story: [{step}]")

    (response,) = last(report)["responses"]
    assert (response["status"], response["code"]) == problem


def test_concurrent_requests_can_leave_out_their_key():
    report = run(
        """
        story:
          - together:
              - call: apply_project_domains
                times: 2
                headers: {Idempotency-Key: null}
                expect: {status: 400}
        """
    )

    assert report["passed"], last(report)


@pytest.mark.parametrize(
    ("option", "advice"),
    [
        ("key: null", "headers: {Idempotency-Key: null}"),
        ("key: ''", "headers: {Idempotency-Key: null}"),
        ("user: null", "user: nobody"),
        ("user: ''", "user: nobody"),
        ("token: null", "user: nobody"),
        ("token: ''", "user: nobody"),
    ],
)
def test_an_empty_value_that_would_omit_no_header_is_refused(option: str, advice: str):
    error = scenario_error(f"story: [{{call: apply_project_domains, {option}}}]")

    assert "cannot be empty" in error.message
    assert advice in error.message


def test_a_poll_step_uses_the_operation_path_of_the_world():
    report = run(
        """
        assumptions: {operation_path: "/v1/projects/{project_id}/operations/{operation_id}"}
        story:
          - call: apply_project_domains
            project: blog
            save: {operation: id}
          - poll: ${operation}
            expect: {body: {state: queued}}
          - poll: 01ZZZZZZZZZZZZZZZZZZZZZZZZ
            expect: {status: 404}
        """
    )

    assert report["passed"], last(report)


def test_a_repeated_step_reports_how_many_requests_ended_in_each_way():
    report = run(
        """
        faults:
          - {connection_reset: {}, skip_first: 1, times: 2}
        story:
          - {call: list_deployments, times: 5, expect: {lost: [false, true]}}
        """
    )

    assert last(report)["message"] == (
        "status 200 in 3 of 5, the response was lost (connection_reset) in 2 of 5"
    )


def test_a_repeated_step_with_equal_responses_reports_one_status():
    report = run("story: [{call: list_deployments, times: 3}]")

    assert last(report)["message"] == "status 200"


def test_a_variable_can_be_used_only_after_it_was_saved():
    error = scenario_error(
        """
        story:
          - poll: ${operation}
          - call: apply_project_domains
            save: {operation: id}
        """
    )

    assert (error.line, error.message) == (
        4,
        "there is no variable ${operation}; saved so far: nothing",
    )


def test_the_id_of_a_user_is_unknown_until_the_timeline_adds_the_user():
    report = run(
        """
        timeline: [{at: 1h, intervene: {add: {users: [{alias: zoe}]}}}]
        story:
          - {call: list_deployments, save: {x: next_cursor, a: items.0.id}}
          - {request: "GET /v1/${user.zoe}"}
        """
    )

    assert last(report)["message"] == "there is no variable ${user.zoe}; saved so far: a, x"


def test_a_step_cannot_save_a_field_that_its_response_lacks():
    report = run("story: [{call: list_deployments, save: {x: items.99.id}}]")

    assert differences_of(last(report)) == [
        ("save.x", "to be possible", "the response has no items.99.id to save as x")
    ]


def test_a_difference_ends_the_story_and_gives_expected_and_actual_values():
    report = run(
        """
        story:
          - call: get_dns_authorization
          - note: Not so.
            call: get_dns_authorization
            expect:
              status: 201
              body: {status: pending, zone: "*", expires_at: /^1999/}
              absent: [scopes]
              headers: {Retry-After: "5"}
          - call: get_dns_authorization
        """
    )

    assert report["passed"] is False
    assert [step["passed"] for step in report["steps"]] == [True, False]
    step = last(report)
    assert (step["n"], step["line"], step["title"]) == (2, 5, "Not so.")
    assert step["message"] == "status 200"
    differences = {
        difference["at"]: (difference["expected"], difference["found"])
        for difference in step["differences"]
    }
    assert differences == {
        "status": (201, 200),
        "headers.Retry-After": ("5", "(absent)"),
        "body.status": ("pending", "authorized"),
        "body.expires_at": ("/^1999/", "2026-01-31T00:00:00.000Z"),
        "body.scopes": ("(absent)", ["dns.write", "zone.read"]),
    }


@pytest.mark.parametrize(
    ("step", "at", "expected", "actual"),
    [
        ("call: create_dev_access_ticket\n    user: reader", "status", "a success status", 403),
        ("call: list_deployments\n    expect: {items: 3}", "items", 3, 20),
        (
            "call: list_deployments\n    expect: {code: forbidden}",
            "status",
            "an error status",
            200,
        ),
        ("call: list_deployments\n    expect: {lost: timeout}", "lost", "timeout", None),
        ("call: list_deployments\n    expect: {delayed: true}", "delayed", True, False),
        ("call: list_deployments\n    expect: {html: true}", "html", True, False),
    ],
)
def test_each_expectation_can_fail(step, at, expected, actual):
    report = run(f"story:\n  - {step}\n")

    assert (at, expected, actual) in differences_of(last(report))


def test_an_unexpected_lost_response_is_a_difference():
    report = run("faults: [{timeout: }]\nstory: [{call: list_deployments}]")

    assert last(report)["message"] == "the response was lost (timeout)"
    assert differences_of(last(report)) == [("lost", None, "timeout")]


def test_a_lost_response_has_no_value_to_save():
    report = run("faults: [{timeout: }]\nstory: [{call: list_deployments, save: {x: id}}]")

    reason = "the response was lost (timeout), so there is no id to save as x"
    assert differences_of(last(report)) == [
        ("lost", None, "timeout"),
        ("save.x", "to be possible", reason),
    ]


def test_an_error_without_a_problem_code_does_not_meet_an_expected_code():
    report = run(
        """
        faults: [{respond: {status: 500, content: "{}"}}]
        story: [{call: list_deployments, expect: {code: forbidden}}]
        """
    )

    assert differences_of(last(report)) == [
        ("status", "an error status, with a problem code in the body", 500),
        ("code", "forbidden", "(absent)"),
    ]


def test_an_expected_status_can_be_a_saved_value():
    story = """
        story:
          - call: create_dev_access_ticket
            user: reader
            expect: {status: 403}
            save: {status: status}
          - call: create_dev_access_ticket
            user: %s
            expect: {status: "${status}"}
        """

    assert run(story % "reader")["passed"]
    assert differences_of(last(run(story % "owner"))) == [("status", 403, 201)]


def test_an_assumption_can_be_a_saved_value():
    report = run(
        """
        story:
          - {sign_in: owner, save: {lifetime_s: expires_in}}
          - {assume: {token_lifetime: "1${lifetime_s}s"}}
          - {sign_in: owner, expect: {body: {expires_in: 13600}}}
        """
    )

    assert report["passed"]


def test_a_new_api_key_is_a_response_with_status_201():
    report = run("story: [{api_key: owner, expect: {status: 201}, save: {value: value}}]")

    assert report["passed"], last(report)


JOIN = """
parts:
  - name: join
    steps:
      - intervene: {add: {users: [{alias: ada, email: "${name}@example.com"}]}}
story:
  - {use: join, with: {name: ada}}
  - {call: list_deployments, user: USER}
"""


def test_later_steps_do_not_know_a_user_that_is_added_with_variables():
    assert run(JOIN.replace("USER", "owner"))["passed"]

    error = scenario_error(JOIN.replace("USER", "ada"))

    assert error.message.startswith("there is no user 'ada'")


def test_a_form_is_sent_as_a_form():
    report = run(
        """
        faults:
          - timeout:
            call: idp_token
            header: {Content-Type: application/x-www-form-urlencoded}
        story:
          - request: POST /_emulator/idp/token
            form: {grant_type: refresh_token}
            expect: {lost: timeout}
        """
    )

    assert report["passed"], last(report)


@pytest.mark.parametrize(
    ("content", "path"),
    [
        ('{"a": "b"}', "a /^c/"),
        ('{"a": null}', "a /b/"),
        ('{"a": null}', "b"),
    ],
)
def test_a_value_that_is_missing_or_differs_from_its_pattern_is_neither_saved_nor_collected(
    content: str, path: str
):
    saved = run(
        f"""
        faults: [{{respond: {{content: '{content}'}}}}]
        story: [{{call: list_deployments, save: {{x: {path}}}}}]
        """
    )
    collected = run(
        f"""
        faults: [{{respond: {{content: '{content}'}}}}]
        story:
          - {{call: list_deployments, collect: {{x: {path}}}}}
          - check: {{x: {{item_count: 0}}}}
        """
    )

    assert last(saved)["message"] == f"the response has no {path} to save as x"
    assert last(collected)["message"].startswith("no values were collected as x")


def test_a_user_without_an_organization_has_no_api_key():
    report = run(
        """
        world:
          organizations: [{alias: acme}]
          users: [{alias: ann}]
        story: [{api_key: ann}]
        """
    )

    assert last(report)["message"] == "ann has no organization, so no API key can be created"


def test_a_story_without_a_server_requests_no_page():
    report, _ = run_on("story: [{request: GET /_emulator/idp/.well-known/openid-configuration}]")

    assert last(report)["message"] == (
        "/_emulator/idp/.well-known/openid-configuration is a page, but this story cannot request "
        "pages"
    )


def test_same_as_compares_the_bytes_of_two_responses():
    report = run(
        """
        story:
          - call: apply_project_domains
            save: {first: response}
          - call: apply_project_domains
            expect: {same_as: first}
        """
    )

    assert last(report)["differences"][0]["expected"] == "the bytes of first"


def test_a_refused_step_fails_with_its_reason():
    report = run("story: [{intervene: {release_operation: {project: shop}}}]")

    assert last(report)["passed"] is False
    assert last(report)["message"] == "project shop has no operation in progress"


#: A step that saves the id of a deployment.
SAVE_ID = "{call: list_deployments, save: {id: items.0.id}}"


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("{to: 2020-01-01T00:00:00Z}", "cannot go back"),
        ("{until: 01JGFJJZ00000000000000000A}", "there is no operation"),
        (
            "{redeem: 'https://nowhere.example/?ticket=x'}",
            "ticket=x is not a URL at the dev origin of a project",
        ),
        (
            "{intervene: {revoke_key: {key: nobodys}}}",
            "there is no API key with the id or name 'nobodys'",
        ),
        (
            f"{SAVE_ID}, {{call: list_deployments, user: '${{id}}'}}",
            "there is no user '01",
        ),
        (
            f"{SAVE_ID}, {{log: {{status: '${{id}}'}}}}",
            "status can never match: it must be a status from 200 to 599, or a class such as 4xx",
        ),
        (
            "{call: create_dev_access_ticket, save: {origin: origin}}, "
            "{request: 'GET ${origin}/', connection: a}",
            "in a story, only requests to the API have a connection: remove `connection`",
        ),
    ],
)
def test_an_impossible_step_fails_with_its_reason(step, message):
    report = run(f"story: [{step}]")

    assert message in last(report)["message"]


def test_a_stuck_operation_does_not_end_by_waiting():
    report = run(
        """
        story:
          - call: apply_project_domains
            save: {operation: id}
          - intervene: {stick_operation: {project: shop}}
          - until: ${operation}
        """
    )

    assert "does not advance with time" in last(report)["message"]


def test_a_token_of_a_signed_in_user_expires_in_a_story():
    report = run(
        """
        story:
          - sign_in: reader
            expect: {body: {token_type: Bearer, expires_in: 3600, access_token: "*"}}
            save: {token: access_token}
          - advance: 1h
          - call: list_deployments
            token: ${token}
            expect: {status: 401, code: unauthenticated}
          - call: list_deployments
            user: reader
        """
    )

    assert report["passed"], last(report)


def test_a_story_refuses_a_body_over_the_limit_as_the_server_does():
    report = run(
        """
        assumptions: {body_limit_bytes: 20}
        story:
          - call: create_user_api_key
            body: {name: far too long a name}
            expect: {status: 413, code: payload_too_large}
        """
    )

    assert report["passed"], last(report)


def test_each_call_has_its_own_key_unless_its_step_names_one():
    report = run(
        """
        story:
          - call: create_user_api_key
            times: 3
            body: {name: same}
            expect: {status: 201}
          - call: create_user_api_key
            key: mine
            body: {name: same}
            expect: {status: 201}
          - call: create_user_api_key
            key: mine
            body: {name: same}
            expect: {status: 200, body: {replayed: true}}
        """
    )

    assert report["passed"], last(report)


def test_the_digest_of_a_story_changes_with_its_responses():
    story = "story: [{call: list_deployments, query: {limit: %d}}]"

    assert run(story % 1)["digest"] == run(story % 1)["digest"]
    assert run(story % 1)["digest"] != run(story % 2)["digest"]


@pytest.mark.parametrize(
    ("clock", "state"),
    [("real", "succeeded"), ("scaled, rate: 0.5", "running"), ("frozen", "queued")],
)
def test_a_story_moves_time_by_each_wait(clock: str, state: str):
    report = run(
        f"""
        clock: {{mode: {clock}}}
        story:
          - call: apply_project_domains
            save: {{operation: id}}
          - fault: {{latency: {{delay_ms: 4000}}}}
          - fault: {{latency: {{delay_ms: 1000}}, after_commit: true}}
          - call: list_deployments
            times: 2
            expect: {{delayed: true}}
          - clear_faults: true
          - poll: ${{operation}}
            expect: {{body: {{state: {state}}}}}
        """
    )

    assert report["passed"], last(report)
    assert (report["steps"][3]["message"], report["steps"][3]["waited_ms"]) == (
        "status 200, 5s late",
        10_000,
    )


def test_a_slow_response_moves_time_by_its_transfer_time():
    report = run(
        """
        clock: {mode: real, at: 2026-01-01T00:00:00Z}
        story:
          - fault: {slow_response: {bytes_per_second: 10}, times: 1}
          - call: get_dns_authorization
            save: {slow: response}
          - call: apply_project_domains
            save: {at: created_at}
            expect: {body: {created_at: "/T00:00:1[0-9]/"}}
        """
    )

    assert report["passed"], last(report)
    assert report["steps"][1]["waited_ms"] >= 10_000


def test_a_slow_upload_moves_time_by_its_transfer_time():
    report = run(
        """
        clock: {mode: real, at: 2026-01-01T00:00:00Z}
        story:
          - fault: {slow_upload: {bytes_per_second: 10}, times: 1}
          - call: create_user_api_key
            body: {name: a-name-of-many-letters}
            expect: {status: 201, delayed: true}
          - call: apply_project_domains
            expect: {body: {created_at: "/T00:00:0[3-9]/"}}
        """
    )

    assert report["passed"], last(report)
    assert report["steps"][1]["message"] == "status 201, 3.3s late"


@pytest.mark.parametrize(("mode", "late"), [("frozen", ""), ("skip", ""), ("real", ", 30s late")])
def test_a_pause_of_a_response_moves_the_clock_of_a_story(mode: str, late: str):
    report = run(
        f"""
        clock: {{mode: {mode}, at: 2026-01-01T00:00:00Z}}
        story:
          - fault: {{stalled_response: {{world_pause: 30s}}, times: 1}}
          - call: get_dns_authorization
            expect: {{status: 200, delayed: true}}
          - call: apply_project_domains
            expect: {{body: {{created_at: "/T00:00:30/"}}}}
        """
    )

    assert report["passed"], last(report)
    assert report["steps"][1]["message"] == f"status 200{late}"


def test_a_pause_in_world_time_follows_the_rate_of_a_scaled_clock():
    report = run(
        """
        clock: {mode: scaled, rate: 60, at: 2026-01-01T00:00:00Z}
        story:
          - fault: {stalled_response: {world_pause: 5m}, times: 1}
          - call: get_dns_authorization
        """
    )

    assert report["steps"][1]["message"] == "status 200, 5s late"


def test_a_reset_upload_changes_nothing_in_a_story():
    report = run(
        """
        story:
          - fault: {reset_in_upload: {}, times: 1}
          - call: get_dns_authorization
          - call: set_project_powered_by_flag
            key: hide
            body: {enabled: false}
            expect: {lost: reset_in_upload}
          - call: set_project_powered_by_flag
            key: hide
            body: {enabled: false}
            expect: {status: 200}
          - log: {key: hide, replayed: true, count: 0}
        """
    )

    assert report["passed"], last(report)


def test_a_running_clock_stands_still_between_the_steps_of_a_story():
    report = run(
        """
        clock: {mode: scaled, rate: 1000000, at: 2026-01-01T00:00:00Z}
        story:
          - call: apply_project_domains
            expect: {body: {created_at: "2026-01-01T00:00:00.000Z"}}
          - advance: 1s
          - call: apply_project_domains
            expect: {body: {created_at: "2026-01-01T00:00:01.000Z"}}
        """
    )

    assert report["passed"], last(report)


ONLY_PROJECT = """
world:
  organizations: [{alias: studio}]
  users: [{alias: ann, organizations: {studio: owner}}]
  projects: [{alias: site, organization: studio}]
"""


def test_a_story_need_not_name_what_a_world_has_only_once():
    report = run(f"""{ONLY_PROJECT}
story:
  - call: apply_project_domains
    save: {{operation: id}}
  - intervene: {{stick_operation: {{}}}}
  - {{advance: 10m}}
  - poll: ${{operation}}
    expect: {{body: {{state: {{not: succeeded}}}}}}
  - intervene: {{set_plan: {{plan: free}}}}
  - call: create_user_api_key
    body: {{name: ci}}
  - intervene: {{move_dns: {{to: pending}}}}
  - call: get_dns_authorization
    expect: {{body: {{status: pending}}}}
""")

    assert report["passed"], report


def test_a_timeline_need_not_name_the_only_project():
    report = run(f"""{ONLY_PROJECT}
timeline: [{{at: 5s, intervene: {{move_dns: {{to: pending}}}}}}]
story:
  - advance: 10s
  - call: get_dns_authorization
    expect: {{body: {{status: pending}}}}
""")

    assert report["passed"], report


@pytest.mark.parametrize(
    ("step", "message"),
    [
        (
            "intervene: {move_dns: {to: pending}}",
            "name the project: the world has 6 (shop, blog, docs, labs, garden, notes)",
        ),
        (
            "intervene: {set_plan: {plan: free}}",
            "name the organization: the world has 2 (acme, hobby)",
        ),
    ],
)
def test_a_story_must_name_one_of_several_projects_or_organizations(step: str, message: str):
    error = scenario_error(f"story: [{{{step}}}]")

    assert error.message == message
