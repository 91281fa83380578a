"""The trail of an exchange: every decision about a request, in order, as a sentence with facts."""

import json
from collections.abc import Mapping
from itertools import groupby
from typing import Any
from unittest.mock import Mock

import pytest

from hosting_emulator.engine.explanations import access
from hosting_emulator.engine.explanations.trail import Explanations
from tests.support.in_process import InProcess, fresh_world
from tests.support.small_limits import limit_logs

OUTSIDE = (
    "The project shop exists in acme, but is outside the access of outsider, whose token is for hobby. "
    "Users with access: member (maintainer), owner (owner), reader (reader)."
)

#: The steps that change the world. They stand in the order in which they happened.
ORDERED = ("fault", "idempotency", "commit")
WROTE = (
    "Commit 6 (apply_project_domains) changed rows in projects (1), operations (1), remembered "
    "responses (1), schedule (1), streams (2)"
)


def steps(api: InProcess, n: int | None = None) -> list[tuple[str, str]]:
    entry = api.engine.log.find(n or api.engine.log.count)
    assert entry is not None
    trail = Explanations(api.engine.log).steps(api.world, entry)
    return [(step.step, step.text) for step in trail]


def says(api: InProcess, step: str, n: int | None = None) -> list[str]:
    return [sentence for name, sentence in steps(api, n) if name == step]


def test_the_trail_of_a_read_states_principal_scope_and_role():
    api = InProcess()
    api.dns(user="reader")

    assert steps(api) == [
        ("user", "reader, with an access token for acme, signed in."),
        ("scope", "The project shop is within the user's access: it belongs to acme."),
        ("role", "The call needs the reader role. The user's role is reader."),
    ]


def test_the_trail_names_the_users_who_can_see_a_project_outside_the_scope():
    api = InProcess()
    response = api.dns(user="outsider")

    assert says(api, "scope") == [OUTSIDE]
    assert says(api, "role") == []
    assert "acme" not in response.body.decode()


def test_within_the_scope_only_the_role_of_the_caller_is_looked_up(monkeypatch: pytest.MonkeyPatch):
    look_up = Mock(wraps=vars(access)["role_of"])
    monkeypatch.setattr(access, "role_of", look_up)
    api = InProcess()
    api.dns(user="reader")
    steps(api)

    assert [call.args[1] for call in look_up.mock_calls] == [api.user_id("reader")]


def test_the_trail_says_when_no_project_has_the_id():
    api = InProcess()
    api.call("GET", f"/v1/projects/{'0' * 26}/edge-dns")

    assert says(api, "scope") == [f"There is no project with the id {'0' * 26}."]


def test_the_trail_names_the_project_of_an_operation_outside_the_scope():
    api = InProcess()
    operation = api.apply_domains().json["id"]
    api.poll(operation, user="outsider")

    (sentence,) = says(api, "scope")
    assert sentence.startswith("The operation of the project shop exists in acme, but is outside")


def test_the_trail_names_the_members_of_an_organization_outside_the_scope():
    api = InProcess()
    api.create_key(organization="hobby")

    assert says(api, "scope") == [
        "The organization hobby exists, but is outside the access of owner, whose token is for acme. "
        "Users with access: outsider (owner)."
    ]


def test_the_trail_says_when_no_organization_has_the_id():
    api = InProcess()
    path = f"/v1/organizations/{'0' * 26}/user-api-keys"
    api.call("POST", path, key="k", body={"name": "ci"})

    assert says(api, "scope") == [f"There is no organization with the id {'0' * 26}."]


def test_the_trail_says_why_a_member_of_no_project_cannot_see_it():
    api = InProcess()
    token = api.token("reader")
    api.intervene("remove_member", organization="acme", user="reader")
    api.intervene("add_member", organization="acme", user="no-organization")
    api.dns(token=token)
    api.dns(token=api.new_token("no-organization", "acme"))

    assert "of reader, who is not a member of acme. Users" in says(api, "scope", 1)[0]
    assert "of no-organization, who has no role in shop. Users" in says(api, "scope", 2)[0]


def test_the_trail_says_that_no_user_has_access():
    api = InProcess()
    api.intervene("add", organizations=[{"alias": "empty"}])
    api.create_key(organization="empty")

    assert says(api, "scope")[0].endswith("No user has access.")


