"""Reads scenarios from the library and from individual files."""

from __future__ import annotations

import re
from pathlib import Path

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.scenario.errors import ScenarioError
from hosting_emulator.scenario.reading import Scenario, read_scenario

_NAME = re.compile("[a-z][a-z0-9-]{0,40}")
_LONGEST_QUOTE = 80


class ScenarioLibrary:
    """The scenarios in a folder, by name. The library is empty if the folder is None."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Return the names of all scenarios, sorted."""
        if self._folder is None:
            return []
        return sorted(path.stem for path in self._folder.glob("*.yaml"))

    def text(self, name: str) -> str:
        """Return the text of the scenario with this name.

        Raises ScenarioError if the library has no such scenario.
        """
        if self._folder is not None and _NAME.fullmatch(name):
            path = self._folder / f"{name}.yaml"
            if path.is_file():
                return path.read_text(encoding="utf-8")
        hint = (
            nearest(name, self.names()) or "; `hosting-emulator scenario list` lists all scenarios"
        )
        message = f"the library has no scenario with this name{hint}"
        raise ScenarioError(name[:_LONGEST_QUOTE], 0, 0, message)

    def find(self, name: str) -> Scenario:
        """Read a scenario from the library by its name, or from a file by its path.

        Raises ScenarioError if the scenario does not exist or is invalid.
        """
        if name == "-":
            reason = "the scenario cannot be read from stdin here; write it to a file"
            raise ScenarioError(name, 0, 0, reason)
        path = Path(name)
        if path.suffix in (".yaml", ".yml") or path.exists():
            return read_file(path)
        return read_scenario(self.text(name), f"{name}.yaml")


def read_file(path: Path) -> Scenario:
    """Read a scenario from a file.

    Raises ScenarioError if the file cannot be read or the scenario is invalid.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(str(path), 0, 0, "the file is not UTF-8 text") from None
    except OSError as error:
        raise ScenarioError(str(path), 0, 0, f"the file cannot be read: {error.strerror}") from None
    return read_scenario(text, str(path))
