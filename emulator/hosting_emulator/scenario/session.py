"""A session becomes a scenario: what was done in a world, or in a span of that, as one file.

History and request log tell what was done and in which order. Each file is run before it is handed
out, so its story passes; what cannot be said truly is refused, and the reason told.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import CAPACITY, Commit
from hosting_emulator.faults.decisions import faults_in_order, spent
from hosting_emulator.faults.documents import FAULT, OUTCOME, fault_view
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.document import read_scenario, scenario_of
from hosting_emulator.scenario.source import ScenarioError, Source
from hosting_emulator.scenario.story import run_document
from hosting_emulator.scenario.story_writer import Document, Happened, NotRecordable, StoryWriter
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


# --- what happened ---------------------------------------------------------------------------------


class WorldPast(NamedTuple):
    """What happened until `world` since `base`: as it began, unless that is not kept any more."""

    world: World
    base: World
    happened: list[Happened]


def past_of(engine: Engine) -> WorldPast:
    """Return what happened in a world as it is now; what was rewound is not part of it.

    Raises NotRecordable: it was put back to the middle of a request.
    """
    engine.run_due()
    line = _line(engine)
    base = line[0].before if line[0].writes else line[0].world
    numbers = {base.commit, *(commit.number for commit in line)}
    saved_ms = {one.world.commit: one.at_ms for one in (c.restored for c in line) if one}
    found = []
    for entry in engine.log.after(0):
        kept = [commit.number in numbers for commit in entry.commits]
        if kept and kept[0] and not kept[-1]:
            raise NotRecordable(f"the world was rewound to the middle of request {entry.n}")
        # One that changed nothing may have come after the state that was put back.
        late = not kept and entry.at_ms > saved_ms.get(entry.world.commit, entry.at_ms)
        if entry.world.commit in numbers and all(kept) and not late:
            of = [commit.number for commit in entry.commits] or [entry.world.commit]
            title = f"request {entry.n} ({entry.method} {entry.call or 'no call'})"
            found.append(Happened(of[0], of[-1], entry.at_ms, entry.world, title, entry=entry))
    if found and engine.log.count > len(engine.log):
        base = found[0].before  # of what was before, the log keeps no more
    for one in line:
        if one.turn is not None and one.number > base.commit:
            title, at_ms = f"commit {one.number} ({one.title})", one.world.at_ms
            found.append(Happened(one.number, one.number, at_ms, one.before, title, commit=one))
    # A request comes behind the commit that made the world it found.
    found.sort(
        key=lambda one: (one.entry.world.commit, one.entry.n) if one.entry else (one.first, 0)
    )
    return WorldPast(engine.world, base, found)


def _line(engine: Engine) -> list[Commit]:
    """Return the commits that led to a world as it is, oldest first, as far as they are kept."""
    kept = {commit.number: commit for commit in engine.history.newest(CAPACITY)}
    began = max((n for n, one in kept.items() if not one.writes and not one.restored), default=0)
    line, number = list[Commit](), engine.world.commit
    while number >= began and number in kept:
        line.append(commit := kept[number])
        number = commit.restored.world.commit if commit.restored else commit.before.commit
        if number == commit.number:
            break
    return line[::-1]


def _find_span(found: list[Happened], first: str | None, last: str | None) -> tuple[int, int]:
    """Return the places where a span begins and ends. Raises NotRecordable."""
    start, end = 0, len(found)
    if first is not None:
        number, by_commit = _number(first, "from")
        fits = [one.last >= number if by_commit else one.n == number for one in found]
        start = fits.index(True) if True in fits else -1
    if last is not None:
        number, by_commit = _number(last, "to")
        fits = [one.first <= number if by_commit else one.n == number for one in found]
        end = max((place + 1 for place, fit in enumerate(fits) if fit), default=-1)
    if start < 0 or end < 0:
        asked = [one.n for one in found if one.n is not None]
        kept = f"requests {asked[0]} to {asked[-1]}" if asked else "no request"
        raise NotRecordable(f"there is nothing at {first if start < 0 else last}: kept are {kept}")
    if start >= end:
        raise NotRecordable("nothing was done in this span: no request and no manual change")
    return start, end


def _number(text: str, name: str) -> tuple[int, bool]:
    number = text.removeprefix("commit:")
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise NotRecordable(f"{name} must be a request's number (12) or a commit's (commit:40)")
    return int(number), number != text


# --- how its file begins ---------------------------------------------------------------------------


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
    start, end = _find_span(past.happened, first, last)
    base, begins, refused = past.base, past.happened[start], ""
    own = _as_it_began(base, name)
    # The ways in which it may begin, the truest first, each with the new ids of the faults in its
    # head; None says that the story begins with the world, and does again what was before the span.
    ways: list[tuple[dict[str, str] | None, Document]] = [] if own is None else [(None, own)]
    if own is None or start:
        world, at_ms = (begins.before, begins.at_ms) if start else (base, base.at_ms)
        like, begun_ids = _as_it_is(world, at_ms, name)
        ways.insert(0 if own is None or _same(like, world, at_ms) else 1, (begun_ids, like))
    for ids, head in ways:
        found = past.happened[start if ids is not None else 0 : end]
        for exact in (False, True):
            silent = start if ids is None else 0
            try:
                return _SessionDraft(past.world, head, found, ids or {}, silent, exact).written()
            except NotRecordable as error:
                refused = str(error)
    if own is None:
        refused += (
            "; how this world started is not kept, and a file can express only a part of its "
            "later state: record after a reset"
        )
    raise NotRecordable(refused)


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
    named = world.assumptions.changes()
    for chosen in origin.chosen:  # also one that is the default: it is not varied
        named.setdefault(chosen, msgspec.to_builtins(getattr(world.assumptions, chosen)))
    for drawn in () if variation is None else variation.assumed:
        named.pop(drawn, None)
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


def _as_it_is(world: World, at_ms: int, name: str) -> tuple[Document, dict[str, str]]:
    """Return the head of a scenario whose world is like one, as far as a scenario can say it.

    With it come the new ids of faults and outcomes; one that can act no more is not there: empty.
    """
    head, begun_ids = _head(world, at_ms, name), dict[str, str]()
    head["world"] = _filled_in(msgspec.to_builtins(described(world)))
    for section, family in (("faults", FAULT), ("outcomes", OUTCOME)):
        armed = []
        for fault in faults_in_order(world, family.table):
            begun_ids[fault.id] = ""
            if spent(fault, at_ms):
                continue
            view = fault_view(world, fault, at_ms)
            # What is left of its counts.
            for counted, count in (("times", fault.hits), ("skip_first", fault.seen)):
                if view.get(counted):
                    view[counted] = max(0, view[counted] - count)
            fields = (fault.kind, *family.fields)
            armed.append({f: v for f, v in view.items() if f in fields and v != 0})
            begun_ids[fault.id] = f"{family.noun}-{len(armed)}"
        if armed:
            head[section] = armed
    due = {event.subject: event.due_ms for _, event in world.rows(t.SCHEDULE)}
    planned = []
    for key, entry in sorted(world.rows(t.TIMELINE), key=lambda row: row[1].order):
        when = {"at": _moment(due[key])} if key in due else {}
        counted_calls = {"after_calls": entry.after_calls} if entry.after_calls else {}
        if not entry.done and (when or counted_calls):
            call = {"call": entry.call} if entry.call else {}
            planned.append({**when, **counted_calls, **call, entry.action: entry.document})
    return head | ({"timeline": planned} if planned else {}), begun_ids


def _moment(at_ms: int) -> str:
    return format_timestamp(at_ms).replace(".000Z", "Z")


def _filled_in(found: Any) -> Any:
    """Return a document without what is empty."""
    if isinstance(found, dict):
        return {name: _filled_in(value) for name, value in found.items() if value != {}}
    return [_filled_in(one) for one in found] if isinstance(found, list) else found


# --- its story ---------------------------------------------------------------------------------------


class _SessionDraft:
    """One way to write a session down, tried until its story passes or cannot.

    Of what was `found`, the first `silent` things are not judged.
    """

    def __init__(
        self,
        world: World,
        head: Document,
        found: list[Happened],
        begun_ids: Mapping[str, str],
        silent: int,
        exact: bool,
    ) -> None:
        self._world, self._head, self._found = world, head, found
        self._begun_ids, self._silent, self._exact = begun_ids, silent, exact
        self._left_out = {
            entry.n: f"{one.title}: only a part of its body was kept"
            for one in found
            if (entry := one.entry) and entry.body_bytes > len(entry.body) and not entry.commits
        }

    def written(self) -> SessionFile:
        """Return the file, whose story passes. Raises NotRecordable."""
        asked = sum(one.entry is not None for one in self._found)
        whole = f"Recorded in the world {self._world.name}, up to {_moment(self._found[-1].at_ms)}"
        turns = len(self._found) - asked
        told = f"{whole}: requests {asked}, manual changes {turns}."
        while True:
            story, sources = self._story()
            document = {**self._head, "description": told, "story": story}
            failed = self._failed(document)
            if failed is None:
                break
            number, why = failed
            one = None if number is None else sources[number]
            why = why if one is None else f"{one.title}: {why}"
            entry = one and one.entry
            if not (entry and not entry.commits and self._exact):
                raise NotRecordable(why)
            if len(self._left_out) > _MOST_LEFT_OUT:
                raise NotRecordable(why)
            self._left_out[entry.n] = why
        text = write_yaml(document)
        seedless = {name: value for name, value in document.items() if name != "seed"}
        if "probability:" not in text and not any(self._failed(seedless, one) for one in _SEEDS):
            text = write_yaml(seedless)
        try:
            read_scenario(text, "scenario.yaml")
        except ScenarioError as error:
            raise NotRecordable(f"{error.message}: record a shorter span") from None
        return SessionFile(text, len(story), [*self._left_out.values()])

    def _story(self) -> tuple[list[Document], list[Happened | None]]:
        began_ms = parse_timestamp(self._head["clock"]["at"])
        writer = StoryWriter(self._world, began_ms, self._begun_ids, exact=self._exact)
        for place, one in enumerate(self._found):
            if self._silent and place == self._silent:
                writer.add({"note": "The recording starts here."}, None)
            if one.n in self._left_out:
                writer.add({"note": f"Left out is {self._left_out[one.n]}"}, None)
            else:
                writer.write(one, judged=place >= self._silent)
        return writer.steps, writer.sources

    def _failed(self, document: Document, seed: str = "") -> tuple[int | None, str] | None:
        """Run a story; return the number of the first step that fails, and why. None: it passes."""
        try:
            report = run_document(document, seed=seed or self._world.seed)
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
