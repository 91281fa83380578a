"""Scenarios as they are named on the command line: by name in the library, or as a file."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from hosting_emulator_cli.groups import Failure

LIBRARY_ENDING = ".yaml"
_ENDINGS = (LIBRARY_ENDING, ".yml")


class Chosen(NamedTuple):
    """A scenario to send: its `name` in the library, or its `text` and what to call the `file`."""

    name: str | None = None
    text: str | None = None
    file: str | None = None


def choose(named: str) -> Chosen:
    """Read what is named if it is a file, and leave a library name as it is. Raises Failure.

    A file is what ends in .yaml or .yml, has a slash or lies there; `-` is stdin.
    """
    return Chosen(text=read_text(named), file=shown(named)) if is_file(named) else Chosen(named)


def is_file(named: str) -> bool:
    """Tell whether a file is meant, rather than a name in the library."""
    path = Path(named)
    return named == "-" or "/" in named or path.suffix in _ENDINGS or path.is_file()


def shown(named: str) -> str:
    """Return what errors call a file."""
    return "stdin" if named == "-" else named


def read_text(named: str) -> str:
    """Read a file, `-` being stdin. Raises Failure."""
    import sys

    try:
        found = sys.stdin.buffer.read() if named == "-" else Path(named).read_bytes()
        return found.decode("utf-8-sig")
    except OSError as error:
        raise Failure(f"cannot read {shown(named)}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise Failure(f"{shown(named)}: not UTF-8 text") from error


def library_names() -> list[str]:
    """Return the names of the library that is shipped, sorted."""
    from hosting_emulator_scenarios import FOLDER

    return sorted(path.stem for path in FOLDER.glob(f"*{LIBRARY_ENDING}"))


def library_text(name: str) -> str:
    """Return a shipped scenario's text. Raises Failure, naming what is near."""
    from hosting_emulator_scenarios import FOLDER

    names = library_names()
    if name not in names:
        from hosting_emulator.contract.words import nearest

        hint = nearest(name, names) or "; `hosting-emulator scenario list` shows them"
        raise Failure(f"the library has no scenario {name!r}{hint}")
    return (FOLDER / f"{name}{LIBRARY_ENDING}").read_text(encoding="utf-8")
