"""Runs: a clean one, twice, then one for each point; each is looked at when it is over, and judged.

Whoever explores hands in how one run is made (`perform`); it tells the `Visit` when its world is
there and when it is done with it. Worlds are compared in rows without ids, times and secrets.
"""

from __future__ import annotations

import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Literal, NamedTuple

from msgspec.structs import asdict

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.resources import FAILURES
from hosting_emulator.messages import (
    ChapterReport,
    ClockState,
    ConductFinding,
    ConductReport,
)
from hosting_emulator.sdk import HostingEmulator, JsonObject, WorldsObservation
from hosting_emulator.sdk.conduct_text import of_severity
from hosting_emulator_lab.explore.plan import (
    LATE_MS,
    FaultPoint,
    Lasting,
    NumberedRequest,
    ObservedExchange,
    Place,
    fault_at,
    kind_of,
    number,
    place_of,
)

#: Rows of a kind, by the kind's name.
State = Mapping[str, Counter[str]]
#: The kinds that clients make, each by what several of them are called.
MADE = {
    "operation": "operations",
    "deployment": "deployments",
    "API key": "API keys",
    "dev access ticket": "unused dev access tickets",
}
_SHOWN = 4
_KEY = "create_user_api_key"
#: Where time passes by itself; worlds are compared there so many hours of theirs after they began.
_RUNNING = ("real", "scaled")
_SETTLES_H = 1


def summary(state: JsonObject) -> dict[str, Counter[str]]:
    """Summarize an exported state; a world of before a table existed has no rows in it."""
    tables: Mapping[str, Mapping[str, Any]] = state["tables"]
    aliases = {
        key: str(row["alias"])
        for table in ("organizations", "users", "projects")
        for key, row in tables[table].items()
    }

    def name(id_: str) -> str:
        return aliases.get(id_, id_)

    def rows(table: str) -> Iterable[tuple[str, Any]]:
        return tables.get(table, {}).items()

    kinds = ("flag", "source", *MADE, "DNS authorization", "database")
    found = {kind: Counter[str]() for kind in kinds}
    for _, row in rows("projects"):
        shows = "shows" if row.get("flag_enabled") else "hides"
        found["flag"][f"{row['alias']} {shows} its flag"] += 1
        found["source"][f"{row['alias']} at generation {row.get('source_generation', 0)}"] += 1
    for _, row in rows("operations"):
        if row["kind"] != "held_by_intervention":
            error = (row.get("error") or {}).get("code")
            ended = " and stuck" * bool(row.get("stuck")) + (f" ({error})" if error else "")
            begun = f"{row['kind']} of {name(row['project_id'])}"
            found["operation"][f"{begun} {row.get('state', 'queued')}{ended}"] += 1
    for _, row in rows("deployments"):
        found["deployment"][f"{name(row['project_id'])} {row['status']}"] += 1
    for _, row in rows("user_api_keys"):
        whose = f"{name(row['user_id'])} in {name(row['organization_id'])}"
        found["API key"][f"{row['name']!r} of {whose}{' revoked' * bool(row.get('revoked'))}"] += 1
    for _, row in rows("dev_access_tickets"):
        if (ticket := row.get("state", "unused")) != "revoked":
            whose = f"{name(row['project_id'])} for {name(row['principal'])}"
            found["dev access ticket"][f"{whose} {ticket}"] += 1
    for key, row in rows("dns_authorizations"):
        status = f"{row.get('status', 'not_authorized')} {row.get('zone') or ''}"
        found["DNS authorization"][f"{name(key)} {status}"] += 1
    for key, row in rows("databases"):
        project, _, environment = key.partition("/")
        placement = row.get("placement") or {}
        states = filter(None, (placement.get("state", "none"), placement.get("pending_state")))
        found["database"][f"{name(project)}/{environment} {' to '.join(states)}"] += 1
    return found


def _shown(rows: Counter[str]) -> str:
    texts = [f"{row} ({count} times)" if count > 1 else row for row, count in sorted(rows.items())]
    more = [f"and {len(texts) - _SHOWN} more"] if len(texts) > _SHOWN else []
    return ", ".join([*texts[:_SHOWN], *more]) or "none"


Verdict = Literal[
    "survived",
    "gave up",
    "waits",
    "not reached",
    "unclear",
    "failed",
    "hung",
    "doubled",
    "differs",
    "blind success",
    "crashed",
    "repeated",
    "misbehaved",
]
#: Of what the real service would not bear nothing is said, it is told, or no such run has survived.
ConductChoice = Literal["off", "report", "error"]


