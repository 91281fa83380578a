"""The scenario library: a folder of YAML files, found by name. The folder is handed in from above."""

from __future__ import annotations

import re
from pathlib import Path

from hosting_emulator.contract.words import nearest
from hosting_emulator.scenario.document import Scenario, read_scenario
from hosting_emulator.scenario.source import ScenarioError

_NAME = re.compile("[a-z][a-z0-9-]{0,40}")


class ScenarioLibrary:
    """Scenarios by name. Without a folder there are none."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def names(self) -> list[str]:
        """Return the names of all scenarios, sorted."""
        if self._folder is None:
            return []
        return sorted(path.stem for path in self._folder.glob("*.yaml"))

    def text(self, name: str) -> str:
        """Return the text of a scenario. Raises ScenarioError when there is none of that name."""
        if self._folder is not None and _NAME.fullmatch(name):
            path = self._folder / f"{name}.yaml"
            if path.is_file():
                return path.read_text(encoding="utf-8")
        hint = nearest(name, self.names()) or "; `scenario list` shows them"
        raise ScenarioError(name[:80], 0, 0, f"the library has no scenario of this name{hint}")

    def read(self, name: str) -> Scenario:
        """Read a scenario of the library. Raises ScenarioError."""
        return read_scenario(self.text(name), f"{name}.yaml")

    def find(self, name: str) -> Scenario:
        """Read a scenario by its name in the library, or from a file. Raises ScenarioError."""
        path = Path(name)
        if path.suffix not in (".yaml", ".yml") and not path.exists():
            return self.read(name)
        return read_file(path)


def read_file(path: Path) -> Scenario:
    """Read a scenario from a file. Raises ScenarioError."""
    try:
        text = path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise ScenarioError(str(path), 0, 0, "the file is not UTF-8 text") from None
    except OSError as error:
        raise ScenarioError(str(path), 0, 0, f"it cannot be read: {error.strerror}") from None
    return read_scenario(text, str(path))
