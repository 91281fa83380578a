"""Steps of a story from what happened: each request as it was made, and what told its answer.

What earlier answers made (ids, secrets, cursors) is saved and named by variables, once it is needed.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

import msgspec

from hosting_emulator.calls.create_dev_access_ticket import dev_origin
from hosting_emulator.contract.calls import CALLS, REDEEM_TICKET, calls_at
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.history import Commit
from hosting_emulator.engine.identity import home_of
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.request_log import sent_header
from hosting_emulator.scenario.build import NOBODY, USUAL, each_text, texts_in
from hosting_emulator.scenario.document import ACTIONS
from hosting_emulator.scenario.story import document_of
from hosting_emulator.world import tables as t
from hosting_emulator.world.records import Organization, Person
from hosting_emulator.world.sessions import is_current
from hosting_emulator.world.streams import digest
from hosting_emulator.world.value import Change, World

Document = dict[str, Any]
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


class NotRecordable(ValueError):
    """What was done cannot be written as a scenario; the message says what, and what would be right."""


class Happened(NamedTuple):
    """A request, or a turn of a hand, at a moment of world time; `first` and `last` are its commits.

    `before` is the world as it found it, `title` what to call it.
    """

    first: int
    last: int
    at_ms: int
    before: World
    title: str
    entry: Entry | None = None
    commit: Commit | None = None

    @property
    def n(self) -> int | None:
        """The number of the request."""
        return self.entry.n if self.entry else None


class StoryWriter:
    """The story of what happened, as far as it is written. `sources` says of what each step comes.

    It begins at `began_ms`; moments are told apart to the second, or `exact`ly. `begun_ids` has the
    new ids of faults that were armed by then, empty where one is not there.
    """

    def __init__(
        self, world: World, began_ms: int, begun_ids: Mapping[str, str], *, exact: bool
    ) -> None:
        self.steps: list[Document] = []
        self.sources: list[Happened | None] = []
        self._began_ms = self._now_ms = began_ms
        self._exact, self._redactor = exact, Redactor(world)
        #: What is named by a variable: where it is first answered, or what it is called.
        self._made: dict[str, tuple[Document, str, str] | str] = {}
        self._names: dict[str, int] = {}
        tables: tuple[t.Table[Any], ...] = (t.PROJECTS, t.ORGANIZATIONS, t.PEOPLE)
        for table, index in zip(tables, USUAL, strict=True):
            for key, record in world.rows(table):
                self._made[key] = f"${{{index}.{record.alias}}}"
        self._made |= begun_ids
        self._seeded = frozenset(self._made)

    def add(self, step: Document, source: Happened | None) -> None:
        """Add a step that comes of what happened."""
        self.steps.append(step)
        self.sources.append(source)

    def write(self, one: Happened, *, judged: bool) -> None:
        """Write one thing that happened; where it is not judged, it may be answered anything."""
        at_ms = one.at_ms
        if not self._exact:
            at_ms = self._began_ms + (at_ms - self._began_ms) // 1000 * 1000
        if at_ms > self._now_ms:
            self.add({"advance": format_duration(at_ms - self._now_ms)}, one)
            self._now_ms = at_ms
        if one.commit is not None:
            if not set(one.commit.turn or ()) & set(ACTIONS):
                raise NotRecordable(f"{one.title}: a story cannot express it")
            self._turn(one, one.commit)
        elif one.entry is not None:
            step = self._request(one.entry)
            expect = _expected(one.entry, self._again if "call" in step else str)
            if not judged:
                expect = {name: expect[name] for name in expect if name == "lost"}
            step["expect"] = expect
            self.add(step, one)
            self._learn(one.entry, step)

    def _turn(self, one: Happened, commit: Commit) -> None:
        step: Document = each_text(commit.turn, self._text)
        if "" in step.values():
            return  # what is removed could act no more
        for noun, table in (("fault", t.FAULTS), ("outcome", t.OUTCOMES)):
            if noun in step:
                self._made |= dict.fromkeys(commit.writes[table.name], (step, noun, "id"))
        if "api_key" in step:
            for key in commit.writes[t.API_KEYS.name]:
                self._made[key] = (step, "key", "key.id")
                self._made[f"value of {key}"] = (step, "key_value", "value")
        self.add(step, one)

    # --- one request ---------------------------------------------------------------------------

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
            name.decode("latin-1"): self._text(value.decode("latin-1"))
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
        """Say who asked: a person, an API key, somebody unknown or nobody."""
        principal, sent = entry.principal, sent_header(entry, b"authorization")
        if sent is None:
            return {"as": NOBODY}
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
        while place is None and at:
            source = self.sources[at] if at < len(self.sources) else None
            if source is not None and home_of(source.before, person) is None:
                break
            at -= 1
        self.steps.insert(at, step | {"save": {name: "access_token"}})
        self.sources.insert(at, None)
        return f"${{{name}}}"

    # --- names -----------------------------------------------------------------------------------

    def _learn(self, entry: Entry, step: Document) -> None:
        """Note what an answer has made: ids, secrets, cursors, addresses. Better one that arrived."""
        if entry.answer_bytes > len(entry.answer):
            return
        document = document_of(entry.answer)
        for place, value in texts_in(document):
            path = tuple(map(str, place))
            made = _MADE.fullmatch(value) or _A_URL.fullmatch(value)
            known = self._made.get(value)
            lost = isinstance(known, tuple) and "lost" in known[0].get("expect", ())
            if made and value.encode() not in entry.body and (known is None or lost):
                last = path[-1] if path[-1] != "id" else _noun(entry, path)
                noun = last.removesuffix("_id").removeprefix("next_")
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


def _noun(entry: Entry, path: tuple[str, ...]) -> str:
    """Return what to call the thing that has an id in an answer."""
    inner = [part for part in path[:-1] if not part.isdigit() and part != "items"]
    if inner:
        return inner[-1]
    spec = CALLS.get(entry.call or "")
    return "deployment" if spec and spec.response == "DeploymentPage" else "operation"


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
    document = document_of(entry.answer) if entry.answer_bytes == len(entry.answer) else None
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
