"""Tables of `explore` and `contract check`, which pages of the documentation must repeat."""

from __future__ import annotations

from hosting_emulator_lab.contract_check import ALLOWED
from hosting_emulator_lab.judge.fault_points import KINDS
from hosting_emulator_lab.judge.run_results import VERDICT_MEANINGS


def explored_faults() -> tuple[str, ...]:
    """Return the kinds of faults that `explore` tries by default."""
    return KINDS


def verdict_rows() -> list[str]:
    """Return the rows of a Markdown table of the verdicts of `explore`, with their marks."""
    return [
        f"| `{mark}` | {verdict} | {text} |"
        for verdict, (mark, _, text) in VERDICT_MEANINGS.items()
    ]


def check_permissions() -> set[str]:
    """Return the words that `contract check --allow` accepts."""
    return set(ALLOWED)
