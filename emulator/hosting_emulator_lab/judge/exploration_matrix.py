"""The matrix of an exploration: a row for each request and a column for each fault."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.exploration import Exploration
from hosting_emulator_lab.judge.fault_points import FaultPoint, order_of, points_of
from hosting_emulator_lab.judge.run_results import VERDICT_MEANINGS, VerdictMeaning

#: The meanings of cells: the verdict of the cell's point, or the reason why the point has no
#: result.
CELL_MEANINGS: Mapping[str, VerdictMeaning] = {
    **{str(verdict): meaning for verdict, meaning in VERDICT_MEANINGS.items()},
    "merged": VerdictMeaning("=", "", "equivalent to another, and merged"),
    "not run": VerdictMeaning("-", "", "not run"),
}
_SHORT_NAMES = {
    "gateway_error": "gateway",
    "connection_reset": "reset",
    "empty_response": "empty",
    "malformed_response": "malformed",
    "slow_response": "slow",
    "rate_limit": "limit",
    "abort:service_unavailable": "503",
    "abort:api_key_creation_uncertain": "uncertain",
}


class Cell(NamedTuple):
    """A point and its status, which is a verdict, `merged` or `not run`."""

    point: FaultPoint
    status: str

    @property
    def meaning(self) -> VerdictMeaning:
        """The mark, the color and the text for the status."""
        return CELL_MEANINGS[self.status]


#: The cells of a request and a fault: before the commit and after it. A lasting fault has only the
#: first cell. A cell is None if the plan has no such point.
CellPair = tuple[Cell | None, Cell | None]


class Matrix(NamedTuple):
    """The cells of each request, with a pair for each of the `faults`.

    `legend` contains each status that occurs, with its mark.
    """

    faults: list[str]
    rows: Mapping[str, Sequence[CellPair]]
    legend: list[tuple[str, str]]


def exploration_matrix(exploration: Exploration) -> Matrix:
    """Return the matrix of an exploration.

    A request has no row if all its points were merged into the points of another request.
    """
    plan = exploration.plan
    cells = {merged.point: Cell(merged.point, "merged") for merged in plan.merged}
    unmerged_points = (*plan.points, *plan.left_out)
    for point in unmerged_points:
        cells[point] = Cell(point, "not run")
    for result in exploration.results:
        cells[result.point] = Cell(result.point, result.verdict)
    faults = sorted({point.fault for point in unmerged_points}, key=_column_order)
    request_names = {point.request for point in unmerged_points}
    rows = {
        request.name: [_cell_pair(request, fault, cells) for fault in faults]
        for request in plan.requests
        if request.name in request_names
    }
    shown_cells = [cell for pairs in rows.values() for pair in pairs for cell in pair if cell]
    statuses = {cell.status for cell in shown_cells}
    legend = [
        (meaning.mark, status) for status, meaning in CELL_MEANINGS.items() if status in statuses
    ]
    return Matrix(faults, rows, legend)


def short_name(fault: str) -> str:
    """Return the name of a fault for a narrow column."""
    if fault in _SHORT_NAMES:
        return _SHORT_NAMES[fault]
    return fault.removeprefix("abort:")


def _column_order(fault: str) -> tuple[int, bool, str]:
    """Return the sort key of a fault, which puts service_unavailable before the other codes."""
    return order_of(fault), fault != "abort:service_unavailable", fault


def _cell_pair(request: NumberedRequest, fault: str, cells: Mapping[FaultPoint, Cell]) -> CellPair:
    first_point, *other_points = points_of(request, fault)
    if not other_points:
        return cells.get(first_point), None
    return cells.get(first_point), cells.get(other_points[0])
