"""Telling: the parts of an exchange's trail, put in order."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hosting_emulator.contract.calls import CallSpec, calls_at
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.redacting import Redactor
from hosting_emulator.engine.request_log import (
    Entry,
    RequestLog,
    entry_view,
    exchange_view,
    problem_of,
)
from hosting_emulator.engine.trail import Committed
from hosting_emulator.engine.trails import access, assumed, disturbing, repeating, writing
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world.value import World

#: The steps a trail can have, in the order in which things happen. `fault` comes once more after
#: `commit`: there stand the faults that act after it, and what became of the answer.
STEPS = (
    *("due", "principal", "fault", "scope", "role", "idempotency", "commit", "fault"),
    *("assumption", "variation", "refusal"),
)


class Trails:
    """The trails of one request log. To be made for each look: it remembers what it has looked up."""

    def __init__(self, log: RequestLog) -> None:
        self._uses = repeating.Uses(log)

    def item(self, world: World, entry: Entry) -> dict[str, Any]:
        """Return an exchange in short, with its trail; `world` is the one that now is."""
        return {**entry_view(world, entry), "trail": self.steps(entry)}

    def whole(self, world: World, entry: Entry) -> dict[str, Any]:
        """Return an exchange with headers, bodies and trail."""
        return {**exchange_view(world, entry), "trail": self.steps(entry)}

    def steps(self, entry: Entry) -> list[dict[str, str]]:
        """Return the steps of an exchange: what was decided, and what it was decided from."""
        redactor = Redactor(entry.world.assumptions.key_prefix)
        return [{"step": step, "says": redactor.text(says)} for step, says in self._told(entry)]

    def _told(self, entry: Entry) -> Iterator[tuple[str, str]]:
        world, commits = entry.world, []
        for found in entry.commits:
            if found.title in ("due events", "clock"):
                yield "due", _due(found, world)
            else:
                commits.append((found, world))
            world = found.world
        # Access and assumptions are told from the world they were asked of: after what was due.
        asked = _asked(entry)
        spec = _spec(entry, asked)
        if entry.principal is not None:
            yield "principal", access.principal_of(asked, entry.principal)
        counts = disturbing.Counts(commits)
        yield from disturbing.before_commit(entry, asked, counts)
        if spec is not None and entry.principal is not None and entry.judged:
            yield from access.access_of(asked, entry, entry.principal, spec)
        if spec is not None and spec.idempotent and entry.judged:
            yield from _named("idempotency", self._uses.told(entry, asked))
        yield from _named("commit", (writing.commit_of(*made) for made in counts.others))
        if not counts.others and spec is not None and spec.idempotent and 200 <= entry.status < 300:
            rest = "all but what faults count" if commits else "the world"
            yield "commit", f"Nothing was committed: {rest} is as it was."
        yield from disturbing.after_commit(entry, counts)
        yield from _named("assumption", assumed.assumptions_of(asked, entry, spec))
        yield from _named(
            "variation", (f"{point}: {POINTS[point].about}." for point in entry.varied)
        )
        refusal = _refusal(entry)
        if refusal is not None:
            yield "refusal", refusal


def _named(step: str, sentences: Iterable[str]) -> Iterator[tuple[str, str]]:
    return ((step, sentence) for sentence in sentences)


def _asked(entry: Entry) -> World:
    """Return the world that the request was put to."""
    world = entry.world
    for found in entry.commits:
        if found.title != "due events":
            break
        world = found.world
    return world


def _due(found: Committed, before: World) -> str:
    at, commit = format_timestamp(found.world.at_ms), found.world.commit
    happened = "; ".join(writing.happened(found, before)) or "nothing that shows"
    if found.title == "clock":
        return f"The skip clock moved to {at} (commit {commit}): {happened}."
    return f"First ran what was due by {at} (commit {commit}): {happened}."


def _spec(entry: Entry, world: World) -> CallSpec | None:
    return calls_at(world.assumptions.operation_path).by_id.get(entry.call or "")


def _refusal(entry: Entry) -> str | None:
    if entry.code is None and entry.status < 400:
        return None
    if entry.code is None and not entry.replayed:
        return f"{entry.status}, from a proxy that a fault plays: it is no problem document."
    problem = problem_of(entry) or {"code": entry.code or "?", "detail": ""}
    told = f"{entry.status} {problem['code']}: {problem['detail']}".rstrip(": ")
    # Of what is not found the step `scope` says more, and of what a fault did its own step.
    reason = entry.why[-1] if entry.why and entry.status != 404 and not entry.acted else ""
    return f"{told} That is: {reason}." if reason and reason != problem["detail"] else told
