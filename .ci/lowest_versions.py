"""Prints pip constraints that pin each dependency in pyproject.toml to its lowest allowed version."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_LOWEST = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)")


def main() -> None:
    """Print the constraints for the pyproject.toml in the current folder."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["pytest"]]:
        found = _LOWEST.fullmatch(requirement)
        if found is None:
            raise SystemExit(f"{requirement!r} has no lowest version (>=)")
        print(f"{found[1]}=={found[2]}")


if __name__ == "__main__":
    main()
