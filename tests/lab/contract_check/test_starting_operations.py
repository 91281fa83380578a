"""The checks that start operations discover the source generation, and repeat requests under their keys."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator_lab.contract_check.checks.starting_operations import (
    apply_domains,
    initialize_source,
    start_with_each_role,
)
from hosting_emulator_lab.contract_check.declared_check import Check
from hosting_emulator_lab.contract_check.run import CheckRun, UsedKey
from tests.lab.contract_check.scripted_server import (
    PROJECT_ID,
    Reply,
    Request,
    make_check,
    new_run,
    operations_without_proof,
    problem,
    verdict_of,
)

_AT = "2026-03-01T12:00:00Z"
_INVALID = problem(400, "invalid_request")
_MISMATCH = problem(409, "etag_mismatch")
_REUSED = problem(409, "idempotency_key_reused")
_FORBIDDEN = problem(403, "forbidden")
_ACTIVE = problem(409, "deployment_plan_expired")


def operation(number: int) -> Reply:
    document = {
        "id": f"01KJFYX1AR0002R33RZ3WT{number:04d}",
        "deployment_id": PROJECT_ID,
        "state": "queued",
        "created_at": _AT,
        "updated_at": _AT,
        "progress": {
            "phase": "queued",
            "project_id": PROJECT_ID,
            "observed_at": _AT,
            "suggested_action": "Poll again.",
        },
    }
    return Reply(document, 202)


class Server:
    """A server that starts operations. Its mistakes are chosen by the options.

    `generation` is the right source generation, or None if it is ignored. `wrong` is the response
    to a wrong generation. `invalid_keys` are the lengths of Idempotency-Keys that are refused,
    where 0 stands for an empty key and -1 for none. `remembers_refusals` is true if a key whose
    request was refused cannot be used for another request. `repeats` is true if a retry starts
    another operation. `forgets_bodies` is true if a key may be reused for another request.
    """

    def __init__(
        self,
        generation: int | None = 1,
        *,
        wrong: Reply = _MISMATCH,
        invalid_keys: tuple[int, ...] = (-1, 0, 129),
        remembers_refusals: bool = False,
        repeats: bool = False,
        forgets_bodies: bool = False,
        folds_case: bool = False,
        active: Reply | None = None,
    ) -> None:
        self._generation = generation
        self._wrong = wrong
        self._invalid_keys = invalid_keys
        self._remembers_refusals = remembers_refusals
        self._repeats = repeats
        self._forgets_bodies = forgets_bodies
        self._folds_case = folds_case
        self._active = active
        self._results: dict[str, tuple[Any, Reply]] = {}
        self._count = 0
        self.bodies: list[Any] = []

    def __call__(self, request: Request) -> Reply:
        if "Authorization" not in request.headers:
            return problem(401, "unauthenticated")
        self.bodies.append(request.body)
        key = request.headers.get("Idempotency-Key")
        if (-1 if key is None else len(key)) in self._invalid_keys:
            return _INVALID
        key = key or ""
        if self._folds_case:
            key = key.lower()
        if key in self._results:
            body, reply = self._results[key]
            if body != request.body and not self._forgets_bodies:
                return _REUSED
            return self._started() if self._repeats else reply
        reply = self._first_reply(request)
        if reply.status == 202 or self._remembers_refusals:
            self._results[key] = (request.body, reply)
        return reply

    def _first_reply(self, request: Request) -> Reply:
        if request.body is not None:
            generation = request.body["expected_source_generation"]
            if self._generation not in (None, generation):
                return self._wrong
        if self._active is not None and self._count:
            return self._active
        return self._started()

    def _started(self) -> Reply:
        self._count += 1
        return operation(self._count)


def faults(run: CheckRun) -> list[str]:
    return [
        f"{' '.join(row.keys)}: {row.response.purpose if row.response else ''}: {row.fault}"
        for row in run.evidence.differences
    ]


def tried_generations(server: Server) -> list[int]:
    return list(dict.fromkeys(body["expected_source_generation"] for body in server.bodies))


@pytest.mark.parametrize("generation", [0, 1, 19])
def test_the_source_generation_is_discovered(generation: int) -> None:
    server = Server(generation)

    run = make_check(initialize_source, server)

    assert tried_generations(server) == [987_654, *range(generation + 2)]
    assert faults(run) == []
    assert run.behavior.values == {
        "accepted_status": 202,
        "idempotency_remembers": "successes",
        "source_generation": "checked",
    }
    assert [accepted.id for accepted in run.accepted] == [operation(1).document["id"]]
    assert operations_without_proof(run, "idempotency-key") == "1, 3, 4"
    assert run.behavior.notes == []


def test_at_most_twenty_generations_are_tried() -> None:
    server = Server(20)

    run = make_check(initialize_source, server)

    assert tried_generations(server) == [987_654, *range(20)]
    assert run.accepted == []
    for key in ("source.call", "source.accepted", "operation.deployment_id"):
        assert verdict_of(run, key).endswith(
            "(generation 19): 409 etag_mismatch: "
            "no expected_source_generation from 0 to 19 is accepted"
        )


def test_another_refusal_ends_the_search_for_the_generation() -> None:
    server = Server(1)
    replies = {0: _MISMATCH, 987_654: _MISMATCH, 1: _ACTIVE}

    def respond(request: Request) -> Reply:
        server.bodies.append(request.body)
        assert request.body is not None
        return replies[request.body["expected_source_generation"]]

    run = make_check(initialize_source, respond)

    assert tried_generations(server) == [987_654, 0, 1]
    assert verdict_of(run, "source.call").endswith("from 0 to 1 is accepted")


@pytest.mark.parametrize(
    ("server", "values"),
    [
        (Server(None), {"source_generation": "ignored"}),
        (
            Server(1, remembers_refusals=True),
            {"source_generation": "checked", "idempotency_remembers": "all_answers"},
        ),
        (
            Server(1, wrong=_INVALID),
            {"source_generation": "checked", "idempotency_remembers": "successes"},
        ),
    ],
)
def test_what_the_server_does_with_a_generation_is_observed(
    server: Server, values: dict[str, str]
) -> None:
    run = make_check(initialize_source, server)

    assert run.behavior.values == {"accepted_status": 202, **values}
    assert len(run.accepted) == 1
    assert faults(run) == []


@pytest.mark.parametrize(
    ("wrong", "verdict"),
    [
        (_FORBIDDEN, "skipped"),
        (problem(404, "resource_not_found"), "differs"),
        (problem(503, "service_unavailable"), "skipped"),
        (problem(500, "invalid_request"), "differs"),
    ],
)
def test_a_refusal_for_another_reason_ends_the_check(wrong: Reply, verdict: str) -> None:
    server = Server(1, wrong=wrong)

    run = make_check(initialize_source, server)

    assert len(server.bodies) == 1
    assert verdict_of(run, "source.call").partition(":")[0] == verdict


@pytest.mark.parametrize(
    ("invalid_keys", "keys", "purpose"),
    [
        ((0, 129), "idempotency-key", "generation 1, without Idempotency-Key"),
        ((-1, 129), "idempotency-key", "generation 1, an empty Idempotency-Key"),
        ((-1, 0), "idempotency-key", "generation 1, an Idempotency-Key of 129"),
    ],
)
def test_an_operation_that_starts_without_a_valid_key_is_a_difference(
    invalid_keys: tuple[int, ...], keys: str, purpose: str
) -> None:
    run = make_check(initialize_source, Server(1, invalid_keys=invalid_keys))

    assert faults(run) == [f"{keys}: {purpose}: it should have been refused"]
    assert run.behavior.values["source_generation"] == "checked"
    assert run.accepted == []


@pytest.mark.parametrize(
    ("server", "expected", "notes"),
    [
        (
            Server(repeats=True),
            [],
            ["a retry of initialize_managed_source starts another operation"],
        ),
        (
            Server(forgets_bodies=True),
            ["condition.reused: the same key, another generation: it should have been refused"],
            [],
        ),
        (
            Server(folds_case=True),
            [
                "idempotency-key: the key with its case swapped, a wrong generation: "
                "two keys that differ only in case count as one"
            ],
            [],
        ),
        *(
            (
                Server(invalid_keys=(-1, 0, 129, length)),
                [
                    "idempotency-key limit.idempotency-key: "
                    f"an Idempotency-Key of {length}, a wrong generation: the key is within bounds"
                ],
                [],
            )
            for length in (1, 128)
        ),
        (Server(wrong=_INVALID, invalid_keys=(-1, 0, 129, 1, 128)), [], []),
    ],
)
def test_each_mistake_with_a_key_of_the_source_is_reported(
    server: Server, expected: list[str], notes: list[str]
) -> None:
    run = make_check(initialize_source, server)

    assert faults(run) == expected
    assert run.behavior.notes == notes


def test_a_retry_that_counts_as_another_request_is_a_difference() -> None:
    server = Server()
    seen: set[str] = set()

    def respond(request: Request) -> Reply:
        reply = server(request)
        key = request.headers.get("Idempotency-Key", "")
        if reply.status == 202 and key in seen:
            return _REUSED
        if reply.status == 202:
            seen.add(key)
        return reply

    run = make_check(initialize_source, respond)

    assert faults(run) == ["condition.reused: the same key and body: the request is the same"]


# --- Domains --------------------------------------------------------------------------------------


def checked_domains(server: Server, used_key: str = "", **options: Any) -> CheckRun:
    run = new_run(server, **options)
    if used_key:
        run.used_key = UsedKey(used_key, "create_user_api_key")
    apply_domains.make(run)
    return run


def test_the_domains_are_applied_again_under_the_same_key() -> None:
    run = checked_domains(Server())

    assert faults(run) == []
    assert len(run.accepted) == 1
    assert verdict_of(run, "domains.idempotent").startswith("holds: ")
    assert verdict_of(run, "domains.reused") == (
        "skipped: a key to reuse needs --allow flag or --allow keys"
    )


@pytest.mark.parametrize(
    ("server", "expected"),
    [
        (Server(repeats=True), ["domains.idempotent: the same key: it is another operation"]),
        (
            Server(folds_case=True),
            [
                "idempotency-key: the same key with its case swapped: "
                "two keys that differ only in case count as one"
            ],
        ),
        (
            Server(invalid_keys=(-1, 0, 129, 128)),
            [
                "idempotency-key limit.idempotency-key: an Idempotency-Key of 128: "
                "the key is within bounds"
            ],
        ),
        (
            Server(invalid_keys=(-1, 0, 129, 1)),
            [
                "idempotency-key limit.idempotency-key: an Idempotency-Key of 1: "
                "the key is within bounds"
            ],
        ),
        # The server returns the active operation for any key, which shows nothing about the case.
        (Server(active=operation(1)), []),
    ],
)
def test_each_mistake_with_a_key_of_the_domains_is_reported(
    server: Server, expected: list[str]
) -> None:
    assert faults(checked_domains(server)) == expected


_REUSE = "PUT /v1/projects/{project_id}/domains (the key of create_user_api_key)"


@pytest.mark.parametrize(
    ("reply", "verdict", "scope"),
    [
        (_REUSED, f"skipped: {_REUSE}: 409 idempotency_key_reused: refused, but", "principal"),
        (
            operation(9),
            "skipped: an Idempotency-Key belongs to one call, and this call has no body that could "
            "change",
            "principal_and_call",
        ),
        (_ACTIVE, f"skipped: {_REUSE}: 409 deployment_plan_expired", None),
        (_INVALID, f"differs: {_REUSE}: 400 invalid_request: its code should be", None),
    ],
)
def test_a_key_of_another_call_is_reused(reply: Reply, verdict: str, scope: str | None) -> None:
    server = Server()

    def respond(request: Request) -> Reply:
        if request.headers.get("Idempotency-Key") == "used":
            return reply
        return server(request)

    run = new_run(respond)
    run.used_key = UsedKey("used", "create_user_api_key")
    apply_domains.make(run)
    run.evidence.working_calls.clear()

    assert verdict_of(run, "domains.reused").startswith(verdict)
    assert run.behavior.values.get("idempotency_scope") == scope


@pytest.mark.parametrize("declared_check", [initialize_source, apply_domains])
def test_an_operation_is_repeated_without_a_token_and_as_an_outsider(declared_check: Check) -> None:
    server = Server()

    run = make_check(declared_check, server, outsider_token="outsider")

    # The server does not check who sends a request.
    assert [fault for fault in faults(run) if "outsider" in fault] == [
        "condition.missing: the same key, as an outsider: it should have been refused"
    ]
    number = "2" if declared_check is initialize_source else "4"
    assert number not in operations_without_proof(run, "bearer").split(", ")


def test_each_role_starts_the_operations_that_the_check_may_start() -> None:
    senders: list[tuple[str, str]] = []

    def respond(request: Request) -> Reply:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        senders.append((request.path.rpartition("/")[2], token))
        return _FORBIDDEN if token == "reader" else _MISMATCH

    tokens = {"reader_token": "reader", "maintainer_token": "maintainer"}
    run = make_check(
        start_with_each_role, respond, allow=frozenset(["source", "domains"]), **tokens
    )

    assert senders == [
        ("source:initialize", "reader"),
        ("source:initialize", "maintainer"),
        ("domains", "reader"),
        ("domains", "maintainer"),
    ]
    roles = {name: value for name, value in run.behavior.values.items() if "role" in name}
    assert roles == {"domains_role": "maintainer", "source_role": "maintainer"}
