"""The trail of an exchange: a sentence for each decision that led to the response, in order.

A trail is built on demand from an entry in the request log. A trail can contain information that a
response must not disclose, such as the existence of a resource and who can see it.
"""

from __future__ import annotations

from collections.abc import Iterator

from hosting_emulator.calls.dev_access import REDEEM_PATH
from hosting_emulator.contract.assumption_values import parse_retention_ms
from hosting_emulator.contract.call_table import calls_at
from hosting_emulator.contract.calls import REDEEM_TICKET, CallSpec
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.explanations.access import explain_access, explain_principal
from hosting_emulator.engine.explanations.assumptions import explain_assumptions
from hosting_emulator.engine.explanations.commits import describe_changes, explain_commit
from hosting_emulator.engine.explanations.faults import (
    counted_faults,
    explain_faults,
    explain_outcomes,
)
from hosting_emulator.engine.explanations.steps import ExplainedStep, steps_named
from hosting_emulator.engine.history import FAULTS_COUNTED, Commit
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.request_log import RequestLog
from hosting_emulator.engine.request_views import (
    is_utf8,
    problem_of,
    request_message,
    response_message,
    sent_header,
    summary_members,
)
from hosting_emulator.faults.kinds import commit_phase_of, fault_kinds, has_phase, kind_of
from hosting_emulator.faults.uploads import upload_limits
from hosting_emulator.messages import Exchange, ReportedProblem, TrailStep, WholeExchange
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world import tables
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.value import World

_KEY_HEADER = b"idempotency-key"
#: The codes with which the access check refuses a request. The check precedes that of the
#: Idempotency-Key.
_ACCESS_CODES = (
    "organization_required",
    "resource_not_found",
    "forbidden",
    "invalid_request",
    "interactive_login_required",
)
#: A hint for clients that cannot reach a dev origin.
_REDEMPTION = (
    "Redeem the ticket at its redeem_url, or over plain HTTP at the same path and query under "
    "this world's base URL."
)


