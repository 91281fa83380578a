"""The base class of all messages, and the types that several messages use.

A message is a frozen struct. The server encodes messages, and the SDK decodes them with the same
classes. Each member has a description in its metadata. The OpenAPI document is generated from these
descriptions. If a member's default is None, the JSON omits the member when its value is None,
instead of sending null. A reader ignores unknown members, and refuses a message that lacks a
required member.
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
    """Return the metadata that describes a member. `sentence` may be more than one sentence."""
    return Meta(description=sentence)