class Meaning(NamedTuple):
    """Of a verdict: its mark in a matrix, its colour in a terminal, and what it says."""

    mark: str
    color: str
    text: str


_WELL = "it succeeds, but"
MEANINGS: Mapping[Verdict, Meaning] = {
    "survived": Meaning("+", "green", "same end and same state as the clean run"),
    "gave up": Meaning(
        ".", "green", "the request cannot succeed, and it ends with another exit code, as it should"
    ),
    "waits": Meaning(
        "w",
        "dim",
        "what it waits for never ends: it was still polling, with long pauses, at the time limit",
    ),
    "not reached": Meaning("?", "dim", "the fault hit no request: the client sent other requests"),
    "unclear": Meaning(
        "~", "magenta", "only its output can show whether it noticed the failure: read it"
    ),
    "failed": Meaning("F", "red", "it ends with another exit code"),
    "hung": Meaning("H", "red", "it did not end within the time limit"),
    "doubled": Meaning("2", "red", f"{_WELL} something was done more often than in the clean run"),
    "differs": Meaning("D", "yellow", f"{_WELL} the result differs from the clean run's"),
    "blind success": Meaning(
        "B", "red", "it reports success, although the response said that the request failed"
    ),
    "crashed": Meaning(
        "X", "red", "it is killed by a signal after a response that the contract allows"
    ),
    "repeated": Meaning("R", "yellow", "it retries where that cannot help, or without a pause"),
    "misbehaved": Meaning(
        "M",
        "yellow",
        "its exit code is right, but it breaks rules of conduct that the clean run keeps",
    ),
}
#: Those that are no fault of the client.
FINE = tuple(verdict for verdict, meaning in MEANINGS.items() if meaning.color in ("green", "dim"))
#: Those that prove nothing about the client.
UNDECIDED: tuple[Verdict, ...] = ("not reached", "unclear")
#: How many runs are made where nothing is said.
MAX_RUNS = 300
#: How many exchanges a world's log keeps, and so how many requests a run may have.
_MOST_REQUESTS = 1000
#: How long a response may take after the client's end, in real seconds, before it counts as lost.
_RESPONSES_S = 2.0
#: How long a run may take at least, and the clean run at most, in real seconds; and how many times as
#: long as the clean run others may, and once more where something lasts.
SHORTEST_LIMIT_S, _CLEAN_LIMIT_S, _TIMES, _PATIENT = 10.0, 600.0, 3, 2
#: How late an answer is for clients that do not wait for one, in real milliseconds.
_SOON_MS = 100
#: What lasts is asked for in vain: so often, and so often in each real second, is too often; with
#: pauses so long nobody can tell patience from waiting for ever.
_MANY, _FAST, _LONG_PAUSE_S = 20, 5.0, 0.9
#: Who asks again so much later begins anew, as a job that runs now and then.
_ANEW = timedelta(minutes=10)
#: Of two that ask at once none hears what the other is answered, but so many are a retry.
_SOME = 3
_TOO_SOON, _AFTER_END = "retried-too-soon:", "polled-after-end:"
#: Who waits longer for what does not end waits for ever, in real seconds.
_LONGEST_WAIT_S = 150.0
NO_VALUE = (
    "it reports success without an API key's value: the response was lost, and a replay has null"
)
_BY_CHANCE = re.compile(r"\b[\w:.-]*\d[\w:.-]*|\b(?:null|None|nil|undefined)\b|…")
_FAILED = re.compile(rf" (?:{'|'.join(FAILURES)})(?: \(|$)")
#: What stands for none, as a part of a name or an address.
_NONE_AS_NAME = re.compile(
    r"\S*(?:\w[.@]|//)(?:null|None|undefined)\b\S*|\b(?:null|None|undefined)[.@]\w\S*"
)
#: What stands for none as a whole segment of a path or value of a query.
_NONE_IN_URL = re.compile(r"[/=](?:null|None|nil|undefined|NaN)(?=$|[/?&])")
#: What runtimes print when a program's own code breaks. It decides nothing: it makes a run unclear.
_LOOKS_LIKE_A_CRASH = re.compile(
    # Node's fetch calls a broken connection a TypeError, too.
    r"(?!TypeError: (?:fetch failed|terminated))"
    r"(?:TypeError|KeyError|AttributeError|IndexError|UnboundLocalError|NameError|ReferenceError)\b.*"
    r"|panic: .*|Cannot (?:index|iterate over) .*|.*\bunbound variable|NoMethodError.*"
    r"|.*NullPointerException.*|.*nil pointer dereference.*|Segmentation fault.*"
)
#: Exit codes from here on say which signal ended a program.
_FIRST_SIGNAL_CODE = 129
_LAST_SIGNAL_CODE = 128 + 64


