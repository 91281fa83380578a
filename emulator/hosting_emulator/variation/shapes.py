"""The shapes of answers: which members of which objects may vary. A test holds them to the models."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple


class Shape(NamedTuple):
    """An object of the contract: its members that are objects or lists of them, by shape.

    `optional` are those that may as well be null or absent without a value; `times` are timestamps;
    the contract allows no more members in a `closed` one. `open` are members of which it does not
    say whether they must be there, though they have a value: none without which a client cannot go
    on, and not an operation's deployment_id, which is present in every state once there is one.
    """

    parts: Mapping[str, str] = {}
    optional: tuple[str, ...] = ()
    times: tuple[str, ...] = ()
    closed: bool = False
    open: tuple[str, ...] = ()


SHAPES: dict[str, Shape] = {
    "PoweredByFlag": Shape(times=("enabled_at",), closed=True),
    "Operation": Shape(
        parts={
            "error": "OperationError",
            "progress": "Progress",
            "reconciliation": "Reconciliation",
        },
        optional=(
            *("blocking_operation_id", "deployment_id", "result", "error", "progress"),
            "reconciliation",
        ),
        times=("created_at", "updated_at"),
        open=(
            *("created_at", "updated_at", "blocking_operation_id", "result", "error"),
            "reconciliation",
        ),
    ),
    "OperationError": Shape(),
    "Progress": Shape(
        optional=("deployment_id", "next_poll_after_seconds", "build_completed_at"),
        times=("observed_at", "build_completed_at"),
        open=(
            *("phase", "project_id", "observed_at", "suggested_action", "deployment_id"),
            *("next_poll_after_seconds", "build_completed_at"),
        ),
    ),
    "Reconciliation": Shape(
        optional=("attempt_id", "observed_at", "suggested_action"),
        times=("observed_at",),
        open=("state", "attempt_id", "observed_at", "suggested_action"),
    ),
    "Deployment": Shape(
        optional=("artifact_digest", "url"),
        times=("created_at", "updated_at"),
        open=(
            *("project_id", "operation_id", "commit_sha", "source_digest", "build_plan_digest"),
            *("status", "created_at", "updated_at", "artifact_digest", "url"),
        ),
    ),
    "DeploymentPage": Shape(parts={"items": "Deployment"}),
    "UserApiKeyCreation": Shape(parts={"key": "UserApiKey"}),
    "UserApiKey": Shape(
        optional=("last_used_at",),
        times=("expires_at", "created_at", "last_used_at"),
        open=(
            *("organization_id", "name", "obfuscated_value", "permissions"),
            *("expires_at", "created_at", "last_used_at"),
        ),
    ),
    "DnsAuthorization": Shape(times=("expires_at",)),
    "DevAccessTicket": Shape(
        times=("expires_at",),
        open=("ticket_id", "project_id", "environment_id", "origin", "expires_at"),
    ),
    "DatabaseCompute": Shape(
        parts={"database": "DatabasePlacement"},
        times=("observed_at",),
        open=("project_id", "environment", "data_mode", "observed_at"),
    ),
    "DatabasePlacement": Shape(
        optional=("pending_state",),
        open=(
            *("min_cu", "max_cu", "min_memory_gb", "max_memory_gb", "suspend_timeout_seconds"),
            *("state", "pending_state", "disabled", "region"),
        ),
    ),
    "ProblemDetails": Shape(),
}


class Found(NamedTuple):
    """An object in an answer: its shape, its name in the answer (`items/3`), and itself."""

    shape: str
    place: str
    members: dict[str, Any]


def objects_in(shape: str, document: dict[str, Any], place: str = "") -> Iterator[Found]:
    """Walk an answer's objects, each before those in it."""
    yield Found(shape, place, document)
    for name, inner in SHAPES[shape].parts.items():
        value = document.get(name)
        if isinstance(value, dict):
            yield from objects_in(inner, value, f"{place}/{name}")
        elif isinstance(value, list):
            for number, item in enumerate(value):
                yield from objects_in(inner, item, f"{place}/{name}/{number}")
