"""Arguments that identify an operation: its id, or its document from a response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

OperationLike: TypeAlias = str | Mapping[str, Any]
"""An operation's id, or its document from a response."""


def id_of_operation(operation: OperationLike) -> str:
    """Return an operation's id. Raises ValueError if a document has no id."""
    if isinstance(operation, str):
        return operation
    if not isinstance(operation, Mapping):  # for example, an HTTP client's response object
        kind = type(operation).__name__
        raise ValueError(
            f"this {kind} is not an operation: give the id or the JSON of an operation"
        )
    id_ = operation.get("id")
    if not isinstance(id_, str):
        what = operation.get("code") or f"it has {', '.join(map(str, operation)) or 'nothing'}"
        raise ValueError(f"this is not an operation, because it has no id: {what}")
    return id_