class TooManyRequests(Exception):
    """A run has more requests than a log keeps; the message says what helps."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A world after a run. `hit`: the armed fault acted; `codes` are those of its problems.

    `late`: a request that the fault delayed has not been answered yet, its client being gone.
    `conduct` says what the client did that it should not, each rule once; `conduct_errors` are those
    of severity error. `sent` counts all requests,
    and `alike` those of the point's call that were refused in a row, to the end; `in_vain`: what the
    last of them asked was never done. `asked_keys` are the API keys that the client asked for,
    `values` those whose value came, `lost_keys` those of which a replay said that it never will.
    `none_urls` are URLs in which something like `null` stands for a name. `failed` are operations
    that have failed: after the
    client's end too, where the point is about those and the client asked for one. `passed_s` is how
    much world time lies between the first request and the last, unless that moves by itself (it skips).
    """

    requests: tuple[NumberedRequest, ...]
    state: State
    codes: frozenset[str] = frozenset()
    hit: bool = False
    late: bool = False
    conduct: tuple[str, ...] = ()
    conduct_errors: tuple[str, ...] = ()
    sent: int = 0
    alike: int = 0
    in_vain: bool = False
    values: int = 0
    asked_keys: int = 0
    lost_keys: int = 0
    none_urls: frozenset[str] = frozenset()
    failed: Counter[str] = field(default_factory=Counter)
    passed_s: float = 0.0


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended: exit code, whether it had to be ended, real seconds, its last lines.

    `says` is how people call an end that was not good, if not by its exit code. `printed` are all
    lines that it printed; None: nobody knows.
    """

    code: int
    hung: bool = False
    duration_s: float = 0.0
    output: tuple[str, ...] = ()
    says: str = ""
    printed: tuple[str, ...] | None = None

    @property
    def words(self) -> list[str]:
        """What it printed, without numbers, ids, times and secrets, and what stands for none."""
        lines = (_BY_CHANCE.sub("", line).split() for line in self.printed or ())
        return [" ".join(line) for line in lines if line]


@dataclass(frozen=True, slots=True)
class CleanRun:
    """The clean run: what was there before it, what it came to, and what it came to once more.

    `same_keys` are the requests whose Idempotency-Key was the same the second time. `values` is how
    many values of API keys came in each of the two runs (in the one with fewer, if they differ).
    """

    start: State
    seen: Observation
    ended: RunEnd
    again: State
    same_keys: tuple[str, ...] = ()
    values: int = 0

    @property
    def vague(self) -> list[str]:
        """The kinds of things that two clean runs leave differently."""
        return [kind for kind, rows in self.seen.state.items() if self.again[kind] != rows]


@dataclass(frozen=True, slots=True)
class PointResult:
    """What became of a point. `says` are sentences; `codes` the problems that the client met."""

    point: FaultPoint
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


class CleanRunFailed(Exception):
    """Without any failure it did not end well; `again`: the second time."""

    def __init__(self, end: RunEnd, limit_s: float, *, again: bool) -> None:
        how = f"did not end within {limit_s:g} s" if end.hung else f"ended with {end.code}"
        super().__init__(how)
        self.end, self.again = end, again


class JudgeFailed(Exception):
    """What judges a run failed itself, so that the run proves nothing."""


class Visit:
    """One run's worlds: `begin` when its own world is there, before the run, and `end` after it.

    Both raise ControlError; `begin` ValueError if the point cannot be met, `end` TooManyRequests and
    JudgeFailed. `late_ms` is how late an answer is that the point delays. `scope` are the names of the
    worlds that the run may use, beside copies of them; None: all worlds of the emulator.
    """

    def __init__(
        self,
        point: FaultPoint | None = None,
        clean: CleanRun | None = None,
        skip_rules: Sequence[str] = (),
        late_ms: int = LATE_MS,
        scope: Sequence[str] | None = None,
    ) -> None:
        self.point, self._clean, self._skip_rules, self.late_ms = point, clean, skip_rules, late_ms
        self.scope = scope
        self.start: State = {}
        self.seen: Observation | None = None
        #: The conduct of each world that got requests, once the run has ended.
        self.conduct: Sequence[ConductReport] = ()
        self._protected = ""
        self._clock: ClockState
        self._watch: WorldsObservation

    def begin(self, world: HostingEmulator, token: str | None = None) -> None:
        """Arm the point's fault and observe from now on; `token` is the client's, if known.

        The fault is armed in each world that the client uses, and the client cannot remove it.
        """
        self._clock, point = world.clock.state, self.point
        if point is None or self._clean is None:
            self.start = self._settled(world) if self._clock.mode in _RUNNING else _export(world)
            self._watch = world.control.observe(self.scope, skip_rules=self._skip_rules)
            return
        self.start = self._clean.start
        alike = {r.name: r for r in self._clean.seen.requests if r.call == point.call}
        if (request := alike.get(point.request)) is None:
            wrong = f"the clean run has no request {point.request}"
            raise ValueError(f"{wrong}: it sends {len(alike)} of {point.call}")
        found, user = point.lasting, request.exchange.user
        if found is None and point.phase == "after_commit" and not request.succeeded:
            raise ValueError(
                f"{point.request} gets {request.exchange.status} in the clean run, "
                "so there is no commit for a fault to follow; write before_commit"
            )
        if found is not None and not found.suits(request):
            raise ValueError(f"{point.fault} does not apply to {point.request} of the clean run")
        if found is None:
            body: JsonObject = {"fault": fault_at(point, request, self.late_ms)}
        else:
            if point.fault == "token_expired" and token is None and user is not None:
                token = world.token(user)  # a test is given the same token by the same handle
            body = found.document(request, token if point.fault == "token_expired" else None)
        names = None if self.scope is None else list(self.scope)
        armed = world.control.post("protected-faults", {**body, "worlds": names})
        self._protected = armed["id"]
        self._watch = world.control.observe(self.scope, skip_rules=self._skip_rules)

    def end(self, world: HostingEmulator) -> None:
        """Observe what the worlds have come to, those included that are gone."""
        try:
            self.seen = self._observe(world)
            if self.seen.late:
                time.sleep(self.late_ms / 1000)
                self.seen = self._observe(world)
        finally:
            self._watch.close()
            if self._protected:
                world.control.delete(f"protected-faults/{self._protected}")

    def _observe(self, world: HostingEmulator) -> Observation:
        point = self.point
        report = self._watch.report(final=True, wait_s=_RESPONSES_S)
        if report.errors:
            raise JudgeFailed("; ".join(report.errors))
        chapters = [chapter for chapter in report.chapters if chapter.requests]
        exchanges = self._exchanges(chapters)
        if report.requests > len(exchanges) and point is None:
            raise TooManyRequests(
                f"it sends {report.requests} requests, and a world keeps {_MOST_REQUESTS}: "
                "explore a smaller part of it"
            )
        # What is cut or slowed down goes by how long the answers of the clean run are.
        answers = self._answers(exchanges) if point is None else {}
        late = hit = False
        if point is not None:
            hits = world.control.get(f"protected-faults/{self._protected}")["hits"]
            met = point.lasting is None or point.lasting.how != "intervention"
            hit = hits > 0 and (met or any(e.call == point.call for e in exchanges))
            late = hit and point.lasting is None
            late = late and not any(
                f"{self._protected} (" in why for e in exchanges for why in e.why
            )
        self.conduct = [of_severity(chapter.conduct, "warning") for chapter in chapters]
        findings = [finding for judged in self.conduct for finding in judged.findings]
        # Where a key was asked for again, its value did not come, or came to one of two at once.
        made = [e for e in exchanges if e.call == _KEY and e.status in (200, 201)]
        again = {e.idempotency_key for e in made if e.replayed}
        heard = [(e.idempotency_key, e.replayed) for e in made if e.lost is None]
        alike, in_vain = _refused_at_last(exchanges, point)
        times = [datetime.fromisoformat(exchange.at) for exchange in exchanges]
        moves = bool(times) and self._clock.mode != "skip" and len(chapters) == 1
        state = self._state(world, chapters)
        outcome = point is not None and point.lasting is not None and point.lasting.how == "outcome"
        # Who never asks what became of an operation leaves that to others.
        follows = outcome and any(e.call == "get_operation" for e in exchanges)
        later = self._state(world, chapters, settled=True) if follows else state
        return Observation(
            requests=number(exchanges, answers),
            state=state,
            codes=frozenset(e.code for e in exchanges if e.code),
            hit=hit,
            late=late,
            conduct=_titles(findings),
            conduct_errors=_titles(f for f in findings if f.severity == "error"),
            sent=report.requests,
            alike=alike,
            in_vain=in_vain,
            values=len({key for key, replayed in heard if not replayed} - again),
            asked_keys=len({e.idempotency_key for e in exchanges if e.call == _KEY}),
            none_urls=frozenset(filter(_NONE_IN_URL.search, map(_url, exchanges))),
            lost_keys=len({key for key, replayed in heard if replayed}),
            failed=later["operation"] - _without_failed(later)["operation"],
            passed_s=(times[-1] - times[0]).total_seconds() if moves else 0.0,
        )

    def _exchanges(self, chapters: Sequence[ChapterReport]) -> list[ObservedExchange]:
        """Return the requests of all chapters in the order of their arrival."""
        exchanges: list[ObservedExchange] = []
        for chapter in chapters:
            if chapter.released:
                continue
            for exchange in self._watch.requests(chapter.index, limit=_MOST_REQUESTS):
                exchanges.append(ObservedExchange(**asdict(exchange), chapter=chapter.index))
        exchanges.sort(key=lambda exchange: exchange.arrival or 0)
        return exchanges

    def _answers(self, exchanges: Sequence[ObservedExchange]) -> dict[Place, tuple[int, Any]]:
        """Return how long each response is, and what it says."""
        answers: dict[Place, tuple[int, Any]] = {}
        for exchange in exchanges:
            place = place_of(exchange)
            whole = self._watch.whole_request(*place).response
            answers[place] = (whole.body_bytes, whole.content)
        return answers

    def _state(
        self, world: HostingEmulator, chapters: Sequence[ChapterReport], *, settled: bool = False
    ) -> State:
        """Return what the run left: what was there before, and the changes of each chapter.

        The last state of a world counts before it is deleted, reset or replaced. With `settled`, and
        where a clock runs, states are compared at one moment of world time.
        """
        settled = settled or self._clock.mode in _RUNNING
        total = {kind: Counter(rows) for kind, rows in self.start.items()}
        for chapter in chapters:
            if chapter.released:
                continue
            before, after = self._both_ends(world, chapter, settled=settled)
            for kind, rows in total.items():
                rows.update(after[kind])
                rows.subtract(before[kind])
        return total

    def _both_ends(
        self, world: HostingEmulator, chapter: ChapterReport, *, settled: bool
    ) -> tuple[State, State]:
        """Return the states of a chapter's world at its beginning and at its end."""
        index = chapter.index
        exported = [self._watch.state(index, began=began) for began in (True, False)]
        if not settled:
            return summary(exported[0]), summary(exported[1])
        states = []
        for state in exported:
            summary_of_copy = world.control.create_world(state=state, ephemeral=True)
            with HostingEmulator(world.control, summary_of_copy, throw_away=True) as copy:
                states.append(self._settle(copy))
        return states[0], states[1]

    def _settled(self, world: HostingEmulator) -> State:
        with world.fork() as fork:
            return self._settle(fork)

    def _settle(self, copy: HostingEmulator) -> State:
        """Return what a world will have come to at one moment for all runs."""
        began = datetime.fromisoformat(self._clock.now)
        now = datetime.fromisoformat(copy.clock.freeze().now)
        # The client may have moved it.
        copy.clock.advance_to(max(now, began + timedelta(hours=_SETTLES_H)))
        return _export(copy)


