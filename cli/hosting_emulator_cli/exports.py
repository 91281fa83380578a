"""A world as environment variables, and how each shell spells them.

The names are what a client's tests read; `start` and `env` print the same ones.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping

SHELLS = ("sh", "fish", "powershell", "dotenv")


def export_lines(variables: Mapping[str, str], shell: str) -> str:
    """Write variables, one on a line, so that `shell` (one of SHELLS) takes them as they are."""
    spell = {"sh": _sh, "fish": _fish, "powershell": _powershell, "dotenv": _dotenv}[shell]
    return "\n".join(spell(name, value) for name, value in variables.items())


def _sh(name: str, value: str) -> str:
    return f"export {name}={shlex.quote(value)}"


def _fish(name: str, value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"set -gx {name} '{escaped}'"


def _powershell(name: str, value: str) -> str:
    escaped = value.replace("'", "''")
    return f"$env:{name} = '{escaped}'"


def _dotenv(name: str, value: str) -> str:
    # Bare where every reader agrees; quoted where a space, `#` or `$` would divide them.
    if shlex.quote(value) == value:
        return f"{name}={value}"
    escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'{name}="{escaped}"'