@pytest.mark.parametrize(
    ("added", "ending"), [(11, ", u-10 (member)."), (13, ", u-10 (member) and 2 more.")]
)
def test_the_trail_names_at_most_twelve_users_with_access(added: int, ending: str):
    api = InProcess()
    users = [
        {"alias": f"u-{index:02}", "organizations": {"hobby": "member"}} for index in range(added)
    ]
    api.intervene("add", users=users)
    api.create_key(organization="hobby")

    assert says(api, "scope")[0].endswith(ending)


def test_the_trail_says_that_the_session_of_a_token_has_ended():
    api = InProcess()
    token = api.token()
    api.intervene("end_session", user="owner")
    api.create_key(token=token)

    assert says(api, "role")[0].endswith("The token belongs to a session that has ended.")


def test_the_trail_of_an_unauthenticated_request_states_no_role():
    api = InProcess()
    api.dns(token="x.y.z")

    names = [name for name, _ in steps(api)]
    assert names == ["assumption", "refusal"]


@pytest.mark.parametrize(
    ("interactive", "session"), [(True, "signed in"), (False, "without a session")]
)
def test_the_trail_says_whether_the_token_has_a_session(interactive, session):
    api = InProcess()
    api.create_key(token=api.token("owner", interactive=interactive))

    assert says(api, "user") == [f"owner, with an access token for acme, {session}."]
    has = "has one" if interactive else "has no one"
    assert has.removesuffix(" one") in says(api, "role")[0]


def test_the_trail_names_the_api_key_and_the_permission_of_the_call():
    api = InProcess()
    key = api.create_key("ci").json["value"]
    api.dns(token=key)

    assert says(api, "user") == ["owner, with the API key 'ci' of acme."]
    assert says(api, "role")[0].endswith("The API key carries the dns.read permission.")
    assert key not in json.dumps(steps(api))


def test_the_trail_says_whether_an_idempotency_key_is_new_replayed_or_reused():
    api = InProcess()
    api.apply_domains(key="k")
    api.apply_domains(key="k")
    api.set_flag(True, key="k")

    (new,), (replay,), (reused,) = (says(api, "idempotency", n) for n in (1, 2, 3))
    assert new == ("New: the key k was unused; this response is remembered for it forever.")
    assert replay == "Replay: the key k was first used by #1."
    assert reused == "Reused for a different request: the key k was first used by #1."


def test_a_refused_request_leaves_its_idempotency_key_unused():
    api = InProcess()
    api.set_flag(True, key="k", user="reader")
    api.initialize(99, key="k")
    api.apply_domains(key="k")
    api.apply_domains(key="k")

    assert says(api, "idempotency", 1)[0].startswith("Not checked")
    assert says(api, "idempotency", 2) == ["New: the key k was unused, and stays unused."]
    assert says(api, "idempotency", 4) == ["Replay: the key k was first used by #3."]


def test_a_replay_says_that_the_first_request_left_the_log():
    api = InProcess()
    api.apply_domains(key="k")
    for _ in range(1000):
        api.send("GET", "/nowhere")
    api.apply_domains(key="k")

    assert "a request that is no longer in the log" in says(api, "idempotency")[0]


def test_a_replay_is_not_said_to_repeat_another_call_with_the_same_key(
    monkeypatch: pytest.MonkeyPatch,
):
    limit_logs(monkeypatch, 2)
    api = InProcess(fresh_world(idempotency_scope="principal_and_call"))
    api.apply_domains(key="k")
    api.dns()
    api.set_flag(True, key="k")
    api.apply_domains(key="k")

    assert says(api, "idempotency") == [
        "Replay: the key k was first used by a request that is no longer in the log."
    ]


def test_a_replay_after_a_change_of_the_scope_of_keys_names_the_same_request():
    api = InProcess(fresh_world(idempotency_scope="principal_and_call"))
    api.apply_domains(key="k")
    api.set_flag(True, key="k")
    api.set_assumptions(idempotency_scope="principal")
    api.apply_domains(key="k")

    assert says(api, "idempotency") == ["Replay: the key k was first used by #1."]


def test_the_trail_names_the_due_events_that_ran_first():
    api = InProcess()
    operation = api.apply_domains().json["id"]
    api.engine.move_to(None, "real")
    api.machine.at_ms += 3_000
    api.poll(operation)

    (due,) = says(api, "due")
    assert due.startswith("Ran due events up to ")
    assert f"operation {operation} (apply_project_domains of shop) is running (deploying)" in due
    assert due.endswith("was queued.")


