"""YAML text to plain data that remembers where it stood, and back. Safe, YAML 1.2, and bounded.

Only mappings with text keys, lists and plain scalars come out. Aliases are refused: they are not
needed, and a few of them can stand for gigabytes.
"""

from __future__ import annotations

from dataclasses import replace
from io import StringIO
from math import isfinite
from typing import Any

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.parser import Parser
from ruamel.yaml.reader import ReaderError

from hosting_emulator.scenario.source import Path, ScenarioError, Source

#: No scenario needs more; a deeper or longer one is a mistake or an attack.
DEEPEST = 20
LONGEST = 250_000
#: How many values, keys and brackets; reading them takes a second or two.
MOST = 20_000
#: Numbers beyond 64 bits do not travel in every JSON.
LARGEST = 2**63


def read_yaml(text: str, file: str) -> Source:
    """Read a document. Raises ScenarioError with the place of what is wrong."""
    if len(text) > LONGEST:
        raise ScenarioError(file, 1, 1, f"the file is longer than {LONGEST} characters")
    try:
        reader = YAML(typ="safe", pure=True)
        reader.Parser = type("_", (_CheckedParser,), {"file": file})
        node = reader.compose(text)
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
    source = Source(file, None, {}, {})
    return replace(source, data=_plain(node, (), source))


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


class _CheckedParser(Parser):
    """Refuses what is too much before anything is made of it."""

    file = ""
    _count, _depth, _documents = -1, 0, 0  # its first event is of no value

    def get_event(self) -> Any:
        event: Any = super().get_event()
        self._count += 1
        if self._count > MOST:
            raise _error(event, self.file, f"the file has more than {MOST} values")
        if isinstance(event, events.AliasEvent):
            message = f"the alias *{event.anchor} is refused: write the value out"
            raise _error(event, self.file, message)
        self._depth += isinstance(event, events.CollectionStartEvent)
        self._depth -= isinstance(event, events.CollectionEndEvent)
        if self._depth > DEEPEST:
            raise _error(event, self.file, f"this is nested more than {DEEPEST} levels deep")
        self._documents += isinstance(event, events.DocumentStartEvent)
        if self._documents > 1:
            raise _error(event, self.file, "the file has more than one document; a scenario is one")
        return event


def _plain(node: Any, path: Path, source: Source) -> Any:
    """Return a node as plain data, and note in `source` where everything in it stands."""
    source.places.setdefault(path, _place(node))
    match node, str(node.tag).removeprefix("tag:yaml.org,2002:"):
        case MappingNode(), "map":
            return _mapping(node, path, source)
        case SequenceNode(), "seq":
            return [_plain(item, (*path, i), source) for i, item in enumerate(node.value)]
        case ScalarNode(), "null":
            return None
        case ScalarNode(), "bool":
            return _text(node, source).lower() == "true"
        case ScalarNode(), ("int" | "float") as kind:
            return _number(node, kind, source)
        case ScalarNode(), "str" | "timestamp":
            return _text(node, source)
    tag = str(node.tag)[:60]
    raise _error(node, source.file, f"the tag {tag!r} is refused: only plain values are read")


def _mapping(node: Any, path: Path, source: Source) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, ScalarNode):
            raise _error(key_node, source.file, "a key must be plain text")
        key = _text(key_node, source)
        inner = (*path, key)
        if key in found:
            message = f"{key!r} is here twice (first in line {source.places[inner][0]})"
            raise _error(key_node, source.file, message)
        source.places[inner] = _place(key_node)
        if isinstance(value_node, ScalarNode):
            source.values[inner] = _place(value_node)
        found[key] = _plain(value_node, inner, source)
    return found


def _number(node: Any, kind: str, source: Source) -> int | float:
    text = _text(node, source)
    plain = text.replace("_", "")
    try:
        based = plain[:2] in ("0x", "0o")
        number = float(plain) if kind == "float" else int(plain, 0 if based else 10)
    except ValueError:
        raise _error(node, source.file, f"{text[:40]!r} is not a number") from None
    if abs(number) > LARGEST or not isfinite(number):  # an int may be too large to be finite
        raise _error(node, source.file, f"the number {text[:40]!r} is too large")
    return number


def _text(node: Any, source: Source) -> str:
    text = str(node.value)
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        message = "this text contains half of a character (a lone surrogate)"
        raise _error(node, source.file, message)
    return text


def _error(node: Any, file: str, message: str) -> ScenarioError:
    return ScenarioError(file, *_place(node), message)


def _place(node: Any) -> tuple[int, int]:
    mark = node.start_mark
    return mark.line + 1, mark.column + 1
