"""Replay: a recording is sent to a world, request by request, and the answers held against it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPException
from typing import Any, NamedTuple
from urllib.parse import unquote, urlsplit

from hosting_emulator.sdk import ClockRequest, ControlClient, HostingEmulator, WorldSummary
from hosting_emulator.sdk.control_connection import connection_to
from hosting_emulator_lab.replay.recording import (
    CUT,
    Names,
    RecordedAnswer,
    RecordedCall,
    Recording,
    Sender,
    header_of,
    moment_ms,
    names_in,
    without_secrets,
)

#: How long to wait for an answer, in real seconds.
_TIMEOUT_S = 5.0
#: How exactly moments are compared where time runs by itself, or ran so elsewhere; in milliseconds.
_ABOUT_MS = 5000
_UNKNOWN = "not-a-token"
#: What may be a cursor: opaque, and no page size.
_CURSOR = re.compile("(?!\\d+$)[A-Za-z0-9_-]{6,}")
#: What belongs to a connection, to another place or to somebody's session, not to the request.
_NOT_SENT = frozenset(
    "authorization host connection keep-alive proxy-connection proxy-authorization transfer-encoding "
    "content-length te trailer upgrade expect accept-encoding cookie x-control-token".split()
)
#: For recordings, which hold none: what the worlds of one make anew is each time the same.
_SEED = "replay"


class AnswerDifference(NamedTuple):
    """Where an answer differs: `at` is a place in it, such as `body.progress.phase`."""

    at: str
    recorded: Any
    answered: Any


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of a recorded request; `skipped` says why it was not sent. `answer` None: none came."""

    recorded: RecordedCall
    answer: RecordedAnswer | None
    differences: tuple[AnswerDifference, ...] = ()
    skipped: str | None = None


@dataclass(slots=True)
class ReplayReport:
    """What became of a recording. `notes` are what could not be as it was, in sentences."""

    world: str
    requests: list[Replayed]
    notes: list[str]

    @property
    def differing(self) -> list[Replayed]:
        """The requests whose answers differ."""
        return [one for one in self.requests if one.differences]

    @property
    def skipped(self) -> list[Replayed]:
        """The requests that were not sent."""
        return [one for one in self.requests if one.skipped is not None]


@dataclass(frozen=True)
class Beginning:
    """How a throw-away world begins, where it is not to be as the recording has it."""

    scenario: str | None = None
    seed: str | None = None
    assumptions: Mapping[str, Any] = field(default_factory=dict)


def replay(
    control: ControlClient,
    record: Recording,
    world: HostingEmulator,
    *,
    user: str | None = None,
    move_time: bool = True,
) -> ReplayReport:
    """Send all of a recording's requests to a world, in their order. Raises ControlError.

    `user` sends all as one user; with `move_time` the world's clock follows.
    """
    run = ReplayRun(HostingEmulator(control, world.name), record, user=user, move_time=move_time)
    return ReplayReport(world.name, list(run.send(record.requests)), run.notes)


def report_document(report: ReplayReport, record: Recording) -> dict[str, Any]:
    """Return a report as JSON shows it."""
    return {
        "world": report.world,
        "sent": len(report.requests) - len(report.skipped),
        "differ": len(report.differing),
        "skipped": len(report.skipped),
        "left_out": list(record.left_out),
        "said": report.notes,
        "requests": [
            {
                "n": one.recorded.n,
                "method": one.recorded.method,
                "path": one.recorded.target,
                "recorded_status": one.recorded.answer.status if one.recorded.answer else None,
                "status": one.answer.status if one.answer else None,
                "same": one.skipped is None and not one.differences,
                "skipped": one.skipped,
                "differences": [difference._asdict() for difference in one.differences],
            }
            for one in report.requests
        ],
    }


@contextmanager
def like_recorded(
    control: ControlClient, record: Recording, beginning: Beginning
) -> Iterator[HostingEmulator]:
    """Make a world of the recorded state, or else assumptions, standing still, and delete it after."""
    scenario, was = beginning.scenario, record.world
    state = record.state if scenario is None and beginning.seed is None else None
    if state is not None:
        world = HostingEmulator.fresh(control, state=state, seed=_SEED)
    else:
        clock: ClockRequest = {"mode": "frozen"}
        begins_at = was.began_at or was.at
        if begins_at is not None and scenario is None:  # a scenario says itself when it begins
            clock["at"] = begins_at
        over = {**({} if scenario else was.assumptions), **beginning.assumptions} or None
        world = HostingEmulator.fresh(
            control, scenario=scenario, seed=beginning.seed, clock=clock, assumptions=over
        )
    with world as emulator:
        if state is not None and beginning.assumptions:
            emulator.set_assumptions(beginning.assumptions)
        yield emulator


