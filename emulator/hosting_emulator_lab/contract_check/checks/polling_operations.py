"""Polls the operations that the check started until they end, at the intervals that they ask for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import count

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.resources import TERMINAL
from hosting_emulator.contract.value_checks import moment
from hosting_emulator_lab.contract_check.checks.authentication import send_invalid_tokens
from hosting_emulator_lab.contract_check.checks.deployment_pages import items_of
from hosting_emulator_lab.contract_check.checks.roles import record_least_role
from hosting_emulator_lab.contract_check.checks.starting_operations import (
    DOMAINS,
    OPERATION_KEYS,
    SOURCE,
)
from hosting_emulator_lab.contract_check.declared_check import declare_check
from hosting_emulator_lab.contract_check.response import ServerResponse, same_value
from hosting_emulator_lab.contract_check.run import UNUSED_ID, AcceptedOperation, CheckRun

#: Common paths of operations. A Location header in a response is tried first.
_COMMON_PATHS = (
    "/v1/operations/{operation_id}",
    "/v1/projects/{project_id}/operations/{operation_id}",
)
#: The wait between polls in seconds, if the operation does not specify it.
_DEFAULT_POLL_S = 1.0
#: The longest wait that an operation can ask for, in seconds: longer than any patience.
_LONGEST_POLL_S = 10**9


@declare_check(allow=("source", "domains"))
def poll_operations(run: CheckRun) -> None:
    """Poll each operation once, and then poll one after the other until it ends."""
    if not run.accepted:
        return
    _discover_path(run, run.accepted[0])
    if not run.operation_path:
        run.evidence.skips(
            OPERATION_KEYS,
            "where to poll operations is unknown: set it with --assume operation_path=/v1/…",
        )
        return
    for accepted in run.accepted:
        run.states[accepted.id] = accepted.response.text("state") or ""
        _judge_blocking(run, accepted, accepted.response)
    first_polls = [(accepted, _poll(run, accepted, 1)) for accepted in run.accepted]
    for accepted, response in first_polls:
        # An operation that has ended before the check waited ends immediately.
        if _has_ended(response) and accepted.waited_s == run.waited_s:
            profile = CALLS[accepted.response.call_id].success_assumption
            assert profile is not None
            run.behavior.record(profile, "immediate")
    for accepted, response in first_polls:
        last = _poll_to_end(run, response, partial(_poll, run, accepted))
        if last.ok and _has_ended(last):
            _judge_end(run, accepted, last)
        elif last.ok:
            reason = "an operation had not ended within --patience"
            run.evidence.skips(("operation.result", "operation.error", "error-object"), reason)
            run.behavior.note(reason)


def _has_ended(response: ServerResponse) -> bool:
    return response.text("state") in TERMINAL


def _discover_path(run: CheckRun, accepted: AcceptedOperation) -> None:
    """Set the path of operations: the configured path, or the first path that works."""
    configured_path = run.options.assumed.get("operation_path")
    if configured_path:
        run.operation_path = configured_path
        run.poll(accepted.id, "to discover the path", judged=False)
        run.behavior.record("operation_path", configured_path)
        return
    for path in (*_paths_in_location(run, accepted), *_COMMON_PATHS):
        run.operation_path = path
        response = run.poll(accepted.id, "to discover the path", judged=False)
        if response.ok and "state" in response.fields:
            run.behavior.record("operation_path", path)
            return
    run.operation_path = ""


def _paths_in_location(run: CheckRun, accepted: AcceptedOperation) -> Iterator[str]:
    """Yield the path of operations if the Location header of an operation shows it."""
    location = accepted.response.header("Location") or ""
    path = location[location.find("/v1/") :]
    path = path.replace(accepted.id, "{operation_id}")
    path = path.replace(run.options.project_id, "{project_id}")
    is_path = path.startswith("/v1/") and "{operation_id}" in path
    if is_path and path.isascii() and path.isprintable():
        yield path.replace(" ", "")


def _poll(run: CheckRun, accepted: AcceptedOperation, number: int) -> ServerResponse:
    """Poll an operation, and compare it with the response that accepted it and with its state."""
    purpose = f"{accepted.response.call_id}, poll {number}"
    response = run.poll(accepted.id, purpose)
    if not run.expect.success("durable", response):
        return response
    is_same = same_value(response["id"], accepted.id)
    keys = ("durable", "operation.id")
    run.evidence.judge(keys, is_same, response, "it is another operation")
    deployment_id = accepted.response["deployment_id"]
    if deployment_id is not None or response["deployment_id"] is not None:
        run.evidence.judge(
            "operation.deployment_id",
            deployment_id == response["deployment_id"],
            response,
            "it does not name its deployment in every state",
        )
    created_ms = moment(accepted.response["created_at"])
    has_same_time = same_value(created_ms, moment(response["created_at"]))
    run.evidence.judge("operation.times", has_same_time, response, "created_at has changed")
    _judge_blocking(run, accepted, response)
    _judge_state(run, accepted, response)
    return response


def _judge_state(run: CheckRun, accepted: AcceptedOperation, response: ServerResponse) -> None:
    """Judge whether an operation that had ended keeps its state. Before the end, a state may go back."""
    state = response.text("state")
    previous_state = run.states.get(accepted.id)
    run.states[accepted.id] = state or previous_state or ""
    if previous_state in TERMINAL and state is not None:
        run.evidence.judge(
            "durable", state == previous_state, response, f"it had ended as {previous_state}"
        )
    elif previous_state == "running" and state == "queued":
        fact = "it was running and is queued again; the contract shows no transitions"
        run.behavior.note(f"{response}: {fact}")


def _judge_blocking(run: CheckRun, accepted: AcceptedOperation, response: ServerResponse) -> None:
    """Judge the operation for which an operation waits. If that operation is unknown, poll it once."""
    blocking_id = response.text("blocking_operation_id")
    if blocking_id is None:
        return
    is_other = blocking_id != accepted.id
    run.evidence.judge("states.blocking", is_other, response, "it waits for itself")
    accepted_ids = [operation.id for operation in run.accepted]
    if blocking_id in accepted_ids or blocking_id in run.states:
        return
    run.states[blocking_id] = ""
    blocking = run.poll(blocking_id, "the blocking operation", judged=False)
    if blocking.code == "resource_not_found":
        run.evidence.differs(
            "operation.blocking_operation_id",
            response,
            "the operation that it names does not exist",
        )


def _poll_to_end(
    run: CheckRun, response: ServerResponse, poll: Callable[[int], ServerResponse]
) -> ServerResponse:
    """Poll until an operation has ended or the patience is used up. Return the last response.

    `response` is the response to the first poll, and `poll` takes the number of the next poll.
    """
    for number in count(2):
        if not response.ok or _has_ended(response) or not run.wait(_poll_delay_s(response)):
            break
        response = poll(number)
    return response


def _poll_delay_s(response: ServerResponse) -> float:
    seconds = response.part("progress").get("next_poll_after_seconds")
    if type(seconds) is int and seconds >= 0:
        return float(min(seconds, _LONGEST_POLL_S))
    return _DEFAULT_POLL_S


def _judge_end(run: CheckRun, accepted: AcceptedOperation, ended: ServerResponse) -> None:
    """Judge whether an ended operation stays unchanged, and record what a replay of its start returns."""
    state = ended["state"]
    first = accepted.response
    after = run.poll(accepted.id, f"{first.call_id}, after its end")
    if run.expect.success("durable", after):
        keys: tuple[str, ...] = ("durable",)
        if "reconciliation" in after.fields:
            keys = ("durable", "operation.reconciliation")
        run.evidence.judge(keys, after["state"] == state, after, f"it had ended as {state}")
        for name in ("result", "error"):
            if same_value(ended[name], after[name]) is False:
                run.evidence.differs("durable", after, f"it had ended with another {name}")
        _judge_deployment(run, accepted)
    if _has_ended(first):
        return
    replay = accepted.repeat("the same key, after its end")
    if replay.ok and replay["id"] == accepted.id:
        is_current = replay["state"] == state
        run.behavior.record("operation_replay", "current" if is_current else "first_response")


def _judge_deployment(run: CheckRun, accepted: AcceptedOperation) -> None:
    """Judge whether the list contains the deployment of an operation, and names this operation."""
    deployment_id = accepted.response["deployment_id"]
    if deployment_id is None:
        return
    limit = run.name_of("limit_parameter")
    query = f"?{limit}=100" if limit else ""
    page = run.call("list_deployments", "to find the new deployment", query)
    items = {str(item.get("id")).upper(): item for item in items_of(page)}
    deployment = items.get(str(deployment_id).upper())
    has_all_ids = "NONE" not in items
    if deployment is not None:
        is_same = same_value(deployment.get("operation_id"), accepted.id)
        run.evidence.judge(
            "deployment.operation_id", is_same, page, "the deployment names another operation"
        )
    elif items and not page["next_cursor"] and has_all_ids:
        run.evidence.differs("operation.deployment_id", page, "the list lacks the deployment")


@declare_check(allow=("source", "domains"))
def poll_as_others(run: CheckRun) -> None:
    """Poll an operation with invalid tokens and other roles, and poll an operation that does not exist."""
    if not run.operation_path:
        return
    poll = partial(run.poll, run.accepted[0].id)
    send_invalid_tokens(run, poll)
    outsider_token = run.options.outsider_token
    if outsider_token is not None:
        run.expect.not_found(poll("as an outsider", token=outsider_token))
    run.expect.not_found(run.poll(UNUSED_ID, "no such operation"))
    record_least_role(run, "get_operation", lambda token, purpose: poll(purpose, token=token))


@declare_check(allow=("source", "domains"))
def poll_remaining_operations(run: CheckRun) -> None:
    """Poll every other operation to its end, so that the project is free for the next check."""
    if not run.operation_path:
        return
    for operation_id in (*run.created.ids_of(SOURCE), *run.created.ids_of(DOMAINS)):
        if run.states.get(operation_id) in TERMINAL:
            continue
        poll = partial(_poll_remaining, run, operation_id)
        _poll_to_end(run, poll(1), poll)


def _poll_remaining(run: CheckRun, operation_id: str, number: int) -> ServerResponse:
    return run.poll(operation_id, f"remaining operation, poll {number}")
