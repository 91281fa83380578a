"""Alterations: changes that a fault makes to a response.

This module parses alterations, applies them to responses, and refuses changes that the contract
forbids.

An alteration changes the parts that it names, and any part that repeats one of them. For example,
if `retry_after_seconds` changes, the `Retry-After` header changes too. A `breaking` alteration
changes only the parts that it names, and is allowed to make changes that the contract forbids.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from http import HTTPStatus
from typing import Annotated, Any

from msgspec import Meta, Struct
from msgspec.structs import replace

from hosting_emulator.contract.allowed_changes import (
    LASTING_PARTS,
    Forbidden,
    SentResponse,
    find_forbidden,
)
from hosting_emulator.contract.calls import CallSpec
from hosting_emulator.contract.json_text import (
    Draw,
    JsonText,
    NotJson,
    Order,
    Position,
    read_pointer,
)
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import RESOURCES
from hosting_emulator.contract.response_headers import header_complaint
from hosting_emulator.contract.value_checks import is_integer

#: The kinds of changes. Each alteration makes a change of exactly one kind.
CHANGES = ("set", "remove", "rename", "duplicate", "reorder", "headers", "status")
_DIGITS = re.compile("[0-9]{1,9}")


class Alteration(Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A change to a response. Exactly one of the fields in CHANGES is set."""

    set: dict[str, Any] | None = None
    remove: str | tuple[str, ...] | None = None
    rename: dict[str, str] | None = None
    duplicate: str | None = None
    reorder: str | dict[str, Order] | None = None
    headers: dict[str, str | int | None] | None = None
    status: Annotated[int, Meta(ge=200, le=599)] | None = None
    breaking: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError unless exactly one change is set and the change is valid."""
        words = [word for word in CHANGES if getattr(self, word) not in (None, {}, ())]
        if len(words) != 1:
            mistake = f"{' and '.join(words)} are given" if words else "none is given"
            raise ValueError(f"exactly one of {', '.join(CHANGES)} is needed; {mistake}")
        for pointer in self.pointers:
            read_pointer(pointer)
        for pointer in self.pointers if self.set is None else ():
            if pointer == "" and self.reorder is None:
                raise ValueError(
                    f"{words[0]} needs the pointer to a part of the body, such as /progress"
                )
        for name, value in (self.headers or {}).items():
            complaint = header_complaint(name, str(value or ""))
            if complaint is not None:
                raise ValueError(complaint)
        if self.status is not None and self.status not in {status.value for status in HTTPStatus}:
            raise ValueError(f"{self.status} is not an HTTP status")
        if self.status in (204, 205, 304):
            raise ValueError(f"a response with status {self.status} has no content (RFC 9110)")
        try:
            json.dumps([self.set, self.rename], allow_nan=False, ensure_ascii=False).encode()
        except ValueError as error:
            raise ValueError(f"the value cannot be written as JSON: {error}") from None

    @property
    def pointers(self) -> tuple[str, ...]:
        """The JSON Pointers to the parts of the body that the alteration changes."""
        for change in (self.set, self.remove, self.rename, self.duplicate, self.reorder):
            if isinstance(change, str):
                return (change,)
            if change is not None:
                return tuple(change)
        return ()

    @property
    def changes_lasting_part(self) -> bool:
        """Whether the alteration changes an operation's `result` or `error`.

        Every response about a finished operation repeats `result` and `error`.
        """
        return any(read_pointer(pointer)[:1] in _LASTING for pointer in self.pointers)


_LASTING = tuple((part,) for part in LASTING_PARTS)


class PartChange(Struct, frozen=True):
    """A part of a response that was changed.

    `part` is a JSON Pointer, the name of a header, or `status`.

    `before` and `after` are strings. For a part of the body, they contain JSON. If the part was
    duplicated, `after` is its JSON followed by the word `twice`. `before` is None if the part was
    added, and `after` is None if the part was removed.
    """

    part: str
    before: str | None
    after: str | None


class Altered(Struct, frozen=True):
    """A response after an alteration, with the parts that changed."""

    response: SentResponse
    changes: tuple[PartChange, ...]


class Unaltered(Struct, frozen=True):
    """Why an alteration did not change a response.

    `forbidden` is set if the contract forbids the change. `is_same` is true if the change would
    leave the response as it is.
    """

    reason: str
    forbidden: Forbidden | None = None
    is_same: bool = False


def alter_response(
    alteration: Alteration,
    spec: CallSpec,
    response: SentResponse,
    draw: Draw,
    *,
    replayed: bool = False,
    is_sample: bool = False,
) -> Altered | Unaltered:
    """Apply an alteration to a call's response.

    Return the altered response, or the reason why it was not altered.

    `draw` returns an integer from 0 up to, but not including, its argument. `is_sample` is true if
    `response` is a sample with invented times.
    """
    try:
        changed = _Writer(response, _names_of_other_shape(spec, response)).write(alteration, draw)
    except _NoSuchPart as missing:
        return Unaltered(str(missing))
    if not changed.changes:
        return Unaltered("the change would leave the response unchanged", is_same=True)
    if alteration.breaking:
        return changed
    changed = _with_repeated_parts(changed, response)
    forbidden = find_forbidden(
        spec, response, changed.response, replayed=replayed, is_sample=is_sample
    )
    if forbidden is not None:
        reason = (
            f"the contract forbids the change: {forbidden}; to change the response "
            "anyway, set `breaking: true`"
        )
        return Unaltered(reason, forbidden)
    return changed


class _NoSuchPart(Exception):
    """The response does not contain a part that the alteration names."""


class _Writer:
    """Applies an alteration to a response."""

    def __init__(self, response: SentResponse, other_names: frozenset[str] = frozenset()) -> None:
        """`other_names` are the names of members that must not be added to the body."""
        self._response = response
        self._other_names = other_names
        self._changes: list[PartChange] = []
        try:
            self._text: JsonText | None = JsonText(response.body.decode())
        except (NotJson, UnicodeDecodeError):
            self._text = None

    def write(self, alteration: Alteration, draw: Draw) -> Altered:
        """Apply an alteration, and return the altered response.

        Raises _NoSuchPart if the response lacks a part that the alteration names.
        """
        if alteration.headers is not None:
            for name, value in alteration.headers.items():
                self.write_header(name, None if value is None else str(value))
        elif alteration.status is not None:
            self.write_status(alteration.status)
        elif alteration.set is not None:
            for pointer, value in alteration.set.items():
                self.write_value(pointer, value)
        elif alteration.rename is not None:
            for pointer, name in alteration.rename.items():
                self._rename(pointer, name)
        elif alteration.remove is not None:
            self.remove(alteration.pointers)
        elif alteration.duplicate is not None:
            self._duplicate(alteration.duplicate)
        elif isinstance(alteration.reorder, str):
            self._reorder(alteration.reorder, "reversed", draw)
        elif alteration.reorder is not None:
            for pointer, order in alteration.reorder.items():
                self._reorder(pointer, order, draw)
        return self.altered()

    def altered(self) -> Altered:
        """Return the response with the changes that have been made."""
        return Altered(self._response, tuple(self._changes))

    def write_status(self, status: int) -> None:
        """Set the status."""
        self._note("status", str(self._response.status), str(status))
        self._response = replace(self._response, status=status)

    def write_header(self, name: str, value: str | None) -> None:
        """Set a header, or remove the header if `value` is None.

        Raises _NoSuchPart if the header to remove is absent.
        """
        if value is None and self._response.header(name) is None:
            raise _NoSuchPart(f"the response has no {name} header")
        self._note(name, self._response.header(name), value)
        headers = []
        for header_name, header_value in self._response.headers:
            if header_name.lower() != name.lower():
                headers.append((header_name, header_value))
            elif value is not None:
                headers.append((header_name, value))
                value = None
        if value is not None:
            headers.append((name, value))
        self._response = replace(self._response, headers=tuple(headers))

    def write_value(self, pointer: str, value: Any) -> None:
        """Set a part of the body. If the part is missing, add it to its object or list."""
        text = self._json()
        tokens = read_pointer(pointer)
        positions = text.find(tokens)
        for position in positions:
            before = text.text_of(position)
            changed = text.set(position, value)
            after = changed.text_of(position)
            if changed.value(position) != text.value(position) or _differs(before, after):
                self._note(text.pointer(position), before, after)
                text = changed
        if not positions:
            text = self._add(text, pointer, tokens, value)
        self._take(text)

    def _add(self, text: JsonText, pointer: str, tokens: tuple[str, ...], value: Any) -> JsonText:
        """Return the body with a new member in an object or a new item in a list."""
        name = tokens[-1]
        if len(tokens) == 1 and name in self._other_names:
            raise _no_part(pointer)
        parents = [
            position
            for position in text.find(tokens[:-1])
            if text.kind(position) == "object" or (text.kind(position) == "list" and name == "-")
        ]
        if not parents:
            raise _no_part(pointer)
        for position in parents:
            added = text.add(position, name, value)
            last = added.count(position) - 1
            self._note(added.pointer((*position, last)), None, added.text_of((*position, last)))
            text = added
        return text

    def remove(self, pointers: tuple[str, ...]) -> None:
        """Remove the parts of the body that the pointers refer to."""
        text = self._json()
        chosen = {position for pointer in pointers for position in self._positions(pointer)}
        outermost = {
            position
            for position in chosen
            if not any(position[:length] in chosen for length in range(len(position)))
        }
        # Each removal shifts the parts after it, so start with the last part.
        changed = text
        removed = []
        for position in sorted(outermost, reverse=True):
            removed.append(PartChange(text.pointer(position), text.text_of(position), None))
            changed = changed.remove(position)
        self._changes += reversed(removed)
        self._take(changed)

    def _rename(self, pointer: str, name: str) -> None:
        text = self._json()
        for position in self._positions(pointer):
            if text.kind(position[:-1]) != "object":
                raise _NoSuchPart(f"{pointer} is a list item, and list items have no name")
            changed = text.rename(position, name)
            value = text.text_of(position)
            if changed.text != text.text:
                self._note(text.pointer(position), value, None)
                self._note(changed.pointer(position), None, value)
            text = changed
        self._take(text)

    def _duplicate(self, pointer: str) -> None:
        text = self._json()
        for position in sorted(self._positions(pointer), reverse=True):
            value = text.text_of(position)
            self._note(text.pointer(position), value, f"{value}, twice")
            text = text.duplicate(position)
        self._take(text)

    def _reorder(self, pointer: str, order: Order, draw: Draw) -> None:
        text = self._json()
        for position in self._positions(pointer):
            if text.kind(position) == "other":
                raise _NoSuchPart(f"{pointer} is neither a list nor an object")
            changed = text.reorder(position, order, draw)
            self._note(text.pointer(position), text.text_of(position), changed.text_of(position))
            text = changed
        self._take(text)

    def _json(self) -> JsonText:
        if self._text is None:
            raise _NoSuchPart("the body of the response is not JSON")
        return self._text

    def _positions(self, pointer: str) -> list[Position]:
        positions = self._json().find(read_pointer(pointer))
        if not positions:
            raise _no_part(pointer)
        return positions

    def _take(self, text: JsonText) -> None:
        self._text = text
        self._response = replace(self._response, body=text.text.encode())

    def _note(self, part: str, before: str | None, after: str | None) -> None:
        if before != after:
            self._changes.append(PartChange(part, before, after))


def _names_of_other_shape(spec: CallSpec, response: SentResponse) -> frozenset[str]:
    """Return the fields that only the other kind of response has: for a successful response, those
    of a problem, and vice versa.

    An alteration that sets such a field is meant for the other kind of response, so it must not add
    the field to this one.
    """
    success = RESOURCES[spec.response].names
    problem = RESOURCES["ProblemDetails"].names
    return success - problem if response.status >= 400 else problem - success


def _no_part(pointer: str) -> _NoSuchPart:
    return _NoSuchPart(f"the response has no {pointer}")


def _differs(text: str, other: str) -> bool:
    """Return whether two JSON texts have different values. The values 1, 1.0 and true all differ."""
    return json.dumps(json.loads(text)) != json.dumps(json.loads(other))


# --- Parts that repeat others --------------------------------------------------------------------


def _with_repeated_parts(changed: Altered, before: SentResponse) -> Altered:
    """Update every part of an altered response that repeats a changed part, and return the result."""
    after = changed.response
    old = _members(before)
    new = _members(after)
    writer = _Writer(after)
    if before.status >= 400:
        _repeat_status(writer, before, after)
        if _has_changed(old, new, "code") and new.get("code") in PROBLEMS:
            link = str(new.get("type")).rpartition("/")[0]
            writer.write_value("/type", f"{link}/{PROBLEMS[new['code']].slug}")
    if after.status == 401 and after.header("WWW-Authenticate") is None:
        writer.write_header("WWW-Authenticate", "Bearer")  # RFC 9110, section 11.6.1
    for header, name in (("X-Request-Id", "request_id"), ("Retry-After", "retry_after_seconds")):
        _repeat(writer, before, after, header, name)
    repeated = writer.altered()
    return Altered(repeated.response, (*changed.changes, *repeated.changes))


def _repeat_status(writer: _Writer, before: SentResponse, after: SentResponse) -> None:
    """Keep the HTTP status and the `status` in the body equal: copy the changed value to the other."""
    if after.status != before.status:
        writer.write_value("/status", after.status)
        return
    status = _members(after).get("status")
    if isinstance(status, int) and is_integer(status) and 200 <= status <= 599:
        writer.write_status(status)


def _repeat(
    writer: _Writer, before: SentResponse, after: SentResponse, header: str, name: str
) -> None:
    """Keep a header and the body field that repeats it equal: copy the changed value to the other."""
    old = _members(before)
    new = _members(after)
    value = after.header(header)
    if value != before.header(header):
        if old.get("code") != "rate_limited" and name not in old:
            return  # this response has no field that repeats the header
        if value is None:
            if name in new and name == "retry_after_seconds":
                writer.remove((f"/{name}",))
        elif name == "retry_after_seconds" and _DIGITS.fullmatch(value):
            writer.write_value(f"/{name}", int(value))
        elif name == "request_id":
            writer.write_value(f"/{name}", value)
    elif _has_changed(old, new, name) and (value is not None or before.status >= 400):
        field_value = new.get(name)
        if value is not None or field_value is not None:
            writer.write_header(header, None if field_value is None else str(field_value))


def _members(response: SentResponse) -> Mapping[str, Any]:
    try:
        document = json.loads(response.body)
    except ValueError:
        return {}
    return document if isinstance(document, dict) else {}


def _has_changed(old: Mapping[str, Any], new: Mapping[str, Any], name: str) -> bool:
    return old.get(name) != new.get(name)
