"""A session becomes a scenario: what was done in a world, or in a span of that, as one file.

History and request log tell what was done and in which order. Each file is run before it is handed
out, so its story passes; what cannot be said truly is refused, and the reason told.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.calls.create_dev_access_ticket import dev_origin
from hosting_emulator.contract.calls import CALLS, calls_at
from hosting_emulator.contract.doors import REDEEM_TICKET
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.history import CAPACITY, Commit
from hosting_emulator.engine.identity import home_of
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.request_log import sent_header
from hosting_emulator.faults.decisions import faults_in_order, spent
from hosting_emulator.faults.documents import FAULT, OUTCOME, Family, fault_view
from hosting_emulator.scenario.build import USUAL, build_world
from hosting_emulator.scenario.document import ACTIONS, read_scenario, scenario_of
from hosting_emulator.scenario.source import ScenarioError, Source
from hosting_emulator.scenario.story import run_apart
from hosting_emulator.scenario.yaml_text import write_yaml
from hosting_emulator.world import tables as t
from hosting_emulator.world.population import described
from hosting_emulator.world.records import Organization, Origin, Person
from hosting_emulator.world.sessions import is_current
from hosting_emulator.world.streams import digest
from hosting_emulator.world.value import Change, World

Document = dict[str, Any]
#: So many requests that changed nothing may be left out, where they cannot be asked again alone.
_MOST_LEFT_OUT = 50
#: Tables that say how a world is run, not what it holds.
_BESIDE = (t.CLOCK.name, t.ORIGIN.name)
#: Headers that every client sends and that change no answer, and those a step says in its own words.
_OF_A_CLIENT = re.compile(
    r"host|user-agent|accept(-.*)?|connection|content-length|transfer-encoding|cookie|origin|referer"
    r"|sec-.*|x-forwarded-.*|forwarded|via|priority|dnt|cache-control|pragma|traceparent|tracestate"
    r"|keep-alive|te|upgrade-insecure-requests|x-control-token|authorization|idempotency-key",
    re.IGNORECASE,
)
#: A word of the contract: what an answer tells that was not made for it.
_WORD = re.compile(r"[a-z][a-z_]*")
#: What may be made anew in each world: ids, secrets, cursors.
_MADE = re.compile(r"[A-Za-z0-9_-]{12,}")
_A_URL = re.compile(r"https?://\S+")
#: A story that passes under these as well needs no seed of its own.
_SEEDS = (DEFAULT_SEED, "another")
_NOTHING: Mapping[str, Any] = {}


class NotRecordable(ValueError):
    """What was done cannot be written as a scenario; the message says what, and what would be right."""


class SessionFile(NamedTuple):
    """A scenario file. `steps` counts its story, `left_out` says what of the session it has not."""

    text: str
    steps: int
    left_out: list[str]


class Happened(NamedTuple):
    """A request, or a turn of a hand, at a moment of world time; `first` and `last` are its commits."""

    first: int
    last: int
    at_ms: int
    entry: Entry | None = None
    commit: Commit | None = None

    @property
    def before(self) -> World:
        """The world as it found it."""
        if self.entry is not None:
            return self.entry.world
        assert self.commit is not None
        return self.commit.before


class WorldPast(NamedTuple):
    """What happened until `world` since `base`: as it began, unless that is not kept any more."""

    world: World
    base: World
    happened: list[Happened]


# --- what happened, in order ---------------------------------------------------------------------


def past_of(engine: Engine) -> WorldPast:
    """Return what happened in a world as it is now; what was rewound is not part of it.

    Raises NotRecordable: it was put back to the middle of a request.
    """
    engine.run_due()
    line = _line(engine)
    base = line[0].before if line[0].writes else line[0].world
    numbers = {base.commit, *(commit.number for commit in line)}
    saved_ms = {one.world.commit: one.at_ms for one in (c.restored for c in line) if one}
    entries = []
    for entry in engine.log.after(0):
        kept = [commit.number in numbers for commit in entry.commits]
        if kept and kept[0] and not kept[-1]:
            raise NotRecordable(f"the world was put back to the middle of request {entry.n}")
        # One that changed nothing may have come after the state that was put back.
        late = not kept and entry.at_ms > saved_ms.get(entry.world.commit, entry.at_ms)
        if entry.world.commit in numbers and all(kept) and not late:
            entries.append(entry)
    if entries and engine.log.count > len(engine.log):
        base = entries[0].world  # of what was before, the log keeps no more
    found = [_asked(entry) for entry in entries]
    found += [
        Happened(one.number, one.number, one.world.at_ms, commit=one)
        for one in line
        if one.turn is not None and one.number > base.commit
    ]
    # A request comes behind the commit that made the world it found.
    return WorldPast(engine.world, base, sorted(found, key=_place))


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


def _asked(entry: Entry) -> Happened:
    numbers = [commit.number for commit in entry.commits] or [entry.world.commit]
    return Happened(numbers[0], numbers[-1], entry.at_ms, entry=entry)


def _place(one: Happened) -> tuple[int, int]:
    return (one.first, 0) if one.entry is None else (one.entry.world.commit, one.entry.n)


def _span(found: list[Happened], first: str | None, last: str | None) -> tuple[int, int]:
    """Return the places where a span begins and ends. Raises NotRecordable."""
    start, end = 0, len(found)
    if first is not None:
        number, by_commit = _number(first, "from")
        fits = (one.last >= number if by_commit else _n(one) == number for one in found)
        start = next((place for place, fit in enumerate(fits) if fit), -1)
    if last is not None:
        number, by_commit = _number(last, "to")
        fit_to = [one.first <= number if by_commit else _n(one) == number for one in found]
        end = max((place + 1 for place, fit in enumerate(fit_to) if fit), default=-1)
    if start < 0 or end < 0:
        asked = [n for one in found if (n := _n(one)) is not None]
        kept = f"requests {asked[0]} to {asked[-1]}" if asked else "no request"
        raise NotRecordable(f"there is nothing at {first if start < 0 else last}: kept are {kept}")
    if start >= end:
        raise NotRecordable("nothing was done in this span: no request, no turn of a hand")
    return start, end


def _n(one: Happened) -> int | None:
    return None if one.entry is None else one.entry.n


def _number(text: str, name: str) -> tuple[int, bool]:
    by_commit = text.startswith("commit:")
    number = text.removeprefix("commit:")
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise NotRecordable(f"{name} is a request's number (12) or a commit's (commit:40)")
    return int(number), by_commit


# --- the file --------------------------------------------------------------------------------------


def record_session(
    past: WorldPast, name: str = "recorded", first: str | None = None, last: str | None = None
) -> SessionFile:
    """Write what was done in a world as a scenario, from one thing to another, or all of it.

    `first` and `last` are the number of a request (`12`), or of a commit (`commit:40`). Of a span
    that does not begin with its world, the file says what the world was; what no scenario can say of
    that, the story does again beforehand, and judges none of it. Raises NotRecordable.
    """
    start, end = _span(past.happened, first, last)
    happened, refused = past.happened[:end], ""
    for whole, head in _beginnings(past, start, name):
        found = happened if whole else happened[start:]
        for exact in (False, True):
            draft = _SessionDraft(past.world, head, found, start if whole else 0, exact)
            written = draft.written()
            if written is not None:
                return written
            refused = draft.refused
    raise NotRecordable(refused)


def _beginnings(past: WorldPast, start: int, name: str) -> list[tuple[bool, Document]]:
    """Return the ways in which a span may begin, the truest first, each with the head of its file.

    True says that the story begins with the world, and does again what was before the span.
    """
    base = past.base
    own = _as_it_began(base, name)
    if own is not None and start == 0:
        return [(True, own)]
    first = past.happened[start]
    world, at_ms = (base, base.at_ms) if start == 0 else (first.before, first.at_ms)
    like = _as_it_is(world, at_ms, name)
    if own is None:
        return [(False, like)]
    ways = [(False, like), (True, own)]
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


def _as_it_is(world: World, at_ms: int, name: str) -> Document:
    """Return the head of a scenario whose world is like one, as far as a scenario can say it."""
    head = _head(world, at_ms, name)
    head["world"] = _filled_in(msgspec.to_builtins(described(world)))
    for section, family in (("faults", FAULT), ("outcomes", OUTCOME)):
        if armed := [*_armed(world, at_ms, family)]:
            head[section] = armed
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


def _armed(world: World, at_ms: int, family: Family) -> Iterator[Document]:
    """Give the faults or outcomes that can still act, with what is left of their counts."""
    for fault in faults_in_order(world, family.table):
        if spent(fault, at_ms):
            continue
        view = fault_view(world, fault, at_ms)
        written = {name: view[name] for name in view if name in (fault.kind, *family.fields)}
        for counted, count in (("times", fault.hits), ("skip_first", fault.seen)):
            if written.get(counted):
                written[counted] = max(0, written[counted] - count)
        yield {name: value for name, value in written.items() if value != 0}


class _SessionDraft:
    """One way to write a session down, tried until its story passes or cannot."""

    def __init__(
        self, world: World, head: Document, found: list[Happened], silent: int, exact: bool
    ) -> None:
        self._world, self._head, self._found = world, head, found
        self._began_ms = parse_timestamp(head["clock"]["at"])
        self._silent, self._exact = silent, exact
        self._left_out: dict[int, str] = {}
        self.refused = ""

    def written(self) -> SessionFile | None:
        """Return the file, whose story passes; None: it does not, and `refused` says why."""
        while len(self._left_out) <= _MOST_LEFT_OUT:
            story, sources = self._story()
            document = {**self._head, "description": self._description(), "story": story}
            failed = self._failed(document)
            if failed is None:
                return self._file(document)
            number, why = failed
            one = sources[number] if number is not None else None
            self.refused = f"{_what(one)}: {why}" if one is not None else why
            if one is None or one.entry is None or one.entry.commits or not self._exact:
                return None
            entry = one.entry
            self._left_out[entry.n] = f"request {entry.n} ({entry.method} {entry.status}): {why}"
        return None

    def _file(self, document: Document) -> SessionFile | None:
        text = write_yaml(document)
        seedless = {name: value for name, value in document.items() if name != "seed"}
        if "probability:" not in text and not any(self._failed(seedless, one) for one in _SEEDS):
            text = write_yaml(seedless)
        try:
            read_scenario(text, "scenario.yaml")
        except ScenarioError as error:
            self.refused = f"{error.message}: record a shorter span"
            return None
        return SessionFile(text, len(document["story"]), [*self._left_out.values()])

    def _story(self) -> tuple[list[Document], list[Happened | None]]:
        writer = _StoryWriter(self._world, self._began_ms, self._exact)
        for place, one in enumerate(self._found):
            if self._silent and place == self._silent:
                writer.add({"note": "What was recorded begins here."}, None)
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
        return f"{whole}: requests {asked}, turns of a hand {turns}."

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
        return step["n"] - 1, f"when it is done again, {differs}"


def _what(one: Happened) -> str:
    if one.entry is not None:
        return f"request {one.entry.n} ({one.entry.method} {one.entry.call or 'no call'})"
    assert one.commit is not None
    return f"commit {one.commit.number} ({one.commit.title})"


# --- the story -----------------------------------------------------------------------------------


@dataclass
class _StoryWriter:
    """Writes steps, and saves of earlier answers what later ones name."""

    world: World
    began_ms: int
    exact: bool
    steps: list[Document] = field(default_factory=list)
    sources: list[Happened | None] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._now_ms = self.began_ms
        self._redactor = Redactor(self.world)
        #: What is named by a variable: where it is first answered, or what it is called.
        self._made: dict[str, tuple[Document, str, str] | str] = {}
        self._names: dict[str, int] = {}
        tables: tuple[t.Table[Any], ...] = (t.PROJECTS, t.ORGANIZATIONS, t.PEOPLE)
        for table, index in zip(tables, USUAL, strict=True):
            for key, record in self.world.rows(table):
                self._made[key] = f"${{{index}.{record.alias}}}"
        self._seeded = frozenset(self._made)

    def add(self, step: Document, source: Happened | None) -> None:
        """Add a step that comes of what happened."""
        self.steps.append(step)
        self.sources.append(source)

    def write(self, one: Happened, *, judged: bool) -> None:
        """Write one thing that happened; where it is not judged, it may be answered anything."""
        self._move(one)
        if one.entry is None:
            assert one.commit is not None
            if not set(one.commit.turn or ()) & set(ACTIONS):
                raise NotRecordable(f"{_what(one)}: a story has no word for it")
            self._turn(one, one.commit)
            return
        entry = one.entry
        step = self._request(entry)
        expect = _expected(entry, self._again if "call" in step else str)
        if not judged:
            expect = {name: expect[name] for name in expect if name == "lost"}
        step["expect"] = expect
        self.add(step, one)
        self._learn(entry, step)

    def _move(self, one: Happened) -> None:
        """Move time to where it happened: to the second, unless that is told apart."""
        at_ms = one.at_ms
        if not self.exact:
            at_ms = self.began_ms + (at_ms - self.began_ms) // 1000 * 1000
        if at_ms > self._now_ms:
            self.add({"advance": format_duration(at_ms - self._now_ms)}, one)
            self._now_ms = at_ms

    def _turn(self, one: Happened, commit: Commit) -> None:
        step = {name: self._named(value) for name, value in (commit.turn or _NOTHING).items()}
        keys = commit.writes.get(t.API_KEYS.name, _NOTHING)
        if "call" in step:
            step["key"] = f"by-hand-{commit.number}"
            for key in keys:
                step["expect"] = {}
                self._made[key] = (step, "key", "key.id")
                self._made[f"value of {key}"] = (step, "key_value", "value")
        self.add(step, one)

    # --- one request ---------------------------------------------------------------------------

    def _request(self, entry: Entry) -> Document:
        if entry.call == REDEEM_TICKET:
            target = f"{entry.path}?{entry.query}"
            project = entry.world.get(t.PROJECTS, entry.project or "")
            assert project is not None
            there = f"{dev_origin(Change(entry.world, 0), project, None)}{target}"
            url = next((known for known in self._made if known.endswith(target)), there)
            return {"redeem": self._text(url)}
        step = self._addressed(entry) or {"request": f"{entry.method} {self._target(entry)}"}
        step |= self._sender(entry, step)
        key = sent_header(entry, b"idempotency-key")
        if key is not None:
            step["key"] = self._text(key)
        if entry.body:
            step |= self._body(entry)
        headers = {
            name.decode("latin-1"): self._text(value.decode("latin-1"))
            for name, value in entry.headers
            if self._matters(entry, name.decode("latin-1"), value)
        }
        return step | ({"headers": headers} if headers else {})

    def _addressed(self, entry: Entry) -> Document | None:
        """Return a step that names its call; None where that says not all of the request."""
        if entry.call is None or entry.body_bytes > len(entry.body):
            return None
        match = calls_at(entry.world.assumptions.operation_path).recognize(entry.method, entry.path)
        pairs = parse_qsl(entry.query, keep_blank_values=True)
        keyed = sent_header(entry, b"idempotency-key") is not None
        if match is None or len(dict(pairs)) < len(pairs) or keyed != match.spec.idempotent:
            return None
        spec, subject = match.spec, match.subject_id
        step: Document
        if spec.call_id not in CALLS:
            step = {"poll": self._text(subject)}
        else:
            named = self._made.get(subject)
            if not isinstance(named, str):
                return None
            alias = named.strip("${}").partition(".")[2]
            step = {"call": spec.call_id}
            if alias != USUAL[spec.subject]:
                step[spec.subject] = alias
        query = {name: self._text(value) for name, value in pairs}
        return step | ({"query": query} if query else {})

    def _target(self, entry: Entry) -> str:
        return self._text(entry.path + (f"?{entry.query}" if entry.query else ""))

    def _body(self, entry: Entry) -> Document:
        try:
            text = entry.body.decode()
        except UnicodeDecodeError:
            return {"text": "(not text)"}
        try:
            return {"body": self._named(msgspec.json.decode(text))}
        except msgspec.DecodeError:
            return {"text": self._text(text)}

    def _matters(self, entry: Entry, name: str, value: bytes) -> bool:
        if name.lower() == "content-type":
            return not (entry.body and value.lower() == b"application/json")
        if not _OF_A_CLIENT.fullmatch(name):
            return True
        if name.lower() in ("authorization", "idempotency-key"):
            return False
        rules = [fault.rule.header or _NOTHING for _, fault in entry.world.rows(t.FAULTS)]
        return any(name.lower() == known.lower() for rule in rules for known in rule)

    def _sender(self, entry: Entry, step: Document) -> Document:
        """Say who asked: a person, an API key, somebody unknown or nobody."""
        principal, sent = entry.principal, sent_header(entry, b"authorization")
        if sent is None:
            return {"as": "nobody"}
        token = sent.partition(" ")[2].strip()
        key_id = principal.api_key_id if principal else None
        key_id = key_id or entry.world.indexes.get(f"api_key:{digest(token)}")
        if key_id is not None:
            return {"token": self._text(token if token in self._made else f"value of {key_id}")}
        if principal is None:
            return {"token": "refused"}
        person = entry.world.get(t.PEOPLE, principal.person_id)
        assert person is not None
        said: Document = {} if person.alias == USUAL["person"] else {"as": person.alias}
        # A session that has ended is none: the contract asks for a current one.
        if not is_current(entry.world, principal.session_id, person.id):
            said["interactive"] = False
        if principal.organization_id != home_of(entry.world, person):
            place = entry.world.get(t.ORGANIZATIONS, principal.organization_id or "")
            about = CALLS[step["call"]].subject if "call" in step else ""
            if place is None or about == "organization":
                return {"token": self._signed_in(person, place, said)}
            said["organization"] = place.alias
        return said

    def _signed_in(self, person: Person, place: Organization | None, said: Document) -> str:
        """Return the variable of a token for an organization, or of one got before there was any."""
        name, at = self._name("token"), len(self.steps)
        step = {"sign_in": person.alias, **{field: said[field] for field in said if field != "as"}}
        if place is not None:
            step["organization"] = place.alias
        while place is None and at and not self._homeless(person, at):
            at -= 1
        self.steps.insert(at, step | {"save": {name: "access_token"}})
        self.sources.insert(at, None)
        return f"${{{name}}}"

    def _homeless(self, person: Person, number: int) -> bool:
        source = self.sources[number] if number < len(self.sources) else None
        return source is not None and home_of(source.before, person) is None

    # --- names -----------------------------------------------------------------------------------

    def _learn(self, entry: Entry, step: Document) -> None:
        """Note what an answer has made: ids, secrets, cursors, addresses. Better one that arrived."""
        if entry.answer_bytes > len(entry.answer):
            return
        for path, value in _leaves(_json(entry.answer)):
            made = _MADE.fullmatch(value) or _A_URL.fullmatch(value)
            known = self._made.get(value)
            if known is not None and (isinstance(known, str) or "lost" not in known[0]["expect"]):
                continue
            if made and value.encode() not in entry.body:
                last = path[-1] if path[-1] != "id" else _noun(entry, path)
                noun = last.removesuffix("_id").removeprefix("next_")
                self._made[value] = (step, noun, ".".join(path))
        document = _json(entry.answer)
        key = document.get("key") if isinstance(document, dict) else None
        if isinstance(key, dict) and document.get("value"):
            self._made[f"value of {key.get('id')}"] = (step, "key_value", "value")

    def _named(self, found: Any) -> Any:
        if isinstance(found, dict):
            return {name: self._named(value) for name, value in found.items()}
        if isinstance(found, list):
            return [self._named(one) for one in found]
        return self._text(found) if isinstance(found, str) else found

    def _text(self, text: str) -> str:
        """Return a text with variables for what earlier answers made, and without any secret."""
        if text in self._made:
            return self._variable(text)
        parts = _MADE.split(text)
        for place, found in enumerate(_MADE.findall(text)):
            known = self._variable(found) if found in self._made else self._redactor.text(found)
            parts.insert(2 * place + 1, known)
        return "".join(parts)

    def _again(self, value: str) -> str:
        """Return the variable of what an earlier answer made, where another shows it again."""
        return self._variable(value) if value in self._made and value not in self._seeded else value

    def _variable(self, value: str) -> str:
        known = self._made[value]
        if isinstance(known, str):
            return known
        step, noun, path = known
        name = self._name(noun)
        step.setdefault("save", {})[name] = path
        self._made[value] = f"${{{name}}}"
        return f"${{{name}}}"

    def _name(self, noun: str) -> str:
        number = self._names[noun] = self._names.get(noun, 0) + 1
        return f"{noun}_{number}"


def _noun(entry: Entry, path: tuple[str, ...]) -> str:
    """Return what to call the thing that has an id in an answer."""
    inner = [part for part in path[:-1] if not part.isdigit() and part != "items"]
    if inner:
        return inner[-1]
    spec = CALLS.get(entry.call or "")
    return "deployment" if spec and spec.response == "DeploymentPage" else "operation"


def _json(body: bytes) -> Any:
    try:
        return msgspec.json.decode(body)
    except msgspec.DecodeError:
        return None


def _leaves(found: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], str]]:
    """Walk the texts of a document with the paths to them."""
    if isinstance(found, str):
        yield path, found
    pairs: Any = found.items() if isinstance(found, dict) else ()
    if isinstance(found, list):
        pairs = enumerate(found)
    for name, value in pairs:
        yield from _leaves(value, (*path, str(name)))


def _expected(entry: Entry, again: Callable[[str], str]) -> Document:
    """Return what tells an answer: not what was made for it, such as ids and moments."""
    expect: Document = {} if entry.lost is None else {"lost": entry.lost}
    if not entry.status:
        return expect
    expect["status"] = entry.status
    if entry.code is not None:
        return expect | {"code": entry.code}
    if entry.content_type.startswith("text/html"):
        return expect | {"html": True}
    document = _json(entry.answer) if entry.answer_bytes == len(entry.answer) else None
    if isinstance(document, dict):
        items = document.pop("items", None)
        if isinstance(items, list):
            expect["items"] = len(items)
        if told := _told(document, again):
            expect["body"] = told
    return expect


def _told(document: Mapping[str, Any], again: Callable[[str], str]) -> Document:
    told: Document = {}
    for name, value in document.items():
        if isinstance(value, dict):
            if inner := _told(value, again):
                told[name] = inner
        elif isinstance(value, bool | int | float):
            told[name] = value
        elif isinstance(value, str):
            named = again(value)
            if named != value or _WORD.fullmatch(value):
                told[name] = named
    return told
