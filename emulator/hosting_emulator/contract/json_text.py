"""Changes parts of a JSON text without changing any other character.

A part is identified by a JSON Pointer (RFC 6901). In addition, `*` stands for every item in a list,
and a final `-` for the position after the last item, as in RFC 6902.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, TypeAlias

from msgspec import Struct

#: The position of a part: the index of a member or an item at each level, starting with the
#: outermost level.
Position: TypeAlias = tuple[int, ...]
#: A function that returns an integer from 0 up to, but not including, its argument.
Draw: TypeAlias = Callable[[int], int]
Order: TypeAlias = Literal["reversed", "shuffled"]

_POINTER = re.compile(r"(/([^~/]|~[01])*)*")
_INDEX = re.compile(r"0|[1-9][0-9]{0,8}")
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


class NotJson(ValueError):
    """The text is not JSON."""


def read_pointer(pointer: str) -> tuple[str, ...]:
    """Return the tokens of a JSON Pointer. Raises ValueError if `pointer` is invalid."""
    if not _POINTER.fullmatch(pointer):
        example = pointer.lstrip("$").replace(".", "/").lstrip("/")
        example = re.sub("~(?![01])", "~0", example)
        raise ValueError(
            f"{pointer!r} is not a JSON Pointer (RFC 6901); write it like /{example or 'progress'}"
        )
    return tuple(token.replace("~1", "/").replace("~0", "~") for token in pointer.split("/")[1:])


def write_pointer(tokens: Sequence[str]) -> str:
    """Return the JSON Pointer that consists of these tokens."""
    return "".join("/" + token.replace("~", "~0").replace("/", "~1") for token in tokens)


class _Part(Struct):
    """A value in a JSON text, with its position and the values inside it.

    `start` and `end` are the indexes at which the value starts and ends. `outer_start` is the index
    at which the member's name starts, or `start` for a value without a name.
    """

    kind: Literal["object", "list", "other"]
    start: int
    end: int
    outer_start: int
    name: str = ""
    parts: list[_Part] = []


class JsonText:
    """A JSON text with parts that can be changed. Each change returns a new JsonText."""

    def __init__(self, text: str) -> None:
        """Parse a text. Raises NotJson."""
        self.text = text
        try:
            self._root = _read(text, _skip(text, 0))
        except (ValueError, RecursionError, IndexError) as error:
            raise NotJson(str(error)) from None
        if _skip(text, self._root.end) != len(text):
            raise NotJson("the text contains more than one value")

    def find(self, tokens: Sequence[str]) -> list[Position]:
        """Return the positions of the parts that a pointer refers to. The list is empty if there
        are none.

        If several members have the same name, the last one counts, as in most JSON parsers.
        """
        return list(_find(self._root, tuple(tokens), ()))

    def pointer(self, position: Position) -> str:
        """Return the JSON Pointer to the part at a position."""
        tokens = []
        part = self._root
        for index in position:
            is_list = part.kind == "list"
            part = part.parts[index]
            tokens.append(str(index) if is_list else part.name)
        return write_pointer(tokens)

    def kind(self, position: Position) -> Literal["object", "list", "other"]:
        """Return the kind of a part: `object`, `list` or `other`."""
        return self._at(position).kind

    def count(self, position: Position) -> int:
        """Return the number of members or items in a part."""
        return len(self._at(position).parts)

    def value(self, position: Position) -> Any:
        """Return the parsed value of a part."""
        return json.loads(self.text_of(position))

    def text_of(self, position: Position) -> str:
        """Return the JSON text of a part."""
        part = self._at(position)
        return self.text[part.start : part.end]

    def set(self, position: Position, value: Any) -> JsonText:
        """Return the text with a new value at a position."""
        part = self._at(position)
        return self._with(part.start, part.end, _write(value))

    def add(self, position: Position, name: str, value: Any) -> JsonText:
        """Return the text with a new member or item at the end of an object or a list."""
        part = self._at(position)
        new = _write(value)
        if part.kind == "object":
            new = f"{_write(name)}:{new}"
        if not part.parts:
            return self._with(part.start + 1, part.end - 1, new)
        return self._with(part.parts[-1].end, part.parts[-1].end, f",{new}")

    def remove(self, position: Position) -> JsonText:
        """Return the text without the member or item at `position`."""
        siblings = self._at(position[:-1]).parts
        index = position[-1]
        if index + 1 < len(siblings):
            return self._with(siblings[index].outer_start, siblings[index + 1].outer_start, "")
        if index > 0:
            return self._with(siblings[index - 1].end, siblings[index].end, "")
        return self._with(siblings[index].outer_start, siblings[index].end, "")

    def rename(self, position: Position, name: str) -> JsonText:
        """Return the text with a member renamed."""
        part = self._at(position)
        _, name_end = _DECODER.raw_decode(self.text, part.outer_start)
        return self._with(part.outer_start, name_end, _write(name))

    def duplicate(self, position: Position) -> JsonText:
        """Return the text with a copy of a member or an item inserted directly after the original."""
        part = self._at(position)
        return self._with(part.end, part.end, f",{self.text[part.outer_start : part.end]}")

    def reorder(self, position: Position, order: Order, draw: Draw) -> JsonText:
        """Return the text with the members or items of a part reordered."""
        part = self._at(position)
        texts = [self.text[inner.outer_start : inner.end] for inner in part.parts]
        if order == "reversed":
            texts.reverse()
        else:
            for last in range(len(texts) - 1, 0, -1):
                other = draw(last + 1)
                texts[last], texts[other] = texts[other], texts[last]
        changed = self.text
        for inner, text in zip(reversed(part.parts), reversed(texts), strict=True):
            changed = changed[: inner.outer_start] + text + changed[inner.end :]
        return JsonText(changed)

    def _at(self, position: Position) -> _Part:
        part = self._root
        for index in position:
            part = part.parts[index]
        return part

    def _with(self, start: int, end: int, text: str) -> JsonText:
        return JsonText(self.text[:start] + text + self.text[end:])


def _read(text: str, start: int, outer_start: int | None = None, name: str = "") -> _Part:
    """Parse the value that starts at an index. Raises ValueError if the value is not JSON."""
    first = text[start]
    part = _Part("other", start, start, start if outer_start is None else outer_start, name, [])
    if first not in "{[":
        _, part.end = _DECODER.raw_decode(text, start)
        return part
    part.kind = "object" if first == "{" else "list"
    closing = "}" if first == "{" else "]"
    at = _skip(text, start + 1)
    while text[at] != closing:
        if part.parts:
            at = _skip(text, _expect(text, at, ","))
        inner_start = at
        inner_name = ""
        if part.kind == "object":
            if text[at] != '"':
                raise ValueError(f"a name is missing at character {at}")
            inner_name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _expect(text, _skip(text, at), ":"))
        part.parts.append(_read(text, at, inner_start, inner_name))
        at = _skip(text, part.parts[-1].end)
    part.end = at + 1
    return part


def _skip(text: str, at: int) -> int:
    """Return the index of the first character at or after `at` that is not whitespace."""
    match = _SPACE.match(text, at)
    return at if match is None else match.end()


def _expect(text: str, at: int, character: str) -> int:
    if text[at] != character:
        raise ValueError(f"{character!r} is missing at character {at}")
    return at + 1


def _find(part: _Part, tokens: tuple[str, ...], position: Position) -> Iterator[Position]:
    if not tokens:
        yield position
        return
    first, rest = tokens[0], tokens[1:]
    if part.kind == "list" and first == "*":
        for index, item in enumerate(part.parts):
            yield from _find(item, rest, (*position, index))
    elif part.kind == "list" and _INDEX.fullmatch(first) and int(first) < len(part.parts):
        yield from _find(part.parts[int(first)], rest, (*position, int(first)))
    elif part.kind == "object":
        indexes = [index for index, member in enumerate(part.parts) if member.name == first]
        for index in indexes[-1:]:
            yield from _find(part.parts[index], rest, (*position, index))


def _write(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
