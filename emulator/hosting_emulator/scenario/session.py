"""A session becomes a scenario: what was done in a world, or in a span of that, as one file.

Each file is run before it is handed out, so its story passes; what cannot be said truly is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.calls.dev_access import dev_origin
from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import CALLS, GET_OPERATION, REDEEM_TICKET
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.json_values import each_text
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.history import Commit
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.request_views import document_of, header_text, sent_header
from hosting_emulator.engine.sign_ins import home_of
from hosting_emulator.faults.categories import FAULT, OUTCOME
from hosting_emulator.faults.decisions import faults_in_order, is_spent
from hosting_emulator.faults.views import written_document
from hosting_emulator.scenario.build import NOBODY, USUAL, build_world, texts_in
from hosting_emulator.scenario.document import ACTIONS, read_scenario, scenario_of
from hosting_emulator.scenario.entries import unused_entries
from hosting_emulator.scenario.source import ScenarioError, Source
from hosting_emulator.scenario.story import run_document
from hosting_emulator.scenario.yaml_text import write_yaml
from hosting_emulator.world import tables as t
from hosting_emulator.world.naming import ALIASED_TABLES
from hosting_emulator.world.population_export import describe_world
from hosting_emulator.world.records import WorldSource
from hosting_emulator.world.sessions import is_current
from hosting_emulator.world.streams import digest
from hosting_emulator.world.value import Change, World

Document = dict[str, Any]
#: So many requests that changed nothing may be left out, where they cannot be asked again alone.
_MOST_LEFT_OUT = 50
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


def any_response() -> Document:
    """Return what a step expects whose response is not judged: any that arrives."""
    return {"status": {"at_least": 200}}


class NotRecordable(ValueError):
    """What was done cannot be written as a scenario; the message says what, and what would be right."""


class PastEvent(NamedTuple):
    """A request, or a turn of a hand, at a moment of world time; `first` and `last` are its commits.

    `before` is the world as it found it, `title` what to call it. `is_uncounted`: it changed nothing,
    and what faults or the rate limit counted of it was rewound.
    """

    first: int
    last: int
    at_ms: int
    before: World
    title: str
    entry: Entry | None = None
    commit: Commit | None = None
    is_uncounted: bool = False

    @property
    def n(self) -> int | None:
        """The number of the request."""
        return self.entry.n if self.entry else None


class WorldPast(NamedTuple):
    """What happened until `world` since `base`: as it began, unless that is not kept any more."""

    world: World
    base: World
    happened: list[PastEvent]


def past_of(engine: Engine) -> WorldPast:
    """Return what happened in a world as it is now, but for what was rewound. Raises NotRecordable."""
    engine.run_due()
    line = _line(engine)
    base = line[0].before if line[0].writes else line[0].world
    numbers = {base.commit, *(commit.number for commit in line)}
    saved_ms = {one.world.commit: one.at_ms for one in (c.restored for c in line) if one}
    found = []
    by_number = {commit.number: commit for commit in engine.history}
    for entry in engine.log.after(0):
        kept = [commit.number in numbers for commit in entry.commits]
        changed = any(commit.is_listed for commit in entry.commits)
        if changed and kept[0] and not kept[-1]:
            raise NotRecordable(f"the world was rewound to the middle of request {entry.n}")
        began = _state_of_line(entry.world.commit, numbers, by_number)
        if began is None or (changed and not all(kept)):
            continue
        uncounted = not changed and not all(kept)
        # One that changed nothing may have come after the state that was put back.
        late = not any(kept) and entry.at_ms > saved_ms.get(began, entry.at_ms)
        if not late:
            of = [commit.number for commit in entry.commits] or [entry.world.commit]
            title = f"request {entry.n} ({entry.method} {entry.call or 'no call'})"
            event = PastEvent(of[0], of[-1], entry.at_ms, entry.world, title, entry=entry)
            found.append(event._replace(is_uncounted=uncounted))
    if found and engine.log.count > len(engine.log):
        # The log no longer holds what was before. A request that waited may have found a later world.
        base = min((event.before for event in found), key=lambda world: world.commit)
    for one in line:
        if one.manual_change is not None and one.number > base.commit:
            title, at_ms = f"commit {one.number} ({one.title})", one.world.at_ms
            found.append(PastEvent(one.number, one.number, at_ms, one.before, title, commit=one))
    # A request comes behind the commit that made the world it found.
    found.sort(
        key=lambda one: (one.entry.world.commit, one.entry.n) if one.entry else (one.first, 0)
    )
    return WorldPast(engine.world, base, found)


def _state_of_line(
    number: int, numbers: Collection[int], by_number: Mapping[int, Commit]
) -> int | None:
    """Return the commit of the line whose state a commit left as it was; None: it changed something.

    Commits that only count requests leave the state as it was.
    """
    while number not in numbers:
        commit = by_number.get(number)
        if commit is None or commit.is_listed:
            return None
        number = commit.before.commit
    return number


def _line(engine: Engine) -> list[Commit]:
    """Return the commits that led to a world as it is, oldest first, as far as they are kept."""
    kept = {commit.number: commit for commit in reversed(engine.history)}
    began = max((n for n, one in kept.items() if not one.writes and not one.restored), default=0)
    line, number = list[Commit](), engine.world.commit
    while number >= began and number in kept:
        line.append(commit := kept[number])
        number = commit.restored.world.commit if commit.restored else commit.before.commit
        if number == commit.number:
            break
    return line[::-1]


def _find_span(found: list[PastEvent], first: str | None, last: str | None) -> tuple[int, int]:
    """Return the places where a span begins and ends. Raises NotRecordable."""
    start, end = 0, len(found)
    if first is not None:
        number, by_commit = _number(first, "first")
        fits = [one.last >= number if by_commit else one.n == number for one in found]
        start = fits.index(True) if True in fits else -1
    if last is not None:
        number, by_commit = _number(last, "last")
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
    # The ways in which it may begin, the truest first.
    ways = [] if own is None else [_Way(own, past.happened[:end], {}, start)]
    if own is None or start:
        world, at_ms = (begins.before, begins.at_ms) if start else (base, base.at_ms)
        like, begun_ids = _as_it_is(world, at_ms, name)
        truest = own is None or _same(like, world, at_ms)
        ways.insert(0 if truest else 1, _Way(like, past.happened[start:end], begun_ids))
    for way in ways:
        for exact in (False, True):
            try:
                return _written(past.world, way, exact)
            except NotRecordable as error:
                refused = str(error)
    if own is None:
        refused += (
            "; how this world started is not kept, and a file can express only a part of its "
            "later state: record after a reset"
        )
    raise NotRecordable(refused)


class _Way(NamedTuple):
    """A head of the file, and what its story does then, of which the first `silent` are not judged.

    `begun_ids` has the new ids of the faults in its head, empty where one is not there.
    """

    head: Document
    found: list[PastEvent]
    begun_ids: Mapping[str, str]
    silent: int = 0


def _as_it_began(world: World, name: str) -> Document | None:
    """Return the head of a scenario of a world that is as its origin makes it; None: it is not."""
    origin = world.get(t.ORIGIN, t.SINGLETON_KEY) or WorldSource()
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
    variation, origin = world.variation, world.get(t.ORIGIN, t.SINGLETON_KEY) or WorldSource()
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
    how_it_is_run = (t.CLOCK.name, t.ORIGIN.name, t.RETRY_WAITS.name)
    names = [name for name in t.TABLES if name not in how_it_is_run]
    return all(built.tables[name] == world.tables[name] for name in names)


def _as_it_is(world: World, at_ms: int, name: str) -> tuple[Document, dict[str, str]]:
    """Return the head of a scenario whose world is like one, as far as it can say that, and `begun_ids`."""
    head, begun_ids = _head(world, at_ms, name), dict[str, str]()
    head["world"] = _filled_in(msgspec.to_builtins(describe_world(world)))
    for section, family in (("faults", FAULT), ("outcomes", OUTCOME)):
        armed = []
        for fault in faults_in_order(world, family.table):
            begun_ids[fault.id] = ""
            if is_spent(fault, at_ms):
                continue
            view = written_document(world, fault)
            view["phase"] = fault.rule.commit_phase
            view["optional"] = fault.rule.optional
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
        if not entry.happened and (when or counted_calls):
            call = {"call": entry.call} if entry.call else {}
            optional = {"optional": True} if entry.optional else {}
            planned.append(
                {**when, **counted_calls, **call, **optional, entry.action: entry.document}
            )
    return head | ({"timeline": planned} if planned else {}), begun_ids


def _moment(at_ms: int) -> str:
    return format_timestamp(at_ms).replace(".000Z", "Z")


def _filled_in(found: Any) -> Any:
    """Return a document without what is empty."""
    if isinstance(found, dict):
        return {name: _filled_in(value) for name, value in found.items() if value != {}}
    return [_filled_in(one) for one in found] if isinstance(found, list) else found


# --- its story ---------------------------------------------------------------------------------------


def _written(world: World, way: _Way, exact: bool) -> SessionFile:
    """Return the file, whose story passes. Raises NotRecordable."""
    asked, last = sum(one.entry is not None for one in way.found), _moment(way.found[-1].at_ms)
    told = f"Recorded in the world {world.name}, up to {last}: requests {asked}"
    document = {**way.head, "description": f"{told}, manual changes {len(way.found) - asked}."}
    left_out = {
        entry.n: f"{one.title}: only a part of its body was kept"
        for one in way.found
        if (entry := one.entry) and entry.body_bytes > len(entry.body) and not entry.commits
    }

    while True:
        writer = _StoryWriter(world, way, exact)
        for place, one in enumerate(way.found):
            if way.silent and place == way.silent:
                writer.steps.append(({"note": "The recording starts here."}, None))
            if one.n in left_out:
                writer.steps.append(({"note": f"Left out is {left_out[one.n]}"}, None))
            else:
                writer.write(one, judged=place >= way.silent)
        document["story"] = [step for step, _ in writer.steps]
        why = _failed(document, world.seed)
        if why is None:
            break
        number, reason = why
        uncounted = [event for event in way.found if event.is_uncounted and event.n not in left_out]
        if exact and uncounted:
            # The world has forgotten that these were counted, and the story has not.
            left_out.update(
                (event.entry.n, f"{event.title}: what it counted was rewound")
                for event in uncounted
                if event.entry is not None
            )
            continue
        source = None if number is None else writer.steps[number][1]
        reason = reason if source is None else f"{source.title}: {reason}"
        entry = source and source.entry
        if not (entry and not entry.commits and exact) or len(left_out) > _MOST_LEFT_OUT:
            raise NotRecordable(reason)
        left_out[entry.n] = reason
    _mark_unused(document, world.seed)
    text = write_yaml(document)
    seedless = {name: value for name, value in document.items() if name != "seed"}
    others = (DEFAULT_SEED, "another")  # a story that passes under these needs no seed of its own
    if "probability:" not in text and not any(_failed(seedless, seed) for seed in others):
        text = write_yaml(seedless)
    try:
        read_scenario(text, "scenario.yaml")
    except ScenarioError as error:
        raise NotRecordable(f"{error.message}: record a shorter span") from None
    return SessionFile(text, len(writer.steps), [*left_out.values()])


def _failed(document: Document, seed: str) -> tuple[int | None, str] | None:
    """Return the number of the first step that fails, and why. None: the story passes."""
    try:
        report = run_document(document, seed=seed)
    except ScenarioError as error:
        return None, error.message
    step = report["steps"][-1]
    if step["passed"]:
        return None
    differs = "; ".join(
        f"{one['at']} is {one['found']!r} instead of {one['expected']!r}"
        for one in step["differences"][:3]
    )
    return step["n"] - 1, f"when repeated, {differs}"


def _mark_unused(document: Document, seed: str) -> None:
    """Make each entry optional that never acts in a story: it did not act in the session either."""
    for entry in unused_entries(run_document(document, seed=seed)["entries"]):
        part: Any = document
        for name, index in re.findall(r"(\w+)|\[(\d+)\]", entry.at):
            part = part[name or int(index)]
        if entry.at.endswith(".intervene"):  # its fields stand below its word
            word = next(iter(part))
            part[word] = {**(part[word] or {}), "optional": True}
        else:
            part["optional"] = True


class _StoryWriter:
    """The story of what happened, as far as it is written: `steps`, each with what it comes of.

    What earlier answers made (ids, secrets, cursors) is saved and named by variables once needed.
    """

    def __init__(self, world: World, way: _Way, exact: bool) -> None:
        self.steps: list[tuple[Document, PastEvent | None]] = []
        self._began_ms = self._now_ms = parse_timestamp(way.head["clock"]["at"])
        #: Moments are told apart exactly, not to the second.
        self._exact, self._redactor = exact, Redactor(world)
        #: What is named by a variable: where it is first answered, or what it is called.
        self._made: dict[str, tuple[Document, str, str] | str] = {}
        self._names: dict[str, int] = {}
        for index, table in ALIASED_TABLES.items():
            for key, record in world.rows(table):
                self._made[key] = f"${{{index}.{record.alias}}}"
        self._made |= way.begun_ids
        self._seeded = frozenset(self._made)

    def write(self, one: PastEvent, *, judged: bool) -> None:
        """Write one thing that happened; where it is not judged, it may be answered anything."""
        at_ms = one.at_ms
        if not self._exact:
            at_ms = self._began_ms + (at_ms - self._began_ms) // 1000 * 1000
        if at_ms > self._now_ms:
            self.steps.append(({"advance": format_duration(at_ms - self._now_ms)}, one))
            self._now_ms = at_ms
        if one.commit is not None:
            if not set(one.commit.manual_change or ()) & set(ACTIONS):
                raise NotRecordable(f"{one.title}: a story cannot express it")
            step = each_text(one.commit.manual_change, self._text)
            if "add" in step.get("intervene", ()):  # what it adds is not there to be named
                step = dict(one.commit.manual_change or ())
            if "" in step.values():
                return  # what is removed could act no more
            for noun, table in (("fault", t.FAULTS), ("outcome", t.OUTCOMES)):
                if noun in step:
                    self._made |= dict.fromkeys(one.commit.writes[table.name], (step, noun, "id"))
            if "api_key" in step:
                for key in one.commit.writes[t.API_KEYS.name]:
                    self._made[key] = (step, "key", "key.id")
                    self._made[f"value of {key}"] = (step, "key_value", "value")
            self.steps.append((step, one))
        elif one.entry is not None:
            step = self._request(one.entry)
            expect = _expected(one.entry, self._again if "call" in step else str)
            step["expect"] = expect if judged or "lost" in expect else any_response()
            self.steps.append((step, one))
            self._learn(one.entry, step)

    def _request(self, entry: Entry) -> Document:
        target = entry.path + (f"?{entry.query}" if entry.query else "")
        if entry.call == REDEEM_TICKET:
            project = entry.world.get(t.PROJECTS, entry.project or "")
            assert project is not None
            there = f"{dev_origin(Change(entry.world, 0), project, None)}{target}"
            url = next((known for known in self._made if known.endswith(target)), there)
            return {"redeem": self._text(url)}
        step = self._addressed(entry) or {"request": f"{entry.method} {self._text(target)}"}
        step |= self._sender(entry, step)
        if key := sent_header(entry, b"idempotency-key"):
            step["key"] = self._text(key)
        if entry.body:
            try:
                step["body"] = each_text(msgspec.json.decode(entry.body.decode()), self._text)
            except UnicodeDecodeError:
                step["text"] = "(not text)"
            except (msgspec.DecodeError, RecursionError):
                step["text"] = self._text(entry.body.decode())
        headers = {
            name.decode("latin-1"): self._text(header_text(value))
            for name, value in entry.raw_headers
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
        if spec.call_id == GET_OPERATION.call_id:
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

    def _matters(self, entry: Entry, name: str, value: bytes) -> bool:
        if name.lower() == "content-type":
            return not (entry.body and value.lower() == b"application/json")
        if not _OF_A_CLIENT.fullmatch(name):
            return True
        if name.lower() in ("authorization", "idempotency-key"):
            return name.lower() == "idempotency-key" and not value
        rules = [fault.rule.header or {} for _, fault in entry.world.rows(t.FAULTS)]
        return any(name.lower() == known.lower() for rule in rules for known in rule)

    def _sender(self, entry: Entry, step: Document) -> Document:
        """Say who asked: a user, an API key, somebody unknown or nobody."""
        principal, sent = entry.principal, sent_header(entry, b"authorization")
        if sent is None:
            return {"user": NOBODY}
        token = sent.partition(" ")[2].strip()
        key_id = principal.api_key_id
        key_id = key_id or entry.world.indexes.get(f"api_key:{digest(token)}")
        value = token if token in self._made else f"value of {key_id}"
        if value in self._made:
            return {"token": self._variable(value)}
        if key_id is not None and principal:
            raise NotRecordable(
                f"request {entry.n} uses an API key that is older than the recording, "
                "or whose value was chosen, so no file contains it"
            )
        if not principal:
            return {"token": "refused"}
        user = entry.world.get(t.USERS, principal.user_id)
        assert user is not None
        said: Document = {} if user.alias == USUAL["user"] else {"user": user.alias}
        # A session that has ended is none: the contract asks for a current one.
        if not is_current(entry.world, principal.session_id, user.id):
            said["interactive"] = False
        if principal.organization_id != home_of(entry.world, user):
            place = entry.world.get(t.ORGANIZATIONS, principal.organization_id or "")
            about = CALLS[step["call"]].subject if "call" in step else ""
            if place is None or about == "organization":
                # With a token for an organization, or with one got before there was any.
                name, at = self._name("token"), len(self.steps)
                said.pop("user", None)
                where = {"organization": place.alias} if place else {}
                step = {"sign_in": user.alias, **said, **where, "save": {name: "access_token"}}
                while place is None and at:
                    source = self.steps[at][1] if at < len(self.steps) else None
                    if source is not None and home_of(source.before, user) is None:
                        break
                    at -= 1
                self.steps.insert(at, (step, None))
                return {"token": f"${{{name}}}"}
            said["organization"] = place.alias
        return said

    def _learn(self, entry: Entry, step: Document) -> None:
        """Note what a response contains that others name: ids, secrets, cursors, addresses.

        A story cannot save anything of a lost response.
        """
        if entry.lost is not None or entry.response_bytes > len(entry.response_body):
            return
        document = document_of(entry.response_body)
        for place, value in texts_in(document):
            path = tuple(map(str, place))
            made = _MADE.fullmatch(value) or _A_URL.fullmatch(value)
            if made and value.encode() not in entry.body and value not in self._made:
                noun = path[-1].removesuffix("_id").removeprefix("next_")
                if noun == "id":  # of what it is said in, or else of what is answered
                    around = [one for one in path[:-1] if not one.isdigit() and one != "items"]
                    spec = CALLS.get(entry.call or "")
                    listed = spec is not None and spec.response == "DeploymentPage"
                    noun = around[-1] if around else "deployment" if listed else "operation"
                self._made[value] = (step, noun, ".".join(path))
        key = document.get("key") if isinstance(document, dict) else None
        if isinstance(key, dict) and document.get("value"):
            self._made[f"value of {key.get('id')}"] = (step, "key_value", "value")

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


def _expected(entry: Entry, again: Callable[[str], str]) -> Document:
    """Return what tells an answer: not what was made for it, such as ids and moments."""
    if entry.lost is not None:
        return {"lost": entry.lost}
    expect: Document = {"status": entry.status}
    if entry.code is not None:
        return expect | {"code": entry.code}
    if entry.content_type.startswith("text/html"):
        return expect | {"html": True}
    document = (
        document_of(entry.response_body)
        if entry.response_bytes == len(entry.response_body)
        else None
    )
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
