"""Replay: a record is sent to a world, request by request, and the answers held against it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hosting_emulator.replay.comparing import Comparison, Difference, Moments
from hosting_emulator.replay.credentials import Credentials
from hosting_emulator.replay.moments import moment_ms
from hosting_emulator.replay.names import Names
from hosting_emulator.replay.pages import CutPages
from hosting_emulator.replay.record import Answered, Record, Recorded
from hosting_emulator.replay.sending import Sender
from hosting_emulator.replay.worlds import ids_of
from hosting_emulator.sdk import ControlClient, WorldSummary

#: How exactly moments are compared where time runs by itself, or ran so elsewhere; in milliseconds.
_ABOUT_MS = 5000


@dataclass(frozen=True, slots=True)
class Replayed:
    """What became of one recorded request. `answer` is None when none arrived, or none was asked for.

    `skipped` says why it was not sent.
    """

    recorded: Recorded
    answer: Answered | None
    differences: tuple[Difference, ...] = ()
    skipped: str | None = None


@dataclass(slots=True)
class Report:
    """What became of a record. `said` is what could not be as it was, in sentences."""

    world: str
    requests: list[Replayed] = field(default_factory=list)
    said: list[str] = field(default_factory=list)

    @property
    def differing(self) -> list[Replayed]:
        """The requests whose answers differ."""
        return [one for one in self.requests if one.differences]

    @property
    def skipped(self) -> list[Replayed]:
        """The requests that were not sent."""
        return [one for one in self.requests if one.skipped is not None]


@dataclass(frozen=True)
class Options:
    """How to replay. `as_` sends all as one person; `move_time`: the world's clock follows the record.

    `timeout_s` is how long to wait for an answer, in real seconds.
    """

    as_: str | None = None
    move_time: bool = True
    timeout_s: float = 5.0


def replay(
    control: ControlClient, record: Record, world: WorldSummary, options: Options | None = None
) -> Report:
    """Send all of a record's requests to a world, in their order. Raises ControlError."""
    options = options or Options()
    replaying = Replaying(control, record, world, options)
    report = Report(world["name"])
    try:
        report.requests.extend(replaying.go(record.requests))
    finally:
        replaying.close()
    report.said = replaying.said
    return report


class Replaying:
    """One replay on its way: the names it has learnt, the time it has come to."""

    def __init__(
        self, control: ControlClient, record: Record, world: WorldSummary, options: Options
    ) -> None:
        self._control = control
        self._world = world
        self._names = Names()
        self._pages = CutPages(self._names)
        self._worlds = (record.origin.name, world["name"])
        self._credentials = Credentials(control, world["name"], record, self._names, options.as_)
        self._sender = Sender(world["base_url"], timeout_s=options.timeout_s)
        self._said: list[str] = []
        self._start_ms = self._now_ms = moment_ms(world["clock"]["now"])
        self._recorded_start_ms = _start_ms(record, self._start_ms)
        self._moves = options.move_time and world["clock"]["mode"] in ("frozen", "skip")
        self._still = world["clock"]["mode"] == "frozen"
        self._exact = self._still and self._moves and record.own
        if options.move_time and not self._moves:
            self._said.append(
                f"the clock of {world['name']} runs by itself: it is not moved as in the record"
            )
        self._learn_ids(record)

    @property
    def said(self) -> list[str]:
        """What could not be as it was, in sentences."""
        return self._said + self._credentials.said

    def go(self, requests: Iterable[Recorded]) -> Iterator[Replayed]:
        """Send requests one after the other, and tell what became of each."""
        for recorded in requests:
            if recorded.unsendable is not None:
                yield Replayed(recorded, None, skipped=recorded.unsendable)
            else:
                yield self._one(recorded)

    def close(self) -> None:
        """Close the connection."""
        self._sender.close()

    def _one(self, recorded: Recorded) -> Replayed:
        self._reach(recorded.at_ms)
        self._pages.asking(recorded)
        answer = self._sender.send(
            recorded.method,
            self._names.in_target(recorded.target),
            self._credentials.headers(recorded),
            None if recorded.body is None else self._body(recorded.body),
        )
        moments = Moments(
            recorded.at_ms,
            self._now_ms,
            self._recorded_start_ms,
            self._start_ms,
            0 if self._exact else _ABOUT_MS,
        )
        comparison = Comparison(self._names, moments, self._worlds)
        differences = comparison.differences(recorded.answer, answer)
        self._credentials.learn_key(recorded.answer, answer)
        self._pages.answered(recorded, answer)
        return Replayed(recorded, answer, tuple(differences))

    def _reach(self, recorded_ms: int) -> None:
        """Let the time pass that passed in the record."""
        if not self._still:
            self._now_ms = moment_ms(self._control.clock(self._world["name"])["now"])
        ahead_ms = self._start_ms + recorded_ms - self._recorded_start_ms - self._now_ms
        if self._moves and ahead_ms > 0:
            self._control.advance(self._world["name"], by=f"{ahead_ms}ms")
            self._now_ms += ahead_ms

    def _body(self, body: bytes) -> bytes:
        try:
            return self._names.in_text(body.decode()).encode()
        except UnicodeDecodeError:
            return body

    def _learn_ids(self, record: Record) -> None:
        here = ids_of(self._world)
        for table, known in record.origin.ids.items():
            for alias, recorded in known.items():
                new = here.get(table, {}).get(alias)
                if new is not None:
                    self._names.learn(recorded, new)
        if not record.own:
            self._guess_ids(record, here)

    def _guess_ids(self, record: Record, here: Mapping[str, Mapping[str, str]]) -> None:
        """Take the project and organization of a stranger's record for the ones of this world."""
        showcase = next(
            (p for p in self._world["projects"] if p["alias"] == "shop"),
            next(iter(self._world["projects"]), None),
        )
        if showcase is None:
            return
        stands_for = {
            "projects": (showcase["id"], showcase["alias"]),
            "organizations": (showcase["organization_id"], "its organization"),
        }
        for recorded in record.requests:
            _, _, kind, found, *_ = [*recorded.target.partition("?")[0].split("/"), "", ""]
            known = here.get(kind, {}).values()
            if kind in stands_for and found not in known and self._names.new_for(found) == found:
                new, alias = stands_for.pop(kind)
                self._names.learn(found, new)
                self._said.append(f"{found} is taken for {alias} of {self._world['name']}")


def _start_ms(record: Record, now_ms: int) -> int:
    """Which moment of the record is the present one of the world, in milliseconds since 1970."""
    told = (record.origin.at, record.origin.began_at)
    starts_ms = [moment_ms(at) for at in told if at is not None]
    if now_ms in starts_ms:
        return now_ms
    return starts_ms[0] if starts_ms else record.requests[0].at_ms


def report_document(report: Report, record: Record) -> dict[str, Any]:
    """Return a report as JSON shows it."""
    return {
        "world": report.world,
        "sent": len(report.requests) - len(report.skipped),
        "differ": len(report.differing),
        "skipped": len(report.skipped),
        "left_out": list(record.left_out),
        "said": report.said,
        "requests": [_item(one) for one in report.requests],
    }


def _item(one: Replayed) -> dict[str, Any]:
    return {
        "n": one.recorded.n,
        "method": one.recorded.method,
        "path": one.recorded.target,
        "recorded_status": one.recorded.answer.status if one.recorded.answer else None,
        "status": one.answer.status if one.answer else None,
        "same": one.skipped is None and not one.differences,
        "skipped": one.skipped,
        "differences": [difference._asdict() for difference in one.differences],
    }
