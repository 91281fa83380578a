"""The points at which answers can vary: one for each freedom that the contract leaves.

What a client must know before its first request (names of parameters, where an operation is polled,
roles, zones, claims of a token) is no point: a client cannot find it out from an answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from hosting_emulator.contract.calls import ALL_CALLS, CallSpec
from hosting_emulator.contract.markdown import read_sections
from hosting_emulator.contract.resources import RESOURCES, Resource
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.messages import VariationPoint


class VariationRefused(ValueError):
    """A point that there is not, or a seed that is none; the message says what would be right."""


_ROWS = {name: dict(items) for name, items in read_sections(Path(__file__).with_name("points.md"))}


def list_points() -> list[VariationPoint]:
    """Return every point, with the calls whose answers it varies."""
    return [
        VariationPoint({**point, "calls": varied_calls(name)}) for name, point in POINTS.items()
    ]


@cache
def varied_calls(name: str) -> list[str]:
    """Return the calls whose answers a point varies; none: those of every call, and problems too.

    The texts of the assumptions say it: no server need read those to start.
    """
    # Operations first, as the contract's own list of points goes.
    specs = sorted(ALL_CALLS.values(), key=lambda spec: spec.response != "Operation")
    answers, assumptions = _ROWS[name].get("answers", ""), POINTS[name].assumptions
    return [spec.call_id for spec in specs if _varies(spec, answers, assumptions)]


def _varies(spec: CallSpec, answers: str, assumptions: Iterable[str]) -> bool:
    """Whether a call's answers are those that a point can vary."""
    if not answers:
        return any(spec.is_shaped_by(name) for name in assumptions)
    if answers == "bodiless":
        return spec.body is None
    if answers == "open":
        return any(not found.closed for found in _objects(spec.response))
    if answers in RESOURCES:
        return answers == spec.response
    return any(getattr(found, answers) for found in _objects(spec.response))


def _objects(name: str) -> Iterator[Resource]:
    yield RESOURCES[name]
    for part in RESOURCES[name].parts.values():
        yield from _objects(part)


#: Every point by its id, in the order in which documents name them. Its `assumptions` decide it for a
#: world as a whole; without any, each answer is drawn for by itself.
POINTS = {
    name: VariationPoint(
        id=name,
        about=row["about"],
        sentence=row["sentence"],
        calls=[],  # see `varied_calls`
        assumptions=row.get("assumptions", "").split(),
    )
    for name, row in _ROWS.items()
}
#: What some points draw from.
CHOICES: dict[str, dict[str, tuple[str, ...]]] = {
    point: {
        about: tuple(choices.split(", "))
        for choice in row.get("choices", "").split("; ")
        for about, _, choices in [choice.strip().partition(": ")]
        if about
    }
    for point, row in _ROWS.items()
}
#: Those that are drawn once for a world, as assumptions.
ASSUMED = tuple(point for point in POINTS.values() if point.assumptions)


def read_points(names: Iterable[str]) -> tuple[str, ...]:
    """Return points by name, in the table's order, each once. Raises VariationRefused."""
    named = set(names)
    for name in sorted(named - POINTS.keys()):
        hint = nearest(name, POINTS) or "; `hosting-emulator contract variation-points` lists them"
        raise VariationRefused(f"no variation point is named {name[:60]!r}{hint}")
    return tuple(name for name in POINTS if name in named)