class ReplayRun:
    """One replay on its way. The recording has no secrets: tokens and keys are made for whoever asked."""

    def __init__(
        self,
        emulator: HostingEmulator,
        record: Recording,
        *,
        user: str | None = None,
        move_time: bool = True,
    ) -> None:
        self._emulator, self._own, self._user = emulator, record.own, user
        world, was = emulator.summary, record.world
        #: What could not be as it was, in sentences.
        self.notes: list[str] = []
        self._names = Names()
        #: The token of each sender, and the value of each API key by its recorded id.
        self._credentials: dict[Sender | str, str] = {}
        #: The next cursors of pages of which the recording has only a part, by the page's path.
        self._cut_pages: dict[str, str] = {}
        self._connection = connection_to(world.base_url, _TIMEOUT_S)
        self._prefix = urlsplit(world.base_url).path.rstrip("/")
        self._now_ms = now_ms = moment_ms(world.clock.now)
        begins_ms = [moment_ms(at) for at in (was.at, was.began_at) if at is not None]
        begins_ms = begins_ms or [record.requests[0].at_ms]
        recorded_start_ms = now_ms if now_ms in begins_ms else begins_ms[0]
        #: What to add to a recorded moment.
        self._ahead_ms = now_ms - recorded_start_ms
        self._moves = move_time and world.clock.mode in ("frozen", "skip")
        self._still = world.clock.mode == "frozen"
        if move_time and not self._moves:
            self.notes.append(
                f"the clock of {world.name} is running: it is not moved as in the recording"
            )
        self._comparison = Comparison(
            self._names,
            (was.name, world.name),
            (recorded_start_ms, now_ms),
            0 if self._still and self._moves and record.own else _ABOUT_MS,
        )
        self._learn_ids(record, world)

    def _learn_ids(self, record: Recording, world: WorldSummary) -> None:
        here: dict[str, dict[str, str]] = {}
        for table in ("organizations", "users", "projects"):
            ids = here[table] = getattr(self._emulator, table)
            for alias, recorded in getattr(record.world, table).items():
                if alias in ids:
                    self._names.learn(recorded, ids[alias])
        if record.own or not world.projects:
            return
        # A stranger's recording: its project and organization are taken for the ones here.
        showcase = world.projects[0]
        stands_for = {
            "projects": (showcase.id, showcase.alias),
            "organizations": (showcase.organization_id, "its organization"),
        }
        for one in record.requests:
            _, _, kept, id_, *_ = [*one.path.split("/"), "", ""]
            known = here.get(kept, {}).values()
            if kept in stands_for and id_ not in known and self._names.new_for(id_) == id_:
                new, alias = stands_for.pop(kept)
                self._names.learn(id_, new)
                self.notes.append(f"{id_} is mapped to {alias} of {world.name}")

    def send(self, requests: Iterable[RecordedCall]) -> Iterator[Replayed]:
        """Send requests one after the other, and tell what became of each."""
        with closing(self._connection):
            for recorded in requests:
                if recorded.unsendable is not None:
                    yield Replayed(recorded, None, skipped=recorded.unsendable)
                else:
                    yield self._send(recorded)

    def _send(self, recorded: RecordedCall) -> Replayed:
        if not self._still:
            self._now_ms = moment_ms(self._emulator.clock.now)
        wait_ms = recorded.at_ms + self._ahead_ms - self._now_ms
        if self._moves and wait_ms > 0:  # the time passes that passed in the recording
            self._emulator.clock.advance(f"{wait_ms}ms")
            self._now_ms += wait_ms
        if recorded.path in self._cut_pages:
            self._pair_cut_cursor(recorded)
        was, answer = recorded.answer, self._exchange(recorded)
        differences = self._comparison.differences(was, answer, (recorded.at_ms, self._now_ms))
        if self._own and recorded.sender is None and recorded.authorization is not None:
            # The recording does not hold what made the token no good.
            differences = [one for one in differences if one.at != "body.detail"]
        if was is not None and answer is not None:
            self._learn_key(was, answer)
            cursor = answer.members.get("next_cursor")
            if was.text is None and isinstance(cursor, str):
                self._cut_pages[recorded.path] = cursor
        return Replayed(recorded, answer, tuple(differences))

    def _exchange(self, recorded: RecordedCall) -> RecordedAnswer | None:
        """Send a request as it was and read its answer; None: no complete response came."""
        connection, method, body = self._connection, recorded.method, recorded.body
        target = self._prefix + self._names.in_target(recorded.target)
        credential, sent = self._credential(recorded), recorded.authorization or ""
        with suppress(UnicodeDecodeError):
            body = None if body is None else self._names.in_text(body.decode()).encode()
        try:
            connection.putrequest(method, target, skip_accept_encoding=True)
            for name, value in recorded.headers:
                if name.lower() not in _NOT_SENT and not name.startswith(":"):
                    value = self._names.in_text(value)
                    connection.putheader(name, value.encode("utf-8", "surrogateescape"))
            if credential is not None:
                scheme = sent.partition(" ")[0] if " " in sent else "Bearer"
                connection.putheader("Authorization", f"{scheme} {credential}")
            if body is not None or method not in ("GET", "HEAD"):
                connection.putheader("Content-Length", str(len(body or b"")))
            connection.endheaders(body)
            found = connection.getresponse()
            content = found.read()
        except (OSError, HTTPException):
            connection.close()
            return None
        text = None
        with suppress(UnicodeDecodeError):
            text = content.decode()
        return RecordedAnswer(found.status, tuple(found.getheaders()), text)

    def _pair_cut_cursor(self, recorded: RecordedCall) -> None:
        """Pair a recorded cursor that nobody has seen with the one of the page before."""
        for part in recorded.target.partition("?")[2].split("&"):
            value = unquote(part.partition("=")[2])
            if _CURSOR.fullmatch(value) and self._names.new_for(value) == value:
                self._names.learn(value, self._cut_pages.pop(recorded.path))
                return

    def _learn_key(self, recorded: RecordedAnswer, new: RecordedAnswer) -> None:
        """Take up the value of an API key that a replayed request has made."""
        value, key = new.members.get("value"), recorded.members.get("key")
        if isinstance(value, str) and isinstance(key, dict) and "id" in key:
            self._credentials[key["id"]] = value
            old_value = recorded.members.get("value")
            if isinstance(old_value, str) and old_value != CUT:
                self._names.learn(old_value, value)  # a recording of somebody who kept the secrets

    def _credential(self, recorded: RecordedCall) -> str | None:
        """Return the bearer token to send; None: none, or none but the recorded one."""
        if self._own and recorded.authorization is None:  # a browser may have left the header out
            return None
        emulator, names, sender = self._emulator, self._names, recorded.sender
        if self._user is not None:
            return emulator.token(self._user)
        if sender is None:
            if self._own:  # it named nobody then, and must not now
                return _UNKNOWN
            known = names.get((recorded.authorization or "").partition(" ")[2])
            if known is None:
                self._note(
                    "the recording does not say who sent it: it is sent as the owner, or as --user says"
                )
            return known or emulator.token()
        known = self._credentials.get(sender.api_key or sender)
        if known is not None:
            return known
        user = sender.alias or names.new_for(sender.user)
        organization = sender.organization and names.new_for(sender.organization)
        if sender.api_key is None:
            made = emulator.token(user, organization=organization, interactive=sender.interactive)
        else:
            made = emulator.api_key(user, organization=organization, permissions=sender.permissions)
            self._note(
                f"the API key {sender.api_key} is older than the recording: a similar key was created"
            )
        self._credentials[sender.api_key or sender] = made
        return made

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


