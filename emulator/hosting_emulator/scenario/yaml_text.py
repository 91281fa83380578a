"""YAML text to plain data that remembers where it stood. Safe, YAML 1.2, and bounded.

Only mappings with text keys, lists and plain scalars come out. Aliases are refused: they are not
needed, and a few of them can stand for gigabytes.
"""

from __future__ import annotations

from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import AliasEvent, CollectionEndEvent, CollectionStartEvent
from ruamel.yaml.nodes import MappingNode, ScalarNode, SequenceNode

from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.located import Located, Path

#: No scenario needs more; a deeper or longer one is a mistake or an attack.
DEEPEST = 20
LONGEST = 1_000_000
_PLAIN = "tag:yaml.org,2002:"


def read_yaml(text: str, file: str) -> Located:
    """Read a document. Raises ScenarioError with the place of what is wrong."""
    if len(text) > LONGEST:
        raise ScenarioError(file, 1, 1, f"the file is longer than {LONGEST} characters")
    try:
        _check_events(text, file)
        node = YAML(typ="safe", pure=True).compose(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        problem = error.problem or error.context or "it cannot be read"
        raise ScenarioError(file, line, column, f"this is not YAML: {problem}") from None
    except (YAMLError, ValueError, RecursionError) as error:
        reason = str(error).split("\n")[0] or type(error).__name__
        raise ScenarioError(file, 1, 1, f"this is not YAML: {reason}") from None
    if node is None:
        raise ScenarioError(file, 1, 1, "the file is empty; a scenario has at least a name")
    places: dict[Path, tuple[int, int]] = {}
    data = _plain(node, (), places, file)
    return Located(file, data, places)


def _check_events(text: str, file: str) -> None:
    depth = documents = 0
    for event in YAML(typ="safe", pure=True).parse(text):
        mark = event.start_mark
        if isinstance(event, AliasEvent):
            message = f"the alias *{event.anchor} is refused: write the value out"
            raise ScenarioError(file, mark.line + 1, mark.column + 1, message)
        if isinstance(event, CollectionStartEvent):
            depth += 1
            if depth > DEEPEST:
                message = f"this is nested more than {DEEPEST} deep"
                raise ScenarioError(file, mark.line + 1, mark.column + 1, message)
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if type(event).__name__ == "DocumentStartEvent":
            documents += 1
            if documents > 1:
                message = "the file holds more than one document; a scenario is one"
                raise ScenarioError(file, mark.line + 1, mark.column + 1, message)


def _plain(node: Any, path: Path, places: dict[Path, tuple[int, int]], file: str) -> Any:
    place = (node.start_mark.line + 1, node.start_mark.column + 1)
    places.setdefault(path, place)
    if isinstance(node, MappingNode):
        return _mapping(node, path, places, file)
    if isinstance(node, SequenceNode):
        return [_plain(item, (*path, i), places, file) for i, item in enumerate(node.value)]
    if isinstance(node, ScalarNode):
        return _scalar(node, file)
    raise ScenarioError(file, *place, "this is neither a mapping, a list nor a plain value")


def _mapping(
    node: Any, path: Path, places: dict[Path, tuple[int, int]], file: str
) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key_node, value_node in node.value:
        mark = key_node.start_mark
        place = (mark.line + 1, mark.column + 1)
        if not isinstance(key_node, ScalarNode):
            raise ScenarioError(file, *place, "a key must be plain text")
        key = str(key_node.value)
        if key in found:
            raise ScenarioError(file, *place, f"{key!r} stands here twice")
        places[(*path, key)] = place
        found[key] = _plain(value_node, (*path, key), places, file)
    return found


def _scalar(node: Any, file: str) -> Any:
    text, tag = str(node.value), str(node.tag)
    if tag == _PLAIN + "null":
        return None
    if tag == _PLAIN + "bool":
        return text.lower() == "true"
    try:
        if tag == _PLAIN + "int":
            return int(text.replace("_", ""), 0) if text[:2] in ("0x", "0o") else int(text)
        if tag == _PLAIN + "float":
            return float(text)
    except ValueError:
        place = (node.start_mark.line + 1, node.start_mark.column + 1)
        raise ScenarioError(file, *place, f"{text[:40]!r} is no number") from None
    if tag in (_PLAIN + "str", _PLAIN + "timestamp"):
        return text
    place = (node.start_mark.line + 1, node.start_mark.column + 1)
    raise ScenarioError(
        file, *place, f"the tag {tag[:60]!r} is refused: only plain values are read"
    )
