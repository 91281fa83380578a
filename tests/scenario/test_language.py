"""The words of a story beside plain requests: comparisons, requests together, the log, parts."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.scenario import log_step
from hosting_emulator.scenario.yaml_text import read_yaml
from tests.support.stories import (
    FIRST_LINE,
    differences_of,
    run,
    run_on,
    scenario_error,
    schema_check,
    text_of,
)


def passes(rest: str) -> None:
    """Assert that a story passes, and that the schema knows all that it says."""
    report = run(rest)
    assert report["passed"], report["steps"][-1]
    schema_check().validate(read_yaml(text_of(rest), "small.yaml").data)


def failure(rest: str) -> dict[str, Any]:
    report = run(rest)
    assert not report["passed"]
    step: dict[str, Any] = report["steps"][-1]
    return step


# --- what an answer may be -----------------------------------------------------------------------


def test_a_status_and_a_code_have_alternatives():
    passes(
        """
        story:
          - call: list_deployments
            expect: {status: [200, 202]}
          - call: list_deployments
            user: outsider
            expect: {status: [403, 404], code: [forbidden, resource_not_found]}
        """
    )


def test_a_status_that_is_none_of_several_is_a_difference():
    step = failure("story: [{call: list_deployments, expect: {status: [201, 202]}}]")

    assert differences_of(step) == [("status", [201, 202], 200)]


def test_expectations_compare_numbers_timestamps_and_lists():
    passes(
        """
        story:
          - call: create_dev_access_ticket
            save: {expires: expires_at}
            expect:
              body:
                expires_at: {above: "${now}", at_most: "${now+10m}"}
          - check: {expires: "${now+10m}"}
          - call: list_deployments
            query: {limit: 3}
            expect:
              items: {at_least: 1, below: 4}
              body: {items: {has: {status: ready}}}
          - call: get_dns_authorization
            expect: {body: {status: {one_of: [pending, "/^auth/"]}, zone: {not: labs.example}}}
        """
    )


def test_an_optional_expectation_may_be_absent_and_must_match_if_present():
    passes(
        """
        story:
          - call: apply_project_domains
            expect: {body: {error: {optional: {retryable: false}}, state: {optional: queued}}}
        """
    )
    step = failure(
        "story: [{call: apply_project_domains, expect: {body: {state: {optional: failed}}}}]"
    )
    assert [difference["at"] for difference in step["differences"]] == ["body.state"]


def test_advance_moves_time_by_a_duration_from_a_response():
    passes(
        """
        faults: [{rate_limit: {limit: 1, window: 60s}}]
        story:
          - call: list_deployments
          - call: list_deployments
            expect: {status: {at_least: 400}}
            save: {wait: headers.Retry-After}
          - advance: ${wait}s
          - call: list_deployments
        """
    )


def test_equal_timestamps_match_in_any_notation():
    passes(
        """
        clock: {at: 2026-01-01T00:00:00Z}
        story:
          - call: apply_project_domains
            expect: {body: {created_at: "2026-01-01T01:00:00+01:00"}}
        """
    )


def test_saved_values_of_bodies_and_headers_can_be_compared():
    passes(
        """
        faults: [{abort: {code: rate_limited, retry_after_seconds: 7}, times: 1}]
        story:
          - call: list_deployments
            expect: {status: 429}
            save: {wait: headers.Retry-After, about: type /errors.(.+)/}
          - check: {wait: "7", about: rate-limited}
          - call: list_deployments
            save: {first: items.0.id, second: items.1.id}
          - check: {first: {not: "${second}"}}
        """
    )


def test_a_missing_header_cannot_be_saved():
    step = failure("story: [{call: list_deployments, save: {x: headers.Retry-After}}]")

    assert step["message"] == "the response has no headers.Retry-After to save as x"


def test_a_comparison_of_unordered_values_is_refused():
    error = scenario_error(
        "story: [{call: get_dns_authorization, expect: {body: {zone: {above: 3}}}}]"
    )

    assert "this is a string, which has no order" in error.message


def test_a_misspelled_comparison_names_the_word():
    error = scenario_error(
        "story: [{call: list_deployments, expect: {body: {items: {'0': {id: {at_leest: 1}}}}}}]"
    )

    assert "did you mean at_least?" in error.message


# --- requests ------------------------------------------------------------------------------------


def test_steps_can_send_missing_wrong_or_literal_credentials():
    passes(
        """
        story:
          - call: list_deployments
            user: nobody
            expect: {status: 401, code: unauthenticated}
          - call: list_deployments
            token: no-token
            expect: {status: 401, code: unauthenticated}
          - request: GET /v1/projects/${project.shop}/deployments?limit=1
            expect: {status: 200, items: 1}
          - request: GET /v1/projects
            expect: {status: 404}
          - request: PUT /v1/projects/${project.shop}/domains
            expect: {status: 400}
          - request: PUT /v1/projects/${project.shop}/domains
            key: by-hand
            expect: {status: 202}
          - call: create_user_api_key
            text: '{"name": '
            expect: {status: 400, code: invalid_request}
        """
    )


def test_simultaneous_requests_can_share_a_key():
    passes(
        """
        assumptions: {idempotency_in_flight: refuse}
        story:
          - together:
              - {call: apply_project_domains, key: one, expect: {status: 202}, save: {operation: id}}
              - {call: apply_project_domains, key: one, expect: {status: 503}}
          - call: apply_project_domains
            key: one
            expect: {status: 202, body: {id: "${operation}"}}
          - log: {call: apply_project_domains, count: 3}
        """
    )


def test_a_later_simultaneous_request_with_the_same_key_is_replayed():
    passes(
        """
        story:
          - together:
              - {call: apply_project_domains, key: one, save: {first: id}}
              - {call: apply_project_domains, key: one, save: {second: id}, times: 2}
          - check: {first: "${second}"}
          - log: {replayed: true, count: 2}
        """
    )


def test_a_delayed_simultaneous_request_is_handled_last():
    passes(
        """
        faults: [{latency: {delay_ms: 500}, principal: owner, times: 1}]
        story:
          - together:
              - {call: apply_project_domains, expect: {delayed: true, body: {blocking_operation_id: "*"}}}
              - {call: apply_project_domains, user: member, expect: {absent: [blocking_operation_id]}}
        """
    )


def test_a_difference_names_its_simultaneous_request():
    step = failure(
        "story: [{together: [{call: list_deployments}, {call: list_deployments, "
        "expect: {status: 500}}]}]"
    )

    assert step["title"] == "list_deployments and list_deployments"
    assert step["differences"][0]["at"] == "together[1].status"


def test_a_request_is_retried_with_its_key_until_its_expectation_holds():
    passes(
        """
        faults:
          - {connection_reset: , call: apply_project_domains, after_commit: true, times: 1}
          - {abort: {code: rate_limited, retry_after_seconds: 7}, call: get_dns_authorization, times: 2}
        story:
          - call: apply_project_domains
            tries: 2
            save: {operation: id, begun: created_at}
          - poll: ${operation}
            tries: 100
            expect: {body: {state: succeeded}}
          - check: {begun: {at_least: "${now-30s}"}}
          - advance: 1m
          - call: get_dns_authorization
            tries: 3
          - check: {begun: {above: "${now-2m}"}}
          - log: {call: apply_project_domains, replayed: true, count: 1}
          - log: {call: get_operation, count: {above: 3}}
        """
    )


def test_the_pause_between_tries_comes_from_the_response_or_the_step():
    report, engine = run_on(
        """
        clock: {at: 2026-01-01T00:00:00Z}
        faults: [{abort: {code: rate_limited, retry_after_seconds: 7}, times: 4}]
        story:
          - {call: list_deployments, tries: 3, expect: {status: 429, code: forbidden}}
        """
    )
    assert report["steps"][-1]["differences"][0]["at"] == "code"
    assert engine.now_ms() % 60_000 == 14_000

    _, engine = run_on(
        """
        clock: {at: 2026-01-01T00:00:00Z}
        faults: [{abort: {code: rate_limited, retry_after_seconds: 7}, times: 4}]
        story:
          - {call: list_deployments, tries: 5, pause: 500ms}
        """
    )
    assert engine.now_ms() % 60_000 == 2_000


def test_the_pause_between_tries_is_a_second_if_neither_says_otherwise():
    _, engine = run_on(
        """
        clock: {at: 2026-01-01T00:00:00Z}
        faults: [{abort: {code: service_unavailable}, times: 3}]
        story:
          - {call: list_deployments, tries: 4}
        """
    )

    assert engine.now_ms() % 60_000 == 3_000


# --- pages ---------------------------------------------------------------------------------------

SIGN_IN = """
        parts:
          - name: authorize
            steps:
              - request: GET /_emulator/idp/authorize
                query:
                  client_id: app
                  redirect_uri: http://localhost:3000/callback
                  response_type: code
                  code_challenge: E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM
                  code_challenge_method: S256
                  login_hint: ${user}
                  scope: offline_access
                expect: {status: 303, headers: {Location: /^http:..localhost:3000.callback/}}
                save: {code: "headers.Location /code=([^&]+)/"}
          - name: redeem-code
            steps:
              - request: POST /_emulator/idp/token
                form:
                  grant_type: authorization_code
                  client_id: app
                  redirect_uri: http://localhost:3000/callback
                  code: ${code}
                  code_verifier: dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
                save: {token: access_token, refresh: refresh_token}
          - name: refresh
            steps:
              - request: POST /_emulator/idp/token
                form: {grant_type: refresh_token, client_id: app, refresh_token: "${refresh}"}
                save: {token: access_token, refresh: refresh_token}
