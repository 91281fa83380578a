"""The record of the walk: golden files that a reviewer can read.

A part of the walk (a world, the documents, the library) is one file of `tests/golden/record`. Each
exchange in it is a line with its number, the user and the request; the status; the headers that say
something about the response; and the whole body. A body that is long has a file of its own, in the
folder of its part. A value that was written before is not written again: `→ #12 /items` stands for
that value of exchange 12 in the same part, `→ default #7 /tables` for one of the part `default`, and
`(same body as #12)` for a whole body.

`make record` writes all golden files anew.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.golden.names import Names

FOLDER = Path(__file__).with_name("record")
#: The file with the values of all names of the default world.
NAMES_FILE = "names.txt"
#: Begins what is no value of a response: a reference, or the field of a run.
ARROW = "→ "
#: The field of an object that stands for a text of several lines.
LINES = "→ lines"
REFERENCE = re.compile(r"→ (text of )?([a-z]+ )?#(\d+)( /.*)?")
#: A run of items that stand at one other place: `→ #12 /items/3 … 7`.
RUN_OF_ITEMS = re.compile(r"(→ .*)/(\d+) … (\d+)")
#: A run of fields that an object at another place has: `→ first … last`.
RUN_OF_FIELDS = re.compile(r"→ (.+) … (.+)")
WITHOUT_EMPTY_FIELDS = "without fields that are empty"
_COMPACT = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False)
#: Long lists of small objects with mostly empty fields. The first of a part is written whole.
_REDUCED = ("/scenarios/run", "/requests?limit=30")


@dataclass(frozen=True)
class Exchange:
    """A request of the walk and its response, as they were sent."""

    user: str
    method: str
    path: str
    request_headers: Mapping[str, str]
    request_body: Any
    status: str
    headers: Mapping[str, str]
    body: bytes


@dataclass
class Part:
    """One part of the walk."""

    title: str
    names: Names = field(default_factory=Names)
    exchanges: list[Exchange] = field(default_factory=list)

    def name_population(self) -> None:
        """Name what the responses until now hold."""
        for exchange in self.exchanges:
            self.named_body(exchange)

    def named_body(self, exchange: Exchange) -> Any:
        """Return a body with names in the place of values: JSON, lines of text, or None."""
        if not exchange.body:
            return None
        document = json_of(exchange.body)
        if document is None:
            text = exchange.body.decode("utf-8", "backslashreplace")
            return self.names.replace(text).replace("\r", "\\r").split("\n")
        self.names.collect(document)
        named_document = self.names.replace_in(document)
        if self.is_reduced(exchange):
            return without_empty_fields(named_document)
        return named_document

    def is_reduced(self, exchange: Exchange) -> bool:
        """Return whether a body is written without its empty fields."""
        return exchange is not self.exchanges[0] and exchange.path.endswith(_REDUCED)


def write(files: Mapping[str, str], folder: Path = FOLDER) -> None:
    """Replace the golden files of a folder."""
    shutil.rmtree(folder, ignore_errors=True)
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")


def read(folder: Path = FOLDER) -> dict[str, str]:
    """Return the golden files of a folder."""
    return {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def json_of(body: bytes) -> Any:
    """Return a body as a JSON object or list, or None if it is neither."""
    try:
        value = json.loads(body)
    except ValueError:
        return None
    return value if isinstance(value, dict | list) else None


def without_empty_fields(value: Any) -> Any:
    """Return JSON without fields that are null, an empty list or an empty text."""
    if isinstance(value, list):
        return [without_empty_fields(item) for item in value]
    if isinstance(value, dict):
        return {
            name: without_empty_fields(item)
            for name, item in value.items()
            if item is not None and item != [] and item != ""
        }
    return value


def compact(value: Any) -> str:
    """Return JSON without spaces."""
    return _COMPACT.encode(value)


def is_reference(value: Any) -> bool:
    """Return whether a value of a golden file stands for a value at another place."""
    return isinstance(value, str) and REFERENCE.match(value) is not None


def escaped(name: str) -> str:
    """Return a field as a step of a path (RFC 6901, and `~2` for a space)."""
    return name.replace("~", "~0").replace("/", "~1").replace(" ", "~2")


def unescaped(step: str) -> str:
    """Return the field of a step of a path."""
    return step.replace("~2", " ").replace("~1", "/").replace("~0", "~")
