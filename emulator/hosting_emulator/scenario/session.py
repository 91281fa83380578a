"""A session becomes a scenario: what was done in a world, or in a span of that, as one file.

History and request log tell what was done and in which order. Each file is run before it is handed
out, so its story passes; what cannot be said truly is refused, and the reason told.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import msgspec

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.faults.decisions import faults_in_order, spent
from hosting_emulator.faults.documents import FAULT, OUTCOME, Family, fault_view
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.document import read_scenario, scenario_of
from hosting_emulator.scenario.past import Happened, NotRecordable, WorldPast, find_span
from hosting_emulator.scenario.source import ScenarioError, Source
from hosting_emulator.scenario.story import run_apart
from hosting_emulator.scenario.story_writer import Document, StoryWriter
from hosting_emulator.scenario.yaml_text import write_yaml
from hosting_emulator.world import tables as t
from hosting_emulator.world.population import described
from hosting_emulator.world.records import Origin
from hosting_emulator.world.value import World

#: So many requests that changed nothing may be left out, where they cannot be asked again alone.
_MOST_LEFT_OUT = 50
#: Tables that say how a world is run, not what it holds.
_BESIDE = (t.CLOCK.name, t.ORIGIN.name)
#: A story that passes under these as well needs no seed of its own.
_SEEDS = (DEFAULT_SEED, "another")
_NOTHING: Mapping[str, Any] = {}


class SessionFile(NamedTuple):
    """A scenario file. `steps` counts its story, `left_out` says what of the session it has not."""

    text: str
    steps: int
    left_out: list[str]


def record_session(
    past: WorldPast, name: str = "recorded", first: str | None = None, last: str | None = None
) -> SessionFile:
    """Write what was done in a world as a scenario, from one thing to another, or all of it.

    `first` and `last` are the number of a request (`12`), or of a commit (`commit:40`). Of a span
    that does not begin with its world, the file says what the world was; what no scenario can say of
    that, the story does again beforehand, and judges none of it. Raises NotRecordable.
    """
    start, end = find_span(past.happened, first, last)
    happened, refused = past.happened[:end], ""
    for begun_ids, head in _beginnings(past, start, name):
        whole = begun_ids is None
        found = happened if whole else happened[start:]
        for exact in (False, True):
            draft = _SessionDraft(past.world, head, found, start if whole else 0, exact)
            draft.begun_ids = begun_ids or {}
            try:
                return draft.written()
            except NotRecordable as error:
                refused = str(error)
    if _as_it_began(past.base, name) is None:
        refused += (
            "; how this world started is not kept, and a file can express only a part of its "
            "later state: record after a reset"
        )
    raise NotRecordable(refused)


def _beginnings(
    past: WorldPast, start: int, name: str
) -> list[tuple[dict[str, str] | None, Document]]:
    """Return the ways in which a span may begin, the truest first, each with the head of its file.

    Before each stand the new ids of the faults that are in its head; None says that the story begins
    with the world, and does again what was before the span.
    """
    base = past.base
    own = _as_it_began(base, name)
    if own is not None and start == 0:
        return [(None, own)]
    first = past.happened[start]
    world, at_ms = (base, base.at_ms) if start == 0 else (first.before, first.at_ms)
    begun_ids = dict[str, str]()
    like = _as_it_is(world, at_ms, name, begun_ids)
    if own is None:
        return [(begun_ids, like)]
    ways = [(begun_ids, like), (None, own)]
    return ways if _same(like, world, at_ms) else ways[::-1]


def _as_it_began(world: World, name: str) -> Document | None:
    """Return the head of a scenario of a world that is as its origin makes it; None: it is not."""
    origin = world.get(t.ORIGIN, t.ONLY) or Origin()
    head = _head(world, world.at_ms, name)
    if origin.scenario is not None:
        try:
            written = read_scenario(origin.scenario, origin.scenario_file or name).source.data
        except ScenarioError:
            return None
        parts = ("world", "faults", "outcomes", "timeline")
        head |= {part: written[part] for part in parts if part in written}
    return head if _same(head, world, world.at_ms) else None


def _head(world: World, at_ms: int, name: str) -> Document:
    variation, origin = world.variation, world.get(t.ORIGIN, t.ONLY) or Origin()
    drawn = () if variation is None else variation.assumed
    changes = world.assumptions.changes()
    named = {name: value for name, value in changes.items() if name not in drawn}
    for chosen in origin.chosen:  # also one that is the default: it is not varied
        if chosen not in drawn:
            value = msgspec.to_builtins(getattr(world.assumptions, chosen))
            named.setdefault(chosen, value)
    head: Document = {"name": name, "description": "", "seed": world.seed}
    head["clock"] = {"mode": "frozen", "at": _moment(at_ms)}
    if named:
        head["assumptions"] = named
    if variation is not None:
        head["vary"] = {"seed": variation.seed}
        if variation.only is not None:
            head["vary"]["only"] = list(variation.only)
    return head


def _same(head: Document, world: World, at_ms: int) -> bool:
    """Tell whether the world of a scenario holds what a world does."""
    try:
        scenario = scenario_of(Source("", {**head, "description": "-"}, {}, {}))
        built = build_world(scenario, world.name, at_ms)
    except ScenarioError:
        return False
    names = [name for name in t.TABLES if name not in _BESIDE]
    return all(built.tables[name] == world.tables[name] for name in names)


def _as_it_is(world: World, at_ms: int, name: str, begun_ids: dict[str, str]) -> Document:
    """Return the head of a scenario whose world is like one, as far as a scenario can say it.

    Notes the new ids of faults and outcomes; one that can act no more is not there, and has none.
    """
    head = _head(world, at_ms, name)
    head["world"] = _filled_in(msgspec.to_builtins(described(world)))
    for section, family in (("faults", FAULT), ("outcomes", OUTCOME)):
        armed = dict(_armed(world, at_ms, family))
        if armed:
            head[section] = [*armed.values()]
        begun_ids |= dict.fromkeys(world.tables[family.table.name], "")
        begun_ids |= {id_: f"{family.noun}-{n}" for n, id_ in enumerate(armed, 1)}
    due = {event.subject: event.due_ms for _, event in world.rows(t.SCHEDULE)}
    planned = []
    for key, entry in sorted(world.rows(t.TIMELINE), key=lambda row: row[1].order):
        if entry.done or not (entry.after_calls or key in due):
            continue
        when = {"at": _moment(due[key])} if key in due else _NOTHING
        counted = {"after_calls": entry.after_calls} if entry.after_calls else _NOTHING
        call = {"call": entry.call} if entry.call else _NOTHING
        planned.append({**when, **counted, **call, entry.action: entry.document})
    return head | ({"timeline": planned} if planned else {})


def _moment(at_ms: int) -> str:
    return format_timestamp(at_ms).replace(".000Z", "Z")


def _filled_in(found: Any) -> Any:
    """Return a document without what is empty."""
    if isinstance(found, dict):
        return {name: _filled_in(value) for name, value in found.items() if value != {}}
    return [_filled_in(one) for one in found] if isinstance(found, list) else found


def _armed(world: World, at_ms: int, family: Family) -> Iterator[tuple[str, Document]]:
    """Give the faults or outcomes that can still act, by their ids, with what is left of their counts."""
    for fault in faults_in_order(world, family.table):
        if spent(fault, at_ms):
            continue
        view = fault_view(world, fault, at_ms)
        written = {name: view[name] for name in view if name in (fault.kind, *family.fields)}
        for counted, count in (("times", fault.hits), ("skip_first", fault.seen)):
            if written.get(counted):
                written[counted] = max(0, written[counted] - count)
        yield fault.id, {name: value for name, value in written.items() if value != 0}


class _SessionDraft:
    """One way to write a session down, tried until its story passes or cannot."""

    def __init__(
        self, world: World, head: Document, found: list[Happened], silent: int, exact: bool
    ) -> None:
        self._world, self._head, self._found = world, head, found
        self._began_ms = parse_timestamp(head["clock"]["at"])
        self._silent, self._exact = silent, exact
        self.begun_ids: dict[str, str] = {}
        self._left_out = {
            entry.n: f"{one.title}: only a part of its body was kept"
            for one in found
            if (entry := one.entry) and entry.body_bytes > len(entry.body) and not entry.commits
        }

    def written(self) -> SessionFile:
        """Return the file, whose story passes. Raises NotRecordable."""
        while True:
            story, sources = self._story()
            document = {**self._head, "description": self._description(), "story": story}
            failed = self._failed(document)
            if failed is None:
                return self._file(document)
            number, why = failed
            one = None if number is None else sources[number]
            why = why if one is None else f"{one.title}: {why}"
            asked = one and one.entry
            if (
                not asked
                or asked.commits
                or not self._exact
                or len(self._left_out) > _MOST_LEFT_OUT
            ):
                raise NotRecordable(why)
            self._left_out[asked.n] = why

    def _file(self, document: Document) -> SessionFile:
        text = write_yaml(document)
        seedless = {name: value for name, value in document.items() if name != "seed"}
        if "probability:" not in text and not any(self._failed(seedless, one) for one in _SEEDS):
            text = write_yaml(seedless)
        try:
            read_scenario(text, "scenario.yaml")
        except ScenarioError as error:
            raise NotRecordable(f"{error.message}: record a shorter span") from None
        return SessionFile(text, len(document["story"]), [*self._left_out.values()])

    def _story(self) -> tuple[list[Document], list[Happened | None]]:
        writer = StoryWriter(self._world, self._began_ms, self.begun_ids, exact=self._exact)
        for place, one in enumerate(self._found):
            if self._silent and place == self._silent:
                writer.add({"note": "The recording starts here."}, None)
            if one.entry is not None and one.entry.n in self._left_out:
                writer.add({"note": f"Left out is {self._left_out[one.entry.n]}"}, None)
            else:
                writer.write(one, judged=place >= self._silent)
        return writer.steps, writer.sources

    def _description(self) -> str:
        asked = sum(one.entry is not None for one in self._found)
        turns = len(self._found) - asked
        at = _moment(self._found[-1].at_ms)
        whole = f"Recorded in the world {self._world.name}, up to {at}"
        return f"{whole}: requests {asked}, manual changes {turns}."

    def _failed(self, document: Document, seed: str = "") -> tuple[int | None, str] | None:
        """Run a story; return the number of the first step that fails, and why. None: it passes."""
        try:
            scenario = scenario_of(Source("scenario.yaml", document, {}, {}))
            seed = seed or self._world.seed
            report = run_apart(scenario, build_world(scenario, "default", 0, seed))
        except ScenarioError as error:
            return None, error.message
        if report["passed"]:
            return None
        step = report["steps"][-1]
        differs = "; ".join(
            f"{one['at']} is {one['found']!r} instead of {one['expected']!r}"
            for one in step["differences"][:3]
        )
        return step["n"] - 1, f"when repeated, {differs}"
