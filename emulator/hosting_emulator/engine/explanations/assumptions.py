"""Sentences about the assumptions that influenced a response."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs

from hosting_emulator.contract.assumption_table import affects_call, affects_every_call, describe
from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions
from hosting_emulator.contract.call_table import parameter_name, problem_status
from hosting_emulator.contract.calls import AssumedStatus, CallSpec
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.engine.exchange import Entry


def explain_assumptions(
    assumptions: Assumptions, entry: Entry, spec: CallSpec | None
) -> Iterator[str]:
    """Explain the assumptions that determined a response, and the non-default assumptions that can
    affect it.
    """
    # A dict drops repeated names and preserves the order.
    deciding = dict.fromkeys(_deciding(assumptions, entry, spec))
    for name in deciding:
        if name == "problem_statuses":
            yield (
                f"problem_statuses: the contract gives no status for {entry.code}, so "
                f"{entry.status} is assumed."
            )
        else:
            yield _describe(assumptions, name)
    for name in assumptions.changes():
        affects = affects_every_call(name) or (spec is not None and affects_call(name, spec))
        if affects and name not in deciding:
            yield _describe(assumptions, name)


def _deciding(assumptions: Assumptions, entry: Entry, spec: CallSpec | None) -> Iterator[str]:
    """Yield the names of the assumptions that determined a response, including those with default
    values.
    """
    if entry.code is not None:
        if not entry.was_decided_by_fault:
            yield from _deciding_refusal(assumptions, entry, spec)
        return
    if spec is None or not 200 <= entry.status < 300:
        return
    if entry.replayed:
        if spec.replay_status is not None:
            yield spec.replay_status.assumption
        elif spec.response == "Operation":
            yield "operation_replay"
    else:
        yield from _deciding_success(assumptions, entry, spec)
    if assumptions.request_id_on_success != DEFAULTS.request_id_on_success:
        yield "request_id_on_success"


def _deciding_success(assumptions: Assumptions, entry: Entry, spec: CallSpec) -> Iterator[str]:
    """Yield the names of the assumptions that determined a successful response that was not a replay."""
    if isinstance(spec.success, AssumedStatus):
        yield spec.success.assumption
    if entry.assumption is not None:
        yield entry.assumption
    if spec.success_assumption is not None:
        yield spec.success_assumption
    if spec.path_assumption is not None:
        yield spec.path_assumption
    query = parse_qs(entry.query, keep_blank_values=True)
    for parameter in spec.query:
        left_out = parameter_name(parameter, assumptions) not in query
        if left_out and parameter.default_assumption is not None:
            yield parameter.default_assumption
    is_last_page = entry.response_body.endswith((b'"next_cursor":null}', b"]}"))
    if is_last_page and spec.response == "DeploymentPage":
        yield "last_page_cursor"
    if entry.body and spec.body is None:
        yield "unexpected_body"


def _deciding_refusal(
    assumptions: Assumptions, entry: Entry, spec: CallSpec | None
) -> Iterator[str]:
    """Yield the names of the assumptions that determined a refusal."""
    code = str(entry.code)
    path_id = entry.project or entry.operation
    if code == "resource_not_found" and path_id and not is_ulid(path_id):
        yield "malformed_project_id"
    if entry.assumption is not None:
        yield entry.assumption
    problem = PROBLEMS.get(code)
    if spec is not None and problem and problem_status(code, assumptions) != entry.status:
        yield "listed_statuses"
    if problem is not None and "status" not in problem.specified:
        yield "problem_statuses"


def _describe(assumptions: Assumptions, name: str) -> str:
    """Return sentences that state the value and the meaning of an assumption."""
    meaning = _meanings()[name]
    if name not in assumptions.__struct_fields__:
        return f"{name} cannot be set. {meaning}"
    value = getattr(assumptions, name)
    default = getattr(DEFAULTS, name)
    if value == default:
        return f"{name} is {_text(value)}, the default. {meaning}"
    return f"{name} is {_text(value)} (default {_text(default)}). {meaning}"


@lru_cache(maxsize=1)
def _meanings() -> dict[str, str]:
    return {row["name"]: row["about"] for row in describe(DEFAULTS)}


def _text(value: Any) -> str:
    if isinstance(value, tuple | list):
        return " ".join(value)
    return str(value)
