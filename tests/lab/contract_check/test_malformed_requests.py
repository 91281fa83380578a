"""The check sends requests that break the contract, which a server must refuse."""

from __future__ import annotations

import json

from hosting_emulator_lab.contract_check.checks.malformed_requests import (
    send_invalid_bodies,
    send_invalid_idempotency_keys,
)
from hosting_emulator_lab.contract_check.run import CheckRun
from tests.lab.contract_check.scripted_server import (
    Reply,
    Request,
    faults_of,
    make_check,
    problem,
)

_REFUSED = "it should have been refused"


def accepted_requests(run: CheckRun) -> list[str]:
    """Return the purpose of each request that should have been refused, with the broken sentences."""
    return [
        f"{' '.join(row.keys)}: {row.response.purpose}"
        for row in run.evidence.differences
        if row.response is not None and row.fault == _REFUSED
    ]


def test_a_server_that_ignores_idempotency_keys_accepts_twelve_invalid_requests() -> None:
    keys: list[str | None] = []

    def respond(request: Request) -> Reply:
        keys.append(request.headers.get("Idempotency-Key"))
        return Reply({})

    run = make_check(send_invalid_idempotency_keys, respond)

    bounds = "idempotency-key limit.idempotency-key"
    calls_with_a_key = 4
    assert accepted_requests(run) == calls_with_a_key * [
        "idempotency-key: without Idempotency-Key",
        f"{bounds}: an empty Idempotency-Key",
        f"{bounds}: an Idempotency-Key of 129",
    ]
    assert [key if key is None else len(key) for key in keys] == calls_with_a_key * [None, 0, 129]


def test_a_server_that_ignores_bodies_accepts_every_invalid_body() -> None:
    run = make_check(send_invalid_bodies, lambda _: Reply({}))

    responses = [row.response for row in run.evidence.differences if row.response is not None]
    assert list(dict.fromkeys(response.call_id for response in responses)) == [
        "set_project_powered_by_flag",
        "create_user_api_key",
        "initialize_managed_source",
    ]
    assert accepted_requests(run) == [
        "flag.body flag.request: an empty body",
        "flag.body flag.request: enabled is a string",
        "flag.body flag.request: enabled is a number",
        "flag.body flag.request: enabled is null",
        "flag.body flag.request: an additional property",
        "flag.body flag.request: an array",
        "flag.body flag.request: half a body",
        "flag.body flag.request: no body",
        "keys.body limit.key-name: an empty name",
        "keys.body limit.key-name: a name of 65",
        "keys.body: name is a number",
        "keys.body: name is null",
        "keys.body: no name",
        "keys.body: an array",
        "keys.body: half a body",
        "source.body: the generation is a string",
        "source.body: the generation is not an integer",
        "source.body: the generation is a boolean",
        "source.body: the generation is null",
        "source.body: an array",
        "source.body: half a body",
    ]


def test_half_a_body_is_sent_as_it_is() -> None:
    broken_bodies: list[bytes | None] = []

    def respond(request: Request) -> Reply:
        try:
            json.loads(request.content or b"")
        except ValueError:
            broken_bodies.append(request.content)
        return problem(400, "invalid_request")

    run = make_check(send_invalid_bodies, respond)

    assert broken_bodies == [
        b'{"enabled":',
        b"",
        b'{"name":',
        b'{"expected_source_generation":',
    ]
    assert faults_of(run) == []
