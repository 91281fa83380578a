"""The report on a replay: the outcome of each request."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hosting_emulator_lab.replay.comparison import ResponseDifference
from hosting_emulator_lab.replay.recording import RecordedExchange, RecordedResponse, Recording


@dataclass(frozen=True, slots=True)
class ReplayedExchange:
    """The outcome of a recorded request.

    `response` is None if no complete response arrived. `skipped` is the reason why the request was
    not sent, or None if it was sent.
    """

    recorded: RecordedExchange
    response: RecordedResponse | None
    differences: tuple[ResponseDifference, ...] = ()
    skipped: str | None = None


@dataclass(slots=True)
class ReplayReport:
    """The outcome of replaying a recording in a world. `notes` say what could not be replayed as recorded."""

    world: str
    requests: list[ReplayedExchange]
    notes: list[str]

    @property
    def differing(self) -> list[ReplayedExchange]:
        """The requests whose responses differ."""
        return [exchange for exchange in self.requests if exchange.differences]

    @property
    def skipped(self) -> list[ReplayedExchange]:
        """The requests that were not sent."""
        return [exchange for exchange in self.requests if exchange.skipped is not None]


def report_document(report: ReplayReport, record: Recording) -> dict[str, Any]:
    """Return a report as JSON."""
    return {
        "world": report.world,
        "sent": len(report.requests) - len(report.skipped),
        "differ": len(report.differing),
        "skipped": len(report.skipped),
        "left_out": list(record.left_out),
        "notes": report.notes,
        "requests": [_exchange_document(exchange) for exchange in report.requests],
    }


def _exchange_document(exchange: ReplayedExchange) -> dict[str, Any]:
    recorded = exchange.recorded
    return {
        "n": recorded.n,
        "method": recorded.method,
        "path": recorded.target,
        "recorded_status": _status_of(recorded.response),
        "status": _status_of(exchange.response),
        "same": exchange.skipped is None and not exchange.differences,
        "skipped": exchange.skipped,
        "differences": [difference._asdict() for difference in exchange.differences],
    }


def _status_of(response: RecordedResponse | None) -> int | None:
    if response is None:
        return None
    return response.status
