"""Starts operations: initializes the managed source, and applies the domains."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from hosting_emulator.contract.calls import CallName
from hosting_emulator_lab.contract_check.checks.authentication import replay_as_others
from hosting_emulator_lab.contract_check.checks.idempotency_keys import (
    accepts_key,
    judge_other_case,
    send_short_key,
    short_key,
)
from hosting_emulator_lab.contract_check.checks.malformed_requests import (
    KEY_BOUND_KEYS,
    TOO_LONG_KEY,
)
from hosting_emulator_lab.contract_check.checks.request_ids import accept_request_ids
from hosting_emulator_lab.contract_check.checks.roles import record_least_role
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.refusal_codes import describes_a_state
from hosting_emulator_lab.contract_check.response import ServerResponse, same_value
from hosting_emulator_lab.contract_check.run import CheckRun

#: The sentences that are judged by every check that starts or polls an operation.
OPERATION_KEYS = (
    "durable",
    "operation.id",
    "operation.state",
    "operation.times",
    "states.operation",
    "operation.progress",
    "progress-object",
    "operation.result",
)
SOURCE: CallName = "initialize_managed_source"
DOMAINS: CallName = "apply_project_domains"
_SOURCE_KEYS = ("source.call", "source.accepted", "operation.deployment_id")
_DOMAINS_KEYS = ("domains.call", "domains.accepted", "domains.idempotent", "domains.reused")
#: A source generation that no project has.
_WRONG_GENERATION = 987_654
#: The number of source generations to try.
_MAX_GENERATIONS = 20


class _StartedSource(NamedTuple):
    """The operation that initializes the source, and the generation and key that started it."""

    generation: int
    key: str
    response: ServerResponse


@declare_check(allow=("source",), judges=(*_SOURCE_KEYS, *OPERATION_KEYS))
def initialize_source(run: CheckRun) -> None:
    """Initialize the source after discovering its generation, and repeat the request."""
    started = _start_source(run)
    if started is None:
        return
    generation, key, response = started
    repeat = partial(_initialize, run, generation, key)
    run.accept(response, repeat)
    replay_as_others(run, repeat, run.expect.not_found)
    retried = repeat("the same key and body")
    is_same = retried["id"] == response["id"]
    if retried.code == "idempotency_key_reused":
        run.evidence.differs("condition.reused", retried, "the request is the same")
    if retried.ok and not is_same and retried["id"] is not None:
        # Only add a note, because the contract does not show the response to a retry of this call.
        # Poll the second operation until it ends, too.
        run.behavior.note(f"a retry of {SOURCE} starts another operation")
    changed = _initialize(run, generation + 1, key, "the same key, another generation")
    run.expect.refusal("condition.reused", changed, "idempotency_key_reused")
    other = _initialize(
        run, _WRONG_GENERATION, key.swapcase(), "the key with its case swapped, a wrong generation"
    )
    judge_other_case(run, other, is_new=other["id"] != response["id"])
    if retried.ok and is_same:
        accept_request_ids(run, repeat)
    _send_keys_at_bounds(run, other.code)


def _send_keys_at_bounds(run: CheckRun, refusal: str | None) -> None:
    """Send the shortest and the longest key. `refusal` is the code for a wrong generation."""
    long_key = run.new_long_key()
    for key in (short_key(run), long_key):
        purpose = f"an Idempotency-Key of {len(key)}, a wrong generation"
        response = _initialize(run, _WRONG_GENERATION, key, purpose)
        # Skip this if the server calls a wrong generation an invalid request, because then the code
        # does not show a mistake in the key.
        if refusal != "invalid_request":
            accepts_key(run, response)


def _initialize(
    run: CheckRun, generation: int, key: str | None, purpose: str, **request: Any
) -> ServerResponse:
    body = {"expected_source_generation": generation}
    return run.call(SOURCE, purpose, key=key, body=body, **request)


def _start_source(run: CheckRun) -> _StartedSource | None:
    """Try one generation after the other until the call succeeds. Return None if no generation works."""
    key = run.new_key()
    response = _initialize(run, _WRONG_GENERATION, key, "a wrong generation")
    if response.ok:
        run.behavior.record("source_generation", "ignored")
        return _StartedSource(_WRONG_GENERATION, key, response)
    if response.code in ("forbidden", "resource_not_found") or not response.refused:
        run.expect.success("source.call", response)
        return None
    wrong_generation_code = response.code
    for generation in range(_MAX_GENERATIONS):
        without_key = _send_without_key(run, generation)
        if any(refusal.ok for refusal, _ in without_key):
            started = next(refusal for refusal, _ in without_key if refusal.ok)
            run.expect.invalid_input("idempotency-key", started)
            run.behavior.record("source_generation", "checked")
            return None
        response = _initialize(run, generation, key, f"generation {generation}")
        if generation == 0:
            remembers_refusals = response.code == "idempotency_key_reused"
            run.behavior.record(
                "idempotency_remembers", "all_answers" if remembers_refusals else "successes"
            )
            if remembers_refusals:
                key = run.new_key()
                response = _initialize(run, generation, key, f"generation {generation}")
        if response.ok:
            # The generation was right, so only the key can have caused these refusals.
            for refusal, keys in without_key:
                run.expect.invalid_input(keys, refusal)
            run.behavior.record("source_generation", "checked")
            return _StartedSource(generation, key, response)
        if response.code != wrong_generation_code:
            break
        key = run.new_key()
    reason = f"no expected_source_generation from 0 to {generation} is accepted"
    run.evidence.skips(_SOURCE_KEYS, f"{response}: {reason}")
    return None


def _send_without_key(
    run: CheckRun, generation: int
) -> list[tuple[ServerResponse, str | tuple[str, ...]]]:
    """Send a generation without a valid Idempotency-Key.

    Return each response with the sentences that require the request to be refused.
    """
    prefix = f"generation {generation}"
    without_key = _initialize(run, generation, None, f"{prefix}, without Idempotency-Key")
    empty = _initialize(run, generation, "", f"{prefix}, an empty Idempotency-Key")
    too_long = _initialize(run, generation, TOO_LONG_KEY, f"{prefix}, an Idempotency-Key of 129")
    return [
        (without_key, "idempotency-key"),
        (empty, KEY_BOUND_KEYS),
        (too_long, KEY_BOUND_KEYS),
    ]


@declare_check(allow=("domains",), judges=(*_DOMAINS_KEYS, *OPERATION_KEYS))
def apply_domains(run: CheckRun) -> None:
    """Apply the domains, repeat the request, and send it under a key of another call."""
    key = run.new_long_key()

    def apply(purpose: str, **request: Any) -> ServerResponse:
        return run.call(DOMAINS, purpose, **{"key": key, **request})

    response = apply("an Idempotency-Key of 128")
    if response.code == "invalid_request":
        refused_long_key = response
        key = run.new_key()
        response = apply("")
        if response.ok:
            accepts_key(run, refused_long_key)
    if not run.expect.success("domains.call", response):
        return
    run.accept(response, apply)
    replay_as_others(run, apply, run.expect.not_found)
    retried = apply("the same key")
    if run.expect.success("domains.idempotent", retried):
        is_same = same_value(response["id"], retried["id"])
        run.evidence.judge("domains.idempotent", is_same, retried, "it is another operation")
    accept_request_ids(run, apply)
    other = apply("the same key with its case swapped", key=key.swapcase())
    is_new = other["id"] != response["id"]
    # Check this with a new key, because a service may return the active operation for any key.
    if is_new or apply("a new key", key=run.new_key())["id"] != response["id"]:
        judge_other_case(run, other, is_new=is_new)
    send_short_key(run, apply)
    _reuse_key_of_another_call(run)


def _reuse_key_of_another_call(run: CheckRun) -> None:
    """Apply the domains under a key of another call.

    A request without a body can differ only in its path, so only the key of another call can be a
    reused key.
    """
    if run.used_key is None:
        run.evidence.skips("domains.reused", "a key to reuse needs --allow flag or --allow keys")
        return
    response = run.call(DOMAINS, f"the key of {run.used_key.call_id}", key=run.used_key.key)
    if response.ok:
        run.behavior.record("idempotency_scope", "principal_and_call")
        run.evidence.skips(
            "domains.reused",
            "an Idempotency-Key belongs to one call, and this call has no body that could change",
        )
    elif describes_a_state(response.code):
        run.evidence.skips("domains.reused", response)
    elif run.expect.refusal("domains.reused", response, "idempotency_key_reused"):
        run.behavior.record("idempotency_scope", "principal")


@declare_check(allow=("source", "domains"))
def start_with_each_role(run: CheckRun) -> None:
    """Start operations as each role for which there is a token."""

    def initialize(token: str, purpose: str) -> ServerResponse:
        return _initialize(run, _WRONG_GENERATION, run.new_key(), purpose, token=token)

    if "source" in run.options.allow:
        record_least_role(run, SOURCE, initialize)
    if "domains" in run.options.allow:
        record_least_role(run, DOMAINS)