def test_the_trail_of_a_delayed_request_names_the_due_events():
    api = InProcess()
    operation = api.apply_domains().json["id"]
    api.add_fault(latency={"delay_ms": 1})
    api.engine.move_to(None, "real")
    api.machine.at_ms += 3_000

    api.poll(operation)

    (due,) = says(api, "due")
    assert f"operation {operation} (apply_project_domains of shop) is running (deploying)" in due
    assert due.endswith("was queued.")


def test_the_trail_names_the_states_that_an_operation_passed_unseen():
    api = InProcess(fresh_world(mode="real"))
    operation = api.apply_domains().json["id"]
    api.machine.at_ms += 11_000
    api.poll(operation)

    (due,) = says(api, "due")
    assert due.endswith("is succeeded, was queued, after running.")


def test_the_trail_says_how_far_the_skip_clock_moved():
    api = InProcess(fresh_world(mode="skip"))
    operation = api.apply_domains().json["id"]
    api.poll(operation)

    (due,) = says(api, "due")
    assert due.startswith("The skip clock moved to 2026-01-01T00:00:02.000Z (commit 3)")


def test_the_trail_of_a_commit_counts_changed_rows_by_table():
    api = InProcess()
    api.apply_domains()

    (commit,) = says(api, "commit")
    assert commit.startswith(
        "Commit 2 (apply_project_domains) changed rows in projects (1), operations (1), "
    )
    assert commit.endswith("(apply_project_domains of shop) is queued.")


def test_a_replay_commits_nothing():
    api = InProcess()
    api.apply_domains(key="k")
    api.apply_domains(key="k")

    assert says(api, "commit") == ["Nothing was committed: the world is unchanged."]


@pytest.mark.parametrize(
    ("fault", "sentence"),
    [
        ({"abort": {"code": "rate_limited"}}, "fault-1 (abort, before_commit) acted, hit 1."),
        ({"abort": {"code": "rate_limited"}, "skip_first": 1}, "`skip_first` is 1"),
        (
            {"abort": {"code": "rate_limited"}, "probability": 0.000001},
            "the draw with `probability` 1e-06 did not select the request",
        ),
        ({"abort": {"code": "rate_limited"}, "from": "2030-01-01T00:00:00Z"}, "`from` is 2030"),
        (
            {"rate_limit": {"limit": 5, "window": "1m"}},
            "the request limit has not been reached",
        ),
        ({"abort": {"code": "rate_limited"}, "call": "list_deployments"}, "1 armed fault does not"),
        (
            {"connection_reset": {}},
            "The client did not receive a complete and valid response, because the "
            "connection_reset fault acted.",
        ),
    ],
)
def test_the_trail_says_whether_a_fault_acted_or_why_not(fault: Mapping[str, Any], sentence: str):
    api = InProcess()
    api.add_fault(**fault)
    api.dns()

    assert sentence in " ".join(says(api, "fault"))


def test_the_trail_says_that_a_fault_may_have_come_after_the_fault_that_acted():
    api = InProcess()
    for after_commit in (False, True):
        api.add_fault(truncate={}, after_commit=after_commit)
    api.dns()

    sentence = "1 armed fault does not match the request, or came after fault-1."
    assert sentence in says(api, "fault")


def test_the_trail_explains_the_counters_every_and_times_of_a_fault():
    api = InProcess()
    api.add_fault(abort={"code": "rate_limited"}, every=2, times=1)
    for _ in range(3):
        api.dns()

    waits, acted, spent = (says(api, "fault", n)[0] for n in (1, 2, 3))
    assert "`every` is 2, and this was matching request 1" in waits
    assert "acted, hit 1" in acted
    assert "`times` allowed only 1 action" in spent


def test_a_condition_on_the_plan_is_about_the_organization_in_the_path():
    api = InProcess()
    api.intervene("set_plan", organization="acme", plan="paid")
    api.intervene("set_plan", organization="hobby", plan="free")
    api.add_fault(abort={"code": "forbidden"}, while_={"plan": "free"})

    api.create_key(user="outsider")

    assert "`while` (plan is free) does not hold: plan is paid" in says(api, "fault")[0]


