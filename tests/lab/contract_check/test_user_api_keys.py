"""The check of user API keys judges a new key, its exact replay, and the lengths of names and keys."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from hosting_emulator_lab.contract_check.checks.user_api_keys import (
    create_user_api_key,
    use_user_api_key,
)
from tests.lab.contract_check.scripted_server import (
    ORGANIZATION_ID,
    PROJECT_ID,
    Reply,
    Request,
    faults_of,
    make_check,
    new_run,
    problem,
    verdict_of,
)

_NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
_VALUE = "phk_" + "".join(f"{number:02d}" for number in range(20))
Document = dict[str, Any]


def nothing(_document: Document) -> None:
    """Change nothing."""


class Server:
    """A server that creates keys. `change` changes the first creation, `change_replay` its replays."""

    def __init__(
        self,
        change: Callable[[Document], object] = nothing,
        change_replay: Callable[[Document], object] = nothing,
    ) -> None:
        self._change = change
        self._change_replay = change_replay
        self._names: dict[str, str] = {}

    def __call__(self, request: Request) -> Reply:
        assert request.body is not None
        name = request.body["name"]
        idempotency_key = request.headers["Idempotency-Key"]
        if "Authorization" not in request.headers:
            return problem(401, "unauthenticated")
        if request.headers["Authorization"].startswith("Bearer phk_"):
            return problem(403, "interactive_login_required")
        is_replay = idempotency_key in self._names
        if is_replay and self._names[idempotency_key] != name:
            return problem(409, "idempotency_key_reused")
        self._names[idempotency_key] = name
        number = list(self._names).index(idempotency_key)
        document = self._creation(number, name)
        if number == 0:
            self._change(document)
        if is_replay:
            document |= {"replayed": True, "value": None}
            self._change_replay(document)
        return Reply(document, 200 if is_replay else 201)

    def _creation(self, number: int, name: str) -> Document:
        return {
            "replayed": False,
            "value": _VALUE if number == 0 else f"phk_another_{number}",
            "request_id": "r-1",
            "key": {
                "id": f"01KJFYX1AR0002R33RZ3WT{number:04d}",
                "organization_id": ORGANIZATION_ID,
                "name": name,
                "obfuscated_value": "phk_…",
                "permissions": [],
                "created_at": _NOON.isoformat(),
                "expires_at": (_NOON + timedelta(days=90)).isoformat(),
            },
        }


def edit(**members: Any) -> Callable[[Document], object]:
    """Change the members of a creation."""
    return lambda document: document.update(members)


def edit_key(**members: Any) -> Callable[[Document], object]:
    """Change the members of the key in a creation."""
    return lambda document: document["key"].update(members)


def expires(seconds: float) -> Callable[[Document], object]:
    """Let the key expire a number of seconds later than 90 days after its creation."""
    return edit_key(expires_at=(_NOON + timedelta(days=90, seconds=seconds)).isoformat())


def shows_a_short_value(document: Document) -> None:
    document["value"] = "phk_short"
    document["key"]["obfuscated_value"] = "It is phk_short."


def drop_key_member(name: str) -> Callable[[Document], object]:
    return lambda document: document["key"].pop(name)


@pytest.mark.parametrize(
    "server",
    [
        Server(),
        Server(expires(1)),
        Server(expires(-1)),
        Server(edit_key(obfuscated_value=_VALUE[:19])),
        Server(edit_key(obfuscated_value=f"…{_VALUE[-19:]}")),
        Server(drop_key_member("organization_id")),
        Server(drop_key_member("id")),
        Server(change_replay=edit_key(created_at="2026-03-01T13:00:00.000+01:00")),
        Server(change_replay=edit_key(permissions=["projects.read"])),
        Server(change_replay=drop_key_member("name")),
    ],
)
def test_a_key_within_the_contract_has_no_fault(server: Server) -> None:
    assert faults_of(make_check(create_user_api_key, server)) == []


_DAYS = "keys.days limit.key"
_VALID = "the key is valid {} days from 2026-03-01T12:00:00+00:00"


@pytest.mark.parametrize(
    ("server", "faults"),
    [
        (Server(expires(1.001)), [f"{_DAYS}: {_VALID.format('90.00001')}"]),
        (Server(expires(-1.001)), [f"{_DAYS}: {_VALID.format('89.99999')}"]),
        (Server(expires(-86_400)), [f"{_DAYS}: {_VALID.format('89')}"]),
        (
            Server(edit_key(obfuscated_value=_VALUE[:20])),
            ["key.metadata: obfuscated_value shows the value"],
        ),
        (
            Server(edit_key(obfuscated_value=_VALUE[-20:])),
            ["key.metadata: obfuscated_value shows the value"],
        ),
        (
            Server(shows_a_short_value),
            [
                "key.metadata: obfuscated_value shows the value",
                "keys.value-once: it shows a credential that was sent or shown before",
            ],
        ),
        (Server(edit_key(name="x")), ["key.metadata: the key has another name"]),
        (
            Server(edit_key(organization_id=PROJECT_ID)),
            ["auth.key-bound: the key is bound to another organization"],
        ),
        (
            Server(edit(value="")),
            [
                "key.value: value: the value must be a non-empty string",
                "key.value keys.value-once: the first creation shows no value",
            ],
        ),
        (Server(edit(replayed=True)), ["key.replayed: replayed is not false"]),
        (
            Server(change_replay=edit(replayed=False)),
            ["key.replayed: replayed is not true"],
        ),
        (
            Server(change_replay=edit(value="phk_again")),
            ["key.value keys.value-once keys.replay: an exact replay shows the value"],
        ),
        (
            Server(change_replay=edit_key(id=PROJECT_ID)),
            ["keys.replay keys.uncertainty: it is another key"],
        ),
        *(
            (
                Server(change_replay=edit_key(**{name: value})),
                [f"keys.replay: the key has another {name}"],
            )
            for name, value in {
                "name": "x",
                "organization_id": PROJECT_ID,
                "obfuscated_value": "phk_x",
                "created_at": "2026-03-01T12:00:01Z",
                "expires_at": "2026-05-31T12:00:00Z",
            }.items()
        ),
    ],
)
def test_a_key_that_breaks_the_contract_has_these_faults(server: Server, faults: list[str]) -> None:
    run = make_check(create_user_api_key, server)

    observed = [f"{' '.join(row.keys)}: {row.fault}" for row in run.evidence.differences]
    assert list(dict.fromkeys(observed)) == faults


def test_two_idempotency_keys_that_differ_in_case_must_not_create_the_same_key() -> None:
    class IgnoresCaseAndNames(Server):
        def __call__(self, request: Request) -> Reply:
            assert request.body is not None
            key = request.headers["Idempotency-Key"].lower()
            name = self._names.get(key, request.body["name"])
            headers = {**request.headers, "Idempotency-Key": key}
            return super().__call__(replace(request, headers=headers, body={"name": name}))

    run = make_check(create_user_api_key, IgnoresCaseAndNames())

    faults = {row.fault for row in run.evidence.differences if row.keys == ("idempotency-key",)}
    assert faults == {"two keys that differ only in case count as one"}


def test_a_reused_idempotency_key_must_be_refused_as_reused() -> None:
    class RefusesForAnotherReason(Server):
        def __call__(self, request: Request) -> Reply:
            reply = super().__call__(request)
            return problem(403, "forbidden") if reply.status == 409 else reply

    run = make_check(create_user_api_key, RefusesForAnotherReason())

    faults = {row.fault for row in run.evidence.differences if "condition.reused" in row.keys}
    assert faults == {"its code should be idempotency_key_reused"}


@pytest.mark.parametrize(
    ("value", "prefix"),
    [("phk_" + "a" * 43, "phk_"), ("sk_live_" + "a" * 43, "sk_"), ("A" * 43, None)],
)
def test_the_prefix_of_a_key_is_observed_if_it_has_one(value: str, prefix: str | None) -> None:
    run = make_check(create_user_api_key, Server(edit(value=value)))

    assert run.behavior.values.get("key_prefix") == prefix


@pytest.mark.parametrize(
    ("member", "key", "reason"),
    [
        ("organization_id", "auth.key-bound", "a name of 64): 201: the key names no organization"),
        ("id", "keys.uncertainty", "exact replay): 200: the key has no id to compare"),
    ],
)
def test_a_key_without_an_optional_member_leaves_a_sentence_skipped(
    member: str, key: str, reason: str
) -> None:
    run = make_check(create_user_api_key, Server(drop_key_member(member)))

    verdict = verdict_of(run, key).replace(", an additional field", "")
    assert verdict.startswith("skipped: POST ")
    assert verdict.endswith(reason)


@pytest.mark.parametrize("member", ["created_at", "expires_at"])
def test_a_key_without_one_of_its_times_shows_nothing_about_its_validity(member: str) -> None:
    run = make_check(create_user_api_key, Server(drop_key_member(member)))

    assert [row for row in run.evidence.differences if "keys.days" in row.keys] == []


def test_the_check_remembers_the_value_and_the_idempotency_key_of_the_key_that_it_creates() -> None:
    run = make_check(create_user_api_key, Server())

    assert run.api_key == _VALUE
    assert run.secrets[_VALUE] == "keys.value-once"
    assert run.used_key == ("hosting-emulator-check-test-1", "create_user_api_key")
    assert run.behavior.values == {
        "unknown_body_fields": "ignored",
        "key_created_status": 201,
        "key_prefix": "phk_",
        "key_replayed_status": 200,
    }


# --- Using a key ----------------------------------------------------------------------------------

_OK = Reply({"status": "not_authorized", "zone": None, "scopes": [], "expires_at": None})
_READ = "GET /v1/projects/{project_id}/edge-dns (with a user API key)"


@pytest.mark.parametrize(
    ("read", "own_key", "verdict"),
    [
        (_OK, True, f"holds: {_READ}: 200"),
        (problem(403, "forbidden"), True, f"skipped: {_READ}: 403 forbidden: refused, but no"),
        (
            problem(404, "resource_not_found"),
            True,
            f"skipped: {_READ}: 404 resource_not_found: the key may not have the permission",
        ),
        (
            problem(401, "unauthenticated"),
            True,
            f"differs: {_READ}: 401 unauthenticated: it should have succeeded",
        ),
        (
            problem(401, "unauthenticated"),
            False,
            f"differs: {_READ}: 401 unauthenticated: it should have succeeded",
        ),
    ],
)
def test_a_key_can_be_used_to_read(read: Reply, own_key: bool, verdict: str) -> None:
    refused = problem(403, "interactive_login_required")
    credentials: set[str] = set()

    def respond(request: Request) -> Reply:
        credentials.add(request.headers["Authorization"])
        return read if request.method == "GET" else refused

    run = new_run(respond, api_key=None if own_key else "phk_of-the-caller")
    run.api_key = run.api_key or _VALUE
    run.evidence.working_calls.add("keys.call")

    use_user_api_key.make(run)

    assert credentials == {f"Bearer {run.api_key}"}
    assert verdict_of(run, "auth.kinds").startswith(verdict)
    # The check knows the whole value of a key that it created itself.
    is_value_wrong = own_key and verdict.startswith("differs")
    assert verdict_of(run, "key.value").startswith("differs") == is_value_wrong
    for key in ("keys.session", "auth.session"):
        assert verdict_of(run, key).startswith("holds: POST ")


def test_a_key_shows_nothing_if_nothing_can_be_read() -> None:
    run = new_run(lambda _: problem(403, "forbidden"), api_key="phk_1")
    run.unreadable = "the reason"

    use_user_api_key.make(run)

    assert verdict_of(run, "auth.kinds") == "skipped: the reason"


def test_without_a_key_the_sentences_are_skipped() -> None:
    run = make_check(use_user_api_key, lambda _: _OK)

    assert run.requests == 0
    for key in ("keys.session", "auth.session", "auth.kinds", "auth.key-bound"):
        assert verdict_of(run, key) == (
            "skipped: it needs --user-api-key, or --allow keys to create one"
        )


# --- Refusals -------------------------------------------------------------------------------------


def refusing(reply: Reply, matches: Callable[[Request], bool]) -> Callable[[Request], Reply]:
    """Return a server of keys that sends a reply to the requests that match."""
    server = Server()
    return lambda request: reply if matches(request) else server(request)


def name_of(request: Request) -> str:
    return "" if request.body is None else str(request.body["name"])


_INVALID = problem(400, "invalid_request")


@pytest.mark.parametrize(
    ("matches", "expected"),
    [
        (lambda request: len(name_of(request)) == 1, ["a name of 1: the name is within bounds"]),
        (lambda request: "é" in name_of(request), ["a name of 64: the name is within bounds"]),
        (
            lambda request: len(request.headers["Idempotency-Key"]) == 128,
            [
                "an Idempotency-Key of 128: the key is within bounds",
                "a name of 64: the name is within bounds",
            ],
        ),
        (
            lambda request: len(request.headers["Idempotency-Key"]) == 1,
            ["an Idempotency-Key of 1: the key is within bounds"],
        ),
        (
            lambda request: "hosting_emulator_check" in (request.body or {}),
            [],
        ),
    ],
)
def test_names_and_keys_within_the_bounds_must_be_accepted(
    matches: Callable[[Request], bool], expected: list[str]
) -> None:
    run = make_check(create_user_api_key, refusing(_INVALID, matches))

    observed = [
        f"{row.response.purpose.rpartition(', ')[2]}: {row.fault}"
        for row in run.evidence.differences
        if row.response is not None
    ]
    assert observed == expected
    assert run.behavior.values["unknown_body_fields"] == ("ignored" if expected else "refused")


@pytest.mark.parametrize("code", ["interactive_login_required", "forbidden"])
def test_a_token_without_an_interactive_session_creates_no_key(code: str) -> None:
    run = make_check(create_user_api_key, lambda _: problem(403, code))

    assert run.requests == 1
    assert faults_of(run) == []
    for key in ("keys.call", "limit.key", "key.metadata", "auth.key-bound"):
        assert verdict_of(run, key).endswith(f"{code}: --token must be from an interactive session")
