"""Judging a run: did the client survive, and is the service as the clean run leaves it?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from hosting_emulator.explore.points import Point
from hosting_emulator.explore.seeing import Seen
from hosting_emulator.explore.states import State, differences, vague_kinds

Verdict = Literal["survived", "not reached", "failed", "hung", "doubled", "differs", "misbehaved"]
VERDICTS: tuple[Verdict, ...] = get_args(Verdict)
#: What is made of what the client did that the real service would not bear: nothing is said of it,
#: it is told, or a run in which something was found does not count as survived.
Conduct = Literal["off", "report", "error"]
#: Those that are no fault of the client.
FINE: tuple[Verdict, ...] = ("survived", "not reached")
#: What each means, for those who read a report.
MEANINGS: Mapping[Verdict, str] = {
    "survived": "it ends as the clean run does, and so does the service",
    "not reached": "the fault never met a request: the client took another way",
    "failed": "it ends with another exit code",
    "hung": "it did not end within its time, and was ended",
    "doubled": "it ends well, but something was done more often than in the clean run",
    "differs": "it ends well, but the service is not as the clean run leaves it",
    "misbehaved": "it ends well, but did what the real service would not bear (`--conduct error`)",
}


@dataclass(frozen=True, slots=True)
class Ended:
    """How a run ended: exit code, whether it had to be ended, real seconds, its last lines.

    `says` is how people call an end that was not good; else its exit code is named.
    """

    code: int
    hung: bool = False
    duration_s: float = 0.0
    output: tuple[str, ...] = ()
    says: str = ""


@dataclass(frozen=True, slots=True)
class Clean:
    """The clean run: what was there before it, what it came to, and what it came to once more.

    `again` None: it was run once only.
    """

    start: State
    seen: Seen
    ended: Ended
    again: Seen | None = None

    @property
    def vague(self) -> list[str]:
        """The kinds of things that two clean runs leave differently."""
        return [] if self.again is None else vague_kinds(self.seen.state, self.again.state)


@dataclass(frozen=True, slots=True)
class Result:
    """What became of a point. `says` are sentences; `codes` the problems that the client met."""

    point: Point
    verdict: Verdict
    says: tuple[str, ...]
    exit_code: int
    duration_s: float
    output: tuple[str, ...] = ()
    conduct: tuple[str, ...] = ()
    codes: tuple[str, ...] = ()
    hit: bool = True

    @property
    def fine(self) -> bool:
        """Whether there is nothing to blame the client for."""
        return self.verdict in FINE


def judge(
    point: Point,
    ended: Ended,
    seen: Seen,
    clean: Clean,
    *,
    limit_s: float,
    conduct: Conduct = "report",
) -> Result:
    """Judge a run that met a point. `limit_s` is what it was given, in real seconds.

    Of its conduct only that counts which the clean run has not, too.
    """
    told = tuple(said for said in seen.conduct if said not in clean.seen.conduct)
    again = clean.again.state if clean.again is not None else None
    found = differences(seen.state, clean.seen.state, clean.start, again)
    more = [difference.says for difference in found if difference.more]
    every = [difference.says for difference in found]
    verdict: Verdict
    if ended.hung:
        verdict, says = "hung", [f"it did not end within {limit_s:g} s", *more]
    elif ended.code != clean.ended.code:
        verdict, says = "failed", [ended.says or f"exit code {ended.code}", *more]
        if not seen.hit:
            says.append("though the fault met no request: it may fail by itself at times")
    elif more:
        verdict, says = "doubled", every
    elif every:
        verdict, says = "differs", every
    elif told and conduct == "error":
        verdict, says = "misbehaved", [said.partition(":")[0] for said in told]
    else:
        verdict, says = ("survived", []) if seen.hit else ("not reached", [])
    return Result(
        point=point,
        verdict=verdict,
        says=tuple(says),
        exit_code=ended.code,
        duration_s=round(ended.duration_s, 3),
        output=() if verdict in FINE else ended.output,
        conduct=() if conduct == "off" else told,
        codes=tuple(sorted(seen.codes)),
        hit=seen.hit,
    )


def wants_another_look(result: Result) -> bool:
    """Whether a point is to be run once more: chance, or a busy machine, may have been at work.

    A run that hung had time enough.
    """
    return not result.fine and result.verdict != "hung"


def settled(first: Result, second: Result) -> Result:
    """Return what to say of a point that was run twice: only what happens again is held against it."""
    if first.verdict == second.verdict:
        return first
    says = "; ".join((first.verdict, *first.says))
    return replace(second, says=(*second.says, f"the first of two runs: {says}"))


def counts(results: Sequence[Result]) -> dict[str, int]:
    """Count the results by verdict, in the order of VERDICTS; what there is none of is left out."""
    found = Counter(result.verdict for result in results)
    return {verdict: found[verdict] for verdict in VERDICTS if found[verdict]}
