"""The request log: the latest exchanges with the reasons for their responses, without secrets."""

import json
from collections.abc import Callable
from typing import Any

import msgspec
import pytest

from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.explanations.trail import Explanations
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.engine.request_log import BODY_KEPT, CAPACITY, RequestLog
from hosting_emulator.engine.request_views import exchange_summary, problem_of
from tests.support.in_process import InProcess

UNKNOWN_ID = "01ARZ3NDEKTSV4RRFFQ69G5FAV"


def short(api: InProcess, limit: int = 1) -> list[dict[str, Any]]:
    exchanges = [exchange_summary(api.world, entry) for entry in api.engine.log.newest(limit)]
    documents: list[dict[str, Any]] = msgspec.to_builtins(exchanges)
    return documents


def whole(api: InProcess) -> dict[str, Any]:
    return whole_exchanges(api, api.engine.log.newest(1))[0]


def whole_exchanges(api: InProcess, entries: list[Entry]) -> list[dict[str, Any]]:
    explanations = Explanations(api.engine.log)
    exchanges = [explanations.whole(api.world, entry) for entry in entries]
    documents: list[dict[str, Any]] = msgspec.to_builtins(exchanges)
    return documents


def test_an_entry_states_user_request_and_reason_of_the_response():
    api = InProcess()
    api.set_flag(True, user="reader", key="flag-1")

    (entry,) = short(api)

    assert (entry["n"], entry["method"], entry["status"]) == (1, "PUT", 403)
    assert (entry["call"], entry["code"]) == ("set_project_powered_by_flag", "forbidden")
    assert entry["user_id"] == api.world.indexes["user:reader"]
    assert (entry["user"], entry["project"]) == ("reader", api.project_id())
    assert (entry["idempotency_key"], entry["replayed"], entry["lost"]) == ("flag-1", False, None)
    assert entry["why"] == ("the call needs the owner role, but the user's role is reader",)


@pytest.mark.parametrize(("header", "text"), [("schlüssel", "schlüssel"), ("\udcff", "ÿ")])
def test_an_entry_shows_headers_as_the_calls_read_them(header: str, text: str):
    api = InProcess()
    api.set_flag(True, key=header)

    assert whole(api)["idempotency_key"] == text
    assert ("Idempotency-Key", text) in whole(api)["request"]["headers"]


def test_an_entry_gives_a_reason_that_the_caller_may_not_know():
    api = InProcess()
    response = api.dns(user="outsider")

    (entry,) = short(api)

    assert "outside the user's access" in entry["why"][0]
    assert "outside the user's access" not in response.json["detail"]


@pytest.mark.parametrize(
    "path",
    [
        f"/v1/projects/{UNKNOWN_ID}/edge-dns",
        f"/v1/operations/{UNKNOWN_ID}",
        f"/v1/organizations/{UNKNOWN_ID}/user-api-keys",
    ],
)
def test_the_log_says_that_an_id_is_unknown_but_the_response_does_not(path: str):
    api = InProcess()
    method = "POST" if path.endswith("keys") else "GET"
    response = api.call(method, path, key="a", body={"name": "ci"} if method == "POST" else None)
    assert response.status == 404
    (entry,) = short(api)
    assert entry["why"] == ("nothing has this id",)
    assert "nothing" not in response.json["detail"]


def test_an_entry_says_that_a_response_is_a_replay():
    api = InProcess()
    for _ in range(2):
        api.set_flag(True, key="again")

    replay, first = short(api, 2)

    assert (first["replayed"], replay["replayed"]) == (False, True)
    assert "replay" in replay["why"][0]


def test_the_entry_of_a_poll_names_the_operation_and_its_project():
    api = InProcess()
    operation = api.apply_domains().json["id"]
    api.call("GET", f"/v1/operations/{operation}")

    (entry,) = short(api)

    assert (entry["call"], entry["operation"]) == ("get_operation", operation)
    assert entry["project"] == api.project_id()


def test_the_entry_of_a_poll_of_an_unknown_operation_names_no_project():
    api = InProcess()
    api.poll("0" * 26)

    (entry,) = short(api)

    assert (entry["operation"], entry["project"]) == ("0" * 26, None)


@pytest.mark.parametrize(
    ("effect", "lost"),
    [
        ({"connection_reset": {}}, "connection_reset"),
        ({"truncate": {"bytes": 10}}, "truncate"),
        ({"slow_response": {"bytes_per_second": 1000}}, None),  # late, but it arrives
        ({"abort": {"code": "rate_limited"}}, None),
    ],
)
def test_an_entry_says_which_fault_lost_the_response(effect, lost):
    api = InProcess()
    api.add_fault(**effect)
    api.dns()

    (entry,) = short(api)
    assert entry["lost"] == lost
    assert entry["code"] == ("rate_limited" if "abort" in effect else None)