class Explanations:
    """Explains the exchanges in one log. An instance caches lookups, so create a new one for each
    query.
    """

    def __init__(self, log: RequestLog) -> None:
        self._log = log
        self._by_key: dict[tuple[str, str], list[Entry]] = {}

    def item(self, world: World, entry: Entry) -> Exchange:
        """Return a summary of an exchange, with its trail. `world` is the current state of the world."""
        return Exchange(**summary_members(world, entry), trail=self.steps(world, entry))

    def whole(self, world: World, entry: Entry) -> WholeExchange:
        """Return an exchange with its headers, bodies and trail. `world` is the current state of
        the world.
        """
        return WholeExchange(
            **summary_members(world, entry),
            request=request_message(world, entry),
            response=response_message(world, entry),
            trail=self.steps(world, entry),
        )

    def steps(self, world: World, entry: Entry) -> list[TrailStep]:
        """Return the trail of an exchange, without secrets. `world` is the current state of the world."""
        redactor = Redactor(world)
        return [
            TrailStep(step=step.step, text=redactor.text(step.sentence))
            for step in self._steps(entry)
        ]

    def _steps(self, entry: Entry) -> Iterator[ExplainedStep]:
        """Yield the steps in the order in which they happened."""
        commits = [commit for commit in entry.commits if not _is_of_time(commit)]
        counting_commits = [commit for commit in commits if commit.title == FAULTS_COUNTED]
        listed_commits = [commit for commit in commits if commit.is_listed]
        world = _world_of_access(entry)
        spec = calls_at(world.assumptions.operation_path).by_id.get(entry.call or "")
        for commit in entry.commits:
            if _is_of_time(commit):
                yield ExplainedStep("due", _due_events(commit))
        if entry.principal:
            yield ExplainedStep("user", explain_principal(world, entry.principal))
        yield from steps_named("header", _headers_that_are_not_utf8(entry))
        yield from explain_faults(entry, counting_commits, "before_commit")
        yield from _other_faults(world, entry, counting_commits)
        if not entry.response_number:
            yield ExplainedStep(
                "progress", "The request is in progress, and no response has been sent."
            )
            return
        if spec is not None and entry.judged:
            if entry.principal:
                yield from explain_access(world, entry, spec)
            if spec.idempotent:
                yield from steps_named("idempotency", self._explain_key(entry, world))
        yield from steps_named("outcome", explain_outcomes(entry, listed_commits))
        yield from steps_named("commit", map(explain_commit, listed_commits))
        if spec is not None:
            yield from _notes_on_commit(entry, spec, commits, listed_commits)
        yield from explain_faults(entry, counting_commits, None)
        yield from _deliveries(entry)
        if entry.stale_at_ms is not None:
            at = format_timestamp(entry.stale_at_ms)
            sentence = (
                f"The response shows the state as of {at}. Access was checked against the current "
                "state."
            )
            yield ExplainedStep("fault", sentence)
        yield from explain_faults(entry, counting_commits, "after_commit")
        yield from _lost_response(entry)
        yield from steps_named("assumption", explain_assumptions(world.assumptions, entry, spec))
        points = (f"{point}: {POINTS[point].about}." for point in entry.varied)
        yield from steps_named("variation", points)
        refusal = _refusal(entry)
        if refusal:
            yield ExplainedStep("refusal", refusal)

    # --- The Idempotency-Key ----------------------------------------------------------------------

    def _explain_key(self, entry: Entry, world: World) -> Iterator[str]:
        """Explain whether a request's Idempotency-Key was new, caused a replay, or was reused for a
        different request.
        """
        key = sent_header(entry, _KEY_HEADER)
        if key is None:
            return
        if entry.replayed:
            yield f"Replay: {self._first_use(entry, world, key)}."
        elif entry.code == "idempotency_key_reused":
            yield f"Reused for a different request: {self._first_use(entry, world, key)}."
        elif _remembered_keys(entry):
            yield self._new_key(entry, world, key)
        elif entry.assumption == "idempotency_in_flight":
            yield f"In use: a request with the key {key} is still in progress."
        elif entry.code in _ACCESS_CODES and not entry.was_decided_by_fault:
            yield f"Not checked: access was refused before the key {key} was read."
        else:
            yield f"New: the key {key} was unused, and stays unused."

    def _new_key(self, entry: Entry, world: World, key: str) -> str:
        """Explain a key that was new. The call's response is remembered even if a fault changed
        what was sent.
        """
        retention_ms = parse_retention_ms(world.assumptions.idempotency_retention)
        until = "forever"
        if retention_ms is not None:
            until = f"until {format_timestamp(entry.at_ms + retention_ms)}"
        response = "the call's own response" if _fate(entry) else "this response"
        state = "was unused"
        earlier = self._earlier_use(entry, world, key)
        if earlier is not None and entry.storage_key in _remembered_keys(earlier):
            state = f"was free, because the response to #{earlier.n} is no longer remembered"
        return f"New: the key {key} {state}; {response} is remembered for it {until}."

    def _earlier_use(self, entry: Entry, world: World, key: str) -> Entry | None:
        """Return an earlier request whose response was remembered for this key, or None if there is
        none.

        A user can use the same key for several calls. Prefer a request with the same storage key,
        then one with the same call and path, then the latest request. If each call has its own keys,
        requests of other calls do not count.
        """
        if not self._by_key:
            self._index_keys()
        uses = self._by_key.get((entry.principal.user_id, key), [])
        earlier = [use for use in reversed(uses) if use.n < entry.n and _remembered_keys(use)]
        if world.assumptions.idempotency_scope == "principal_and_call":
            earlier = [use for use in earlier if use.call == entry.call]
        for use in earlier:
            if entry.storage_key in _remembered_keys(use):
                return use
        for use in earlier:
            if use.call == entry.call and use.path == entry.path:
                return use
        return earlier[0] if earlier else None

    def _index_keys(self) -> None:
        """Index the requests in the log by user and Idempotency-Key."""
        for entry in self._log.after(0):
            key = sent_header(entry, _KEY_HEADER)
            if key is not None:
                self._by_key.setdefault((entry.principal.user_id, key), []).append(entry)

    def _first_use(self, entry: Entry, world: World, key: str) -> str:
        """Return a clause about the request that first used a key, and thus about the response that
        is remembered.
        """
        first = self._earlier_use(entry, world, key)
        if first is None:
            return f"the key {key} was first used by a request that is no longer in the log"
        fate = _fate(first)
        rest = f", whose response was {fate}" if fate else ""
        return f"the key {key} was first used by #{first.n}{rest}"


