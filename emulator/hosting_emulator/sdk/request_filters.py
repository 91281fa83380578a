"""Filters of requests, as types and errors. `request_matching` applies them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypedDict

from hosting_emulator.sdk.names import NoSuchName

if TYPE_CHECKING:
    from hosting_emulator.contract.calls import CallName

#: What a request of the log can be besides a call: a ticket was opened at its dev origin.
RequestName: TypeAlias = "CallName | Literal['redeem_ticket']"
#: A filter: a value, several that it may be, or a comparison such as `{"at_least": 400}`.
TextFilter: TypeAlias = str | Collection[str] | Mapping[str, Any]
StatusFilter: TypeAlias = int | str | Collection[int | str] | Mapping[str, Any]
#: An operation's id, or its document as a call responded with it.
OperationFilter: TypeAlias = TextFilter


class Filters(TypedDict, total=False):
    """Filters of requests, beside the call. All of them must match.

    `user` and `project` are aliases or ids; `nobody` is a request without a known token.
    `operation` is an id or the document of an operation. `path` is without the world's prefix;
    `*` stands for any text and `{name}` for one segment. `status` may be a class such as `4xx`.
    `key` is the Idempotency-Key. `lost` is the kind of fault that lost the response, or whether it
    was lost. `failed` says whether it was lost or refused. A list holds alternatives. A value that
    can never match is a TypeError.
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
    """A filter that no request can ever match; the message names the right form."""


class UnknownFilterName(NoSuchName, ImpossibleFilter):
    """A filter names a user or a project that the world does not have."""
