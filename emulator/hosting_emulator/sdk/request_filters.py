"""Filters of requests, as types and errors. `request_matching` applies them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from hosting_emulator.sdk.names import NoSuchName

if TYPE_CHECKING:
    from hosting_emulator.contract.calls import CallName

#: The name of a call, or of another logged request: a ticket was redeemed at its dev origin.
RequestName: TypeAlias = "CallName | Literal['redeem_ticket']"
#: A filter: a value, several alternatives, or a comparison such as `{"at_least": 400}`.
TextFilter: TypeAlias = str | Collection[str] | Mapping[str, Any]
StatusFilter: TypeAlias = int | str | Collection[int | str] | Mapping[str, Any]
#: An operation's id, or its document in a call's response.
OperationFilter: TypeAlias = TextFilter


class Filters(TypedDict, total=False):
    """Filters of requests, besides the call. All of them must match.

    `user` and `project` are aliases or ids; the user `nobody` selects requests without a valid
    token. `operation` is an id or the document of an operation. `path` does not have the world's
    prefix; `*` matches any string and `{name}` matches one segment. `status` can be a class such as
    `4xx`. `key` is the Idempotency-Key. `lost` is the kind of fault that lost the response, or
    whether it was lost. `failed` selects requests that were refused or whose response was lost. A
    list holds alternatives. A value that can never match raises a TypeError.
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
    """A filter that no request can ever match. The message names the right form."""


class UnknownFilterName(NoSuchName, ImpossibleFilter):
    """A filter names a user or a project that does not exist in the world."""
