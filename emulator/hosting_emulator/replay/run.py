"""Replay: a recording is sent to a world, request by request, and the answers held against it."""

from __future__ import annotations

import http.client
import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from hosting_emulator.replay.comparison import AnswerDifference, Comparison, Moments
from hosting_emulator.replay.recording import (
    CUT,
    Headers,
    Names,
    RecordedAnswer,
    RecordedCall,
    Recording,
    Who,
    moment_ms,
)
from hosting_emulator.sdk import ClockRequest, ControlClient, HostingEmulator

#: How exactly moments are compared where time runs by itself, or ran so elsewhere; in milliseconds.
_ABOUT_MS = 5000
_UNKNOWN = "not-a-token"
#: What may be a cursor: opaque, and no page size.
_OPAQUE = re.compile("(?!\\d+$)[A-Za-z0-9_-]{6,}")
#: What belongs to a connection, to another place or to somebody's session, not to the request.
_NOT_SENT = frozenset(
    "host connection keep-alive proxy-connection proxy-authorization transfer-encoding "
    "content-length te trailer upgrade expect accept-encoding cookie x-control-token".split()
)


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of one recorded request. `answer` is None when none arrived, or none was asked for.

    `skipped` says why it was not sent.
    """

    recorded: RecordedCall
    answer: RecordedAnswer | None
    differences: tuple[AnswerDifference, ...] = ()
    skipped: str | None = None


@dataclass(slots=True)
class ReplayReport:
    """What became of a recording. `notes` are what could not be as it was, in sentences."""

    world: str
    requests: list[Replayed] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def differing(self) -> list[Replayed]:
        """The requests whose answers differ."""
        return [one for one in self.requests if one.differences]

    @property
    def skipped(self) -> list[Replayed]:
        """The requests that were not sent."""
        return [one for one in self.requests if one.skipped is not None]


@dataclass(frozen=True)
class ReplayOptions:
    """How to replay. `as_` sends all as one person; `move_time`: the world's clock follows.

    `timeout_s` is how long to wait for an answer, in real seconds.
    """

    as_: str | None = None
    move_time: bool = True
    timeout_s: float = 5.0


def replay(
    control: ControlClient,
    record: Recording,
    world: HostingEmulator,
    options: ReplayOptions | None = None,
) -> ReplayReport:
    """Send all of a recording's requests to a world, in their order. Raises ControlError."""
    run = ReplayRun(HostingEmulator(control, world.name), record, options or ReplayOptions())
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