def _with_a_key_that_reads(api: InProcess) -> None:
    api.intervene("set_permissions", organization="acme", permissions=["dns.read"])
    key = api.create_key().json["value"]
    assert api.apply_domains(token=key).status == 403


@pytest.mark.parametrize(
    ("ask", "name"),
    [
        (lambda api: api.apply_domains(), "accepted_status is 202, the default."),
        (lambda api: api.ticket(), "ticket_created_status is 201, the default."),
        (lambda api: api.deployments(), "default_page_size is 20, the default."),
        (lambda api: api.compute(""), "missing_environment is refused, the default."),
        (
            lambda api: api.set_flag(True, user="reader"),
            "problem_statuses: the contract gives no status for forbidden, so 403 is assumed.",
        ),
        (lambda api: api.initialize(99), "source_generation is checked, the default."),
        (
            lambda api: api.call("GET", "/v1/projects/x/edge-dns"),
            "malformed_project_id is not_found, the default.",
        ),
        (
            lambda api: api.call("DELETE", f"/v1/projects/{api.project_id()}/edge-dns"),
            "wrong_method is method_not_allowed, the default.",
        ),
        (
            _with_a_key_that_reads,
            "call_permissions cannot be set. For each call that API keys can make",
        ),
        (
            lambda api: api.call(
                "PUT",
                f"/v1/projects/{api.project_id()}/powered-by-flag",
                headers={"Content-Type": "text/plain"},
                body={"enabled": True},
                key="k",
            ),
            "wrong_media_type cannot be set. A body is refused",
        ),
    ],
)
def test_the_trail_names_the_default_assumption_that_decided_the_response(ask, name: str):
    api = InProcess()
    ask(api)

    assert any(sentence.startswith(name) for sentence in says(api, "assumption"))


def test_the_trail_of_a_refusal_names_no_assumption_that_did_not_decide_it():
    api = InProcess()
    _with_a_key_that_reads(api)

    assert not any(sentence.startswith("domains_role") for sentence in says(api, "assumption"))


def test_the_trail_names_changed_assumptions_only_where_they_matter():
    api = InProcess(fresh_world(domains_role="owner", default_page_size=5, dns_role="owner"))
    api.apply_domains()
    api.deployments()

    applied = says(api, "assumption", 1)
    listed = says(api, "assumption", 2)
    assert any(
        sentence.startswith("domains_role is owner (default maintainer).") for sentence in applied
    )
    assert any(sentence.startswith("default_page_size is 5 (default 20).") for sentence in listed)
    assert not any("dns_role" in sentence for sentence in applied + listed)


def test_the_trail_says_that_an_assumption_gave_a_success_its_request_id():
    api = InProcess()
    api.dns()
    api.set_assumptions(request_id_on_success="echoed")
    api.dns()

    named = [
        [text for text in says(api, "assumption", n) if text.startswith("request_id_on_success is")]
        for n in (1, 2)
    ]
    assert named == [
        [],
        [
            "request_id_on_success is echoed (default absent). Whether successful responses have an "
            "X-Request-Id header."
        ],
    ]


def test_the_trail_says_that_only_listed_statuses_were_possible():
    api = InProcess()
    api.set_assumptions(problem_statuses={"invalid_request": 422})
    statuses = [api.set_flag("no").status, api.initialize(generation="no").status]

    named = [
        any(
            text.startswith("listed_statuses is closed, the") for text in says(api, "assumption", n)
        )
        for n in (1, 2)
    ]
    assert list(zip(statuses, named, strict=True)) == [(400, True), (422, False)]


def test_a_request_without_its_required_key_has_no_step_about_the_key():
    api = InProcess()
    api.call("PUT", api.project_path("domains"))

    assert says(api, "idempotency") == []
    assert says(api, "refusal")[0].startswith("400 invalid_request: The Idempotency-Key header is")


def test_the_trail_says_that_the_response_of_the_call_itself_is_remembered():
    api = InProcess()
    api.add_fault(respond={"status": 503}, after_commit=True)
    api.apply_domains(key="k")

    assert says(api, "idempotency") == [
        "New: the key k was unused; the call's own response is remembered for it forever."
    ]


def test_a_status_that_a_fault_altered_has_no_step_about_a_refusal():
    api = InProcess()
    api.add_fault(alter={"status": 500, "breaking": True})
    api.dns()

    assert says(api, "refusal") == []
    assert says(api, "fault")[0] == (
        "fault-1 (alter) acted, hit 1: status changed from 200 to 500."
    )


