"""The types and exceptions for request filters. The filters are applied in `request_matching`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from hosting_emulator.sdk.names import NoSuchName

if TYPE_CHECKING:
    from hosting_emulator.contract.calls import CallName

#: The name of a call, or `redeem_ticket` for redeeming a ticket at its dev origin.
RequestName: TypeAlias = "CallName | Literal['redeem_ticket']"
#: A filter: one value, a collection of alternatives, or a comparison such as `{"at_least": 400}`.
TextFilter: TypeAlias = str | Collection[str] | Mapping[str, Any]
StatusFilter: TypeAlias = int | str | Collection[int | str] | Mapping[str, Any]
#: An operation's id, or its document from a response.
OperationFilter: TypeAlias = TextFilter


class Filters(TypedDict, total=False):
    """The request filters, except the call. All of them must match.

    `user` and `project` are aliases or ids. The user `nobody` selects requests that were refused
    because they had no valid token. `operation` is an operation's id or document. `path` is a path
    without the world's prefix, in which `*` matches any string and `{name}` matches one segment.
    `status` can be a class such as `4xx`. `key` is the Idempotency-Key. `lost` is the kind of fault
    that caused the response to be lost, or a bool that says whether it was lost. `failed` selects
    requests that were refused or whose response was lost. A list contains alternatives. TypeError
    is raised for a value that can never match.
    """

    user: TextFilter
    project: TextFilter
    operation: OperationFilter
    method: TextFilter
    path: TextFilter
    key: TextFilter
    status: StatusFilter
    code: TextFilter
    replayed: bool
    lost: bool | TextFilter
    failed: bool


class ImpossibleFilter(TypeError, ValueError):
    """Raised for a filter that no request can ever match. The message explains what would be valid."""


class UnknownFilterName(NoSuchName, ImpossibleFilter):
    """Raised if a filter names a user or project that does not exist in the world."""
