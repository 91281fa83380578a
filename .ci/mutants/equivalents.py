"""Judgments by a person: mutants that are equivalent to the original, and lines that no test can run."""

from __future__ import annotations

import tomllib
from pathlib import Path

from mutants.product import Identity

EQUIVALENT_MUTANTS = Path(__file__).with_name("equivalent_mutants.toml")
UNTESTED_LINES = Path(__file__).with_name("untested_lines.toml")


def read_equivalent_mutants(path: Path = EQUIVALENT_MUTANTS) -> dict[Identity, str]:
    """Return the reason for each equivalent mutant."""
    rows = _rows(path, "mutant", {"function": str, "operator": str, "ordinal": int, "reason": str})
    return {
        Identity(str(row["function"]), str(row["operator"]), int(str(row["ordinal"]))): str(
            row["reason"]
        )
        for row in rows
    }


def read_untested_lines(path: Path = UNTESTED_LINES) -> dict[tuple[str, str], str]:
    """Return the reason for each explained line, by its function and its text."""
    rows = _rows(path, "line", {"function": str, "text": str, "reason": str})
    return {(str(row["function"]), str(row["text"])): str(row["reason"]) for row in rows}


def _rows(path: Path, table: str, fields: dict[str, type]) -> list[dict[str, object]]:
    """Return the rows of a table. Raises ValueError for a row with a missing or an unknown field."""
    rows: list[dict[str, object]] = tomllib.loads(path.read_text("utf-8")).get(table, [])
    for number, row in enumerate(rows, 1):
        types = {name: type(value) for name, value in row.items()}
        if types != fields:
            raise ValueError(f"{path}: row {number} must have {', '.join(fields)}, and no more")
        if not str(row["reason"]).strip():
            raise ValueError(f"{path}: row {number} has no reason")
    return rows
