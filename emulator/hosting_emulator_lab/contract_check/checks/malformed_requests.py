"""Sends requests that must be refused: without a valid Idempotency-Key, or with an invalid body."""

from __future__ import annotations

from typing import Any, NamedTuple

from hosting_emulator.contract.calls import CALLS
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.run import PREFIX, CheckRun

KEY_BOUND_KEYS = ("idempotency-key", "limit.idempotency-key")
TOO_LONG_KEY = "k" * 129


@declare_check()
def send_invalid_idempotency_keys(run: CheckRun) -> None:
    """Make the calls that require an Idempotency-Key without a key, and with keys out of bounds."""
    for call_id in (spec.call_id for spec in CALLS.values() if spec.idempotent):
        without_key = run.call(call_id, "without Idempotency-Key", key=None)
        run.expect.invalid_input("idempotency-key", without_key)
        empty = run.call(call_id, "an empty Idempotency-Key", key="")
        run.expect.invalid_input(KEY_BOUND_KEYS, empty)
        too_long = run.call(call_id, "an Idempotency-Key of 129", key=TOO_LONG_KEY)
        run.expect.invalid_input(KEY_BOUND_KEYS, too_long)


class _InvalidBody(NamedTuple):
    """An invalid body, with a description of the mistake in it."""

    body: Any
    mistake: str


class _InvalidBodies(NamedTuple):
    """Invalid bodies of one resource, with the sentences that each of them breaks."""

    resource: str
    keys: tuple[str, ...]
    bodies: tuple[_InvalidBody, ...]


_INVALID_BODIES = (
    _InvalidBodies(
        "SetPoweredByFlagRequest",
        ("flag.body", "flag.request"),
        (
            _InvalidBody({}, "an empty body"),
            _InvalidBody({"enabled": "true"}, "enabled is a string"),
            _InvalidBody({"enabled": 1}, "enabled is a number"),
            _InvalidBody({"enabled": None}, "enabled is null"),
            _InvalidBody({"enabled": True, "hosting_emulator_check": 1}, "an additional property"),
            _InvalidBody([True], "an array"),
            _InvalidBody(b'{"enabled":', "half a body"),
            _InvalidBody(b"", "no body"),
        ),
    ),
    _InvalidBodies(
        "CreateUserApiKeyRequest",
        ("keys.body", "limit.key-name"),
        (
            _InvalidBody({"name": ""}, "an empty name"),
            _InvalidBody({"name": PREFIX.ljust(65, "x")}, "a name of 65"),
        ),
    ),
    _InvalidBodies(
        "CreateUserApiKeyRequest",
        ("keys.body",),
        (
            _InvalidBody({"name": 7}, "name is a number"),
            _InvalidBody({"name": None}, "name is null"),
            _InvalidBody({}, "no name"),
            _InvalidBody([PREFIX], "an array"),
            _InvalidBody(b'{"name":', "half a body"),
        ),
    ),
    _InvalidBodies(
        "InitializeManagedSourceRequest",
        ("source.body",),
        (
            _InvalidBody({"expected_source_generation": "0"}, "the generation is a string"),
            _InvalidBody({"expected_source_generation": 1.5}, "the generation is not an integer"),
            _InvalidBody({"expected_source_generation": True}, "the generation is a boolean"),
            _InvalidBody({"expected_source_generation": None}, "the generation is null"),
            _InvalidBody([0], "an array"),
            _InvalidBody(b'{"expected_source_generation":', "half a body"),
        ),
    ),
)


@declare_check()
def send_invalid_bodies(run: CheckRun) -> None:
    """Send invalid bodies to each call that has a body."""
    for resource, keys, bodies in _INVALID_BODIES:
        call_id = next(spec.call_id for spec in CALLS.values() if spec.body == resource)
        for body, mistake in bodies:
            run.expect.invalid_input(keys, run.call(call_id, mistake, body=body))
