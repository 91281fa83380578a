"""The base class of all messages, and the types that several messages share.

A message is a frozen struct. The server encodes messages and the SDK decodes them, both with the
same classes. Each member is described in its metadata, from which the OpenAPI document is
generated. A member with the default None is omitted from the JSON, rather than sent as null, when
its value is None. When a message is decoded, unknown members are ignored and a missing required
member is an error.
"""

from __future__ import annotations

from typing import Annotated, Any, Generic, Literal, TypeAlias, TypeVar

import msgspec
from msgspec import Meta

JsonObject: TypeAlias = dict[str, Any]
Severity: TypeAlias = Literal["note", "warning", "error"]


class ControlMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A JSON object that the control API sends."""


T = TypeVar("T")


class ItemList(ControlMessage, Generic[T], frozen=True, kw_only=True):
    """A list of messages of one kind."""

    items: Annotated[list[T], Meta(description="The messages.")]


def doc(sentence: str) -> Meta:
    """Return the metadata that describes a member. `sentence` can contain more than one sentence."""
    return Meta(description=sentence)
