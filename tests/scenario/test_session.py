"""What was done in a world becomes a scenario: the whole of it, or a span, as the world was there."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.recording.recorder import record_session
from hosting_emulator.scenario.recording.refusals import NotRecordable
from hosting_emulator.scenario.recording.sessions import session_of
from hosting_emulator.scenario.story import check_text
from hosting_emulator_lab.scenario_shrinking import ShrinkRefused, shrink_scenario
from hosting_emulator_scenarios import FOLDER
from tests.support.in_process import Machine, fresh_world
from tests.support.sampling import rotating
from tests.support.small_limits import limit_logs
from tests.support.stories import run_text, scenario_world
from tests.support.varied_worlds import new_varied_world
from tests.support.world_changes import ControlledWorld, export_and_import


def recorded(api: ControlledWorld, **span: str) -> dict[str, Any]:
    """Record a world, run its story, and return the file as data."""
    recording = record_session(session_of(api.engine), **span)
    assert check_text(recording.text, "recorded.yaml")["passed"]
    assert not recording.left_out
    document: dict[str, Any] = read_scenario(recording.text, "recorded.yaml").source.data
    return document


def steps(api: ControlledWorld, **span: str) -> list[str]:
    """Return what each step of a recorded story does."""
    return [next(iter(step)) for step in recorded(api, **span)["story"]]


@pytest.mark.parametrize(
    ("sent", "note"),
    [
        (3, []),
        (4, ["request 1: no longer in the request log"]),
        (6, ["requests 1 to 3: no longer in the request log"]),
    ],
)
def test_a_recording_says_which_requests_the_log_has_dropped(
    monkeypatch: pytest.MonkeyPatch, sent: int, note: list[str]
):
    limit_logs(monkeypatch, 3)
    api = ControlledWorld(fresh_world())
    for _ in range(sent):
        api.dns()
    assert record_session(session_of(api.engine)).left_out == note
    first = str(api.engine.log.after(0)[0].n)
    assert record_session(session_of(api.engine), first=first).left_out == []


@pytest.mark.parametrize("depth", [20, 100, 300, 900, 5_000])
def test_a_body_of_any_depth_is_recorded_or_refused(depth: int):
    api = ControlledWorld()
    path = f"/v1/projects/{api.project_id()}/powered-by-flag"
    headers = [("Authorization", f"Bearer {api.token()}"), ("Idempotency-Key", "k")]
    body = b"[" * depth + b"]" * depth

    refused = api.send("PUT", path, [*headers, ("Content-Type", "application/json")], body)

    assert refused.status == 400
    with suppress(NotRecordable):
        assert steps(api) == ["call"]


@pytest.mark.parametrize("key", ["schlüssel", "鍵", "é" * 128])
def test_a_key_that_is_not_ascii_is_recorded_unchanged(key: str):
    api = ControlledWorld()
    assert api.apply_domains(key=key).status == 202

    assert [step["key"] for step in recorded(api)["story"]] == [key]


UNSENDABLE = (
    "it needs a method that consists of capital letters, and a path, such as GET /v1/projects"
)


@pytest.mark.parametrize(
    ("method", "path", "reason"),
    [
        (
            "GET",
            "/v1/projects/${projectId}/deployments",
            "(GET list_deployments): it contains ${projectId}, which a story would replace with the "
            "value of a variable",
        ),
        ("OPTIONS", "*", f"(OPTIONS no call): a step cannot send OPTIONS *: {UNSENDABLE}"),
        ("M-SEARCH", "/v1", f"(M-SEARCH no call): a step cannot send M-SEARCH /v1: {UNSENDABLE}"),
        (
            "GET",
            "/v1/x?\u2003",
            "(GET no call): a request needs a method and a path, such as GET /v1/projects",
        ),
        (
            "GET",
            "/_emulator/x",
            "(GET no call): a step would send GET /_emulator/x to the emulator's own pages",
        ),
        ("GET", "/v1/x\udcff", "(GET no call): its address is not valid UTF-8"),
    ],
    ids=["variable", "no path", "method", "space", "page", "encoding"],
)
def test_a_recording_leaves_out_a_request_that_no_step_can_send(
    method: str, path: str, reason: str
):
    api = ControlledWorld()
    api.send(method, path, [("Authorization", f"Bearer {api.token()}")])
    api.dns()

    recording = record_session(session_of(api.engine))

    assert recording.left_out == [f"request 1 {reason}"]
    report, _ = run_text(recording.text, "recorded.yaml")
    assert report["passed"]
    assert [step["title"] for step in report["steps"]] == [
        f"Left out: request 1 {reason}",
        "get_dns_authorization",
    ]


def test_a_manual_change_that_no_step_can_express_is_named_in_the_refusal():
    api = ControlledWorld()
    api.dns()
    api.add_fault(timeout={}, path="/v1/projects/${projectId}/*")

    with pytest.raises(
        NotRecordable, match=r"^commit \d+ \(.*\): there is no variable \$\{projectId"
    ):
        record_session(session_of(api.engine))


def test_a_change_whose_long_body_is_not_stored_completely_is_not_recordable():
    api = ControlledWorld()
    path = f"/v1/organizations/{api.organization_id()}/user-api-keys"
    body = b'{"name":"a"' + b" " * 20_000 + b"}"
    created = api.call(
        "POST", path, key="k", raw=body, headers={"Content-Type": "application/json"}
    )
    assert created.status == 201

    with pytest.raises(NotRecordable) as refused:
        record_session(session_of(api.engine))

    reason = "the request body was not stored completely"
    assert str(refused.value) == f"request 1 (POST create_user_api_key): {reason}"


@pytest.mark.parametrize("name", ["Idempotency-Key", "X-Request-Id"])
def test_a_repeated_header_is_the_reason_why_a_request_is_left_out(name: str):
    api = ControlledWorld()
    headers = {"Authorization": f"Bearer {api.token()}", "Content-Type": "application/json"}
    headers |= {"Idempotency-Key": "a", "X-Request-Id": "a"}
    repeated = [*headers.items(), (name, "b")]
    refused = api.send("PUT", api.project_path("powered-by-flag"), repeated, b'{"enabled":true}')
    assert refused.status == 400

    left_out = record_session(session_of(api.engine)).left_out

    reason = f"it has 2 {name} headers, but a step can send only one"
    assert left_out == [f"request 1 (PUT set_project_powered_by_flag): {reason}"]


def test_a_body_without_a_content_type_is_recorded():
    api = ControlledWorld()
    refused = api.call("PUT", api.project_path("powered-by-flag"), key="k", raw=b'{"enabled":true}')
    assert refused.status == 400

    (step,) = recorded(api)["story"]

    assert step["body"] == {"enabled": True}
    assert step["headers"] == {"Content-Type": None}


def test_a_body_with_a_name_that_occurs_twice_is_recorded_unchanged():
    api = ControlledWorld()
    body = b'{"enabled":true,"enabled":false}'
    headers = {"Content-Type": "application/json"}
    path = api.project_path("powered-by-flag")
    assert api.call("PUT", path, key="k", raw=body, headers=headers).status == 400

    (step,) = recorded(api)["story"]

    assert step["text"] == body.decode()


def test_requests_and_manual_changes_are_recorded_in_their_order():
    api = ControlledWorld()
    api.add_fault(timeout={}, call="list_deployments", times=1)
    api.add_outcome(fail={"phase": "deploying"})
    api.deployments()
    operation = api.initialize().json["id"]
    api.intervene("stick_operation", operation=operation)
    api.remove_fault("fault-1")
    api.advance("90s")
    api.set_assumptions(accepted_status=200)
    api.poll(operation)

    story = recorded(api)["story"]

    assert [next(iter(step)) for step in story] == [
        "fault",
        "outcome",
        "call",
        "call",
        "intervene",
        "remove_fault",
        "advance",
        "assume",
        "poll",
    ]
    assert story[0]["save"] == {"fault_1": "id"}
    assert story[5] == {"remove_fault": "${fault_1}"}
    assert story[2]["expect"] == {"lost": "timeout"}
    assert story[3]["save"] == {"operation_1": "id"}
    assert story[4]["intervene"] == {"stick_operation": {"operation": "${operation_1}"}}
    assert story[6] == {"advance": "1m30s"}
    assert story[8]["expect"]["body"]["state"] == "queued"


def test_a_running_clock_is_recorded_as_a_frozen_clock_that_moves():
    machine = Machine()
    api = ControlledWorld(fresh_world(mode="real", machine=machine), machine=machine)
    api.apply_domains()
    machine.at_ms += 7
    api.dns()
    machine.at_ms += 11_500
    api.dns()

    document = recorded(api)

    assert document["clock"] == {"mode": "frozen", "at": "2026-03-01T12:00:00Z"}
    assert [step.get("advance") for step in document["story"]] == [None, None, "11s", None]


def test_times_that_decide_responses_are_recorded_to_the_millisecond():
    machine = Machine()
    api = ControlledWorld(fresh_world(mode="real", machine=machine), machine=machine)
    machine.at_ms += 500
    operation = api.apply_domains().json["id"]
    machine.at_ms += 1_999
    assert api.poll(operation).json["state"] == "queued"
    machine.at_ms += 1
    assert api.poll(operation).json["state"] == "running"

    assert [step.get("advance") for step in recorded(api)["story"]] == [
        "500ms",
        None,
        "1.999s",
        None,
        "1ms",
        None,
    ]


def test_a_recording_names_users_and_credentials_without_secrets():
    api = ControlledWorld()
    creation = api.create_key("ci").json
    api.deployments(token=creation["value"])
    value_by_hand = api.create_key_by_hand()
    api.deployments(token=value_by_hand)
    api.deployments(user="member")
    api.create_key("other", token=api.token(interactive=False))
    api.send("GET", f"/v1/projects/{api.project_id()}/deployments")
    api.deployments(token="x.y.z")

    story = recorded(api)["story"]

    text = record_session(session_of(api.engine)).text
    assert [step.get("token", step.get("user")) for step in story] == [
        None,
        "${value_1}",
        None,
        "${key_value_1}",
        "member",
        None,
        "nobody",
        "refused",
    ]
    assert story[2]["api_key"] == "owner"
    assert story[5]["interactive"] is False
    assert creation["value"] not in text
    assert value_by_hand not in text
    assert "eyJ" not in text


def test_a_recording_expects_a_replay_to_show_the_first_operation():
    api = ControlledWorld()
    api.apply_domains(key="k")
    api.apply_domains(key="k")

    first, second = recorded(api)["story"]

    assert second["expect"]["body"]["id"] == f"${{{next(iter(first['save']))}}}"


def test_a_recording_has_the_world_faults_and_timeline_of_its_scenario():
    text = """
        name: outage
        description: What it is about.
        assumptions: {accepted_status: 201}
        world:
          organizations: [{alias: studio, id: 01HZX3V9Q4M8E2K7T5B6C1D0AE}]
          users:
            - alias: owner
              organizations: {studio: owner}
              id: 01HZX3V9Q4M8E2K7T5B6C1D0AF
              email: o@studio.example
          projects:
            - alias: shop
              organization: studio
              id: 01HZX3V9Q4M8E2K7T5B6C1D0AG
              handle: studio-shop
        faults: [{abort: {code: service_unavailable}, times: 1}]
        timeline: [{at: 10s, intervene: {stick_operation: {project: shop}}}]
    """
    scenario = read_scenario(text, "outage.yaml")
    api = ControlledWorld(build_world(scenario, "default", 0))
    for _ in range(2):
        api.apply_domains(token=api.user_token("owner"))
    api.advance("1h")
    api.dns(token=api.user_token("owner"))

    document = recorded(api)

    assert document["assumptions"] == {"accepted_status": 201}
    assert document["world"] == scenario.source.data["world"]
    assert document["faults"] == scenario.source.data["faults"]
    assert document["timeline"] == scenario.source.data["timeline"]
    assert [step["expect"]["status"] for step in document["story"] if "call" in step] == [
        503,
        201,
        200,
    ]


STORY_OF_CHANGES = """
name: changes
description: Every kind of manual change.
story:
  - {fault: {timeout: , call: list_deployments}, save: {fault: id}}
  - {outcome: {fail: }, save: {outcome: id}}
  - {remove_fault: "${fault}"}
  - {remove_outcome: "${outcome}"}
  - {fault: {timeout: , call: list_deployments, optional: true}}
  - {outcome: {fail: , optional: true}}
  - {clear_faults: true}
  - {clear_outcomes: true}
  - {assume: {accepted_status: 200}}
  - {intervene: {set_plan: {organization: acme, plan: free}}}
  - {api_key: owner}
  - {advance: 1m}
  - {call: get_dns_authorization}