def test_the_trail_of_an_unknown_path_names_the_nearest_path():
    api = InProcess()
    headers = [("Authorization", f"Bearer {api.token()}")]
    api.send("GET", f"/v1/projects/{api.project_id()}/deploymnts", headers)

    assert says(api, "refusal") == [
        "404 resource_not_found: The API has no such path. Did you mean "
        "GET /v1/projects/{project_id}/deployments?"
    ]


def test_the_trail_of_a_path_without_v1_names_the_nearest_path_once():
    """This hint is part of the response, too."""
    api = InProcess()
    api.send("GET", f"/projects/{api.project_id()}/edge-dns")

    [refusal] = says(api, "refusal")
    assert refusal.count("GET /v1/projects/{project_id}/edge-dns") == 1


def test_the_trail_of_a_refusal_gives_a_reason_that_the_response_omits():
    api = InProcess()
    api.set_flag(True, user="reader")

    assert says(api, "refusal") == [
        "403 forbidden: Only the project's owner may do this; you are its reader. "
        "Reason: the call needs the owner role, but the user's role is reader."
    ]


def test_the_trail_says_that_a_fault_sent_a_response_in_place_of_a_proxy():
    api = InProcess()
    api.add_fault(gateway_error={"status": 502})
    api.dns()

    assert says(api, "refusal") == [
        "502, sent by a fault in place of a proxy; it is not a problem document."
    ]


#: A second `fault` follows `commit`: the faults that act after it, and whether the response arrived.
STEPS = (
    "due",
    "user",
    "fault",
    "scope",
    "role",
    "idempotency",
    "outcome",
    "commit",
    "fault",
    "assumption",
    "variation",
    "refusal",
)


def test_the_steps_of_a_trail_are_in_the_documented_order():
    api = InProcess(fresh_world(mode="skip"))
    api.add_fault(latency={"delay_ms": 0}, times=1)
    api.add_fault(empty_response={}, after_commit=True, call="apply_project_domains", times=1)
    api.apply_domains(key="k")
    api.poll(api.apply_domains(key="k").json["id"])
    api.apply_domains(key="k", user="reader")

    for n in (1, 2, 3, 4):
        names = [name for name, _ in steps(api, n)]
        left = iter(STEPS)
        assert all(name in left for name, _ in groupby(names)), names
        assert len(names) > 3


def test_a_fault_in_the_phase_after_commit_follows_the_commit_in_the_trail():
    api = InProcess()
    api.add_fault(latency={"delay_ms": 0})
    api.add_fault(abort={"code": "rate_limited"}, after_commit=True, times=1, skip_first=1)
    api.add_fault(connection_reset={}, after_commit=True)
    api.apply_domains()

    assert [(name, says.split(":")[0]) for name, says in steps(api) if name in ORDERED] == [
        ("fault", "fault-1 (latency, before_commit) acted, hit 1."),
        ("fault", "Commit 5 (faults counted) changed rows in faults (1)."),
        ("idempotency", "New"),
        ("commit", WROTE),
        ("fault", "fault-3 (connection_reset, after_commit) acted, hit 1."),
        ("fault", "fault-2 (abort) matched but did not act"),
        ("fault", "Commit 7 (faults counted) changed rows in faults (2)."),
        (
            "fault",
            "The client did not receive a complete and valid response, because the "
            "connection_reset fault acted.",
        ),
    ]


def test_a_fault_that_replaces_the_response_stands_between_commit_and_refusal():
    api = InProcess()
    api.add_fault(abort={"code": "service_unavailable"}, after_commit=True)
    api.apply_domains()

    names = [name for name, _ in groupby(name for name, _ in steps(api))]
    assert names[-3:] == ["commit", "fault", "refusal"]


@pytest.mark.parametrize(
    ("fault", "fate"),
    [
        ({"abort": {"code": "rate_limited"}}, "replaced"),
        ({"gateway_error": {"status": 502}}, "replaced"),
        ({"timeout": {}}, "lost"),
        ({"truncate": {"bytes": 4}}, "lost"),
    ],
)
def test_a_commit_uses_its_idempotency_key_although_the_response_was_lost(
    fault: Mapping[str, Any], fate: str
):
    api = InProcess()
    api.add_fault(**fault, after_commit=True, times=1)
    api.apply_domains(key="k")
    api.apply_domains(key="k")

    api.set_flag(True, key="k")

    assert says(api, "idempotency", 1) == [
        "New: the key k was unused; the call's own response is remembered for it forever."
    ]
    first = f"the key k was first used by #1, whose response was {fate}"
    assert says(api, "idempotency", 2) == [f"Replay: {first}."]
    assert says(api, "idempotency", 3) == [f"Reused for a different request: {first}."]