def test_the_log_keeps_the_newest_entries_and_lists_them_first():
    api = InProcess()
    for _ in range(CAPACITY + 10):
        api.send("GET", "/nowhere")

    entries = short(api, 10_000)

    assert [entry["n"] for entry in entries] == list(range(CAPACITY + 10, 10, -1))
    assert [entry["n"] for entry in short(api, 2)] == [CAPACITY + 10, CAPACITY + 9]
    assert (len(api.engine.log), api.engine.log.count) == (CAPACITY, CAPACITY + 10)
    assert api.engine.log.find(10) is None
    entry = api.engine.log.find(11)
    assert entry is not None
    assert entry.n == 11


def test_the_log_releases_what_it_does_not_show():
    api = InProcess()
    api.set_flag(True, user="reader")
    api.set_flag(True)

    for entry in api.engine.log.newest(2):
        names = ("change", "record", "reply", "refused", "decision")
        assert [getattr(entry, name) for name in names] == [None] * 5
        assert len(entry.headers) == 0


@pytest.mark.parametrize(("length", "is_cut"), [(78, False), (79, True)])
def test_an_entry_shows_an_altered_value_by_its_first_80_characters(length: int, is_cut: bool):
    api = InProcess()
    value = "x" * length
    api.add_fault(alter={"set": {"/zone": value}, "breaking": True}, call="get_dns_authorization")
    api.dns()

    (part,) = whole(api)["altered"]

    shown = f'"{value}"'
    assert part["after"] == (f"{shown[:80]}…" if is_cut else shown)


def test_the_log_keeps_request_and_response():
    api = InProcess()
    response = api.set_flag(True, key="flag-1")

    exchange = whole(api)

    assert json.loads(exchange["request"]["body"]) == {"enabled": True}
    assert exchange["request"]["body_bytes"] == len('{"enabled": true}')
    assert ("Idempotency-Key", "flag-1") in exchange["request"]["headers"]
    assert ("Authorization", "Bearer <redacted>") in exchange["request"]["headers"]
    assert json.loads(exchange["response"]["body"]) == response.json
    assert ("Content-Type", "application/json") in exchange["response"]["headers"]


def test_the_log_keeps_the_beginning_of_a_long_body():
    api = InProcess()
    api.send("PUT", "/nowhere", body=b"x" * (BODY_KEPT + 1))

    request = whole(api)["request"]

    assert (len(request["body"]), request["body_bytes"]) == (BODY_KEPT, BODY_KEPT + 1)
    assert request["body_cut"]
    assert not whole(api)["response"]["body_cut"]


@pytest.mark.parametrize("before", [BODY_KEPT - 3, BODY_KEPT - 2, BODY_KEPT - 1, BODY_KEPT])
def test_a_long_body_is_not_cut_within_a_character(before: int):
    api = InProcess()
    api.send("PUT", "/nowhere", body=b"x" * before + "𝄞x".encode())

    request = whole(api)["request"]

    assert request["body"] == "x" * before
    assert request["body_cut"]