def _export(world: HostingEmulator) -> State:
    return summary(world.export())


def _titles(findings: Iterable[ConductFinding]) -> tuple[str, ...]:
    """Return the rules of findings with their titles, each once."""
    return tuple(dict.fromkeys(f"{finding.rule}: {finding.title}" for finding in findings))


def _url(exchange: ObservedExchange) -> str:
    return f"{exchange.path}?{exchange.query}" if exchange.query else exchange.path


def _refused_at_last(
    exchanges: Sequence[ObservedExchange], point: FaultPoint | None
) -> tuple[int, bool]:
    """Count refusals of the point's call since one went well; tell if the last was never granted."""
    count, last, done, before = 0, "", set[str](), None
    for exchange in exchanges:
        if point is not None and exchange.call == point.call:
            went_well = exchange.lost is None and 0 < exchange.status < 400
            last = f"{exchange.path}?{exchange.query} {exchange.idempotency_key}"
            at = datetime.fromisoformat(exchange.at)
            anew = before is not None and at - before >= _ANEW
            before, count = at, 0 if went_well else 1 if anew else count + 1
            done.update([last] if went_well else [])
    return count, count > 0 and last not in done


#: Makes a run in a world of this name, to be ended after so many real seconds (None: never).
Perform = Callable[[Visit, str, float | None], RunEnd]


