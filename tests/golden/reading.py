"""Reads golden files, and replaces references by whole values."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from tests.golden.record import (
    ARROW,
    LINES,
    NAMES_FILE,
    REFERENCE,
    RUN_OF_FIELDS,
    RUN_OF_ITEMS,
    compact,
    is_reference,
    unescaped,
)


@dataclass(frozen=True)
class RecordedExchange:
    """An exchange as a golden file shows it, with its body whole."""

    file: str
    number: int
    request: str
    status: str
    headers: dict[str, str]
    #: The body as JSON, or as lines of text.
    body: Any
    layout: str

    @property
    def title(self) -> str:
        """The golden file, the number of the exchange and its request."""
        return f"{self.file} #{self.number} {self.request.splitlines()[0]}"


def read_exchanges(files: Mapping[str, str]) -> dict[str, list[RecordedExchange]]:
    """Return the exchanges of golden files, by the title of their part, with whole bodies."""
    reader = _Reader(files)
    titles = [
        name.removesuffix(".txt") for name in files if name.endswith(".txt") and name != NAMES_FILE
    ]
    return {title: reader.exchanges(title) for title in titles}


class _Reader:
    """Reads golden files and replaces references by values."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._files = files
        self._blocks: dict[str, list[str]] = {}
        self._bodies: dict[tuple[str, int], Any] = {}

    def exchanges(self, title: str) -> list[RecordedExchange]:
        return [
            self._exchange(title, number) for number in range(1, len(self._blocks_of(title)) + 1)
        ]

    def _blocks_of(self, title: str) -> list[str]:
        if title not in self._blocks:
            text = self._files.get(f"{title}.txt", "")
            self._blocks[title] = re.split(r"^(?==== )", text, flags=re.MULTILINE)[1:]
        return self._blocks[title]

    def _exchange(self, title: str, number: int) -> RecordedExchange:
        head, *lines = self._blocks_of(title)[number - 1].rstrip("\n").split("\n")
        request = [head.split(" ", 2)[2]]
        while lines and lines[0].startswith("> "):
            request.append(lines.pop(0))
        status = lines.pop(0)
        headers: dict[str, str] = {}
        while lines and re.match(r"[A-Z][\w-]+: ", lines[0]):
            name, _, value = lines.pop(0).partition(": ")
            headers[name] = value
        layout = " ".join(line for line in lines if re.fullmatch(r"\((?!in |same ).*\)", line))
        body = self.body(title, number)
        return RecordedExchange(
            f"{title}.txt", number, "\n".join(request), status, headers, body, layout
        )

    def body(self, title: str, number: int) -> Any:
        """Return a whole body as JSON, or as lines of text."""
        return self._resolved(self._written_body(title, number), title)

    def _written_body(self, title: str, number: int) -> Any:
        key = (title, number)
        if key not in self._bodies:
            self._bodies[key] = self._read_body(title, number)
        return self._bodies[key]

    def _read_body(self, title: str, number: int) -> Any:
        lines = self._blocks_of(title)[number - 1].rstrip("\n").split("\n")[1:]
        text = [line[2:] for line in lines if line.startswith("| ")]
        if text:
            return text
        for index, line in enumerate(lines):
            file_match = re.fullmatch(r"\(in (\S+)\)", line)
            if file_match is not None:
                return json.loads(self._files[file_match[1]])
            body_match = re.fullmatch(r"\(same body as (.+)\)", line)
            if body_match is not None:
                return ARROW + body_match[1]
            if line[:1] in ("{", "["):
                return json.loads("\n".join(lines[index:]))
        return None

    def _resolved(self, value: Any, title: str) -> Any:
        if isinstance(value, str) and is_reference(value):
            return self._referred(value, title)
        if isinstance(value, list):
            return [resolved for item in value for resolved in self._items(item, title)]
        if not isinstance(value, dict):
            return value
        if list(value) == [LINES]:
            return "\n".join(value[LINES])
        return {name: self._field(value, name, title) for name in self._names(value, title)}

    def _names(self, value: dict[str, Any], title: str) -> list[str]:
        """Return the fields of a written object, with those of its runs."""
        names: list[str] = []
        for name, item in value.items():
            run = self._run_of_names(name, item, title)
            names += run or [name]
        return names

    def _run_of_names(self, name: str, item: Any, title: str) -> list[str]:
        match = RUN_OF_FIELDS.fullmatch(name)
        if match is None:
            return []
        names = self._names(*self._written(item, title))
        return names[names.index(match[1]) : names.index(match[2]) + 1]

    def _field(self, value: dict[str, Any], name: str, title: str) -> Any:
        if name in value:
            return self._resolved(value[name], title)
        return self._resolved(*self._step(value, name, title))

    def _items(self, item: Any, title: str) -> list[Any]:
        match = _run_of_items(item)
        if match is None:
            return [self._resolved(item, title)]
        numbers = range(int(match[2]), int(match[3]) + 1)
        return [self._referred(f"{match[1]}/{number}", title) for number in numbers]

    def _referred(self, reference: str, title: str) -> Any:
        if reference.startswith(ARROW + "text of "):
            body = self._resolved(*self._written(reference, title))
            return "\n".join(body) if isinstance(body, list) else compact(body)
        return self._resolved(*self._written(reference, title))

    def _written(self, reference: str, title: str) -> tuple[Any, str]:
        """Return the value that a reference names, as it is written, and the title of its part."""
        match = REFERENCE.fullmatch(reference)
        assert match is not None, reference
        _, part, number, path = match.groups()
        title = part.strip() if part else title
        value = self._written_body(title, int(number))
        for step in (path or "").strip().split("/")[1:]:
            value, title = self._step(value, unescaped(step), title)
        return value, title

    def _step(self, value: Any, name: str, title: str) -> tuple[Any, str]:
        """Return what a written object or list has in a field or at an index."""
        if isinstance(value, str):
            value, title = self._written(value, title)
        if isinstance(value, list):
            return self._item(value, int(name), title)
        if name in value:
            return value[name], title
        for run, item in value.items():
            if name in self._run_of_names(run, item, title):
                source, source_title = self._written(item, title)
                return self._step(source, name, source_title)
        raise KeyError(name)

    def _item(self, items: list[Any], index: int, title: str) -> tuple[Any, str]:
        position = 0
        for item in items:
            match = _run_of_items(item)
            length = 1 if match is None else int(match[3]) - int(match[2]) + 1
            if index < position + length:
                if match is None:
                    return item, title
                return f"{match[1]}/{int(match[2]) + index - position}", title
            position += length
        raise IndexError(index)


def _run_of_items(item: Any) -> re.Match[str] | None:
    return RUN_OF_ITEMS.fullmatch(item) if isinstance(item, str) else None