def _is_of_time(commit: Commit) -> bool:
    """Return whether a commit did nothing but move time or run due events."""
    return commit.title in ("due events", "clock")


def _world_of_access(entry: Entry) -> World:
    """Return the world in which access was checked: the world after all due events had run."""
    world = entry.world
    for commit in entry.commits:
        if commit.title == "due events" and world is commit.before:
            world = commit.world
    return world


def _due_events(commit: Commit) -> str:
    """Explain a commit that moved time or ran due events."""
    beginning = "The skip clock moved to" if commit.title == "clock" else "Ran due events up to"
    at = format_timestamp(commit.world.at_ms)
    changes = "; ".join(describe_changes(commit)) or "nothing visible"
    return f"{beginning} {at} (commit {commit.world.commit}): {changes}."


def _other_faults(world: World, entry: Entry, counting: list[Commit]) -> Iterator[ExplainedStep]:
    """Yield a step that counts the armed faults that did not match the request or were not considered.

    Yield nothing for a request that was delivered twice, because each fault is considered for only
    one of the deliveries.
    """
    if entry.second_delivery_of or entry.is_discarded:
        return
    considered = {fault.id for commit in counting for fault in counted_faults(commit)}
    considered.update(fault.id for fault in entry.acted)
    considered.update(fault_id for fault_id, _ in entry.unaltered)
    count = world.count(tables.FAULTS) - len(considered)
    if count <= 0 or not entry.principal:
        return
    verb = "fault does" if count == 1 else "faults do"
    rest = ""
    # A fault that has a commit phase and does more than delay the request ends the search, so later
    # faults are not considered.
    last_ids = [fault.id for fault in entry.acted if _ends_search(fault)]
    if last_ids:
        rest = f", or came after {last_ids[-1]}"
    yield ExplainedStep("fault", f"{count} armed {verb} not match the request{rest}.")


def _ends_search(fault: Fault) -> bool:
    """Return whether a fault prevents all later faults from acting on the request."""
    return has_phase(fault.kind) and not fault_kinds()[fault.kind].delays


def _deliveries(entry: Entry) -> Iterator[ExplainedStep]:
    """For a request that was delivered twice, explain which of the two responses the client received."""
    if entry.second_delivery_of:
        received = "did not receive" if entry.is_discarded else "received"
        sentence = (
            f"A fault sent this request, not a client: it is the second delivery of "
            f"#{entry.second_delivery_of}. The client {received} its response."
        )
        yield ExplainedStep("fault", sentence)
    if entry.second_delivery is not None:
        second = entry.second_delivery.n
        sentence = f"The request was delivered again, as #{second}"
        if entry.is_discarded:
            yield ExplainedStep(
                "fault", f"{sentence}. The client received the response to #{second}."
            )
        else:
            yield ExplainedStep("fault", f"{sentence}, whose response was discarded.")


