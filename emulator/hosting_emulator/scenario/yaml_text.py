"""Parses YAML into plain data with positions, and writes plain data as YAML.

The accepted subset of YAML 1.2 consists of mappings with string keys, lists, and scalars without
custom tags. Aliases are refused, because no scenario needs them, and a few aliases can expand to
gigabytes.
"""

from __future__ import annotations

import re
from dataclasses import replace
from io import StringIO
from math import isfinite
from typing import Any

from ruamel.yaml import YAML, events
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode
from ruamel.yaml.parser import Parser
from ruamel.yaml.reader import ReaderError

from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.source import KeyPath, Position, Source

#: The maximum nesting depth of mappings and lists. Anything deeper is a mistake or an attack.
DEEPEST = 20
#: The maximum number of characters in a file.
LONGEST = 250_000
#: The maximum number of values, keys and brackets in a file. Reading a file of this size takes one
#: or two seconds.
MOST = 20_000
#: The maximum absolute value of a number. Not every JSON library preserves numbers beyond 64 bits.
LARGEST = 2**63
_LONGEST_QUOTE = 40
_LONGEST_TAG_QUOTE = 60
_TAG_PREFIX = "tag:yaml.org,2002:"
_LINE_WIDTH = 100
_VARIABLE = re.compile(r"\$\{[^{}\n]*\}")
#: Errors that ruamel.yaml raises for some invalid documents, beside those that have a position.
_OTHER_ERRORS = (
    YAMLError,
    ArithmeticError,
    AssertionError,
    LookupError,
    ValueError,
    RecursionError,
)
#: A directive that declares another version of YAML, in which `yes` is a boolean.
_OTHER_VERSION = re.compile(r"(?<![^\r\n])%YAML[ \t]+(?!1\.2\s)(\S+)")
#: An escaped character beyond the last character of Unicode.
_IMPOSSIBLE_CHARACTER = re.compile(r"\\U(?!00(?:0|10))[0-9A-Fa-f]{8}")


def read_yaml(text: str, file: str) -> Source:
    """Parse a YAML document. Raises ScenarioError at the position of the first mistake."""
    if len(text) > LONGEST:
        raise ScenarioError(file, 1, 1, f"the file is longer than {LONGEST} characters")
    node = _compose(text, file)
    if node is None:
        raise ScenarioError(
            file, 1, 1, "the file is empty, but a scenario needs a name and a description"
        )
    source = Source(file, None, {}, {})
    return replace(source, data=_plain(node, (), source))


def _compose(text: str, file: str) -> Any:
    """Return the root node of a YAML document, or None if the document is empty.

    Raises ScenarioError if the document is not valid YAML or is too large.
    """
    version = _OTHER_VERSION.search(text)
    if version is not None:
        message = (
            f"a scenario is YAML 1.2, not YAML {version[1][:_LONGEST_QUOTE]}: remove this line"
        )
        raise _error_at(version.start(), text, file, message)
    reader = YAML(typ="safe", pure=True)
    try:
        reader.Parser = type("_", (_LimitedParser,), {"file": file})
        return reader.compose(text)
    except MarkedYAMLError as error:
        raise _syntax_error(error, text, file) from None
    except ReaderError as error:
        line = text.count("\n", 0, error.position) + 1
        message = f"this is not YAML: the character {chr(error.character)!r} is not allowed here"
        raise ScenarioError(file, line, 1, message) from None
    except _OTHER_ERRORS as error:
        character = _IMPOSSIBLE_CHARACTER.search(text)
        if character is not None:
            message = f"the character {character[0]} does not exist: the last is \\U0010FFFF"
            raise _error_at(character.start(), text, file, message) from None
        reason = str(error).split("\n")[0] or type(error).__name__
        raise ScenarioError(file, 1, 1, f"this is not YAML: {reason}") from None


def _error_at(index: int, text: str, file: str, message: str) -> ScenarioError:
    """Return an error for the character with this index in the text."""
    line = text.count("\n", 0, index) + 1
    column = index - text.rfind("\n", 0, index)
    return ScenarioError(file, line, column, message)


def write_yaml(document: Any) -> str:
    """Format plain data as YAML, with lists and mappings of plain values in flow style."""
    writer = YAML(typ="rt", pure=True)
    writer.default_flow_style = None
    writer.allow_unicode = True
    writer.width = _LINE_WIDTH
    writer.indent(mapping=2, sequence=4, offset=2)
    text = StringIO()
    writer.dump(document, text)
    return text.getvalue()