def test_the_trail_says_that_a_refusal_is_remembered():
    api = InProcess(fresh_world(idempotency_remembers="all_answers"))
    api.initialize(99, key="k")
    api.initialize(99, key="k")

    assert "this response is remembered" in says(api, "idempotency", 1)[0]
    assert says(api, "idempotency", 2) == ["Replay: the key k was first used by #1."]
    first, replay = api.engine.log.after(0)
    assert replay.code == first.code == "etag_mismatch"
    assert [commit.title for commit in first.commits] == ["initialize_managed_source refused"]


def test_the_trail_says_that_a_fault_prevented_the_commit():
    api = InProcess()
    api.add_fault(truncate={"bytes": 4})
    api.apply_domains()

    counted = "apart from fault counters, the world is unchanged"
    assert says(api, "commit") == [f"Nothing was committed: {counted}."]
    assert says(api, "fault")[-1] == (
        "The client did not receive a complete and valid response, because the truncate fault acted."
    )


def test_a_trail_contains_no_secret():
    api = InProcess()
    key = api.create_key().json["value"]
    api.set_flag(True, key=key)
    api.call("GET", f"/v1/projects/{key}/edge-dns")

    text = json.dumps([steps(api, n) for n in (1, 2, 3)])
    assert key not in text
    assert "<redacted>" in text


def test_a_trail_describes_the_world_at_the_time_of_the_request():
    api = InProcess()
    api.dns(user="outsider")
    for user in ("member", "reader"):
        api.intervene("set_role", project="shop", user=user, role="none")
    api.dns(user="outsider")

    assert says(api, "scope", 1) == [OUTSIDE]
    assert says(api, "scope", 2)[0].endswith("Users with access: owner (owner).")


OTHER = {"timeout": {}, "call": "list_deployments"}


@pytest.mark.parametrize(
    ("faults", "sentence"),
    [
        ([], None),
        ([OTHER], "1 armed fault does not match the request."),
        ([OTHER, OTHER], "2 armed faults do not match the request."),
        ([{"abort": {"code": "forbidden"}}], None),
        (
            [{"abort": {"code": "forbidden"}}, OTHER],
            "1 armed fault does not match the request, or came after fault-1.",
        ),
        (
            [{"abort": {"code": "forbidden"}, "call": "list_deployments"}, {"timeout": {}}, OTHER],
            "2 armed faults do not match the request, or came after fault-2.",
        ),
        # A delay does not keep later faults from acting.
        (
            [{"latency": {"delay_ms": 1}}, {"abort": {"code": "forbidden"}}, OTHER],
            "1 armed fault does not match the request, or came after fault-2.",
        ),
        ([{"latency": {"delay_ms": 1}}, OTHER], "1 armed fault does not match the request."),
        ([{"latency": {"delay_ms": 1}}, {"latency": {"delay_ms": 1}}], None),
        ([{"abort": {"code": "forbidden"}, "skip_first": 1}], None),
    ],
)
def test_the_trail_counts_the_faults_that_were_not_considered(
    faults: list[dict[str, Any]], sentence: str | None
):
    api = InProcess()
    for fault in faults:
        api.add_fault(**fault)
    api.set_flag(False)

    counted = [text for text in says(api, "fault") if "armed fault" in text]

    assert counted == ([] if sentence is None else [sentence])


def test_the_trail_counts_no_faults_for_a_request_without_a_user():
    api = InProcess()
    api.add_fault(**OTHER)
    api.set_flag(False, user=None)

    assert says(api, "fault") == []


@pytest.mark.parametrize("received", ["first", "second"])
def test_the_trail_counts_no_faults_for_a_second_delivery(received: str):
    api = InProcess()
    api.add_fault(**OTHER)
    api.add_fault(deliver_twice={"response": received})
    api.set_flag(False)

    counts = [sum("armed fault" in text for text in says(api, "fault", n)) for n in (1, 2)]

    assert counts == [0 if received == "second" else 1, 0]