"""


def test_a_story_signs_a_user_in_on_the_pages_of_the_identity_provider():
    passes(
        SIGN_IN
        + """
        story:
          - {use: authorize, with: {user: member}}
          - use: redeem-code
          - call: list_deployments
            token: ${token}
          - request: GET /_emulator/idp/userinfo
            token: ${token}
            expect: {status: 200, body: {sub: "${user.member}"}}
          - check: {token: "*"}
          - use: refresh
          - advance: 59m
          - {call: list_deployments, token: "${token}"}
          - request: POST /_emulator/idp/token
            form: {grant_type: refresh_token, client_id: app, refresh_token: x}
            expect: {status: 400, body: {error: invalid_grant}}
          - request: GET /_emulator/idp/end-session
            expect: {status: 200, html: true}
          - request: GET /_emulator/idp/userinfo
            expect: {status: 401}
        """
    )


def test_a_story_reads_the_documents_of_the_identity_provider():
    passes(
        """
        story:
          - request: GET /_emulator/idp/.well-known/openid-configuration
            save: {keys: "jwks_uri /^http:..[^/]+(.+)/"}
          - request: GET ${keys}
            expect: {body: {keys: {has: {kty: OKP}}}}
        """
    )


def test_faults_of_the_identity_provider_act_in_a_story_without_waiting():
    passes(
        SIGN_IN
        + """
        faults:
          - {connection_reset: , call: idp_token, after_commit: true, times: 1}
          - {latency: {delay_ms: 90000}, call: idp_userinfo}
        story:
          - {use: authorize, with: {user: owner}}
          - request: POST /_emulator/idp/token
            form:
              grant_type: authorization_code
              client_id: app
              redirect_uri: http://localhost:3000/callback
              code: ${code}
              code_verifier: dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk
            expect: {lost: connection_reset}
          - {use: authorize, with: {user: owner}}
          - use: redeem-code
          - use: refresh
          - request: GET /_emulator/idp/userinfo
            token: ${token}
            expect: {status: 200, delayed: true}
        """
    )


def test_a_dev_page_opens_with_the_session_of_a_redeemed_ticket():
    passes(
        """
        story:
          - call: create_dev_access_ticket
            save: {url: redeem_url, origin: origin}
          - request: GET ${origin}/
            expect: {status: 401, html: true}
          - redeem: ${url}
            save: {cookie: "headers.Set-Cookie /^([^;]+)/"}
          - request: GET ${origin}/
            headers: {Cookie: "${cookie}"}
            expect: {status: 200, html: true}
        """
    )


@pytest.mark.parametrize(
    ("request_line", "message"),
    [
        ("GET /_emulator/idp/nothing", "the identity provider has no GET"),
        ("GET /_emulator/worlds", "the identity provider has no GET"),
        ("GET https://example.com/", "is not a page of a dev origin"),
    ],
)
def test_a_step_cannot_open_a_page_outside_its_world(request_line, message):
    assert message in failure(f"story: [{{request: '{request_line}'}}]")["message"]


# --- the log -------------------------------------------------------------------------------------


def test_a_log_step_filters_by_call_user_status_fault_and_key():
    passes(
        """
        faults: [{abort: {code: service_unavailable}, call: list_deployments, skip_first: 1, times: 1}]
        story:
          - fault: {timeout: , project: blog}
            save: {outage: id}
          - call: list_deployments
          - call: list_deployments
            user: reader
            expect: {status: 503}
          - call: list_deployments
            project: blog
            expect: {lost: timeout}
          - {call: apply_project_domains, key: mine}
          - log: {call: list_deployments, count: 3}
          - log: {call: list_deployments, status: [200, 503], project: shop, count: 2}
          - log: {user: reader, code: service_unavailable, fault: abort, count: 1}
          - log: {fault: "${outage}", lost: timeout, count: 1}
          - log: {fault: null, count: 2}
          - log: {key: mine, method: PUT, path: /domains$/}
          - log: {status: {at_least: 500}, count: {below: 2}}
        """
    )


def test_a_log_step_filters_by_the_ids_of_a_user_and_a_project():
    passes(
        """
        world:
          organizations: [{alias: studio}]
          users:
            - alias: ann
              id: 01HZX3V9Q4M8E2K7T5B6C1D0AF
              organizations: {studio: owner}
          projects:
            - {alias: site, organization: studio, id: 01HZX3V9Q4M8E2K7T5B6C1D0AG}
        story:
          - call: list_deployments
          - log: {user: 01HZX3V9Q4M8E2K7T5B6C1D0AF, count: 1}
          - log: {project: 01HZX3V9Q4M8E2K7T5B6C1D0AG, count: 1}
        """
    )


@pytest.mark.parametrize(
    "path",
    ["/v1/projects/*/deploymnts", "/v2/*", "[/v1/projects/*/domains, /v1/projcts/*]"],
)
def test_a_log_step_with_a_path_that_no_request_has_is_refused(path: str):
    error = scenario_error(
        f"story: [{{call: list_deployments}}, {{log: {{path: {path}, count: 0}}}}]"
    )

    assert "write a path such as /v1/projects/*/domains" in error.message
    assert error.line == FIRST_LINE


@pytest.mark.parametrize(
    "steps",
    [
        "{call: list_deployments}, {log: {path: '/v1/projects/*/domains', count: 0}}",
        "{request: GET /v1/projcts, expect: {status: 404}}, {log: {path: /v1/projcts}}",
        "{call: list_deployments}, {log: {path: /v1/projcts, call: none, count: 0}}",
        "{request: 'GET /v1/projects/${project.shop}/deploymnts?limit=1', expect: {status: 404}},"
        " {log: {path: /v1/projects/*/deploymnts}}",
        "{assume: {operation_path: '/v1/projects/{project_id}/operations/{operation_id}'}},"
        " {log: {path: /v1/projects/*/operations/*, count: 0}}",
    ],
)
def test_a_log_step_can_count_paths_of_calls_and_of_requests_in_the_story(steps: str):
    passes(f"story: [{steps}]")


@pytest.mark.parametrize("count", ["{at_least: 0}", "{above: -1}", "'*'", "{not: {below: 0}}"])
def test_a_count_that_every_count_meets_is_refused(count: str):
    error = scenario_error(
        f"story: [{{call: list_deployments}}, {{log: {{status: 200, count: {count}}}}}]"
    )

    assert error.line == FIRST_LINE
    assert error.column > len("story: [{call: list_deployments}, {log: {")


def test_the_refusal_of_a_count_that_every_count_meets_says_what_to_write():
    error = scenario_error("story: [{call: list_deployments}, {log: {count: {at_least: 0}}}]")

    assert error.message == (
        "every count matches, so the step proves nothing: write {at_least: 1}, or 0 for no request"
    )


@pytest.mark.parametrize("count", ["1", "{at_least: 1}", "{at_most: 1}", "[0, 1]", "{not: 0}"])
def test_a_count_that_some_counts_miss_is_compared(count: str):
    passes(f"story: [{{call: list_deployments}}, {{log: {{status: 200, count: {count}}}}}]")


def test_a_log_step_without_a_matching_request_is_a_difference():
    step = failure("story: [{call: list_deployments}, {log: {replayed: true}}]")

    assert step["message"] == "0 of 1 requests match"
    assert differences_of(step) == [("log.count", {"at_least": 1}, 0)]


def test_a_log_step_fails_if_the_log_may_have_dropped_requests(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(log_step, "CAPACITY", 2)
    story = "story: [{call: list_deployments, times: %d}, {log: {replayed: true, count: 0}}]"

    passes(story % 1)
    assert failure(story % 2)["message"] == (
        "requests may be missing, because the log stores only the last 2"
    )


def test_a_saved_boolean_inside_a_text_is_sent_as_in_json():
    passes(
        """
        story:
          - call: set_project_powered_by_flag
            body: {enabled: true}
            key: first
            save: {shown: enabled}
          - {call: set_project_powered_by_flag, body: {enabled: true}, key: "is-${shown}"}
          - log: {key: is-true, count: 1}
        """
    )


def test_values_in_the_title_of_a_step_are_written_as_in_a_scenario():
    steps = run(
        """
        story:
          - call: list_deployments
          - clear_faults: true
          - log: {call: list_deployments, replayed: false, count: {at_least: 2}}
        """
    )["steps"]

    assert [step["title"] for step in steps[1:]] == [
        "clear_faults true",
        'log call list_deployments, replayed false, count {"at_least": 2}',
    ]


# --- one fault, one outcome ----------------------------------------------------------------------


def test_a_fault_and_an_outcome_are_removed_by_their_ids():
    passes(
        """
        story:
          - fault: {abort: {code: service_unavailable}, call: list_deployments, optional: true}
            save: {outage: id}
          - fault: {gateway_error: {status: 502}, call: get_dns_authorization}
          - outcome: {fail: {phase: deploying}, optional: true}
            save: {bad: id}
          - remove_fault: ${outage}
          - remove_outcome: ${bad}
          - call: list_deployments
          - call: get_dns_authorization
            expect: {status: 502}
          - outcome: {stick: {}, optional: true}
          - clear_outcomes: true
          - call: apply_project_domains
            save: {operation: id}
          - until: ${operation}
          - poll: ${operation}
            expect: {body: {state: succeeded}}
        """
    )


def test_a_fault_that_is_not_armed_cannot_be_removed():
    step = failure("story: [{fault: {timeout: }}, {remove_fault: fault-9}]")

    assert step["message"] == "there is no fault 'fault-9'; the armed faults are fault-1"


# --- parts ---------------------------------------------------------------------------------------


PARTS = """
parts:
  - name: apply
    steps:
      - call: apply_project_domains
        user: ${user}
        save: {operation: id}
      - until: ${operation}
  - name: twice
    steps:
      - {use: apply, with: {user: owner}}
      - {use: apply, with: {user: member}}
