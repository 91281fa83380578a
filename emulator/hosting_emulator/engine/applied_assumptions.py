"""Which assumptions shaped an answer: those that were changed, and defaults that decided this one."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import parse_qs

from hosting_emulator.contract.assumptions import DEFAULTS, Assumptions, describe
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.engine.request_log import Entry, sent_header
from hosting_emulator.world.value import World

_EVERY_CALL = (
    *("token_audience", "rate_limit", "malformed_project_id", "body_limit_bytes"),
    *("request_id_invalid", "unknown_query_parameters", "timestamp_form", "empty_fields"),
)


def applied_assumptions(world: World, entry: Entry, spec: CallSpec | None) -> Iterator[str]:
    """Say of each assumption that shaped an answer what it is."""
    assumptions = world.assumptions
    deciding = list(dict.fromkeys(_deciding(assumptions, entry, spec)))
    changed = assumptions.changes()
    for name in deciding:
        yield _says(assumptions, name) if name != "problem_statuses" else _status(entry)
    for name in (*(spec.assumptions if spec else ()), *_EVERY_CALL):
        if name in changed and name not in deciding:
            yield _says(assumptions, name)


def _deciding(assumptions: Assumptions, entry: Entry, spec: CallSpec | None) -> Iterator[str]:
    """Yield the assumptions that decided this very answer, changed or not."""
    if entry.code is not None:
        yield from _of_refusal(entry, spec)
    elif spec is None or not 200 <= entry.status < 300:
        return
    elif entry.replayed:
        if spec.replayed is not None:
            yield spec.replayed
        elif spec.response == "Operation":
            yield "operation_replay"
    else:
        if isinstance(spec.success, str):
            yield spec.success
        yield from _of_success(assumptions, entry, spec)
    if entry.code is None and assumptions.request_id_on_success != DEFAULTS.request_id_on_success:
        yield "request_id_on_success"


def _of_success(assumptions: Assumptions, entry: Entry, spec: CallSpec) -> Iterator[str]:
    query = parse_qs(entry.query, keep_blank_values=True)
    if spec.call_id == "initialize_managed_source":
        yield "source_profile"
    elif spec.call_id == "apply_project_domains":
        yield "domains_profile"
    elif spec.call_id == "get_operation":
        yield "operation_path"
    elif spec.call_id == "list_deployments":
        yield "deployment_order"
        if assumptions.limit_parameter not in query:
            yield "default_page_size"
        if entry.answer.endswith((b'"next_cursor":null}', b"]}")):
            yield "last_page_cursor"
    elif spec.call_id == "read_database_compute" and assumptions.environment_parameter not in query:
        yield "missing_environment"
    if entry.body and spec.body is None:
        yield "unexpected_body"


def _of_refusal(entry: Entry, spec: CallSpec | None) -> Iterator[str]:
    if entry.acted:
        return  # the fault decided
    code = str(entry.code)
    if spec is not None and code == "forbidden" and spec.role in Assumptions.__struct_fields__:
        yield spec.role
    if code == "resource_not_found" and not is_ulid(entry.project or entry.operation or "0" * 26):
        yield "malformed_project_id"
    if code == "etag_mismatch":
        yield "source_generation"
    if code == "rate_limited":
        yield "rate_limit"
    if code == "payload_too_large":
        yield "body_limit_bytes"
    if code == "invalid_request":
        yield from _of_invalid(entry, spec)
    problem = PROBLEMS.get(code)
    if problem is not None and "status" not in problem.specified:
        yield "problem_statuses"


def _of_invalid(entry: Entry, spec: CallSpec | None) -> Iterator[str]:
    if spec is not None and spec.call_id == "read_database_compute" and not entry.query:
        yield "missing_environment"
    request_id = sent_header(entry, b"x-request-id")
    if request_id is not None and not 1 <= len(request_id) <= 128:
        yield "request_id_invalid"


def _status(entry: Entry) -> str:
    return f"problem_statuses: the contract gives {entry.code} no status, so {entry.status} is assumed."


def _says(assumptions: Assumptions, name: str) -> str:
    value, default = getattr(assumptions, name), getattr(DEFAULTS, name)
    default_too = ", the default" if value == default else f" (default {_word(default)})"
    return f"{name} is {_word(value)}{default_too}. {_about()[name]}"


@lru_cache(maxsize=1)
def _about() -> dict[str, str]:
    return {row["name"]: row["about"] for row in describe(DEFAULTS)}


def _word(value: Any) -> str:
    if isinstance(value, tuple | list):
        return " ".join(value)
    if isinstance(value, dict):
        return " ".join(f"{name}={part}" for name, part in value.items()) or "empty"
    return str(value)