def _syntax_error(error: MarkedYAMLError, text: str, file: str) -> ScenarioError:
    """Return an error for invalid YAML, at the position that the user has to correct.

    An unclosed quote or bracket is reported at its start.
    """
    problem = error.problem or error.context or "the text cannot be parsed"
    problem_mark = error.problem_mark
    context_mark = error.context_mark
    mark = problem_mark or context_mark
    is_unclosed = str(error.context).startswith(("while parsing a flow", "while scanning a quoted"))
    variable = _plain_variable(text, problem_mark)
    if variable:
        is_unclosed = False
        problem += f'; inside braces or brackets, put a variable in quotes: "{variable}"'
    if is_unclosed and problem_mark and context_mark and problem_mark.line > context_mark.line:
        mark = context_mark
        problem = f"this quote or bracket is not closed (line {problem_mark.line + 1}: {problem})"
    if "<block" in problem:
        problem += "; check the indentation"
    line = 1
    column = 1
    if mark:
        line = mark.line + 1
        column = mark.column + 1
    return ScenarioError(file, line, column, f"this is not YAML: {problem}")


def _plain_variable(text: str, mark: Any) -> str:
    """Return the unquoted variable whose brace opens at `mark`, or "" if there is none."""
    if mark is None or not mark.index:
        return ""
    match = _VARIABLE.match(text, mark.index - 1)
    return match[0] if match else ""


class _LimitedParser(Parser):
    """A parser that refuses a document that is too large before converting it."""

    file = ""
    _count = -1  # starts at -1, because the first event is not a value
    _depth = 0
    _documents = 0

    def get_event(self) -> Any:
        event: Any = super().get_event()
        self._count += 1
        if self._count > MOST:
            raise _error(event, self.file, f"the file has more than {MOST} values")
        if isinstance(event, events.AliasEvent):
            message = f"the alias *{event.anchor} is refused: repeat the value instead"
            raise _error(event, self.file, message)
        self._depth += isinstance(event, events.CollectionStartEvent)
        self._depth -= isinstance(event, events.CollectionEndEvent)
        if self._depth > DEEPEST:
            raise _error(event, self.file, f"this value is nested more than {DEEPEST} levels deep")
        self._documents += isinstance(event, events.DocumentStartEvent)
        if self._documents > 1:
            raise _error(event, self.file, "the file must not have more than one document")
        return event


def _plain(node: Any, path: KeyPath, source: Source) -> Any:
    """Convert a node to plain data, and record the positions of its keys and values in `source`."""
    source.positions.setdefault(path, _position(node))
    tag = str(node.tag).removeprefix(_TAG_PREFIX)
    match node, tag:
        case MappingNode(), "map":
            return _mapping(node, path, source)
        case SequenceNode(), "seq":
            return [_plain(item, (*path, i), source) for i, item in enumerate(node.value)]
        case ScalarNode(), "null":
            return None
        case ScalarNode(), "bool":
            return _text(node, source).lower() == "true"
        case ScalarNode(), "int":
            return _integer(node, source)
        case ScalarNode(), "float":
            return _decimal(node, source)
        case ScalarNode(), "str" | "timestamp":
            return _text(node, source)
    quoted_tag = repr(str(node.tag)[:_LONGEST_TAG_QUOTE])
    message = f"the tag {quoted_tag} is refused: write a plain value without a tag"
    raise _error(node, source.file, message)


def _mapping(node: Any, path: KeyPath, source: Source) -> dict[str, Any]:
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        if not isinstance(key_node, ScalarNode):
            raise _error(key_node, source.file, "a key must be a string, not a mapping or a list")
        key = _text(key_node, source)
        inner_path = (*path, key)
        if key in mapping:
            first_line, _ = source.positions[inner_path]
            message = f"the key {key!r} occurs twice (first on line {first_line})"
            raise _error(key_node, source.file, message)
        source.positions[inner_path] = _position(key_node)
        if isinstance(value_node, ScalarNode):
            source.value_positions[inner_path] = _position(value_node)
        mapping[key] = _plain(value_node, inner_path, source)
    return mapping


def _integer(node: Any, source: Source) -> int:
    text = _text(node, source)
    digits = text.replace("_", "")
    base = 10
    if digits[:2] in ("0x", "0o"):
        base = 0  # let the prefix determine the base
    try:
        number = int(digits, base)
    except ValueError:
        raise _not_a_number(node, text, source) from None
    if abs(number) > LARGEST:
        raise _too_large(node, text, source)
    return number


def _decimal(node: Any, source: Source) -> float:
    text = _text(node, source)
    try:
        number = float(text.replace("_", ""))
    except ValueError:
        raise _not_a_number(node, text, source) from None
    if abs(number) > LARGEST or not isfinite(number):
        raise _too_large(node, text, source)
    return number


def _not_a_number(node: Any, text: str, source: Source) -> ScenarioError:
    return _error(node, source.file, f"{text[:_LONGEST_QUOTE]!r} is not a number")


def _too_large(node: Any, text: str, source: Source) -> ScenarioError:
    return _error(node, source.file, f"the number {text[:_LONGEST_QUOTE]!r} is too large")


def _text(node: Any, source: Source) -> str:
    text = str(node.value)
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        message = "the text contains half a character (a lone surrogate)"
        raise _error(node, source.file, message)
    return text


def _error(node: Any, file: str, message: str) -> ScenarioError:
    return ScenarioError(file, *_position(node), message)


def _position(node: Any) -> Position:
    mark = node.start_mark
    return mark.line + 1, mark.column + 1
