"""The differences between the states after a run and after the clean run."""

from __future__ import annotations

import re
from collections import Counter
from typing import NamedTuple

from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.world_summary import (
    CREATED_KINDS,
    failed_rows,
    rows_text,
    unfinished_operations,
    without_failed,
)

#: The kinds of rows that an operation changes as it proceeds.
_CHANGED_BY_OPERATIONS = ("operation", "deployment", "source")


class StateDifferences(NamedTuple):
    """The differences as texts. `additions` are the texts about rows that only the run created."""

    texts: list[str]
    additions: list[str]


def state_differences(
    observation: Observation, clean: CleanRun, *, include_failed: bool = True
) -> StateDifferences:
    """Compare the states after a run and after the clean run.

    Rows that differ between the two clean runs are not compared. The numbers of these rows are
    compared only if they are equal in both clean runs. For each API key whose value the client
    knows to be lost, the client may create another key. If `include_failed` is False, operations
    and deployments that failed do not count.
    """
    state = observation.state
    usual_state = clean.observation.state
    start = clean.start
    second_state = clean.second_state
    if not include_failed:
        state = without_failed(state)
        usual_state = without_failed(usual_state)
        start = without_failed(start)
        second_state = without_failed(second_state)
    differences = StateDifferences([], [])
    for kind, usual_rows in usual_state.items():
        rows = state[kind]
        count = rows.total() - start[kind].total()
        usual_count = usual_rows.total() - start[kind].total()
        if kind == "API key":
            # Consider only keys in both clean runs, because a key whose name differs between them
            # cannot be identified as missing.
            missing = (usual_rows - rows) & second_state[kind]
            if not missing and 0 <= count - usual_count <= observation.lost_keys:
                continue
        if kind in CREATED_KINDS and count != usual_count:
            if second_state[kind].total() == usual_rows.total():
                _add_count(differences, kind, rows, usual_rows, count, usual_count)
        elif kind in _CHANGED_BY_OPERATIONS and unfinished_operations(usual_state):
            # The clean run ends before its operations do, so it depends only on time how far they are.
            if failed_rows(rows) != failed_rows(usual_rows):
                differences.texts.append(
                    _end_text(kind, failed_rows(rows), failed_rows(usual_rows))
                )
        elif _timeless(rows) != _timeless(usual_rows) and second_state[kind] == usual_rows:
            differences.texts.append(_end_text(kind, rows, usual_rows))
    return differences


def _end_text(kind: str, rows: Counter[str], usual_rows: Counter[str]) -> str:
    """Describe the rows that differ between the ends of a run and of the clean run."""
    usual_text = rows_text(usual_rows - rows)
    return f"{kind} at the end: {rows_text(rows - usual_rows)} (in the clean run: {usual_text})"


def _timeless(rows: Counter[str]) -> Counter[str]:
    """Return rows in which an operation that has not ended has one state.

    It depends only on time whether such an operation is queued or running already.
    """
    timeless: Counter[str] = Counter()
    for row, count in rows.items():
        timeless[re.sub(r" queued$", " running", row)] += count
    return timeless


def _add_count(
    differences: StateDifferences,
    kind: str,
    rows: Counter[str],
    usual_rows: Counter[str],
    count: int,
    usual_count: int,
) -> None:
    """Add the difference between the numbers of rows that a run and the clean run created."""
    noun = CREATED_KINDS[kind]
    if count == 1:
        noun = noun.removesuffix("s")
    is_addition = count > usual_count
    different_rows = rows - usual_rows if is_addition else usual_rows - rows
    text = f"{count} {noun}, while the clean run makes {usual_count}: {rows_text(different_rows)}"
    differences.texts.append(text)
    if is_addition:
        differences.additions.append(text)
