"""YAML text to plain data that remembers where it stood, and back. Safe, YAML 1.2, and bounded.

Only mappings with text keys, lists and plain scalars come out. Aliases are refused: they are not
needed, and a few of them can stand for gigabytes.
"""

from __future__ import annotations

from io import StringIO
from math import isfinite
from typing import Any

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.reader import ReaderError

from hosting_emulator.scenario.source import Path, ScenarioError, Source

#: No scenario needs more; a deeper or longer one is a mistake or an attack.
DEEPEST = 20
LONGEST = 250_000
#: How many values, keys and brackets; reading them takes a second or two.
MOST = 20_000
#: Numbers beyond 64 bits do not travel in every JSON.
LARGEST = 2**63
_PLAIN = "tag:yaml.org,2002:"


def read_yaml(text: str, file: str) -> Source:
    """Read a document. Raises ScenarioError with the place of what is wrong."""
    if len(text) > LONGEST:
        raise ScenarioError(file, 1, 1, f"the file is longer than {LONGEST} characters")
    try:
        _check_events(text, file)
        node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        raise _not_yaml(error, file) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"this is not YAML: the character {chr(error.character)!r} is not allowed here"
        raise ScenarioError(file, line, 1, message) from None
    except (YAMLError, ValueError, RecursionError) as error:
        reason = str(error).split("\n")[0] or type(error).__name__
        raise ScenarioError(file, 1, 1, f"this is not YAML: {reason}") from None
    if node is None:
        raise ScenarioError(file, 1, 1, "the file is empty; a scenario needs at least a name")
    reader = _Reader(file)
    data = reader.plain(node, ())
    return Source(file, data, reader.places, reader.values)


def write_yaml(document: Any) -> str:
    """Write plain data as people write it: what is short and holds nothing further, in one line."""
    writer, text = YAML(typ="rt", pure=True), StringIO()
    writer.default_flow_style, writer.allow_unicode, writer.width = None, True, 100
    writer.indent(mapping=2, sequence=4, offset=2)
    writer.dump(document, text)
    return text.getvalue()


def _not_yaml(error: MarkedYAMLError, file: str) -> ScenarioError:
    """Return the error at the place to mend: where a quote or bracket opens that is never closed."""
    problem = error.problem or error.context or "it cannot be read"
    noticed, began = error.problem_mark, error.context_mark
    mark = noticed or began
    unclosed = str(error.context).startswith(("while parsing a flow", "while scanning a quoted"))
    if unclosed and noticed and began and noticed.line > began.line:
        mark = began
        problem = f"what starts here is not closed (line {noticed.line + 1}: {problem})"
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    hint = "; is the indentation right?" if "<block" in problem else ""
    return ScenarioError(file, line, column, f"this is not YAML: {problem}{hint}")


def _check_events(text: str, file: str) -> None:
    depth = documents = 0
    for number, event in enumerate(YAML(typ="safe", pure=True).parse(text)):
        place = _place(event)
        if number > MOST:
            raise ScenarioError(file, *place, f"the file has more than {MOST} values")
        if isinstance(event, events.AliasEvent):
            message = f"the alias *{event.anchor} is refused: write the value out"
            raise ScenarioError(file, *place, message)
        if isinstance(event, events.CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                raise ScenarioError(file, *place, f"this is nested more than {DEEPEST} levels deep")
        elif isinstance(event, events.CollectionEndEvent):
            depth -= 1
        documents += isinstance(event, events.DocumentStartEvent)
        if documents > 1:
            message = "the file has more than one document; a scenario is one"
            raise ScenarioError(file, *place, message)


class _Reader:
    """Turns nodes into plain data, and notes where everything stood."""

    def __init__(self, file: str) -> None:
        self._file = file
        self.places: dict[Path, tuple[int, int]] = {}
        self.values: dict[Path, tuple[int, int]] = {}

    def plain(self, node: Any, path: Path) -> Any:
        self.places.setdefault(path, _place(node))
        match node, str(node.tag).removeprefix(_PLAIN):
            case MappingNode(), "map":
                return self._mapping(node, path)
            case SequenceNode(), "seq":
                return [self.plain(item, (*path, i)) for i, item in enumerate(node.value)]
            case ScalarNode(), "null":
                return None
            case ScalarNode(), "bool":
                return self._text(node).lower() == "true"
            case ScalarNode(), ("int" | "float") as kind:
                return self._number(node, self._text(node), kind)
            case ScalarNode(), "str" | "timestamp":
                return self._text(node)
        tag = str(node.tag)[:60]
        raise self._error(node, f"the tag {tag!r} is refused: only plain values are read")

    def _mapping(self, node: Any, path: Path) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                raise self._error(key_node, "a key must be plain text")
            key = self._text(key_node)
            if key in found:
                line = self.places[(*path, key)][0]
                raise self._error(key_node, f"{key!r} is here twice (first in line {line})")
            self.places[(*path, key)] = _place(key_node)
            if isinstance(value_node, ScalarNode):
                self.values[(*path, key)] = _place(value_node)
            found[key] = self.plain(value_node, (*path, key))
        return found

    def _number(self, node: Any, text: str, kind: str) -> int | float:
        plain = text.replace("_", "")
        try:
            based = plain[:2] in ("0x", "0o")
            number = float(plain) if kind == "float" else int(plain, 0 if based else 10)
        except ValueError:
            raise self._error(node, f"{text[:40]!r} is not a number") from None
        if abs(number) > LARGEST or not isfinite(number):  # an int may be too large to be finite
            raise self._error(node, f"the number {text[:40]!r} is too large")
        return number

    def _text(self, node: Any) -> str:
        text = str(node.value)
        if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
            raise self._error(node, "this text contains half of a character (a lone surrogate)")
        return text

    def _error(self, node: Any, message: str) -> ScenarioError:
        return ScenarioError(self._file, *_place(node), message)


def _place(node: Any) -> tuple[int, int]:
    mark = node.start_mark
    return mark.line + 1, mark.column + 1