class Explorer:
    """Makes runs. `limit_s` None: as long as is usual; `skip_rules` are conduct rules to skip."""

    def __init__(
        self,
        perform: Perform,
        *,
        limit_s: float | None = None,
        clean_limit_s: float | None = _CLEAN_LIMIT_S,
        conduct: ConductChoice = "report",
        skip_rules: Sequence[str] = (),
        scope: Sequence[str] | None = None,
    ) -> None:
        self._perform = perform
        self._conduct = conduct
        self._skip_rules = skip_rules
        self._scope = scope
        self._told_s, self._clean_limit_s = limit_s, limit_s or clean_limit_s
        self.limit_s = limit_s or SHORTEST_LIMIT_S
        self._late_ms, self._asking = 0, threading.Lock()

    def clean(self) -> CleanRun:
        """Run it twice without a failure. Raises CleanRunFailed."""
        visits, ends = (
            [
                Visit(skip_rules=self._skip_rules, scope=self._scope),
                Visit(skip_rules=self._skip_rules, scope=self._scope),
            ],
            list[RunEnd](),
        )
        for name, visit in zip(("clean", "clean-again"), visits, strict=True):
            end = self._perform(visit, name, self._clean_limit_s)
            if end.hung or end.code:
                raise CleanRunFailed(end, self._clean_limit_s or 0, again=bool(ends))
            ends.append(end)
        first, again = visits
        assert first.seen is not None
        assert again.seen is not None
        # The first run may have had to start or to build what others find.
        took_s = min(end.duration_s for end in ends)
        if self._told_s is None:
            self.limit_s = max(SHORTEST_LIMIT_S, _TIMES * took_s)
        printed = ends[0].printed if ends[0].words == ends[1].words else None
        end = RunEnd(0, duration_s=took_s, printed=printed)
        keys = [{r.name: r.key for r in seen.requests} for seen in (first.seen, again.seen)]
        same = tuple(name for name, key in keys[0].items() if key and key == keys[1].get(name))
        values = min(first.seen.values, again.seen.values)
        return CleanRun(first.start, first.seen, end, again.seen.state, same, values)

    def result(
        self, name: str, point: FaultPoint, clean: CleanRun, *, once: bool = False
    ) -> PointResult:
        """Run a point in a world of this name, and judge it.

        What goes wrong is looked at twice, unless it hung: chance, or a busy machine, may have been
        at work, and only what happens again is held against the client.
        """
        visit = Visit(point, clean, self._skip_rules, self._delay(point, clean), self._scope)
        # Who waits for what does not end may have a limit of its own.
        patient = point.lasting is not None and self._told_s is None
        limit_s = self.limit_s * (_PATIENT if patient else 1)
        end = self._perform(visit, name, limit_s)
        assert visit.seen is not None
        limit_s = round(limit_s, 1)
        found = judge(point, end, visit.seen, clean, limit_s=limit_s, conduct=self._conduct)
        if once or found.fine or found.verdict == "hung":
            return found
        second = self.result(f"{name}-again", point, clean, once=True)
        if found.verdict == second.verdict:
            return found
        says = "; ".join((found.verdict, *found.says))
        return replace(second, says=(*second.says, f"the first of two runs: {says}"))

    def _delay(self, point: FaultPoint, clean: CleanRun) -> int:
        """Return how late an answer may be: less if the client was once seen to give up waiting."""
        if kind_of(point.fault) not in ("latency", "slow_response"):
            return LATE_MS
        with self._asking:
            if not self._late_ms:
                asked = FaultPoint(point.call, point.n, "latency", "before_commit")
                visit = Visit(asked, clean, self._skip_rules, 2 * LATE_MS, self._scope)
                end = self._perform(visit, "patience", self.limit_s)
                waited = visit.seen is not None and visit.seen.sent == clean.seen.sent
                self._late_ms = LATE_MS if waited and not end.code else _SOON_MS
        return self._late_ms