"""


def test_a_part_takes_values_and_reports_its_own_lines():
    report = run(f"{PARTS}story:\n  - use: twice\n  - log: {{user: member, count: 1}}\n")

    assert report["passed"], report["steps"][-1]
    assert [step["title"] for step in report["steps"]][::2] == [
        "apply_project_domains as ${user}",
        "apply_project_domains as ${user}",
        "log user member, count 1",
    ]
    assert [step["line"] for step in report["steps"]] == [6, 9, 6, 9, 16]


def test_the_values_of_a_part_do_not_change_variables_of_the_story():
    passes(
        f"{PARTS}story:\n"
        "  - {call: list_deployments, save: {user: items.0.status}}\n"
        "  - use: twice\n"
        "  - check: {user: ready}\n"
    )


# --- what is wrong is said with its place --------------------------------------------------------


@pytest.mark.parametrize(
    ("rest", "place", "message"),
    [
        ("story: [{use: aply}]", "aply", "there is no part 'aply'; there are none"),
        (f"{PARTS}story: [{{use: aply, with: {{user: x}}}}]", "aply", "did you mean apply?"),
        (f"{PARTS}story: [{{use: apply}}]", "${user}", "there is no variable ${user}"),
        (
            "parts: [{name: a, steps: [{use: a}]}]\nstory: []",
            "a}",
            "there is no earlier part 'a'",
        ),
        (
            "parts: [{name: a, steps: [{note: x}]}, {name: a, steps: [{note: x}]}]",
            "a,",
            "is already defined above",
        ),
        (
            "parts: [{name: a, steps: [{note: x}]}]\nstory: [{note: x}]",
            "a,",
            "no step uses the part 'a'",
        ),
        (
            "parts:\n"
            "  - {name: a, steps: [{note: x}]}\n"
            "  - {name: b, steps: [{use: a, times: 10000}, {use: a, times: 10000}]}\n"
            "  - {name: c, steps: [{use: b, times: 10000}, {use: b}]}\n"
            "story: [{use: c}]",
            "steps",
            "more than 20000 steps",
        ),
        (
            f"{PARTS}story: [{{use: twice}}, {{check: {{user: owner}}}}]",
            "owner",
            "there is no saved value 'user'",
        ),
        ("story: [{log: {cal: x}}]", "cal", "did you mean call?"),
        ("story: [{log: {call: list_deployment}}]", "list_", "did you mean list_deployments?"),
        ("story: [{log: {code: forbiden}}]", "forbiden", "did you mean forbidden?"),
        ("story: [{log: {user: redaer}}]", "redaer", "did you mean reader?"),
        ("story: [{log: {count: {at_leest: 1, below: 3}}}]", "at_leest", "did you mean at_least?"),
        (
            "story: [{call: list_deployments, expect: {status: {at_leest: 400}}}]",
            "400",
            "there is no comparison 'at_leest'; did you mean at_least?",
        ),
        ("story: [{log: {status: {abov: 1}}}]", "1", "did you mean above?"),
        (
            "story: [{log: {count: {at_least: 0}}}]",
            "{at_least",
            "every count matches, so the step proves nothing: write {at_least: 1}, or 0 for no",
        ),
        (
            "story: [{call: list_deployments, expect: {headers: {Allow: {nott: x}}}}]",
            "x",
            "did you mean not?",
        ),
        ("story: [{check: {x: 1}}]", "1", "there is no saved value 'x'"),
        ("story: [{call: list_deployments, expect: {status: [999]}}]", "999", "status"),
        ("story: [{call: list_deployments, expect: {code: [forbiden]}}]", "forbiden", "forbidden"),
        ("story: [{poll: x, tries: 2, pause: long}]", "long", "'long' is not a duration"),
        ("story: [{advance: 1s, tries: 2}]", "tries", "tries is an option of call or poll"),
        ("story: [{request: /v1/projects}]", "/v1", "a request needs a method and a path"),
        ("story: [{to: '${now+10x}'}]", "'${now", "'10x' is not a duration"),
        ("story: [{call: list_deployments, save: {now: id}}]", "now", "the world's time"),
        (
            "story: [{call: list_deployments, save: {x: id /(/}}]",
            "id",
            "not a valid regular expression",
        ),
        ("story: [{together: []}]", "", "length >= 1"),
        (
            "story: [{together: [{call: list_deployments}, {advance: 1s}]}]",
            "{advance",
            "a request inside together must have exactly one of call, poll, redeem, request, but has advance",
        ),
        (
            "story: [{together: [{call: list_deployments}, {call: list_deploys}]}]",
            "list_deploys",
            "did you mean list_deployments?",
        ),
    ],
)
def test_an_error_names_its_path_and_the_nearest_word(rest, place, message):
    error = scenario_error(rest)
    line = text_of(rest).splitlines()[error.line - 1]

    assert message in error.message
    assert place in line[error.column - 1 :]
