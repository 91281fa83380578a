"""Reads the settings file next to an app, so that commands and tests need no options.

The settings file is `hosting-emulator.yaml`, or the `[tool.hosting-emulator]` table in
`pyproject.toml`. Its keys are the names of the options of `start`. This module only reads the file.
The values are checked in `settings_model`, which is loaded only if there is a file.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

_YAML = "hosting-emulator.yaml"
_TOML = "pyproject.toml"
_TABLE = "hosting-emulator"
_TABLE_HEADER = re.compile(r"\s*\[\s*([^\]]+?)\s*\]")


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A settings file: its name, or "" if there is no file, and its values by key."""

    name: str = ""
    values: Mapping[str, Any] = field(default_factory=dict)
    #: The file's text, in which `position_of` looks for keys.
    text: str = ""

    def position_of(self, key: str) -> str:
        """Return the file and line of a key, for example `hosting-emulator.yaml:3`.

        If the key is not found, returns only the file name.
        """
        find_line = _yaml_line
        if self.name.startswith(_TOML):
            find_line = _toml_line
        line = find_line(self.text, key)
        if line is None:
            return self.name
        file, space, table = self.name.partition(" ")
        return f"{file}:{line}{space}{table}"


def read_settings_file(folder: Path = Path()) -> SettingsFile:
    """Read the settings file in a folder, without checking its values.

    Raises ValueError with a one-line message.
    """
    if (folder / _YAML).is_file():
        name = _YAML
    elif (folder / _TOML).is_file():
        name = _TOML
    else:
        return SettingsFile()
    try:
        content = (folder / name).read_bytes()
        if name == _TOML:
            if f"[tool.{_TABLE}".encode() not in content:
                return SettingsFile()
            name = f"{_TOML} [tool.{_TABLE}]"
        text = content.decode("utf-8-sig")
    except OSError as error:
        raise ValueError(f"cannot read {name}: {error.strerror}") from None
    except UnicodeDecodeError:
        raise ValueError(f"{name}: not UTF-8 text") from None
    settings = _read_values(name, text)
    if not isinstance(settings, Mapping):
        raise ValueError(f"{name} contains no settings: write them like `port: 4711`")
    return SettingsFile(name, {_key(key): value for key, value in settings.items()}, text)


def _key(key: object) -> str:
    """Return a key in the form used for options, with hyphens."""
    return str(key).replace("_", "-")


def _read_values(name: str, text: str) -> Any:
    """Return the parsed content of a settings file, which is a mapping if the file is valid.

    Raises ValueError.
    """
    if name == _YAML:
        return _from_yaml(text)
    return _from_toml(name, text)


def _from_toml(name: str, text: str) -> Any:
    # Imported here because few folders have such a file, and the import takes 4 ms.
    import tomllib

    try:
        document = tomllib.loads(text)
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from None
    tool = document.get("tool")
    if not isinstance(tool, Mapping):
        return {}
    return tool.get(_TABLE, {})


def _from_yaml(text: str) -> Any:
    # Imported here because few folders have such a file, and the import takes 20 ms.
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    try:
        document = YAML(typ="safe", pure=True).load(text)
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        position = _YAML
        if mark is not None:
            position = f"{_YAML}:{mark.line + 1}:{mark.column + 1}"
        raise ValueError(
            f"{position}: this is not YAML: {error.problem or error.context}"
        ) from None
    except YAMLError as error:
        reason = str(error).splitlines()[0]
        raise ValueError(f"{_YAML}: this is not YAML: {reason}") from None
    except ValueError as error:  # such as a date that does not exist
        raise ValueError(f"{_YAML}: {error}") from None
    if document is None:  # the file is empty or contains only comments
        return {}
    return document


def _yaml_line(text: str, key: str) -> int | None:
    """Return the line of a key in a YAML mapping, or None if the mapping does not contain the key."""
    from ruamel.yaml import YAML

    node = YAML(typ="safe", pure=True).compose(text)
    for key_node, _ in node.value:
        if _key(key_node.value) == key:
            line: int = key_node.start_mark.line + 1
            return line
    return None


def _toml_line(text: str, key: str) -> int | None:
    """Return the line of a key in the `[tool.hosting-emulator]` table, or None if it is not found."""
    table = ""
    for number, line in enumerate(text.splitlines(), 1):
        header = _TABLE_HEADER.match(line)
        if header is not None:
            table = header[1].replace('"', "").replace(" ", "")
            if _key(table) == f"tool.{_TABLE}.{key}":
                return number
            continue
        name = re.split(r"[=.]", line, maxsplit=1)[0].strip().strip("\"'")
        if table == f"tool.{_TABLE}" and _key(name) == key:
            return number
    return None