def _notes_on_commit(
    entry: Entry, spec: CallSpec, commits: list[Commit], listed_commits: list[Commit]
) -> Iterator[ExplainedStep]:
    """Explain how to redeem a new ticket, or that a successful mutation changed nothing."""
    if spec.call_id == "create_dev_access_ticket" and listed_commits:
        yield ExplainedStep("commit", _REDEMPTION)
    if not listed_commits and spec.idempotent and 200 <= entry.status < 300:
        subject = "apart from fault counters, the world" if commits else "the world"
        yield ExplainedStep("commit", f"Nothing was committed: {subject} is unchanged.")


def _lost_response(entry: Entry) -> Iterator[ExplainedStep]:
    """If a fault kept the client from receiving a complete and valid response, explain which fault
    it was.
    """
    if entry.lost is None:
        return
    kind = kind_of(entry.acted[-1])
    if kind.stage == "upload":
        read = upload_limits(kind).bytes_to_read(entry.body_bytes)
        sentence = (
            f"The request was cut off after {read} of the {entry.body_bytes} bytes of its body"
        )
        yield ExplainedStep("fault", f"{sentence}, so the call did not run.")
    sentence = (
        f"The client did not receive a complete and valid response, because the {entry.lost} fault "
        "acted."
    )
    yield ExplainedStep("fault", sentence)
    remark = kind.deviation(entry.response_bytes)
    if remark:
        yield ExplainedStep("fault", f"{remark}.")


def _remembered_keys(entry: Entry) -> set[str]:
    """Return a set that contains the storage key under which the response was remembered, if it was."""
    return {
        key
        for commit in entry.commits
        for key, row in commit.writes.get(tables.REMEMBERED.name, {}).items()
        if row is not None
    }


def _fate(entry: Entry) -> str:
    """Return what a fault did to the response to a committed call, such as "lost", or "" if no
    fault acted.
    """
    if entry.lost is not None:
        return "lost"
    if entry.altered_beyond_contract:
        return "altered beyond the contract"
    for fault in entry.acted:
        if (
            fault.rule.commit_phase == "after_commit"
            and fault_kinds()[fault.kind].replaces_response
        ):
            return "replaced"
    return ""


def _refusal(entry: Entry) -> str:
    """Return a sentence about a problem or a proxy error, or "" for any other response."""
    if entry.code is None and entry.status < 400:
        return ""
    if entry.code is None and entry.own_status:
        return ""  # another step explains the fault that altered the status
    if entry.code is None and not entry.replayed:
        return f"{entry.status}, sent by a fault in place of a proxy; it is not a problem document."
    problem = problem_of(entry) or ReportedProblem(code=entry.code or "?", detail="")
    sentence = f"{entry.status} {problem.code}: {problem.detail}".rstrip(": ")
    # Omit the reason if another step gives it: the `scope` step for a missing subject, or a `fault`
    # step.
    has_other_step = entry.was_decided_by_fault or (
        entry.status == 404 and entry.call != REDEEM_TICKET and entry.path != REDEEM_PATH
    )
    reasons = [text for text in entry.why if not _is_alteration(entry, text)]
    hint = reasons[-1].partition("; did you mean ")[2] if reasons else ""
    if hint and hint in problem.detail:
        return sentence
    if hint and entry.call is None:
        return f"{sentence} Did you mean {hint}"
    if has_other_step or not reasons:
        return sentence
    reason = reasons[-1]
    if not reason or reason == problem.detail:
        return sentence
    return f"{sentence} Reason: {reason}."


def _is_alteration(entry: Entry, text: str) -> bool:
    """Return whether a note reports that a fault altered the response."""
    return any(
        text.startswith(f"{fault.id} ") for fault in entry.acted if commit_phase_of(fault) is None
    )


def _headers_that_are_not_utf8(entry: Entry) -> Iterator[str]:
    """Yield a sentence for each request header whose value the log cannot show as UTF-8 text."""
    for name, value in entry.raw_headers:
        if not is_utf8(value):
            yield (
                f"The value of the header {name.decode('latin-1')} is not UTF-8 text. The log shows "
                "its bytes as Latin-1 characters."
            )
