"""The matrix: a row for each request, a column for each fault, a mark for each phase."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hosting_emulator.explore.judging import Verdict
from hosting_emulator.explore.kinds import KINDS, kind_of
from hosting_emulator.explore.points import PHASES, Phase, Point
from hosting_emulator.explore.report import Exploration

MARKS: dict[Verdict, str] = {
    "survived": "+",
    "not reached": "?",
    "failed": "F",
    "hung": "H",
    "doubled": "2",
    "differs": "D",
    "misbehaved": "M",
}
#: A point that another stands for, whose mark it would share; and one that was not run.
MERGED, NOT_RUN = "=", "-"
_SHORT = {
    "gateway_error": "gateway",
    "connection_reset": "reset",
    "empty_response": "empty",
    "malformed_response": "malformed",
    "slow_response": "slow",
    "rate_limit": "limit",
    "abort:service_unavailable": "503",
    "abort:api_key_creation_uncertain": "uncertain",
}


@dataclass(frozen=True, slots=True)
class Cell:
    """What became of one point: its mark, and the verdict if it was run. `point` None: no point."""

    mark: str
    verdict: Verdict | None = None
    point: Point | None = None
    phase: Phase = "before_commit"


@dataclass(frozen=True, slots=True)
class Row:
    """A request and its cells, a pair (before, after the commit) for each column."""

    request: str
    cells: tuple[tuple[Cell, Cell], ...]


@dataclass(frozen=True, slots=True)
class Matrix:
    """All rows; `faults` are the columns."""

    faults: tuple[str, ...]
    rows: tuple[Row, ...]


def matrix(exploration: Exploration) -> Matrix:
    """Lay an exploration out. Reads that are merged as a whole get no row of their own."""
    known = {*exploration.plan.points, *exploration.plan.left_out}
    faults = _columns({point.fault for point in known})
    named = {point.request for point in known}
    rows = []
    for request in exploration.plan.requests:
        if request.name not in named:
            continue
        cells = []
        for fault in faults:
            before, after = (Point(request.call, request.n, fault, phase) for phase in PHASES)
            cells.append((_cell(exploration, before, known), _cell(exploration, after, known)))
        rows.append(Row(request.name, tuple(cells)))
    return Matrix(faults, tuple(rows))


def short(fault: str) -> str:
    """Return a fault's name in a narrow column."""
    return _SHORT.get(fault) or fault.removeprefix("abort:")


def _columns(faults: set[str]) -> tuple[str, ...]:
    def place(fault: str) -> tuple[int, bool, str]:
        return KINDS.index(kind_of(fault)), fault != "abort:service_unavailable", fault

    return tuple(sorted(faults, key=place))


def _cell(exploration: Exploration, point: Point, known: set[Point]) -> Cell:
    verdict = exploration.verdict(point) if point in known else None
    if verdict is not None:
        return Cell(MARKS[verdict], verdict, point, point.phase)
    if point in known:
        return Cell(NOT_RUN, None, point, point.phase)
    if point in exploration.merged:
        return Cell(MERGED, None, point, point.phase)
    return Cell(" ")


def legend(matrix: Matrix) -> list[tuple[str, str]]:
    """Return the marks that occur, and what each means."""
    found = {cell.mark for row in matrix.rows for pair in row.cells for cell in pair}
    words: Sequence[tuple[str, str]] = (
        *((mark, verdict) for verdict, mark in MARKS.items()),
        (MERGED, "merged"),
        (NOT_RUN, "not run"),
    )
    return [(mark, word) for mark, word in words if mark in found]
