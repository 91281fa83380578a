"""Writes lines that set environment variables, in the syntax of several shells."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping

#: The characters that need a backslash between double quotes in a .env file.
_DOTENV_SPECIAL = '\\"$'
#: The characters that need a backslash between single quotes in fish.
_FISH_SPECIAL = "\\'"


def _sh_line(name: str, value: str) -> str:
    return f"export {name}={shlex.quote(value)}"


def _fish_line(name: str, value: str) -> str:
    return f"set -gx {name} '{_escaped(value, _FISH_SPECIAL)}'"


def _powershell_line(name: str, value: str) -> str:
    doubled = value.replace("'", "''")
    return f"$env:{name} = '{doubled}'"


def _dotenv_line(name: str, value: str) -> str:
    # Quote only values that need quotes, such as values with a space, `#` or `$`, because parsers
    # of .env files treat quotes differently.
    if shlex.quote(value) == value:
        return f"{name}={value}"
    return f'{name}="{_escaped(value, _DOTENV_SPECIAL)}"'


def _escaped(value: str, special: str) -> str:
    """Return a value with a backslash before each special character."""
    for character in special:
        value = value.replace(character, f"\\{character}")
    return value


SHELLS: dict[str, Callable[[str, str], str]] = {
    "sh": _sh_line,
    "fish": _fish_line,
    "powershell": _powershell_line,
    "dotenv": _dotenv_line,
}


def export_lines(variables: Mapping[str, str], shell: str) -> str:
    """Return lines that set the variables in the syntax of `shell`, which is a key in SHELLS."""
    write_line = SHELLS[shell]
    return "\n".join(write_line(name, value) for name, value in variables.items())