@pytest.mark.parametrize("length", range(1, 44))
def test_a_body_that_is_cut_within_a_secret_keeps_no_part_of_the_secret(length: int):
    """A part of a secret cannot be recognized by its digest, and may be nearly the whole secret."""
    api = InProcess()
    ticket = api.ticket().json["redeem_url"].rpartition("=")[2]
    before = "é " * (BODY_KEPT // 4) + "x" * (BODY_KEPT - 3 * (BODY_KEPT // 4) - length - 1) + " "
    api.send("PUT", "/nowhere", body=(before + ticket + "x").encode())

    assert whole(api)["request"]["body"] == before


def test_a_whole_body_is_not_cut():
    api = InProcess()
    api.send("PUT", "/nowhere", body=b"x" * BODY_KEPT)

    assert not whole(api)["request"]["body_cut"]


def test_a_response_to_a_head_request_has_no_body_in_the_log():
    api = InProcess()
    api.send("HEAD", "/nowhere")

    response = whole(api)["response"]

    assert (response["body"], response["body_bytes"], response["body_cut"]) == ("", 0, False)
    assert ("Content-Type", "application/problem+json") in response["headers"]


def test_a_lost_response_has_no_headers_in_the_log():
    api = InProcess()
    api.add_fault(connection_reset={})
    api.dns()

    assert whole(api)["response"]["headers"] == []


@pytest.mark.parametrize(
    ("ask", "user"),
    [
        (lambda api: api.dns(token="x.y.z"), "nobody"),
        (lambda api: api.send("GET", f"/v1/projects/{api.project_id()}/edge-dns"), "nobody"),
        (lambda api: api.call("POST", f"/v1/projects/{api.project_id()}/edge-dns"), "owner"),
        (lambda api: api.call("GET", "/v1/nowhere"), "owner"),
        (lambda api: api.call("GET", "/nowhere"), None),
        (lambda api: api.dns(user="no-organization"), "no-organization"),
    ],
)
def test_an_entry_names_nobody_for_a_request_without_a_valid_token(
    ask: Callable[[InProcess], Any], user: str | None
):
    api = InProcess()
    ask(api)

    assert short(api)[0]["user"] == user


def test_an_entry_names_the_project_in_the_path_for_any_method():
    api = InProcess()
    api.call("DELETE", f"/v1/projects/{api.project_id()}/domains")

    (entry,) = short(api)

    assert (entry["status"], entry["call"], entry["project"]) == (405, None, api.project_id())


def test_request_ids_made_outside_the_log_leave_no_gap_in_its_numbers():
    api = InProcess()
    api.dns(user="outsider")
    beside = {api.engine.request_id() for _ in range(3)}
    api.dns(user="outsider")

    assert [entry["n"] for entry in short(api, 9)] == [2, 1]
    assert api.engine.log.count == 2
    ids = {json.loads(entry.response_body)["request_id"] for entry in api.engine.log.newest(2)}
    assert len(ids | beside) == 5

    fresh = InProcess()
    assert {fresh.engine.request_id() for _ in range(3)} == beside


def test_request_ids_differ_before_and_after_a_restart():
    class RestartedKeeper(Keeper):
        starts = 1

    ids: set[str] = set()
    for keeper in (Keeper(), RestartedKeeper()):
        api = InProcess(keeper=keeper)
        ids |= {api.dns(user="outsider").json["request_id"], api.engine.request_id()}

    assert len(ids) == 4


def test_the_log_shows_no_body_that_is_not_text():
    api = InProcess()
    api.send("PUT", "/nowhere", body=b"\xff\xfe")

    assert whole(api)["request"]["body"] is None


def test_the_log_shows_no_secret_wherever_a_client_sends_it():
    api = InProcess()
    key = api.create_key().json["value"]
    ticket = api.ticket().json["redeem_url"].rpartition("=")[2]
    api.dns(token=key)
    api.dns(token=key[:-1])
    token = api.token("owner")
    api.call("GET", f"/v1/projects/x/edge-dns?access_token={token}&key={key}&ticket={ticket}")
    api.call("GET", f"/v1/projects/{token}/edge-dns", headers={"X-Key": key, "Cookie": "a=b"})
    api.set_flag(f"{key} {token}")

    entries = api.engine.log.newest(100)
    text = json.dumps(whole_exchanges(api, entries))

    for secret in (key, key[:-1], ticket, token, "a=b"):
        assert secret not in text
    assert "<redacted>" in text


def test_an_entry_with_any_path_can_be_written_as_json():
    api = InProcess()

    api.send("GET", "/v1/\udce9\x00")

    json.dumps(short(api)[0]).encode()


def test_the_problem_of_an_entry_is_that_of_its_response():
    api = InProcess()
    api.dns(user="outsider")
    api.dns()

    fine, refused = api.engine.log.newest(2)

    assert problem_of(fine) is None
    problem = problem_of(refused)
    assert problem is not None
    assert problem.code == "resource_not_found"


@pytest.mark.parametrize(
    ("send", "project", "organization"),
    [
        (lambda api: api.dns(), "shop", "acme"),
        (lambda api: api.dns(project="blog", user="member"), "blog", "acme"),
        (lambda api: api.poll(api.apply_domains().json["id"]), "shop", "acme"),
        (lambda api: api.poll("0" * 26), None, "acme"),
        (lambda api: api.create_key(), None, "acme"),
        (lambda api: api.create_key(user="outsider"), None, "acme"),
        (lambda api: api.dns(user="outsider"), "shop", "hobby"),
        (lambda api: api.call("GET", "/v1/unknown"), None, "acme"),
    ],
)
def test_a_request_is_about_the_project_and_the_organization_of_its_path_or_caller(
    send: Callable[[InProcess], object], project: str | None, organization: str
):
    api = InProcess()
    send(api)
    (entry,) = api.engine.log.newest(1)

    project_id = None if project is None else api.project_id(project)
    assert entry.about(api.world) == (project_id, api.organization_id(organization))


def test_names_of_responses_start_again_once_the_log_is_cleared():
    log = RequestLog()

    names = [
        log.name_response(request, key) for request, key in (("a", ""), ("a", "k"), ("b", "k"))
    ]
    log.clear()

    assert names == ["a 1", "a 2", "a 2"]
    assert log.name_response("b", "k") == "b 1"


@pytest.mark.parametrize(
    ("code", "logged"),
    [
        ("forbidden", "forbidden"),
        ("brand_new", "resource_not_found"),
        (5, "resource_not_found"),
    ],
)
def test_the_log_shows_an_altered_code_if_the_contract_has_it(code: object, logged: str):
    api = InProcess()
    api.add_fault(alter={"set": {"/code": code}, "breaking": True})
    api.dns(user="outsider")

    assert api.engine.log.newest(1)[0].code == logged


def test_the_log_shows_no_media_type_if_a_fault_removed_it():
    api = InProcess()
    api.add_fault(alter={"headers": {"Content-Type": None}, "breaking": True})
    api.dns()

    entry = api.engine.log.newest(1)[0]
    assert entry.content_type == ""
    assert entry.own_status == 200
