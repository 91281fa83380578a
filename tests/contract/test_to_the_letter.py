"""Sentences that the contract decides, each quoted, and what our answers make of it."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

import pytest

from hosting_emulator.contract.resources import RESOURCES
from tests.conftest import Response
from tests.contract.answer_checks import hold_problem, problem
from tests.contract.conftest import HeldApi
from tests.contract.raw_http import wire
from tests.in_process import InProcess
from tests.properties.varied_walk import varied

# --- "when the current owner switched the flag on" ------------------------------------------------


@pytest.mark.parametrize("assumed", ["kept", "renewed"])
def test_enabled_at_is_when_the_current_owner_switched_the_flag_on(
    api: HeldApi, assumed: str
) -> None:
    """enabled_at: "when the current owner switched the flag on; null while hidden"."""
    # given a flag that one owner switched on, and another owner since
    api.assume(flag_reenabled=assumed)
    api.set_flag(False)
    theirs = api.set_flag(True).json["enabled_at"]
    api.advance("1h")
    api.emulator.intervene("transfer_ownership", organization="acme", to="member")

    # when the new owner switches it on
    api.advance("1h")
    own = api.set_flag(True, who="member").json["enabled_at"]

    # then it is their moment, which they keep
    assert own == api.emulator.clock.now > theirs
    api.advance("1h")
    again = api.set_flag(True, who="member").json["enabled_at"]
    assert (again == own) is (assumed == "kept")


def test_an_owner_through_the_project_alone_is_an_owner_too(api: HeldApi) -> None:
    """Of two owners at a time either one may have switched it on; who is none any more has not."""
    role: dict[str, Any] = {"project": "shop", "person": "member"}
    api.set_flag(False)
    api.emulator.intervene("set_role", **role, role="owner")
    theirs = api.set_flag(True, who="member").json["enabled_at"]
    api.advance("1h")
    assert api.set_flag(True).json["enabled_at"] == theirs

    api.emulator.intervene("set_role", **role, role="maintainer")

    assert api.set_flag(True).json["enabled_at"] == api.emulator.clock.now


def test_the_flag_of_a_world_that_begins_was_switched_on_by_its_owner(api: HeldApi) -> None:
    """Its first owner keeps the moment; the next owner does not."""
    began = api.set_flag(True).json["enabled_at"]
    assert began < api.emulator.clock.now

    api.emulator.intervene("transfer_ownership", organization="acme", to="member")

    assert api.set_flag(True, who="member").json["enabled_at"] == api.emulator.clock.now


# --- "next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -)" ---------------


def test_next_cursor_is_a_string_or_is_not_there(api: HeldApi) -> None:
    """Page of deployments: "next_cursor (string, opaque continuation cursor […])".

    Where the contract allows null it writes "or null".
    """
    first = api.deployments("?limit=40").json
    last = api.deployments(f"?limit=40&cursor={first['next_cursor']}").json

    assert isinstance(first["next_cursor"], str)
    assert last.keys() == {"items"}


def test_null_on_the_last_page_is_marked_as_outside_the_letter(api: HeldApi) -> None:
    rows = api.emulator.assumptions

    assert {
        row["name"]: row["outside_the_letter"] for row in rows if row["outside_the_letter"]
    } == {"last_page_cursor": ["null"]}


def test_no_variation_writes_null_where_the_contract_does_not_write_or_null() -> None:
    """ "timestamp or null", "string or null", "object or null" are the contract's words."""
    for seed in range(200):
        api = InProcess(varied(str(seed)))
        answers = [
            api.create_key(key="k"),
            api.create_key(key="k"),
            api.initialize(1),
            api.deployments("?limit=100"),
            api.compute(project="docs"),
            api.dns(project="labs"),
            api.set_flag(False),
            api.dns(project="garden"),
        ]

        assert set().union(*(nulls(answer.json) for answer in answers)) <= NULLABLE, seed


NULLABLE = {"enabled_at", "value", "zone", "expires_at", "database"}


def nulls(found: Any) -> set[str]:
    """Return the known members that are null anywhere in an answer."""
    if isinstance(found, list):
        return set().union(*map(nulls, found))
    if not isinstance(found, dict):
        return set()
    own = {name for name, value in found.items() if value is None and name in KNOWN}
    return own.union(*(nulls(value) for value in found.values()))


KNOWN = {field.name for resource in RESOURCES.values() for field in resource.fields}


# --- "Unauthenticated requests fail with code unauthenticated" ------------------------------------

