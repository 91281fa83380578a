"""The visits of runs in which the service fails at a point."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.response_delays import ResponseDelays
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd
from hosting_emulator_lab.judge.run_visit import RunVisit
from hosting_emulator_lab.judge.time_limits import TimeLimits

#: Makes a run at a point, and ends it after a time limit in real seconds.
PerformPoint: TypeAlias = Callable[[RunVisit, FaultPoint, float], RunEnd]


class FaultVisits:
    """Makes the visits of one client's runs. Several threads may ask for visits at the same time.

    The first visit that delays a response needs a run that shows how long the client waits, which
    `perform` makes. `skip_rules` are conduct rules that are not checked.
    """

    def __init__(
        self,
        perform: PerformPoint,
        limits: TimeLimits,
        *,
        skip_rules: Sequence[str] = (),
    ) -> None:
        self._perform = perform
        self._limits = limits
        self._skip_rules = skip_rules
        self._known_delays: ResponseDelays | None = None
        self._lock = threading.Lock()

    def visit(self, point: FaultPoint, clean: CleanRun) -> RunVisit:
        """Return the visit of a run at a point. Raises any exception of `perform`."""
        return self._visit(point, clean, self._delays(clean).late_ms(point))

    def _visit(self, point: FaultPoint, clean: CleanRun, late_ms: int) -> RunVisit:
        return RunVisit(point, clean, self._skip_rules, late_ms)

    def _delays(self, clean: CleanRun) -> ResponseDelays:
        """Return the delays for the client of a clean run."""
        with self._lock:
            if self._known_delays is None:
                self._known_delays = ResponseDelays(partial(self._waits_for_response, clean))
            return self._known_delays

    def _waits_for_response(self, clean: CleanRun, latency: FaultPoint, late_ms: int) -> bool:
        visit = self._visit(latency, clean, late_ms)
        end = self._perform(visit, latency, self._limits.limit_s(clean, is_lasting=False))
        if visit.observation is None or end.exit_code:
            return False
        return visit.observation.request_count == clean.observation.request_count
