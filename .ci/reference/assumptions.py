"""The page of assumptions."""

from __future__ import annotations

import json
from typing import Any

from hosting_emulator.contract.assumption_table import describe
from hosting_emulator.contract.assumptions import DEFAULTS
from reference.markdown import code, codes, join, prose, table

INTRODUCTION = """\
The contract is silent on these points. For each, the emulator makes an assumption, and quotes the
sentence that leaves the point open. A client must not depend on an assumption. `--assume NAME=VALUE`
of commands that create a world, such as `start`, `exec` and `world create`, sets another value. So do
`assumptions` in a scenario and `assume` in a settings file. An alternative that is marked as *beyond
the contract* contradicts a sentence of it, and setting it prints a warning."""

FIXED = """\
These assumptions cannot be set to another value. The table says why."""


def render() -> str:
    """Return the page without its title."""
    rows = describe(DEFAULTS)
    settable = [row for row in rows if not row["fixed"]]
    fixed = [row for row in rows if row["fixed"]]
    return join(
        INTRODUCTION,
        f"{len(settable)} assumptions can be set, and {len(fixed)} are fixed.",
        "## Assumptions that can be set",
        *(_section(row) for row in settable),
        "## Fixed assumptions",
        FIXED,
        table(
            ["assumption", "what we assume", "leaves it open", "why it cannot be set"],
            [
                [code(row["name"]), prose(row["about"]), _quote(row), prose(row["fixed"])]
                for row in fixed
            ],
        ),
    )


def _section(row: dict[str, Any]) -> str:
    facts = f"Default: {code(_text(row['default']))}."
    alternatives = _alternatives(row)
    if alternatives:
        facts += f" Alternatives: {alternatives}."
    if row["outside_the_letter"]:
        facts += f" Beyond the contract: {codes(map(_text, row['outside_the_letter']))}."
    return join(f"### {row['name']}", prose(row["about"]), facts, f"The contract: {_quote(row)}")


def _alternatives(row: dict[str, Any]) -> str:
    """Return the alternatives that agree with the contract, or an empty string if there are none."""
    if row["alternatives"] == "any":
        # What is beyond the contract is then a description of all alternatives.
        return "" if row["outside_the_letter"] else "any other valid value"
    values = [value for value in row["alternatives"] if value not in row["outside_the_letter"]]
    return codes(map(_text, values))


def _quote(row: dict[str, Any]) -> str:
    return f"“{prose(row['sentence'])}”"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