# --- Comparison: where a new answer is not what was recorded, names and moments apart ------------

#: The headers that say something of the answer.
_HEADERS = ("content-type", "location", "retry-after", "allow", "www-authenticate", "x-request-id")
_ABSENT = "(absent)"
_LOST = "(no response)"
#: A world's name before the zones of this emulator, wherever a record does not tell the name.
_WORLD_LABEL = re.compile(r"(?<=\w)\.[a-z0-9-]+(?=\.(?:dev|prod|mail)\.localhost)")
_OPAQUE = re.compile("[A-Za-z0-9_-]+")
#: Plain text and times; and what an emulator of ours may be called at, or where it listens, which
#: says nothing about the service.
_NO_NAMES = ("", "time", "place", "port")


class Comparison:
    """Compares answers of two `worlds`, by name: the recorded and the new; pairs of names are learnt.

    `starts_ms` is when both began, in milliseconds since 1970: what was made before that only has
    to be so in both. `tolerance_ms` is how exactly time was kept in the replay.
    """

    def __init__(
        self, names: Names, worlds: tuple[str, str], starts_ms: tuple[int, int], tolerance_ms: int
    ) -> None:
        self._names = names
        self._worlds = [f".{name}." for name in worlds if name]
        self._starts_ms = self._at_ms = starts_ms
        self._tolerance_ms = tolerance_ms

    def differences(
        self, recorded: RecordedAnswer | None, new: RecordedAnswer | None, at_ms: tuple[int, int]
    ) -> list[AnswerDifference]:
        """Return every difference, without secrets; `at_ms` is when each was answered, since 1970."""
        self._at_ms = at_ms
        return [
            AnswerDifference(at, without_secrets(before), without_secrets(now))
            for at, before, now in self._differences(recorded, new)
        ]

    def _differences(
        self, recorded: RecordedAnswer | None, new: RecordedAnswer | None
    ) -> Iterator[AnswerDifference]:
        if recorded is None or new is None:
            brief = [_LOST if one is None else f"status {one.status}" for one in (recorded, new)]
            if recorded is not new:
                yield AnswerDifference("answer", *brief)
            return
        if recorded.status != new.status:
            yield AnswerDifference("status", recorded.status, new.status)
        for name in _HEADERS:
            at = f"header {name}"
            before, now = (header_of(one.headers, name) for one in (recorded, new))
            if before is not None and now is not None:
                yield from self._texts(at, before, now)
            elif before is not now:
                yield AnswerDifference(at, before or _ABSENT, now or _ABSENT)
        if (recorded.status < 400) != (new.status < 400):
            # Of a success and a failure no member is the same: the two are told whole.
            yield AnswerDifference("body", _brief(recorded), _brief(new))
        elif recorded.text is not None and new.text is not None:
            try:
                documents = json.loads(recorded.text), json.loads(new.text)
            except ValueError:  # one of them is no JSON
                yield from self._texts("body", recorded.text, new.text)
            else:
                yield from self._values("body", *documents)

    def _values(self, at: str, recorded: Any, new: Any) -> Iterator[AnswerDifference]:
        if isinstance(recorded, dict) and isinstance(new, dict):
            for name in recorded | new:
                before, now = recorded.get(name, _ABSENT), new.get(name, _ABSENT)
                if name in recorded and name in new:
                    yield from self._values(f"{at}.{name}", before, now)
                else:
                    yield AnswerDifference(f"{at}.{name}", before, now)
        elif isinstance(recorded, list) and isinstance(new, list):
            if len(recorded) != len(new):
                yield AnswerDifference(f"{at}.length", len(recorded), len(new))
            for place, (before, now) in enumerate(zip(recorded, new, strict=False)):
                yield from self._values(f"{at}[{place}]", before, now)
        elif isinstance(recorded, str) and isinstance(new, str):
            if at.endswith(".type"):
                # A problem's link: where its documentation is says nothing about the service.
                recorded, new = (link.rpartition("/errors/")[2] for link in (recorded, new))
            if at.endswith("cursor") and _OPAQUE.fullmatch(recorded) and _OPAQUE.fullmatch(new):
                yield from self._pair(at, recorded, new)
            else:
                yield from self._texts(at, recorded, new)
        elif recorded != new or isinstance(recorded, bool) != isinstance(new, bool):
            yield AnswerDifference(at, recorded, new)

    def _texts(self, at: str, recorded: str, new: str) -> Iterator[AnswerDifference]:
        before, now = (list(names_in(self._at_home(text))) for text in (recorded, new))
        if len(before) != len(now) or not all(map(self._alike, before, now)):
            yield AnswerDifference(at, recorded, new)
            return
        for (kind, old), (_, made) in zip(before, now, strict=True):
            if kind not in _NO_NAMES:
                yield from self._pair(at, old, made)

    def _alike(self, old: tuple[str, str], made: tuple[str, str]) -> bool:
        """Whether two pieces of text may stand for each other; plain text must be the same."""
        (kind, recorded), (made_kind, new) = old, made
        if kind != made_kind or kind == "":
            return old == made
        if kind != "time":
            return True
        try:
            then_ms, now_ms = moment_ms(recorded.upper()), moment_ms(new.upper())
        except ValueError:
            return recorded == new
        before_both = then_ms < self._starts_ms[0] and now_ms < self._starts_ms[1]
        off_ms = abs((now_ms - self._at_ms[1]) - (then_ms - self._at_ms[0]))
        return then_ms == now_ms or before_both or off_ms <= self._tolerance_ms

    def _pair(self, at: str, recorded: str, new: str) -> Iterator[AnswerDifference]:
        known = None if recorded == CUT else self._names.learn(recorded, new)
        if known is not None:
            yield AnswerDifference(at, f"{recorded}, which is {known} here", new)

    def _at_home(self, text: str) -> str:
        """Return a text without the worlds' own names in hostnames."""
        text = _WORLD_LABEL.sub("", text)
        for name in self._worlds:
            text = text.replace(name, ".")
        return text


def _brief(answer: RecordedAnswer) -> Any:
    """Return what a body says: of a problem its code and detail, else all of it."""
    if answer.code is not None:
        return f"{answer.code}: {answer.members.get('detail') or answer.members.get('title')}"
    return answer.members or answer.text
