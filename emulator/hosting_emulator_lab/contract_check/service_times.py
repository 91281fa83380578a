"""The service's own time: its latest event, its latest observation, and moments between requests."""

from __future__ import annotations

from typing import NamedTuple

from hosting_emulator_lab.contract_check.evidence import Evidence, Keys, ObservedFact

#: How much older than earlier events an observation may be, and how far clocks of one service may
#: be apart, in milliseconds.
STALE_MS = 300_000
#: How far the clock that stamps new records may be ahead of the clock that stamps observations, in
#: milliseconds.
_RECORD_CLOCK_AHEAD_MS = 5_000
#: How far, in milliseconds, a moment may lie outside the span in which it is expected.
_SLACK_MS = 5_000


class ServiceTime(NamedTuple):
    """The service's time, in milliseconds since 1970.

    `observed_ms` comes from the `observed_at` field of a response, and `date_ms` from its Date
    header. Either is None if the response lacks it.
    """

    observed_ms: int | None
    date_ms: int | None


def happened_between(
    at_ms: int | None, before: ServiceTime, after: ServiceTime, slack_ms: int = _SLACK_MS
) -> bool | None:
    """Return whether a moment lies between two times of the service, or None if this is uncertain.

    One of the two clocks is enough to confirm it. A Date header alone refutes nothing: a proxy may
    have written it, or the service's own time may differ from its server's.
    """
    if at_ms is None:
        return None
    for begin_ms, end_ms in zip(before, after, strict=True):
        if begin_ms is None or end_ms is None:
            continue
        if begin_ms - slack_ms <= at_ms <= end_ms + slack_ms:
            return True
    if before.observed_ms is None or after.observed_ms is None:
        return None
    return False


class ServiceTimes:
    """Follows the timestamps in responses: no later observation may be older than an earlier event."""

    def __init__(self, evidence: Evidence) -> None:
        self._evidence = evidence
        self._latest_event_ms = 0
        self._latest_observation_ms = 0

    def record_event(self, at_ms: int) -> None:
        """Record the moment at which something was created or changed."""
        self._latest_event_ms = max(self._latest_event_ms, at_ms)

    def record_observation(self, at_ms: int) -> bool:
        """Record the moment of an observation. Return whether the observation is fresh enough."""
        self._latest_observation_ms = max(self._latest_observation_ms, at_ms)
        return at_ms >= self._latest_event_ms - STALE_MS

    def judge_new_record(self, observed: ObservedFact, at_ms: int | None, keys: Keys) -> bool:
        """Judge the creation time of a new record, and the observations that came before it.

        Return whether the creation time is plausible.
        """
        if at_ms is None:
            return True
        if at_ms < self._latest_event_ms - STALE_MS:
            self._evidence.differs(
                keys, observed, "created_at is earlier than events before the request"
            )
            return False
        if self._latest_observation_ms > at_ms + STALE_MS:
            self._evidence.differs(
                "compute.observed_at",
                observed,
                "an earlier observed_at is later than this created_at",
            )
        return True

    def has_advanced_beyond(self, at_ms: int | None) -> bool:
        """Return whether something was certainly created or changed later than a moment."""
        return at_ms is not None and self._latest_event_ms > at_ms + _RECORD_CLOCK_AHEAD_MS