_JSON = {"Content-Type": "application/json"}
WRONG: dict[str, tuple[str, str, dict[str, Any]]] = {
    "nothing else": ("GET", "edge-dns", {}),
    "an X-Request-Id that is too long": (
        "GET",
        "edge-dns",
        {"headers": {"X-Request-Id": "x" * 129}},
    ),
    "an X-Request-Id that is empty": ("GET", "edge-dns", {"headers": {"X-Request-Id": ""}}),
    "a body that is too big": ("PUT", "powered-by-flag", {"raw": b" " * 1_048_577}),
    "bad JSON": ("PUT", "powered-by-flag", {"raw": b"{", "headers": _JSON, "key": "k"}),
    "a body that cannot be unpacked": (
        *("PUT", "powered-by-flag"),
        {"raw": b"no gzip", "headers": {**_JSON, "Content-Encoding": "gzip"}, "key": "k"},
    ),
    "no Idempotency-Key": ("PUT", "domains", {}),
    "a wrong method": ("DELETE", "domains", {}),
    "an unknown path": ("GET", "nothing-is-here", {}),
    "a malformed project id": ("GET", "edge-dns", {"project": "shop"}),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_unauthenticated_requests_fail_with_code_unauthenticated(api: HeldApi, wrong: str) -> None:
    """ "Unauthenticated requests fail with code unauthenticated", whatever else is wrong with them."""
    method, rest, given = WRONG[wrong]
    options = dict(given)
    project = options.pop("project", api.emulator.project)
    path = f"/v1/projects/{project}/{rest}"

    nobody = api.call(method, path, who=None, **options)
    stranger = api.call(method, path, token="made up", **options)

    problem(nobody, 401, "unauthenticated")
    problem(stranger, 401, "unauthenticated")
    assert 1 <= len(nobody.headers["X-Request-Id"]) <= 128
    owner = api.send(method, path, **options)
    assert (owner.status == 200) is (wrong == "nothing else")
    assert owner.status != 401


# --- "documentation link of the form {docs_url}/errors/<code>" ------------------------------------


def link(answer: Response) -> str:
    """Return where a problem points, without the end that its code gives."""
    found: str = hold_problem(answer)["type"]
    return found.partition("/errors/")[0]


@pytest.mark.parametrize("host", ["hosting.attacker.com", "hosting.attacker.example", "", "a b"])
def test_no_link_follows_a_host_that_is_not_ours(api: HeldApi, host: str) -> None:
    """type: "documentation link of the form {docs_url}/errors/<code with hyphens […]>"."""
    ours = urlsplit(api.emulator.base_url)._replace(path="/_emulator/docs").geturl()

    assert link(api.dns(project="garden", headers={"Host": host})) == ours
    with wire(api.emulator.base_url) as connection:  # two Hosts, of which none counts
        connection.ask("GET", "/v1/x", [("Host", "hosting.attacker.com")])
        assert link(connection.answer()) == ours


def test_a_link_follows_another_name_of_this_machine(api: HeldApi) -> None:
    """So that it opens through a mapped port as well."""
    found = link(api.dns(project="garden", headers={"Host": "localhost:81"}))

    assert found == "http://localhost:81/_emulator/docs"


def test_a_request_that_nobody_can_parse_gets_a_whole_link(api: HeldApi) -> None:
    """The default world's docs_url, since it can be said to belong to no other."""

    def broken() -> str:
        with wire(api.emulator.base_url) as connection:
            connection.send(b"hello there\r\n\r\n")
            return link(connection.answer())

    ours = urlsplit(api.emulator.base_url)._replace(path="/_emulator/docs").geturl()
    assert broken() == ours
    default = api.emulator.control.world()
    default.set_assumptions({"docs_url": "https://docs.example"})
    try:
        assert broken() == "https://docs.example"
    finally:
        default.set_assumptions({"docs_url": "own"})


# --- "rather than creating another token" ---------------------------------------------------------


def test_an_exact_replay_never_makes_another_key_however_late(api: HeldApi) -> None:
    """ "After any uncertainty the same name and Idempotency-Key are reused rather than creating
    another token": no expiry of that is given, and "only the first creation returns the full value".
    """
    first = api.create_key(key="k").json

    for later in ("1d", "89d", "3000d"):
        api.advance(later)
        again = api.create_key(key="k").json
        assert (again["replayed"], again["value"]) == (True, None)
        assert again["key"]["id"] == first["key"]["id"]


def test_the_first_result_is_returned_however_late(api: HeldApi) -> None:
    """ "Same key and same body: first result returned without switching again." """
    first = api.set_flag(False, key="k")
    api.set_flag(True)
    api.advance("3000d")

    assert api.set_flag(False, key="k").body == first.body
    problem(api.set_flag(True, key="k"), 409, "idempotency_key_reused")


def test_a_refusal_that_says_retryable_is_never_remembered(api: HeldApi) -> None:
    """retryable: the same request, sent again unchanged, can succeed; so its key cannot be bound."""
    api.refusals_are_kept = True
    api.assume(idempotency_remembers="all_answers")
    api.emulator.intervene("set_permissions", organization="acme", permissions=[])
    refused = problem(api.create_key(key="k"), 503, "api_key_permissions_unavailable")
    assert refused["retryable"] is True

    api.emulator.intervene("set_permissions", organization="acme", permissions=["dns.read"])

    assert api.create_key(key="k").status == 201
