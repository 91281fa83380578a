"""Prints a pip constraint with the lowest allowed version of each dependency in pyproject.toml."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

_LOWEST = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^]]*\])?>=([0-9.]+)")


def main() -> None:
    """Read pyproject.toml in the working directory."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    for requirement in [*project["dependencies"], *project["optional-dependencies"]["pytest"]]:
        found = _LOWEST.fullmatch(requirement)
        if found is None:
            raise SystemExit(f"{requirement!r} names no lowest version")
        print(f"{found[1]}=={found[2]}")


if __name__ == "__main__":
    main()
