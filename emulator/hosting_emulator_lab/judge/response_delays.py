"""Decides how late delayed responses are: late for a patient client, slightly late for others."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import TypeAlias

from hosting_emulator_lab.judge.fault_points import LATE_MS, FaultPoint, kind_of

#: The kinds of faults that delay a response.
_DELAYING_KINDS = ("latency", "slow_response")
#: The delay in real milliseconds of a response for a client that does not wait for LATE_MS.
_SLIGHTLY_LATE_MS = 100

#: Makes a run in which the response at a point is late by a number of real milliseconds. Returns whether
#: the client waits for the response, and sends no request again.
WaitsForResponse: TypeAlias = Callable[[FaultPoint, int], bool]


class ResponseDelays:
    """Decides how late delayed responses are for one client.

    Several threads may call its methods at the same time.
    """

    def __init__(self, waits_for_response: WaitsForResponse) -> None:
        self._waits_for_response = waits_for_response
        #: The delay of a response in real milliseconds, or 0 until a run has shown how long the
        #: client waits.
        self._late_ms = 0
        self._lock = threading.Lock()

    def late_ms(self, point: FaultPoint) -> int:
        """Return how late the response at a point is, in real milliseconds.

        Before the first delay, a run with a double delay shows how long the client waits.
        """
        if kind_of(point.fault) not in _DELAYING_KINDS:
            return LATE_MS
        with self._lock:
            if not self._late_ms:
                latency = FaultPoint(point.call, point.number, "latency", "before_commit")
                is_patient = self._waits_for_response(latency, 2 * LATE_MS)
                self._late_ms = LATE_MS if is_patient else _SLIGHTLY_LATE_MS
            return self._late_ms
