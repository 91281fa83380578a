"""Handles the worlds of a run: arms the point's fault before it, and reads the observation after it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

from msgspec.structs import asdict

from hosting_emulator.messages import ChapterReport, ConductFinding, ConductReport
from hosting_emulator.sdk import HostingEmulator, JsonObject, WorldsObservation
from hosting_emulator.sdk.conduct_text import of_severity
from hosting_emulator_lab.judge.armed_points import begin_earlier_operation, protected_fault
from hosting_emulator_lab.judge.client_behavior import sent_request_text
from hosting_emulator_lab.judge.client_requests import (
    ObservedExchange,
    ObservedResponse,
    Place,
    number_requests,
    place_of,
)
from hosting_emulator_lab.judge.cut_json import read_beginning
from hosting_emulator_lab.judge.exchange_counts import (
    Refusals,
    count_keys,
    count_refusals,
    fast_attempts,
    longest_world_time,
    null_urls,
)
from hosting_emulator_lab.judge.fault_points import LATE_MS, FaultPoint
from hosting_emulator_lab.judge.paging import LIST_CALL
from hosting_emulator_lab.judge.run_observation import (
    JudgeFailed,
    Observation,
    TooManyRequests,
    error_texts,
    finding_texts,
)
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.world_changes import WorldChanges
from hosting_emulator_lab.judge.world_summary import StateRows, failed_operations

#: The number of exchanges that a world's log stores, which limits the requests of a run.
_MOST_REQUESTS = 1000
#: The time in real seconds that a response may take after the client has ended, before it counts as
#: lost.
_RESPONSE_WAIT_S = 2.0
#: The maximum number of requests of a run whose bodies are read. A client that sends more requests
#: repeats itself.
_MOST_BODIES = 200

#: The effects that are in place before the run begins.
_BEFORE_RUN = ("intervention", "earlier operation")


class RunVisit:
    """The worlds of one run: call `begin` before the run, once its world exists, and `end` after it.

    Without a `point` and a `fault`, the run is a clean run. The `fault` is armed for the whole run.
    `skip_rules` are conduct rules that are not checked. If the point delays a response, `late_ms` is
    the delay in real milliseconds. If `is_baseline` is true, other runs are compared with this one, so
    the log must contain all requests. `scope` contains the names of the worlds that the run may use,
    besides copies of them. If `scope` is None, the run may use all worlds of the emulator.

    After the run, `observation` describes the run, and `conduct` contains the conduct report of
    each chapter with requests, without notes. `findings_by_chapter` are all conduct findings,
    including notes, by the index of their chapter. `exchanges` are all exchanges in the order of
    their arrival. `requests_by_world` is the number of requests that reached each world, by the
    world's name. `base_url` is the base URL of the run's own world. `fault_hits` is the number of
    requests that the `fault` affected.
    """

    def __init__(
        self,
        point: FaultPoint | None = None,
        clean: CleanRun | None = None,
        skip_rules: Sequence[str] = (),
        late_ms: int = LATE_MS,
        fault: JsonObject | None = None,
        *,
        is_baseline: bool = False,
    ) -> None:
        self.point = point
        self._is_baseline = is_baseline
        self.late_ms = late_ms
        self.scope: Sequence[str] | None = None
        self.fault = fault
        self.start: StateRows = {}
        self.observation: Observation | None = None
        self.conduct: Sequence[ConductReport] = ()
        self.findings_by_chapter: Mapping[int, Sequence[ConductFinding]] = {}
        self.exchanges: Sequence[ObservedExchange] = ()
        self.requests_by_world: Counter[str] = Counter()
        self.base_url = ""
        self.fault_hits = 0
        self._clean = clean
        self._skip_rules = skip_rules
        self._fault_id = ""
        #: The id of the operation that another program began before the run, or an empty string.
        self._earlier_operation = ""
        self._changes: WorldChanges
        self._watch: WorldsObservation

    @property
    def findings(self) -> Sequence[ConductFinding]:
        """All conduct findings, including notes."""
        return [finding for part in self.findings_by_chapter.values() for finding in part]

    @property
    def _begins_at_start(self) -> bool:
        """Whether nothing but the start state was in the run's world when the observation began.

        In an emulator with other worlds, an earlier test may have changed the world.
        """
        if self.scope is not None:
            return False
        lasting = None if self.point is None else self.point.lasting
        return lasting is None or lasting.armed_as not in _BEFORE_RUN

    def begin(self, world: HostingEmulator, token: str | None = None) -> None:
        """Arm the fault, and begin the observation.

        `token` is the client's token, if it is known. The fault is armed in each world that the
        client uses, and the client cannot remove it.
        Raises ControlError on failure, and ValueError if no request of the clean run can meet the
        point.
        """
        self.base_url = world.base_url
        self._changes = WorldChanges(world)
        if self.point is None or self._clean is None:
            self.start = self._changes.start_state()
            if self.fault is not None:
                self._arm(world, {"fault": self.fault})
        else:
            self.start = self._clean.start
            fault = protected_fault(self.point, self._clean, world, token, self.late_ms)
            if fault:
                self._arm(world, fault)
            else:
                self._earlier_operation = begin_earlier_operation(self.point, self._clean, world)
                self._changes.ignore_operation(self._earlier_operation)
        self._watch = world.control.observe(self.scope, skip_rules=self._skip_rules)

    def _arm(self, world: HostingEmulator, fault: JsonObject) -> None:
        """Arm a protected fault in the worlds that the run may use."""
        worlds = None if self.scope is None else list(self.scope)
        body = {**fault, "worlds": worlds}
        self._fault_id = world.control.post("protected-faults", body)["id"]

    def end(self, world: HostingEmulator) -> None:
        """Read the observation of all worlds of the run, including deleted worlds, and remove the fault.

        Raises ControlError on failure, TooManyRequests if a baseline has more requests than a log
        stores, and JudgeFailed if the emulator cannot judge the run.
        """
        try:
            self.observation = self._observe(world)
            if self.observation.late:
                time.sleep(self.late_ms / 1000)
                self.observation = self._observe(world)
        finally:
            self._watch.close()
            if self._fault_id:
                world.control.delete(f"protected-faults/{self._fault_id}")

    def _observe(self, world: HostingEmulator) -> Observation:
        point = self.point
        report = self._watch.report(final=True, wait_s=_RESPONSE_WAIT_S)
        if report.errors:
            raise JudgeFailed("; ".join(report.errors))
        chapters = [chapter for chapter in report.chapters if chapter.requests]
        exchanges = self._exchanges(chapters, world.name)
        self.exchanges = exchanges
        is_clean = point is None and self.fault is None
        if report.requests > len(exchanges) and self._is_baseline:
            raise TooManyRequests(
                f"it sends {report.requests} requests, but a world stores only the latest "
                f"{_MOST_REQUESTS}; give a command that sends fewer requests"
            )
        responses: dict[Place, ObservedResponse] = {}
        refusals = Refusals(0, is_last_refused=False)
        hit = False
        if is_clean:
            # Keep the responses, because they determine how faults in later runs cut, slow and
            # replace responses.
            responses = self._responses(exchanges)
        elif point is None:
            self.fault_hits = self._hits(world)
        else:
            if point.call == LIST_CALL and _may_change_count(point):
                # Only the items of the pages show whether the client received some of them again,
                # or received fewer of them.
                responses = self._responses(
                    exchange for exchange in exchanges if exchange.call == LIST_CALL
                )
            refusals = count_refusals(exchanges, point.call)
            hit = self._is_hit(world, point, exchanges)
        self.requests_by_world = Counter()
        for chapter in chapters:
            self.requests_by_world[chapter.world] += chapter.requests
        self.findings_by_chapter = {chapter.index: chapter.conduct.findings for chapter in chapters}
        self.conduct = [of_severity(chapter.conduct, "warning") for chapter in chapters]
        findings = [finding for conduct in self.conduct for finding in conduct.findings]
        state = self._changes.state(
            self.start, self._watch, chapters, begins_at_start=self._begins_at_start
        )
        later_state = state
        if _follows_operations(point, exchanges):
            later_state = self._changes.state(self.start, self._watch, chapters, settled=True)
        pauses_are_known = not self._changes.clock_skips
        keys = count_keys(exchanges)
        return Observation(
            exchanges=tuple(exchanges),
            requests=number_requests(exchanges, responses),
            state=state,
            codes=frozenset(exchange.code for exchange in exchanges if exchange.code),
            hit=hit,
            late=hit and self._is_late(point, exchanges),
            conduct=finding_texts(findings),
            conduct_errors=error_texts(findings),
            request_count=report.requests,
            refusals_in_a_row=refusals.in_a_row,
            is_last_refused=refusals.is_last_refused,
            key_values=keys.values,
            requested_keys=keys.requested,
            lost_keys=keys.lost,
            null_urls=null_urls(exchanges),
            failed_operations=failed_operations(later_state),
            world_time_s=longest_world_time(exchanges),
            fast_attempts=fast_attempts(exchanges) if pauses_are_known else (),
            coverage=report.coverage,
            sent=self._sent(exchanges) if point is None else (),
        )

    def _is_hit(
        self, world: HostingEmulator, point: FaultPoint, exchanges: Iterable[ObservedExchange]
    ) -> bool:
        """Return whether the point's fault met a request."""
        has_acted = bool(self._earlier_operation) or bool(self._hits(world))
        if point.lasting is not None and point.lasting.armed_as in _BEFORE_RUN:
            # What happens before the run always acts, but only a request to the point's call can show
            # its effect.
            return has_acted and any(exchange.call == point.call for exchange in exchanges)
        return has_acted

    def _hits(self, world: HostingEmulator) -> int:
        """Return how often the armed fault acted, or 0 if no fault is armed."""
        if not self._fault_id:
            return 0
        hits: int = world.control.get(f"protected-faults/{self._fault_id}")["hits"]
        return hits

    def _is_late(self, point: FaultPoint | None, exchanges: Iterable[ObservedExchange]) -> bool:
        """Return whether a wire fault that met a request has not finished its response yet."""
        if point is None or point.lasting is not None:
            return False
        explanations = [text for exchange in exchanges for text in exchange.why]
        return not any(f"{self._fault_id} (" in text for text in explanations)

    def _exchanges(
        self, chapters: Iterable[ChapterReport], own_world: str
    ) -> list[ObservedExchange]:
        """Return the exchanges of all chapters in the order of their arrival."""
        exchanges: list[ObservedExchange] = []
        for chapter in chapters:
            if chapter.released:
                continue
            for exchange in self._watch.requests(chapter.index, limit=_MOST_REQUESTS):
                observed = ObservedExchange(
                    **asdict(exchange),
                    chapter=chapter.index,
                    is_in_own_world=chapter.world == own_world,
                )
                exchanges.append(observed)
        exchanges.sort(key=lambda exchange: exchange.arrival or 0)
        return exchanges

    def _sent(self, exchanges: Sequence[ObservedExchange]) -> tuple[str, ...]:
        """Return the texts of the requests. Bodies are read only for requests that can have a body."""
        texts: list[str] = []
        body_count = 0
        for exchange in exchanges:
            body = ""
            if exchange.method != "GET" and body_count < _MOST_BODIES:
                body_count += 1
                body = self._watch.whole_request(*place_of(exchange)).request.body or ""
            url = f"{exchange.path}?{exchange.query}"
            caller = exchange.user_id or ""
            texts.append(sent_request_text(exchange.method, url, body, caller))
        return tuple(texts)

    def _responses(self, exchanges: Iterable[ObservedExchange]) -> dict[Place, ObservedResponse]:
        """Return the body and the headers of each response."""
        responses: dict[Place, ObservedResponse] = {}
        for exchange in exchanges:
            place = place_of(exchange)
            response = self._watch.whole_request(*place).response
            headers = tuple((name, value) for name, value in response.headers)
            known_content = response.content
            if response.body_cut:
                known_content = read_beginning(response.body or "")
            responses[place] = ObservedResponse(
                response.body_bytes, response.content, headers, known_content
            )
        return responses


def _follows_operations(point: FaultPoint | None, exchanges: Iterable[ObservedExchange]) -> bool:
    """Return whether a point is about operations and the client polls one of them.

    A client that never polls does not care how its operations end.
    """
    if point is None or point.lasting is None or point.lasting.armed_as != "outcome":
        return False
    return any(exchange.call == "get_operation" for exchange in exchanges)


def _may_change_count(point: FaultPoint) -> bool:
    """Return whether a client may receive other items under a fault of a list than without it."""
    return point.lasting is None or point.lasting.request_end == "refused"