"""


def test_the_recording_of_a_story_has_its_manual_changes():
    _, engine = run_text(STORY_OF_CHANGES, "changes.yaml")

    recording = record_session(session_of(engine))

    story = read_scenario(recording.text, "recorded.yaml").source.data["story"]
    assert [next(iter(step)) for step in story] == [
        "fault",
        "outcome",
        "remove_fault",
        "remove_outcome",
        "fault",
        "outcome",
        "clear_faults",
        "clear_outcomes",
        "assume",
        "intervene",
        "api_key",
        "advance",
        "call",
    ]


def test_a_recording_without_the_past_keeps_the_commit_phase_of_a_fault():
    past = ControlledWorld()
    past.add_fault(timeout={}, call="apply_project_domains", after_commit=True)
    past.add_fault(abort={"code": "forbidden"}, call="list_deployments", optional=True)
    past.add_outcome(fail={})
    api = ControlledWorld(export_and_import(past.world))
    api.apply_domains(key="k")
    api.deployments()

    document = recorded(api)

    assert document["faults"] == [
        {"timeout": {}, "call": "apply_project_domains", "after_commit": True},
        {"abort": {"code": "forbidden"}, "call": "list_deployments", "optional": True},
    ]
    assert document["outcomes"] == [{"fail": {}, "times": 1, "optional": True}]


def test_a_recording_of_a_part_keeps_the_outcomes_and_faults_that_are_left():
    api = ControlledWorld()
    api.add_outcome(fail={"code": "dns_lost"})
    api.add_fault(abort={"code": "forbidden"}, call="list_deployments")
    api.dns()
    operation = api.apply_domains().json["id"]
    api.advance("1h")
    api.poll(operation)

    document = recorded(api, first="2")

    assert document["outcomes"] == [{"fail": {"code": "dns_lost"}, "times": 1}]
    fault = {"abort": {"code": "forbidden"}, "call": "list_deployments"}
    assert document["faults"] == [{**fault, "optional": True}]


def test_a_recording_keeps_an_assumption_that_was_set_to_its_default():
    """Otherwise, a variation of the recorded world could change it."""
    text = """
        name: ours
        description: An assumption that has its default value.
        assumptions: {accepted_status: 202}
    """
    api = ControlledWorld(build_world(read_scenario(text, "ours.yaml"), "default", 0))
    api.dns(token=api.user_token("owner"))

    assert recorded(api)["assumptions"] == {"accepted_status": 202}


#: What each of these is about lies in requests that were in progress at the same time.
AT_ONCE = {"impatient-client", "two-processes-one-key", "token-expires-inside-a-poll"}
#: A key of this one has a chosen value, of which no recording knows more than the digest.
CHOSEN = {"no-organization"}
#: The clock of this one must run, and that of a recording is frozen.
RUNNING = {"admission"}
LIBRARY = [
    path for path in sorted(FOLDER.glob("*.yaml")) if path.stem not in AT_ONCE | CHOSEN | RUNNING
]


@pytest.mark.parametrize("path", rotating(LIBRARY, 10), ids=lambda path: path.stem)
def test_a_recording_of_a_library_scenario_passes(path: Path):
    # given a world in which a story was told
    report, engine = run_text(path.read_text("utf-8"), path.name)
    assert report["passed"]

    # when that is recorded
    past = session_of(engine)
    recording = record_session(past)

    # then it passes, and has every request that was made
    assert run_text(recording.text, "recorded.yaml")[0]["passed"]
    assert not recording.left_out
    assert recording.steps >= len(past.events)


def test_a_recorded_span_after_a_skew_begins_before_it():
    api = ControlledWorld()
    api.intervene("skew_clock", tokens="5m")
    api.advance("1m")
    path = f"/v1/projects/{api.project_id()}/edge-dns"
    early = api.send("GET", path, [("Authorization", f"Bearer {api.token()}")])
    assert early.status == 401

    story = recorded(api, first="1")["story"]

    assert {"intervene": {"skew_clock": {"tokens": "5m"}}} in story
    assert story[-1]["expect"] == {"status": 401, "code": "unauthenticated"}


def test_a_request_with_a_token_from_before_a_skew_is_recorded():
    api = ControlledWorld()
    path = f"/v1/projects/{api.project_id()}/edge-dns"
    older = [("Authorization", f"Bearer {api.token()}")]
    api.intervene("skew_clock", tokens="5m")
    assert api.send("GET", path, older).status == 200
    api.intervene("skew_clock", tokens="-2h")
    assert api.send("GET", path, older).status == 200

    story = recorded(api)["story"]

    assert [next(iter(step)) for step in story if "sign_in" in step] == ["sign_in", "sign_in"]
    statuses = [step["expect"]["status"] for step in story if "call" in step]
    assert statuses == [200, 200]
    # A span begins with a note, which is no step that could have created the token.
    last = recorded(api, first="2")["story"][-1]
    assert (last["token"], last["expect"]["status"]) == ("${token_2}", 200)


def test_a_token_from_before_a_user_joined_an_organization_is_recorded():
    api = ControlledWorld()
    token = api.new_token("no-organization", None)
    api.dns()
    api.intervene("add_member", organization="acme", user="no-organization")
    assert api.deployments(token=token).json["code"] == "organization_required"

    story = recorded(api)["story"]

    assert [next(iter(step)) for step in story] == ["call", "sign_in", "intervene", "call"]
    assert story[3]["token"] == "${token_1}"


def test_a_token_for_another_organization_is_recorded():
    api = ControlledWorld()
    api.intervene("add_member", organization="hobby", user="owner")
    token = api.new_token("owner", "hobby")
    api.create_key("ci", token=token)
    api.deployments(token=token)

    story = recorded(api)["story"]

    sign_in = {"sign_in": "owner", "organization": "hobby", "save": {"token_1": "access_token"}}
    assert sign_in in story
    calls = {step["call"]: step for step in story if "call" in step}
    assert calls["create_user_api_key"]["token"] == "${token_1}"
    assert calls["list_deployments"]["organization"] == "hobby"


def test_a_body_that_is_not_text_is_recorded_as_another_invalid_body():
    api = ControlledWorld()
    json_type = {"Content-Type": "application/json"}
    path = f"/v1/projects/{api.project_id()}/powered-by-flag"
    assert api.call("PUT", path, key="k", raw=b"\xff", headers=json_type).status == 400

    [step] = recorded(api)["story"]

    assert step["text"] == "(not text)"


def test_a_request_to_a_project_that_does_not_exist_is_recorded_by_its_path():
    api = ControlledWorld()
    path = "/v1/projects/01ZZZZZZZZZZZZZZZZZZZZZZZZ/deployments"
    api.call("GET", path)

    [step] = recorded(api)["story"]

    assert step["request"] == f"GET {path}"


def test_a_forged_ticket_is_recorded_by_its_url():
    api = ControlledWorld()
    url = api.ticket().json["redeem_url"]
    host = urlsplit(url).hostname
    assert api.send("GET", f"{urlsplit(url).path}?stage=dev&ticket=x", host=host).status == 404

    step = recorded(api)["story"][-1]

    assert step["redeem"] == f"{url.partition('?')[0]}?stage=dev&ticket=x"


def test_a_request_with_a_body_that_was_stored_only_partly_is_left_out():
    api = ControlledWorld()
    path = f"/v1/projects/{api.project_id()}/powered-by-flag"
    body = b"{" + b" " * 100_000
    assert api.call("PUT", path, key="k", raw=body).status >= 400
    api.dns()

    recording = record_session(session_of(api.engine))

    reason = "the request body was not stored completely"
    assert recording.left_out == [f"request 1 (PUT set_project_powered_by_flag): {reason}"]
    assert check_text(recording.text, "recorded.yaml")["passed"]


def test_a_request_that_no_story_repeats_is_left_out_with_the_reason():
    api = ControlledWorld()
    api.deployments(token=api.new_token("owner", None))
    api.dns()

    recording = record_session(session_of(api.engine))

    assert recording.left_out == [
        "request 1 (GET list_deployments): when the story ran, status was 200 instead of 403; code "
        "was '(absent)' instead of 'organization_required'"
    ]
    assert check_text(recording.text, "recorded.yaml")["passed"]


def test_a_request_with_the_text_of_a_variable_is_left_out():
    api = ControlledWorld()
    api.deployments("?cursor=%24%7Bnow%7D")
    api.dns(headers={"X-Mine": "${now}"})
    api.dns()

    recording = record_session(session_of(api.engine))

    reason = "it contains ${now}, which a story would replace with the value of a variable"
    assert recording.left_out == [
        f"request 1 (GET list_deployments): {reason}",
        f"request 2 (GET get_dns_authorization): {reason}",
    ]
    assert run_text(recording.text, "recorded.yaml")[0]["passed"]


@pytest.mark.parametrize(("name", "key"), [("${now}", "k"), ("ci", "${now}")])
def test_a_change_with_the_text_of_a_variable_is_not_recordable(name: str, key: str):
    api = ControlledWorld()
    assert api.create_key(name, key=key).status == 201

    with pytest.raises(NotRecordable, match=r"^request 1 .*: it contains \$\{now\}, which a st"):
        record_session(session_of(api.engine))


@pytest.mark.parametrize("seed", ["0", "1", "2", "3"])
def test_a_recording_of_a_varied_world_varies_by_the_same_seed(seed: str):
    api = ControlledWorld(new_varied_world(seed, mode="frozen", default_page_size=7))
    api.dns()
    api.apply_domains()
    api.deployments()
    api.compute()

    document = recorded(api)

    assert document["vary"] == {"seed": seed}
    assert document["assumptions"] == {"default_page_size": 7}
    assert len(document["story"]) == 4


def test_a_recording_of_a_world_that_varies_at_some_points_names_them():
    api = ControlledWorld(new_varied_world("5", "id-order", mode="frozen"))
    api.dns()

    assert recorded(api)["vary"] == {"seed": "5", "only": ["id-order"]}


# --- Spans ---------------------------------------------------------------------------------------


def test_a_recorded_span_expects_nothing_of_earlier_requests():
    api = ControlledWorld()
    operation = api.apply_domains().json["id"]
    api.deployments(user="outsider")
    api.poll(operation)
    api.dns()

    story = recorded(api, first="3", last="3")["story"]

    assert [next(iter(step)) for step in story] == ["call", "call", "note", "poll"]
    any_arrives = {"status": {"at_least": 200}}
    assert [step.get("expect") for step in story[:2]] == [any_arrives, any_arrives]
    assert story[3]["expect"]["status"] == 200


#: The whole story of the span that the next test records.
STORY_OF_A_SPAN = """\
story:
  - fault:
      abort: {code: forbidden}
      header: {Authorization: Bearer other, x-canary: on}
      optional: true
  - api_key: owner
    organization: acme
    body: {name: first}
    save: {key_value_1: value}
  - api_key: owner
    organization: acme
    body: {name: second}
  - call: create_user_api_key
    key: key-1
    body: {name: ci}
    expect:
      status: {at_least: 200}
  - call: apply_project_domains
    key: key-2
    expect:
      status: {at_least: 200}
    save: {operation_1: id}
  - {note: 'Left out: request 3 (GET get_dns_authorization): it contains ${now}, which a story would replace
      with the value of a variable'}
  - {note: The recording starts here.}
  - call: list_deployments
    query: {limit: '2'}
    token: ${key_value_1}
    headers: {X-Canary: off}
    expect: {status: 200, items: 2}
    save: {cursor_1: next_cursor}
  - call: list_deployments
    query: {limit: '2'}
    expect:
      status: 200
      items: 2
      body: {next_cursor: '${cursor_1}'}
  - call: list_deployments
    query: {limit: '2', cursor: '${cursor_1}'}
    expect: {status: 200, items: 2}
  - poll: ${operation_1}
    expect:
      status: 200
      body:
        state: queued
        progress: {phase: queued, next_poll_after_seconds: 2}
  - call: list_deployments
    user: nobody
    expect: {status: 401, code: unauthenticated}
  - call: apply_project_domains
    headers: {Idempotency-Key: ''}
    expect: {status: 400, code: invalid_request}
"""


def test_a_span_is_recorded_without_credentials_or_earlier_expectations():
    """Its story repeats earlier requests without expectations, and never contains a credential."""
    api = ControlledWorld()
    headers = {"Authorization": "Bearer other", "x-canary": "on"}
    api.add_fault(abort={"code": "forbidden"}, header=headers)
    first, _ = [api.create_key_by_hand(name=name) for name in ("first", "second")]
    api.create_key()
    operation = api.apply_domains().json["id"]
    api.dns(headers={"X-Mine": "${now}"})
    api.deployments("?limit=2", token=first, headers={"X-Canary": "off"})
    cursor = api.deployments("?limit=2").json["next_cursor"]
    api.deployments(f"?limit=2&cursor={cursor}")
    api.poll(operation)
    api.send("GET", f"/v1/projects/{api.project_id()}/deployments")
    api.apply_domains(key="")

    text = record_session(session_of(api.engine), first="4").text

    assert text[text.index("story:") :] == STORY_OF_A_SPAN


def test_a_span_of_commits_begins_with_the_manual_change_of_its_first_commit():
    api = ControlledWorld()
    api.intervene("set_credits", organization="acme", credits=3)
    api.intervene("set_plan", organization="acme", plan="free")
    number = api.world.commit
    api.apply_domains()

    document = recorded(api, first=f"commit:{number}")

    # nothing but that, for a scenario can say what the world was
    assert [next(iter(step)) for step in document["story"]] == ["intervene", "call"]
    assert document["world"]["organizations"][0]["credits"] == 3


@pytest.mark.parametrize(
    ("span", "says"),
    [
        ({"first": "9"}, "there is nothing at 9: the session has requests 1 to 2"),
        ({"last": "commit:0"}, "there is nothing at commit:0: the session has requests 1 to 2"),
        ({"last": "soon"}, "last must be the number of a request (12) or of a commit (commit:40)"),
    ],
)
def test_a_span_that_does_not_exist_is_refused(span: dict[str, str], says: str):
    api = ControlledWorld()
    api.dns()
    api.dns()

    with pytest.raises(NotRecordable) as refused:
        record_session(session_of(api.engine), **span)

    assert str(refused.value) == says


def test_a_recording_leaves_out_changes_that_were_rewound():
    api = ControlledWorld()
    api.apply_domains()
    before = api.world
    api.add_fault(timeout={}, call="apply_project_domains")
    api.apply_domains()
    api.compute()
    api.rewind(before)
    api.dns()

    assert [step["call"] for step in recorded(api)["story"]] == [
        "apply_project_domains",
        "get_dns_authorization",
    ]


def test_a_recording_leaves_out_a_read_after_the_state_that_was_restored():
    machine = Machine()
    api = ControlledWorld(fresh_world(mode="real", machine=machine), machine=machine)
    api.dns()
    saved = api.world
    saved_ms = machine.at_ms
    machine.at_ms += 1_000
    api.compute()

    api.rewind(saved, saved_ms)

    assert [step["call"] for step in recorded(api)["story"]] == ["get_dns_authorization"]


def test_a_recording_without_the_past_describes_the_world_at_its_start():
    # given a world with a past, taken up by another process
    past = ControlledWorld()
    past.set_flag(False)
    past.intervene("move_dns", project="blog", to="authorized")
    past.add_fault(abort={"code": "rate_limited"}, skip_first=2)
    past.dns()
    api = ControlledWorld(export_and_import(past.world))

    # when something is done there
    api.dns(project="blog")
    api.dns(project="blog")

    # then the file says what the world was, and what is left of its fault
    document = recorded(api)
    assert document["faults"] == [{"abort": {"code": "rate_limited"}, "skip_first": 1}]
    assert [step["expect"]["status"] for step in document["story"]] == [200, 429]


def test_an_intervention_whose_outcome_never_acted_is_recorded_as_optional():
    api = ControlledWorld()
    api.intervene("leave_key_creation_uncertain")
    api.dns()

    step = recorded(api)["story"][0]

    assert step["intervene"] == {"leave_key_creation_uncertain": {"optional": True}}


#: A timeline whose first entry has acted after 10 seconds.
TIMELINE = """
timeline:
  - {at: 10s, intervene: {move_dns: {project: shop, to: revoked}}}
  - {at: 1h, intervene: {set_plan: {organization: acme, plan: free}}}
  - {after_calls: 2, call: list_deployments, fault: {abort: {code: rate_limited}, times: 1}}
  - {after_calls: 9, outcome: {fail: }, optional: true}
"""


def test_a_recording_without_the_past_has_the_rest_of_the_timeline():
    past = ControlledWorld(scenario_world(TIMELINE))
    past.advance("10s")
    past.deployments()
    api = ControlledWorld(export_and_import(past.world))
    statuses = [api.deployments().status for _ in range(2)]

    document = recorded(api)

    assert statuses == [200, 429]
    assert document["clock"]["at"] == "2026-01-01T00:00:10Z"
    assert document["timeline"] == [
        {
            "at": "2026-01-01T01:00:00Z",
            "intervene": {"set_plan": {"organization": "acme", "plan": "free"}},
            "optional": True,
        },
        {
            "after_calls": 1,
            "call": "list_deployments",
            "fault": {"abort": {"code": "rate_limited"}, "times": 1},
        },
        {"after_calls": 8, "optional": True, "outcome": {"fail": None, "optional": True}},
    ]


def test_a_world_that_was_rewound_to_the_middle_of_a_request_is_not_recordable():
    api = ControlledWorld()
    api.add_fault(deliver_twice={"response": "first"})
    api.apply_domains()
    request = api.engine.log.after(0)[0]
    assert len(request.commits) == 2
    api.rewind_to_commit(request.commits[0].number)

    with pytest.raises(NotRecordable, match=r"rewound to the middle of request 1$"):
        session_of(api.engine)


def test_a_fault_armed_before_the_recording_is_removed_by_its_id_in_the_file():
    past = ControlledWorld()
    for times in (1, 2):
        document: dict[str, Any] = {"abort": {"code": "rate_limited"}, "times": times}
        past.add_fault(**document, call="list_deployments")
    past.deployments()
    api = ControlledWorld(export_and_import(past.world))
    api.remove_fault("fault-1")
    api.remove_fault("fault-2")
    api.deployments()

    document = recorded(api)

    # the first had acted already: it is not there
    assert [fault["times"] for fault in document["faults"]] == [2]
    assert [step.get("remove_fault") for step in document["story"]] == ["fault-1", None]


def test_a_recording_adds_users_and_projects_with_their_ids():
    api = ControlledWorld()
    added: dict[str, Any] = {
        "users": [{"alias": "ada", "id": "01HZX3V9Q4M8E2K7T5B6C1D0AF"}],
        "projects": [{"alias": "web", "id": "01HZX3V9Q4M8E2K7T5B6C1D0AG", "organization": "acme"}],
    }
    api.intervene("add", **added)
    api.deployments(project="web", user="ada")

    story = recorded(api)["story"]

    assert story[0] == {"intervene": {"add": added}}
    assert (story[1]["user"], story[1]["project"]) == ("ada", "web")


def test_a_change_that_no_story_can_express_is_not_recordable():
    api = ControlledWorld()
    api.dns()
    api.vary("5")
    api.dns()

    with pytest.raises(
        NotRecordable, match=r"commit \d+ \(variation set\): a story cannot express"
    ):
        record_session(session_of(api.engine))


def test_a_recording_reports_an_api_key_created_before_it():
    past = ControlledWorld()
    value = past.create_key("ci").json["value"]
    api = ControlledWorld(export_and_import(past.world, with_seed=True))
    api.deployments(token=value)

    with pytest.raises(NotRecordable, match="request 1 uses an API key that was created before"):
        record_session(session_of(api.engine))


# --- Shrinking -----------------------------------------------------------------------------------

STORY = """
name: much
description: Much happens.
assumptions: {accepted_status: 200, default_page_size: 7}
faults:
  - {abort: {code: rate_limited}, call: list_deployments, times: 1}
story:
  - call: list_deployments
    expect: {status: 429}
  - call: get_dns_authorization
  - call: set_project_powered_by_flag
    key: mine
    body: {enabled: false}
    save: {shown: enabled}
  - {advance: 10m}
  - call: set_project_powered_by_flag
    key: mine
    body: {enabled: true}
    expect: {status: 409, code: idempotency_key_reused}
  - call: list_deployments
    expect: {status: 200, items: 7}
"""


@pytest.mark.parametrize("keeps", ["n=5", "status=409", "code=idempotency_key_reused"])
def test_a_shrunk_scenario_has_only_the_parts_that_its_step_needs(keeps: str):
    shrunk = shrink_scenario(read_scenario(STORY, "much.yaml"), keeps)

    document = read_scenario(shrunk.text, "much.yaml").source.data
    assert (shrunk.steps, shrunk.original_steps, shrunk.finished) == (2, 6, True)
    assert [step["body"]["enabled"] for step in document["story"]] == [False, True]
    assert document["story"][1]["expect"] == {"status": 409, "code": "idempotency_key_reused"}
    assert "faults" not in document
    assert "assumptions" not in document
    assert "save" not in document["story"][0]
    assert check_text(shrunk.text, "much.yaml")["passed"]


PAIRS = """
name: held
description: An operation is stuck, something else happens, and it continues.
story:
  - call: apply_project_domains
    save: {operation: id, p: state}
  - intervene: {stick_operation: {project: shop}}
  - {advance: 10s}
  - intervene: {release_operation: {project: shop}}
  - until: ${operation}
  - poll: ${operation}
    expect: {body: {state: succeeded}}
  - {advance: 10s}
"""


def test_shrinking_removes_two_steps_that_only_go_together():
    shrunk = shrink_scenario(read_scenario(PAIRS, "held.yaml"), "n=6")

    story = read_scenario(shrunk.text, "held.yaml").source.data["story"]
    assert [next(iter(step)) for step in story] == ["call", "until", "poll"]
    assert story[0]["save"] == {"operation": "id"}


def test_a_shrunk_scenario_describes_what_is_left():
    scenario = read_scenario(PAIRS, "held.yaml")
    text = shrink_scenario(scenario, "n=6").text
    shrunk = read_scenario(text, "held.yaml")
    again = read_scenario(shrink_scenario(shrunk, "n=3").text, "held.yaml")

    assert shrunk.part.description == (
        "Step 6 of the longer story held (poll ${operation}), with all that it needs."
    )
    assert again.part.description == shrunk.part.description


WITH_PARTS = """
name: parts
description: A part uses another; one step uses neither.
parts:
  - name: look
    steps: [{call: list_deployments}]
  - name: look-twice
    steps: [{use: look}, {use: look}]
story:
  - call: get_dns_authorization
    user: nobody
    expect: {status: 401}
  - use: look-twice
  - call: create_user_api_key
    organization: acme
    key: k
    body: {name: ci}
    expect: {status: 201}
"""


@pytest.mark.parametrize(("keeps", "call"), [("n=1", "get_dns"), ("status=201", "create_user")])
def test_shrinking_removes_parts_that_no_remaining_step_uses(keeps: str, call: str):
    shrunk = shrink_scenario(read_scenario(WITH_PARTS, "parts.yaml"), keeps)

    document = read_scenario(shrunk.text, "parts.yaml").source.data
    assert [step["call"].startswith(call) for step in document["story"]] == [True]
    assert "parts" not in document


def test_shrinking_removes_expectations_that_no_longer_hold():
    shrunk = shrink_scenario(read_scenario(STORY, "much.yaml"), "n=6")

    document = read_scenario(shrunk.text, "much.yaml").source.data
    assert document["assumptions"] == {"default_page_size": 7}
    assert [step["expect"] for step in document["story"]] == [{"status": 200, "items": 7}]


WITH_CHANGED_RESPONSES = """
name: changed
description: A fault and an assumption change responses.
assumptions: {accepted_status: 200}
world:
  organizations: [{alias: acme}]
  users: [{alias: owner, organizations: {acme: owner}}]
  projects: [{alias: web, organization: acme}, {alias: docs, organization: acme}]
faults:
  - {connection_reset: {}, after_commit: true, call: set_project_powered_by_flag, times: 1}
story:
  - call: set_project_powered_by_flag
    project: web
    key: mine
    body: {enabled: true}
    expect: {lost: connection_reset}
  - call: set_project_powered_by_flag
    project: web
    key: mine
    body: {enabled: false}
    expect: {status: 409}
  - call: apply_project_domains
    project: web
    save: {operation: id}
    expect: {status: 200}
  - poll: ${operation}
    expect: {status: 200}
"""


@pytest.mark.parametrize(
    ("keeps", "actions"),
    [
        ("n=2", ["set_project_powered_by_flag", "set_project_powered_by_flag"]),
        ("n=4", ["apply_project_domains", "${operation}"]),
    ],
)
def test_a_step_that_now_gets_another_response_expects_any_response(keeps: str, actions: list[str]):
    shrunk = shrink_scenario(read_scenario(WITH_CHANGED_RESPONSES, "changed.yaml"), keeps)

    document = read_scenario(shrunk.text, "changed.yaml").source.data
    assert not {"faults", "assumptions"} & document.keys()
    story = document["story"]
    assert [step.get("call") or step["poll"] for step in story] == actions
    assert story[0]["expect"] == {"status": {"at_least": 200}}
    assert check_text(shrunk.text, "changed.yaml")["passed"]


def test_shrinking_removes_the_projects_of_a_world_that_no_step_uses():
    scenario = read_scenario(WITH_CHANGED_RESPONSES, "changed.yaml")
    shrunk = shrink_scenario(scenario, "n=4")

    world = read_scenario(shrunk.text, "changed.yaml").source.data["world"]
    assert [project["alias"] for project in world["projects"]] == ["web"]


@pytest.mark.parametrize(
    ("keeps", "says"),
    [
        ("status=418", "no step is a request that expects status=418"),
        ("state=409", "'state=409' is not one of status=…, code=…, call=…, n=…"),
        ("", "name a step, such as status=409 code=idempotency_key_reused or n=12"),
    ],
)
def test_shrinking_to_a_step_that_does_not_exist_is_refused(keeps: str, says: str):
    with pytest.raises(ShrinkRefused) as refused:
        shrink_scenario(read_scenario(STORY, "much.yaml"), keeps)

    assert str(refused.value) == says


def test_shrinking_to_a_step_that_fails_is_refused():
    story = read_scenario(STORY.replace("items: 7", "items: 8"), "much.yaml")

    with pytest.raises(
        ShrinkRefused, match="step 6 does not get the response it expects: items is 7"
    ):
        shrink_scenario(story, "n=6")


@pytest.mark.parametrize("response", ["first", "second"])
def test_a_request_that_a_fault_delivered_twice_is_one_step_of_the_recorded_story(response: str):
    api = ControlledWorld()
    api.add_fault(deliver_twice={"response": response}, call="create_user_api_key")
    created = api.create_key("ci", key="k")

    document = recorded(api)

    (step,) = [step for step in document["story"] if "call" in step]
    assert step["expect"]["status"] == created.status


def test_a_recorded_story_names_the_connections_that_a_fault_matches_by():
    api = ControlledWorld()
    api.add_fault(connection_reset={}, connection="reused", times=1)
    for connection in (0, 1, 0, 0):
        api.connection = connection
        api.dns()

    steps_on = [step.get("connection") for step in recorded(api)["story"] if "call" in step]

    assert steps_on == ["connection-1", "connection-2", "connection-1", "connection-3"]


def test_a_connection_that_carried_other_requests_before_cannot_be_recorded():
    api = ControlledWorld()
    api.add_fault(connection_reset={}, connection="reused", times=1)
    other_world = ControlledWorld()
    other_world.dns()
    api.opened = other_world.opened
    api.dns()

    with pytest.raises(NotRecordable, match="had been used before the recording"):
        recorded(api)


def test_a_stale_read_is_recorded_with_the_state_that_it_showed():
    api = ControlledWorld()
    api.add_fault(stale_read={"age": "30s"}, call="get_dns_authorization")
    api.intervene("move_dns", project="shop", to="revoked")
    api.dns()
    api.advance("30s")
    api.dns()

    expected = [step["expect"] for step in recorded(api)["story"] if "call" in step]

    assert [expect["body"]["status"] for expect in expected] == ["authorized", "revoked"]


def test_a_queue_is_left_out_of_a_recording_because_its_clock_is_frozen():
    machine = Machine()
    api = ControlledWorld(fresh_world(mode="real", machine=machine), machine=machine)
    api.add_fault(admission_queue={"limit": 1})
    api.dns()
    refusal = api.add_fault(abort={"code": "service_unavailable"}, times=1)
    api.deployments()
    api.dns()
    api.remove_fault("fault-1")
    api.remove_fault(refusal)

    story = recorded(api)["story"]

    assert story[0]["note"].startswith("Left out: admission_queue acts only while the clock runs")
    calls = [(step["call"], step["expect"]["status"]) for step in story if "call" in step]
    assert calls == [
        ("get_dns_authorization", 200),
        ("list_deployments", 503),
        ("get_dns_authorization", 200),
    ]
    # The queue's fault is not removed in the story, because the story does not have it.
    assert [step["remove_fault"] for step in story if "remove_fault" in step] == ["${fault_1}"]


def test_a_queue_that_was_armed_before_a_recording_is_left_out():
    machine = Machine()
    api = ControlledWorld(fresh_world(mode="real", machine=machine), machine=machine)
    api.add_fault(admission_queue={"limit": 1})
    api.dns()
    api.dns()

    document = recorded(api, first="2")

    assert "faults" not in document
    assert document["story"][-1]["expect"]["status"] == 200


def test_the_pauses_of_a_fault_are_recorded_as_they_remain():
    api = ControlledWorld()
    api.add_fault(abort={"code": "service_unavailable"}, until="100s", pauses=["30s", "90s"])
    api.dns()
    for duration in ("40s", "50s", "10s"):
        api.advance(duration)
        api.dns()

    expected = [step["expect"] for step in recorded(api, first="2")["story"] if "call" in step]

    assert [expect["status"] for expect in expected[-3:]] == [200, 503, 200]
