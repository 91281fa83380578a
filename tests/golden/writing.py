"""Writes the golden files of a walk."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from typing import Any

from tests.golden.record import (
    ARROW,
    LINES,
    NAMES_FILE,
    WITHOUT_EMPTY_FIELDS,
    Exchange,
    Part,
    compact,
    escaped,
    is_reference,
    json_of,
)

#: Parts that the other parts refer to.
_SHARED = ("documents", "default")
_WIDTH = 100
_ONE_LINE = json.JSONEncoder(ensure_ascii=False)
#: A value with fewer characters than this is written each time.
_SHORT = 100
#: A body with more characters than this has a file of its own.
_LONG_BODY = 10_000


def files_of(parts: Sequence[Part]) -> dict[str, str]:
    """Return the golden files of a walk: their text by their name."""
    files: dict[str, str] = {}
    places = _Places()
    for part in sorted(parts, key=_order):
        writer = _PartWriter(part, places)
        files |= writer.files()
        if part.title in _SHARED:
            places = writer.places.seen_from_other_parts(part.title)
        if part.title == "default":
            files[NAMES_FILE] = "\n".join(part.names.lines()) + "\n"
    return files


def _order(part: Part) -> int:
    return _SHARED.index(part.title) if part.title in _SHARED else len(_SHARED)


class _Places:
    """Where values are written."""

    def __init__(self) -> None:
        #: References by the text of the value.
        self.references: dict[str, str] = {}
        #: The fields of objects by their places.
        self.fields: dict[str, list[str]] = {}

    def copy(self) -> _Places:
        places = _Places()
        places.references = self.references.copy()
        places.fields = self.fields.copy()
        return places

    def seen_from_other_parts(self, title: str) -> _Places:
        """Return the places with the title of the part in those that have none."""
        places = _Places()
        places.references = {
            text: re.sub(r"^(→ (?:text of )?)#", rf"\1{title} #", reference)
            for text, reference in self.references.items()
        }
        places.fields = {
            f"{title} {place}" if place.startswith("#") else place: fields
            for place, fields in self.fields.items()
        }
        return places


class _PartWriter:
    """Writes the files of one part."""

    def __init__(self, part: Part, places: _Places) -> None:
        self.part = part
        self.places = places.copy()
        self._long_bodies: dict[str, str] = {}

    def files(self) -> dict[str, str]:
        blocks = [
            self._block(number, exchange) for number, exchange in enumerate(self.part.exchanges, 1)
        ]
        return {f"{self.part.title}.txt": "\n".join(blocks), **self._long_bodies}

    def _block(self, number: int, exchange: Exchange) -> str:
        names = self.part.names
        named_body = self.part.named_body(exchange)
        words = ["===", str(number), names.replace(exchange.user), exchange.method]
        words.append(names.replace(exchange.path))
        lines = [" ".join(word for word in words if word)]
        for name, value in exchange.request_headers.items():
            lines.append(f"> {name}: {_shortened(names.replace(value))}")
        if exchange.request_body is not None:
            request_body = names.replace_in(exchange.request_body)
            lines.append(f"> {_shortened(json.dumps(request_body, ensure_ascii=False))}")
        lines.append(exchange.status)
        lines += [f"{name}: {names.replace(value)}" for name, value in exchange.headers.items()]
        if named_body is not None:
            lines += self._body(number, exchange, named_body)
        return "\n".join([*lines, ""])

    def _body(self, number: int, exchange: Exchange, named_body: Any) -> list[str]:
        if json_of(exchange.body) is None:
            return self._text_body(number, "\n".join(named_body))
        layout = _layout(exchange.body)
        lines = [f"({layout})"] if layout else []
        if self.part.is_reduced(exchange):
            lines.append(f"({WITHOUT_EMPTY_FIELDS})")
        body_with_references = self._once(named_body, f"#{number} ", "")
        text = compact(named_body)
        if not lines and len(text) >= _SHORT:
            self.places.references.setdefault(compact(text), f"{ARROW}text of #{number}")
        if isinstance(body_with_references, str):
            return [*lines, f"(same body as {body_with_references.removeprefix(ARROW)})"]
        body = laid_out_json(body_with_references)
        if len(body) > _LONG_BODY:
            name = self._long_name(exchange.path)
            self._long_bodies[name] = body + "\n"
            body = f"(in {name})"
        return [*lines, body]

    def _text_body(self, number: int, text: str) -> list[str]:
        if len(text) >= _SHORT:
            key = compact(text)
            reference = self.places.references.setdefault(key, f"{ARROW}text of #{number}")
            if not reference.endswith(f" #{number}"):
                return [f"| {reference}"]
        return [f"| {line}" for line in text.split("\n")]

    def _long_name(self, path: str) -> str:
        title = self.part.title
        rest = path.removeprefix("/_emulator/").removeprefix("worlds/").removeprefix(title)
        stem = re.sub(r"[^a-z0-9]+", "-", rest.removesuffix(".json").lower()).strip("-")
        name = f"{title}/{stem}.json"
        number = 1
        while name in self._long_bodies:
            number += 1
            name = f"{title}/{stem}-{number}.json"
        return name

    def _once(self, value: Any, number: str, path: str) -> Any:
        """Return a value with references in the place of what was written before."""
        if not isinstance(value, dict | list | str) or len(value) == 0:
            return value
        if isinstance(value, str) and len(value) < _SHORT // 2 and "\n" not in value:
            return value
        place = f"{number}{path}".strip()
        text = compact(value)
        if len(text) >= _SHORT:
            if text in self.places.references:
                return self.places.references[text]
            self.places.references[text] = ARROW + place
        if isinstance(value, str):
            return {LINES: value.split("\n")} if value.count("\n") > 1 else value
        if isinstance(value, list):
            items = [self._once(item, number, f"{path}/{n}") for n, item in enumerate(value)]
            return list(_joined_items(items))
        self.places.fields[place] = list(value)
        return self._joined_fields(
            {
                name: self._once(item, number, f"{path}/{escaped(name)}")
                for name, item in value.items()
            }
        )

    def _joined_fields(self, fields: dict[str, Any]) -> dict[str, Any]:
        """Return an object in which fields that stand at one other place are one field."""
        result: dict[str, Any] = {}
        names = list(fields)
        start = 0
        while start < len(names):
            count = self._length_of_run(fields, names[start:])
            if count > 1:
                last = names[start + count - 1]
                result[f"{ARROW}{names[start]} … {last}"] = _parent(fields[names[start]])
            else:
                result[names[start]] = fields[names[start]]
            start += count
        return result

    def _length_of_run(self, fields: dict[str, Any], names: list[str]) -> int:
        """Return how many fields stand one after the other in one other object."""
        if not is_reference(fields[names[0]]):
            return 1
        parent = _parent(fields[names[0]])
        source = self.places.fields.get(parent.removeprefix(ARROW), [])
        if names[0] not in source:
            return 1
        count = 0
        candidates = source[source.index(names[0]) :]
        for name, candidate in zip(names, candidates, strict=False):
            step = f"/{escaped(name)}"
            reference = fields[name]
            if name != candidate or not is_reference(reference):
                break
            if _parent(reference) != parent or not reference.endswith(step):
                break
            count += 1
        return max(count, 1)


def _parent(reference: str) -> str:
    return reference.rpartition("/")[0].strip()


def _joined_items(items: list[Any]) -> Iterator[Any]:
    """Yield items; items that stand one after the other at one other place are one."""
    start = 0
    while start < len(items):
        end = start + 1
        match = re.fullmatch(r"(.*/)(\d+)", items[start]) if is_reference(items[start]) else None
        if match is None:
            yield items[start]
        else:
            first = int(match[2])
            while end < len(items) and items[end] == f"{match[1]}{first + end - start}":
                end += 1
            last = first + end - start - 1
            yield items[start] if last == first else f"{items[start]} … {last}"
        start = end


def _layout(body: bytes) -> str:
    """Return how JSON is laid out, or nothing if it has no spaces."""
    text = body.decode()
    value = json.loads(text)
    if text == compact(value):
        return ""
    if text.strip() == json.dumps(value, indent=2, ensure_ascii=False):
        return "indented"
    return f"laid out in another way, {len(text)} characters"


def _shortened(text: str) -> str:
    """Return a text in which a character that is repeated often is written once."""
    return re.sub(r"(.)\1{39,}", lambda match: f"{match[1]}({len(match[0])} times)", text)


def laid_out_json(value: Any, indent: int = 0) -> str:
    """Return JSON in lines. An object that fits into a line is one line; so are fields that do."""
    line = _ONE_LINE.encode(value)
    if len(line) + indent <= _WIDTH or not isinstance(value, dict | list) or not value:
        return line
    if isinstance(value, list):
        members = [("", item) for item in value]
        begin, end = "[]"
    else:
        members = [(f"{_ONE_LINE.encode(name)}: ", value[name]) for name in value]
        begin, end = "{}"
    lines: list[str] = []
    joined = False
    for name, item in members:
        text = name + laid_out_json(item, indent + 2)
        simple = not item or not isinstance(item, dict | list)
        if joined and simple and len(lines[-1]) + len(text) + indent + 4 <= _WIDTH:
            lines[-1] += f", {text}"
        else:
            lines.append(text)
        joined = simple
    inner = " " * (indent + 2)
    between = f",\n{inner}"
    return f"{begin}\n{inner}{between.join(lines)}\n{' ' * indent}{end}"