class ReplayRun:
    """One replay on its way: the names it has learnt, the time it has come to."""

    def __init__(
        self, emulator: HostingEmulator, record: Recording, options: ReplayOptions
    ) -> None:
        self._emulator, self._names = emulator, (names := Names())
        world = self._world = emulator.summary
        #: What could not be as it was, in sentences.
        self.notes: list[str] = []
        self._credentials = _Credentials(emulator, record.own, names, options.as_, self.notes)
        #: The next cursors of pages of which the recording has only a part, by the page's path.
        self._cut_pages: dict[str, str] = {}
        parts = urlsplit(world.base_url)
        secure = parts.scheme == "https"
        kind = http.client.HTTPSConnection if secure else http.client.HTTPConnection
        self._connection = kind(parts.hostname or "", parts.port, timeout=options.timeout_s)
        self._prefix = parts.path.rstrip("/")
        self._start_ms = self._now_ms = moment_ms(world.clock.now)
        self._recorded_start_ms = _start_ms(record, self._start_ms)
        self._moves = options.move_time and world.clock.mode in ("frozen", "skip")
        self._still = world.clock.mode == "frozen"
        exact = self._still and self._moves and record.own
        self._tolerance_ms = 0 if exact else _ABOUT_MS
        self._worlds = (record.world.name, world.name)
        if options.move_time and not self._moves:
            self.notes.append(
                f"the clock of {world.name} is running: it is not moved as in the recording"
            )
        self._learn_ids(record)

    def send(self, requests: Iterable[RecordedCall]) -> Iterator[Replayed]:
        """Send requests one after the other, and tell what became of each."""
        with closing(self._connection):
            for recorded in requests:
                if recorded.unsendable is not None:
                    yield Replayed(recorded, None, skipped=recorded.unsendable)
                else:
                    yield self._send(recorded)

    def _send(self, recorded: RecordedCall) -> Replayed:
        self._reach(recorded.at_ms)
        self._pair_cut_cursor(recorded)
        answer = self._exchange(recorded)
        starts = (self._recorded_start_ms, self._start_ms)
        moments = Moments(recorded.at_ms, self._now_ms, *starts, self._tolerance_ms)
        comparison = Comparison(self._names, moments, self._worlds)
        differences = comparison.differences(recorded.answer, answer)
        self._credentials.learn_key(recorded.answer, answer)
        if recorded.answer is not None and recorded.answer.text is None and answer is not None:
            cursor = answer.members.get("next_cursor")
            if isinstance(cursor, str):
                self._cut_pages[recorded.path] = cursor
        return Replayed(recorded, answer, tuple(differences))

    def _reach(self, recorded_ms: int) -> None:
        """Let the time pass that passed in the recording."""
        if not self._still:
            self._now_ms = moment_ms(self._emulator.clock.now)
        ahead_ms = self._start_ms + recorded_ms - self._recorded_start_ms - self._now_ms
        if self._moves and ahead_ms > 0:
            self._emulator.clock.advance(f"{ahead_ms}ms")
            self._now_ms += ahead_ms

    def _exchange(self, recorded: RecordedCall) -> RecordedAnswer | None:
        """Send a request as it was and read its answer; None: no complete response came."""
        connection, method, body = self._connection, recorded.method, recorded.body
        target = self._prefix + self._names.in_target(recorded.target)
        headers = self._credentials.headers(recorded)
        with suppress(UnicodeDecodeError):
            body = None if body is None else self._names.in_text(body.decode()).encode()
        try:
            connection.putrequest(method, target, skip_accept_encoding=True)
            for name, value in headers:
                if name.lower() not in _NOT_SENT and not name.startswith(":"):
                    connection.putheader(name, value.encode("utf-8", "surrogateescape"))
            if body is not None or method not in ("GET", "HEAD"):
                connection.putheader("Content-Length", str(len(body or b"")))
            connection.endheaders(body)
            found = connection.getresponse()
            content = found.read()
        except (OSError, http.client.HTTPException):
            connection.close()
            return None
        try:
            text = content.decode()
        except UnicodeDecodeError:
            text = None
        return RecordedAnswer(found.status, tuple(found.getheaders()), text)

    def _pair_cut_cursor(self, recorded: RecordedCall) -> None:
        """Pair a recorded cursor that nobody has seen with the one of the page before."""
        if recorded.path not in self._cut_pages:
            return
        for part in recorded.target.partition("?")[2].split("&"):
            value = unquote(part.partition("=")[2])
            if _OPAQUE.fullmatch(value) and self._names.new_for(value) == value:
                self._names.learn(value, self._cut_pages.pop(recorded.path))
                return

    def _learn_ids(self, record: Recording) -> None:
        tables = ("organizations", "people", "projects")
        here: dict[str, dict[str, str]] = {t: getattr(self._emulator, t) for t in tables}
        for table in tables:
            for alias, recorded in getattr(record.world, table).items():
                if alias in here[table]:
                    self._names.learn(recorded, here[table][alias])
        if not record.own:
            self._guess_ids(record, here)

    def _guess_ids(self, record: Recording, here: Mapping[str, Mapping[str, str]]) -> None:
        """Take the project and organization of a stranger's recording for the ones of this world."""
        projects = self._world.projects
        if not projects:
            return
        showcase = projects[0]
        stands_for = {
            "projects": (showcase["id"], showcase["alias"]),
            "organizations": (showcase["organization_id"], "its organization"),
        }
        for recorded in record.requests:
            _, _, kind, found, *_ = [*recorded.path.split("/"), "", ""]
            known = here.get(kind, {}).values()
            if kind in stands_for and found not in known and self._names.new_for(found) == found:
                new, alias = stands_for.pop(kind)
                self._names.learn(found, new)
                self.notes.append(f"{found} is mapped to {alias} of {self._world.name}")


