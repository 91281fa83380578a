"""Operations as arguments: an id, or the document in a call's response."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

OperationLike: TypeAlias = str | Mapping[str, Any]
"""An operation's id, or its document in a call's response."""


def id_of_operation(operation: OperationLike) -> str:
    """Return an operation's id. Raises ValueError for a document without one."""
    if isinstance(operation, str):
        return operation
    if not isinstance(operation, Mapping):  # such as a response whose JSON was not read
        kind = type(operation).__name__
        raise ValueError(f"this is not an operation ({kind}): give its id, or its JSON")
    id_ = operation.get("id")
    if not isinstance(id_, str):
        what = operation.get("code") or f"it has {', '.join(map(str, operation)) or 'nothing'}"
        raise ValueError(f"this is not an operation, because it has no id: {what}")
    return id_