def judge(
    point: FaultPoint,
    ended: RunEnd,
    seen: Observation,
    clean: CleanRun,
    *,
    limit_s: float,
    conduct: ConductChoice = "report",
) -> PointResult:
    """Judge a run that met a point. `limit_s` is what it was given, in real seconds.

    Where something lasted, to end clearly is right, to claim success is not.
    """
    told = tuple(finding for finding in seen.conduct if finding not in clean.seen.conduct)
    run = _JudgedRun(point, ended, seen, clean, limit_s, told)
    verdict, says = run.wire_verdict() if run.lasting is None else run.lasting_verdict(run.lasting)
    broken = () if conduct == "off" else tuple(f for f in seen.conduct_errors if f in told)
    if conduct == "error" and verdict in ("survived", "not reached"):
        broken = told
    if broken and (verdict in FINE or verdict in UNDECIDED):
        verdict = "misbehaved"
        says = [finding.partition(":")[0] for finding in broken]
    return PointResult(
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


@dataclass
class _JudgedRun:
    """A run beside the clean one; `told` is conduct that the clean run has not."""

    point: FaultPoint
    ended: RunEnd
    seen: Observation
    clean: CleanRun
    limit_s: float
    told: Sequence[str]

    def __post_init__(self) -> None:
        #: What lasted from the point on, if it came to that.
        self.lasting = self.point.lasting if self.seen.hit else None
        self.every, self.more = self._differences()

    def _differences(self, *, failed: bool = True) -> tuple[list[str], list[str]]:
        """Say how its state differs from the clean run's; then those in which there is more of it.

        Where two clean runs differ already, nothing is said of what differs by chance: neither the
        rows, nor their number if that differs as well. For each API key of which the client knows
        that its value is lost it may make another. Without `failed`, what has failed does not count.
        """
        every, more = list[str](), list[str]()
        states = (self.seen.state, self.clean.seen.state, self.clean.start, self.clean.again)
        found, clean, start, again = states if failed else map(_without_failed, states)
        for kind, rows in clean.items():
            many, usual = (counted.total() - start[kind].total() for counted in (found[kind], rows))
            extra, lacking = found[kind] - rows, rows - found[kind]
            # A key with another name in each run is none that could be lacking.
            named = lacking & again[kind]
            if kind == "API key" and not named and 0 <= many - usual <= self.seen.lost_keys:
                continue
            if kind in MADE and many != usual:
                if again[kind].total() == rows.total():
                    name = MADE[kind].removesuffix("s") if many == 1 else MADE[kind]
                    which = _shown(extra if many > usual else lacking)
                    every.append(f"{many} {name}, while the clean run makes {usual}: {which}")
                    more += every[-1:] if many > usual else []
            elif found[kind] != rows and again[kind] == rows:
                every.append(f"{kind}: {_shown(extra)}, while the clean run has {_shown(lacking)}")
        return every, more

    def wire_verdict(self) -> tuple[Verdict, list[str]]:
        """Judge a run in which something passed, or nothing was met."""
        ended, seen = self.ended, self.seen
        if not seen.hit and not ended.hung and ended.code == self.clean.ended.code:
            return "not reached", []
        if ended.hung:
            return "hung", [f"it did not end within {self.limit_s:g} s", *self.more]
        if ended.code != self.clean.ended.code:
            says = [ended.says or f"exit code {ended.code}", *self.more]
            if not seen.hit:
                says.append("although the fault hit no request: it may fail intermittently")
            elif seen.lost_keys and not self.more:  # it cannot have what it asked for, and says so
                return "gave up", []
            return "failed", says
        if self.more:
            return "doubled", self.every
        if self._lacks_value():
            return self._without_value([])
        if self.every:
            return "differs", self.every
        return "survived", []

    def lasting_verdict(self, found: Lasting) -> tuple[Verdict, list[str]]:
        """Judge a run in which something lasted."""
        ended, what = self.ended, f"{self.point.request} {found.says}"
        _, more = self._differences(failed=False)  # which was not done twice
        if more and found.end != "answer":
            return "doubled", [what, *more]
        if ended.hung and self._asks_for_ever(found):
            late = f"it did not end within {self.limit_s:g} s, and kept sending requests"
            return "hung", [what, late]
        if not ended.code and not ended.hung and (blind := self._blind(found)):
            return "blind success", [what, *blind]
        if often := self._too_often():
            return "repeated", [what, often]
        if ended.hung:
            return "waits", [what, f"as far as {self.limit_s:g} s can show"]
        if ended.code:
            return self._other_exit_code(found, what)
        if not self.every and self._lacks_value():
            return self._without_value([what])
        if doubt := self._doubt(found):
            return "unclear", [what, doubt]
        return "survived", []

    def _other_exit_code(self, found: Lasting, what: str) -> tuple[Verdict, list[str]]:
        """Judge a run that ended by itself, with another exit code than 0."""
        code = self.ended.code
        if _FIRST_SIGNAL_CODE <= code <= _LAST_SIGNAL_CODE:
            return "crashed", [what, f"exit code {code}: signal {code - 128}"]
        if self.ended.says:  # a test that fails says by itself how
            return "gave up", []
        if found.end == "answer":
            return "unclear", [what, f"it ends with exit code {code}: it gave up, or it crashed"]
        looks = next(
            filter(None, map(_LOOKS_LIKE_A_CRASH.search, reversed(self.ended.output))), None
        )
        if looks:
            doubt = f"it ends with exit code {code}: it gave up, or it crashed, as {looks[0]!r} suggests"
            return "unclear", [what, doubt]
        return "gave up", []

    def _without_value(self, what: list[str]) -> tuple[Verdict, list[str]]:
        """Judge a run that succeeds although an API key's value never came."""
        if self._prints_the_same():
            return "blind success", [*what, NO_VALUE]
        return "unclear", [*what, f"{NO_VALUE}; its output differs from the clean run's"]

    def _prints_the_same(self) -> bool:
        """Whether its output is the clean run's. Where that is not known, nothing shows a difference."""
        usual = self.clean.ended
        return usual.printed is None or self.ended.words == usual.words

    def _doubt(self, found: Lasting) -> str:
        """Return what only the output of a run that succeeds could settle; empty: nothing."""
        if found.end == "refused" and self.seen.in_vain:
            return "it exits with 0, and its output differs from the clean run's"
        if found.end == "answer":
            usual = "\n".join(self.clean.ended.printed or ())
            for line in self.ended.printed or ():
                for name in _NONE_AS_NAME.finditer(line):
                    if name[0] not in usual:
                        return f"it prints {name[0]!r}"
        return ""

    def _asks_for_ever(self, found: Lasting) -> bool:
        """Whether a run that was ended would have gone on for good; what may come is waited for longer."""
        often = (self.seen.sent - self.clean.seen.sent) / self.limit_s
        may_come = found.end == "unfinished" or self.point.fault in ("outage", "limited")
        if may_come and not any(rule.startswith(_AFTER_END) for rule in self.told):
            return often > _FAST or self.limit_s > _LONGEST_WAIT_S
        return often * _LONG_PAUSE_S > 1

    def _blind(self, found: Lasting) -> list[str]:
        """Say what is missing where a run ended well."""
        if found.end != "answer" and self.every:
            return self.every
        if found.end == "refused" and (failed := self.seen.failed - self.clean.seen.failed):
            return [f"it did not wait for the end: {_shown(failed)}"]
        if found.end == "refused" and self.seen.in_vain:
            # A read changes nothing: without a usual output to compare with, nothing is known.
            is_read = ALL_CALLS[self.point.call].method == "GET"
            is_known = self.clean.ended.printed is not None
            if self._prints_the_same() and (is_known or not is_read):
                return ["but its output is the same as when all succeeds"]
        if found.end == "answer":
            urls = sorted(self.seen.none_urls - self.clean.seen.none_urls)
            return [f"but it requests {url}" for url in urls][:1]
        return []

    def _lacks_value(self) -> bool:
        """Whether the value of an API key that the client asked for never came.

        A client that has its key from elsewhere, such as a file, asks for none and lacks none.
        """
        return self.seen.values < min(self.clean.values, self.seen.asked_keys)

    def _too_often(self) -> str:
        """Say how it asked again where that cannot help, or without a pause; empty: it did not."""
        took_s, alike = max(self.ended.duration_s, self.seen.passed_s, 0.001), self.seen.alike
        if alike >= _MANY and alike / took_s > _FAST:
            return f"more than {_MANY} attempts, at least {_FAST:g} per second"
        # Of several that ask for the same, none hears what the others are answered.
        like = max(1, sum(r.call == self.point.call for r in self.clean.seen.requests))
        often = alike >= _SOME * like
        if self.point.fault in ("limited", "outage"):  # which may end at any time
            often = often and any(rule.startswith(_TOO_SOON) for rule in self.told)
        return f"{alike} attempts" if often else ""


def _without_failed(state: State) -> State:
    return {
        kind: Counter({row: n for row, n in rows.items() if not _FAILED.search(row)})
        for kind, rows in state.items()
    }


def counts(results: Sequence[PointResult]) -> dict[str, int]:
    """Count the results by verdict, in their order; what there is none of is left out."""
    found = Counter(result.verdict for result in results)
    return {verdict: found[verdict] for verdict in MEANINGS if found[verdict]}
