"""What came of exploring, as a value and as a JSON document; all other reports are written of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.explore.judging import Clean, Conduct, Result, Verdict, counts
from hosting_emulator.explore.kinds import KINDS, kind_of
from hosting_emulator.explore.planning import Plan
from hosting_emulator.explore.points import Point
from hosting_emulator.sdk import JsonObject


@dataclass(frozen=True)
class Exploration:
    """All that is known of one exploration. `subject` is what was run, as one types it.

    `results` are those of the points that were run, in the plan's order; `repeat` writes the line
    that runs one again; `cut` says why others of the plan were not run, if so. `conduct` says what
    is made of it, and `repeat_clean` is the line that shows the clean run's again, if there is one.
    """

    subject: str
    clean: Clean
    plan: Plan
    results: Sequence[Result]
    repeat: Callable[[Point], str]
    cut: str = ""
    conduct: Conduct = "report"
    repeat_clean: str = ""

    @property
    def survived(self) -> bool:
        """Whether nothing was found; a misbehaving clean run counts where conduct is an error."""
        return not self.found and not (self.conduct == "error" and self.clean.seen.conduct)

    @cached_property
    def found(self) -> list[Result]:
        """The points that the client did not survive."""
        return [result for result in self.results if not result.fine]

    @cached_property
    def by_point(self) -> Mapping[Point, Result]:
        """The results, by their points."""
        return {result.point: result for result in self.results}

    @cached_property
    def not_run(self) -> list[Point]:
        """The points of the plan that were not run."""
        return [point for point in self.plan.points if point not in self.by_point]

    @cached_property
    def merged(self) -> Mapping[Point, Point]:
        """What stands for each merged point, itself not merged."""
        into = {merged.point: merged.into for merged in self.plan.merged}
        found = {}
        for point, other in into.items():
            while other in into:
                other = into[other]
            found[point] = other
        return found

    def verdict(self, point: Point) -> Verdict | None:
        """Return what became of a point, or of the one that stands for it; None: it was not run."""
        result = self.by_point.get(self.merged.get(point, point))
        return None if result is None else result.verdict


@dataclass(frozen=True, slots=True)
class Figure:
    """How many of something were met: `met` of `of`."""

    name: str
    met: tuple[str, ...]
    of: int

    def __str__(self) -> str:
        return f"{self.name} {len(self.met)} of {self.of}"


def coverage(exploration: Exploration) -> tuple[Figure, Figure, Figure]:
    """Return how many calls met a fault, and of how many kinds; and how many codes it met in all."""
    seen, results = exploration.clean.seen, exploration.results
    calls = {result.point.call for result in results if result.hit}
    hit = {kind_of(result.point.fault) for result in results if result.hit}
    codes = set(seen.codes).union(*(result.codes for result in results))
    return (
        Figure("calls", _in_order(calls, CALLS), len(CALLS)),
        Figure("fault kinds", _in_order(hit, KINDS), len(KINDS)),
        Figure("problem codes", _in_order(codes, PROBLEMS), len(PROBLEMS)),
    )


def document(exploration: Exploration) -> JsonObject:
    """Return an exploration as JSON; but for durations it is the same each time."""
    plan, clean = exploration.plan, exploration.clean
    return {
        "command": exploration.subject,
        "clean": {
            "exit_code": clean.ended.code,
            "duration_s": round(clean.ended.duration_s, 3),
            "requests": [
                {
                    "request": request.name,
                    "method": request.method,
                    "path": request.path,
                    "status": request.status,
                    "code": request.code,
                    "idempotency_key": request.keyed,
                }
                for request in plan.requests
            ],
            "conduct": [] if exploration.conduct == "off" else list(clean.seen.conduct),
            "not_the_same_each_time": clean.vague,
        },
        "points": [result_document(result, exploration.repeat) for result in exploration.results],
        "merged": [
            {"point": str(merged.point), "into": str(merged.into), "why": merged.why}
            for merged in plan.merged
        ],
        "left_out": [str(point) for point in plan.left_out],
        "not_run": [str(point) for point in exploration.not_run],
        "cut": exploration.cut or None,
        "summary": counts(exploration.results),
        "coverage": {
            figure.name.replace(" ", "_"): {"met": list(figure.met), "of": figure.of}
            for figure in coverage(exploration)
        },
    }


def result_document(result: Result, repeat: Callable[[Point], str] | None = None) -> JsonObject:
    """Return a result as JSON; `read_result` reads it."""
    found: dict[str, Any] = {
        "point": str(result.point),
        "verdict": result.verdict,
        "says": list(result.says),
        "exit_code": result.exit_code,
        "duration_s": result.duration_s,
        "output": list(result.output),
        "conduct": list(result.conduct),
        "codes": list(result.codes),
        "hit": result.hit,
    }
    if repeat is not None and (result.conduct or not result.fine):
        found["repeat"] = repeat(result.point)
    return found


def read_result(found: Mapping[str, Any]) -> Result:
    """Read a result again. Raises ValueError, TypeError or KeyError for anything else."""
    return Result(
        point=Point.read(found["point"]),
        verdict=found["verdict"],
        says=tuple(found["says"]),
        exit_code=int(found["exit_code"]),
        duration_s=float(found["duration_s"]),
        output=tuple(found["output"]),
        conduct=tuple(found["conduct"]),
        codes=tuple(found["codes"]),
        hit=bool(found["hit"]),
    )


def _in_order(found: set[str], order: Iterable[str]) -> tuple[str, ...]:
    return tuple(word for word in order if word in found)