@dataclass
class _Credentials:
    """What to put into the Authorization headers of one replay, for the recording has no secrets.

    `person`, by alias or id, sends everything that was sent with a credential, if there is one.
    """

    _emulator: HostingEmulator
    _own: bool
    _names: Names
    _person: str | None
    _notes: list[str]
    _tokens: dict[tuple[str, str | None, bool], str] = field(default_factory=dict)
    _key_values: dict[str, str] = field(default_factory=dict)

    def headers(self, recorded: RecordedCall) -> Headers:
        """Return a request's headers with the new names and its sender's credential in them."""
        credential = self._credential(recorded)
        found = []
        for name, value in recorded.headers:
            if name.lower() != "authorization":
                found.append((name, self._names.in_text(value)))
            elif credential is not None:
                scheme = value.partition(" ")[0] if " " in value else "Bearer"
                found.append((name, f"{scheme} {credential}"))
                credential = None
        if credential is not None:
            found.append(("Authorization", f"Bearer {credential}"))
        return tuple(found)

    def learn_key(self, recorded: RecordedAnswer | None, new: RecordedAnswer | None) -> None:
        """Take up the value of an API key that a replayed request has made."""
        if recorded is None or new is None:
            return
        value, key = new.members.get("value"), recorded.members.get("key")
        if isinstance(value, str) and isinstance(key, dict) and "id" in key:
            self._key_values[key["id"]] = value
            old_value = recorded.members.get("value")
            if isinstance(old_value, str) and old_value != CUT:
                self._names.learn(old_value, value)  # a recording of somebody who kept the secrets

    def _credential(self, recorded: RecordedCall) -> str | None:
        """Return the bearer token to send; None: none, or none but the recorded one."""
        if recorded.credential is False:
            return None
        if self._person is not None:
            return self._emulator.token(self._person)
        if recorded.who is not None:
            return self._of(recorded.who)
        if self._own:  # it named nobody then, and must not now
            return _UNKNOWN
        sent = next((v for n, v in recorded.headers if n.lower() == "authorization"), "")
        value = sent.partition(" ")[2]
        known = self._names.new_for(value)
        if value and known != value:
            return known
        self._note(
            "the recording does not say who sent it: it is sent as the owner, or as --as says"
        )
        return self._emulator.token()

    def _of(self, who: Who) -> str:
        person = who.alias or self._names.new_for(who.person)
        organization = who.organization and self._names.new_for(who.organization)
        if who.api_key is None:
            sender = (person, organization, who.interactive)
            if sender not in self._tokens:
                self._tokens[sender] = self._emulator.token(
                    person, organization=organization, interactive=who.interactive
                )
            return self._tokens[sender]
        if who.api_key not in self._key_values:
            self._key_values[who.api_key] = self._emulator.api_key(
                person, organization=organization, permissions=who.permissions
            )
            self._note(
                f"the API key {who.api_key} is older than the recording: a similar key was created"
            )
        return self._key_values[who.api_key]

    def _note(self, sentence: str) -> None:
        if sentence not in self._notes:
            self._notes.append(sentence)


def _start_ms(record: Recording, now_ms: int) -> int:
    """Which moment of the recording is the present one of the world, in milliseconds since 1970."""
    begins = (record.world.at, record.world.began_at)
    starts_ms = [moment_ms(at) for at in begins if at is not None]
    if now_ms in starts_ms:
        return now_ms
    return starts_ms[0] if starts_ms else record.requests[0].at_ms


# --- Worlds like the recorded ----------------------------------------------------------------

#: For recordings, which hold none: what the worlds of one make anew is each time the same.
_SEED = "replay"


@dataclass(frozen=True)
class Beginning:
    """How a throw-away world begins, where it is not to be as the recording has it.

    `scenario` is one of the library, or a YAML file; `assumptions` are laid over.
    """

    scenario: str | None = None
    seed: str | None = None
    assumptions: Mapping[str, Any] = field(default_factory=dict)


@contextmanager
def like_recorded(
    control: ControlClient, record: Recording, beginning: Beginning
) -> Iterator[HostingEmulator]:
    """Make a world as the first recorded request found it, standing still, and delete it after.

    That is the state in the recording; else a default world of its assumptions.
    """
    scenario, was, how = beginning.scenario, record.world, dict[str, Any]()
    state = record.state if scenario is None and beginning.seed is None else None
    if state is not None:
        how = {"state": state, "seed": state.get("seed", _SEED)}
    else:
        clock: ClockRequest = {"mode": "frozen"}
        begins_at = was.began_at or was.at
        if begins_at is not None and scenario is None:  # a scenario says itself when it begins
            clock["at"] = begins_at
        assumptions = {**({} if scenario else was.assumptions), **beginning.assumptions}
        how = {"scenario": scenario, "clock": clock, "assumptions": assumptions or None}
        how["seed"] = beginning.seed
    with HostingEmulator.fresh(control, **how) as emulator:
        if state is not None and beginning.assumptions:
            emulator.set_assumptions(beginning.assumptions)
        yield emulator
