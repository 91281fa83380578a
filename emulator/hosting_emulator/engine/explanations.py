"""Explanations, as people read them: of an exchange each decision on its way, in order, as a sentence;
of an operation where it stands (`why`).

They are built when somebody looks, from the references that an entry of the request log keeps. The
log may say what an answer must not: that a thing exists, and who could have seen it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs

from hosting_emulator.calls.access import role_of
from hosting_emulator.calls.request import Principal
from hosting_emulator.contract.assumptions import (
    DEFAULTS,
    Assumptions,
    describe,
    parse_profile,
    parse_retention_ms,
    shaped_by,
)
from hosting_emulator.contract.calls import (
    GET_OPERATION,
    REDEEM_TICKET,
    CallSpec,
    calls_at,
    problem_status,
)
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.history import FAULTS_COUNTED, Commit, planned_in
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.request_log import (
    RequestLog,
    entry_view,
    exchange_view,
    problem_of,
    sent_header,
)
from hosting_emulator.faults.decisions import faults_in_order, idle_reason, spent
from hosting_emulator.faults.kinds import fault_kinds, kind_of
from hosting_emulator.faults.outcomes import outcome_of, outcome_text, phases_of
from hosting_emulator.variation.points import POINTS
from hosting_emulator.world import lifecycles
from hosting_emulator.world import tables as t
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.operations import (
    HELD,
    finished,
    next_turn,
    outcome_will_act,
    plan_of,
    profile_of,
    stale_generation,
    stands,
)
from hosting_emulator.world.records import Fault, Operation, OperationOutcome, Phase, Project
from hosting_emulator.world.sessions import is_current
from hosting_emulator.world.value import Change, World

if TYPE_CHECKING:
    from hosting_emulator.engine.engine import Engine

#: More users, and more things of a commit, than these are counted, not named.
_MOST_USERS, _MOST_THINGS = 12, 6
_KEY_HEADER = b"idempotency-key"
#: Codes of access, which is judged before any key is looked at.
_OF_ACCESS = (
    *("organization_required", "resource_not_found", "forbidden", "invalid_request"),
    "interactive_login_required",
)
#: What is told of a commit, where its status changed.
_KINDS = {t.DEPLOYMENTS.name: "deployment", t.DNS.name: "DNS authorization"}
#: Some clients do not get to a dev origin.
_REDEMPTION = (
    "The ticket is redeemed at its redeem_url, or over plain HTTP at the same path and query under "
    "this world's base URL."
)

Step = tuple[str, str]


class Explanations:
    """Explains the exchanges of one log. To be made for each look: it keeps what it has looked up."""

    def __init__(self, log: RequestLog) -> None:
        self._log = log
        self._by_key: dict[tuple[str, str], list[Entry]] = {}

    def item(self, world: World, entry: Entry) -> dict[str, Any]:
        """Return an exchange in short, with its explanation; `world` is the one that now is."""
        return {**entry_view(world, entry), "trail": self.steps(world, entry)}

    def whole(self, world: World, entry: Entry) -> dict[str, Any]:
        """Return an exchange with headers, bodies and explanation."""
        return {**exchange_view(world, entry), "trail": self.steps(world, entry)}

    def steps(self, world: World, entry: Entry) -> list[dict[str, str]]:
        """Return the steps of an exchange: what was decided, and what it was decided from."""
        redactor = Redactor(world)
        return [{"step": step, "says": redactor.text(says)} for step, says in self._steps(entry)]

    def _steps(self, entry: Entry) -> Iterator[Step]:
        """Yield the steps in the order in which things happened."""
        # Access and assumptions are explained from the world that was asked: after what was due.
        asked = entry.world
        commits = list[Commit]()
        for made in entry.commits:
            if made.title in ("due events", "clock"):
                at = f"{format_timestamp(made.world.at_ms)} (commit {made.world.commit})"
                happened = "; ".join(_happened(made)) or "nothing visible"
                began = (
                    "The skip clock moved to" if made.title == "clock" else "Ran due events up to"
                )
                yield "due", f"{began} {at}: {happened}."
            else:
                commits.append(made)
            if made.title == "due events" and asked is made.before:
                asked = made.world
        spec = calls_at(asked.assumptions.operation_path).by_id.get(entry.call or "")
        if entry.principal:
            yield "principal", _principal(asked, entry.principal)
        counting = [made for made in commits if made.title == FAULTS_COUNTED]
        own = [made for made in commits if made.is_listed]
        yield from _faults(entry, counting, "before_commit")
        matched = {fault.id for made in counting for fault in _counted(made)}
        others = asked.count(t.FAULTS) - len(matched.union(fault.id for fault in entry.acted))
        if others > 0 and entry.principal:
            do = "fault does" if others == 1 else "faults do"
            ended = entry.acted and not fault_kinds()[entry.acted[-1].kind].delays
            rest = f", or came after {entry.acted[-1].id}" if ended else ""
            yield "fault", f"{others} armed {do} not match the request{rest}."
        if not entry.answered:
            yield "progress", "The request is in progress: no response has left."
            return
        if spec is not None and entry.principal and entry.judged:
            yield from _access(asked, entry, spec)
        if spec is not None and spec.idempotent and entry.judged:
            yield from _named("idempotency", self._of_key(entry, asked))
        yield from _named("outcome", _outcomes(entry, own))
        yield from _named("commit", map(_commit, own))
        if spec is not None and spec.call_id == "create_dev_access_ticket" and own:
            yield "commit", _REDEMPTION
        if not own and spec is not None and spec.idempotent and 200 <= entry.status < 300:
            rest = "apart from fault counters, the world" if commits else "the world"
            yield "commit", f"Nothing was committed: {rest} is unchanged."
        yield from _faults(entry, counting, "after_commit")
        if entry.lost is not None:
            yield "fault", f"The response did not arrive: {entry.lost}."
            remark = kind_of(entry.acted[-1]).remark(entry.answer_bytes)
            yield from _named("fault", filter(None, [remark and f"{remark}."]))
        yield from _named("assumption", _assumptions(asked.assumptions, entry, spec))
        yield from _named("variation", (f"{one}: {POINTS[one].about}." for one in entry.varied))
        if refusal := _refusal(entry):
            yield "refusal", refusal

    # --- the Idempotency-Key ----------------------------------------------------------------------

    def _of_key(self, entry: Entry, world: World) -> Iterator[str]:
        """Say what became of a request's key: new, a replay and of which request, or reused."""
        key = sent_header(entry, _KEY_HEADER)
        if key is None:
            return
        if entry.replayed:
            yield f"Replay: {self._first(entry, key)}."
        elif entry.code == "idempotency_key_reused":
            yield f"Reused for a different request: {self._first(entry, key)}."
        elif _remembered(entry):  # whatever a fault then made of the answer
            retention_ms = parse_retention_ms(world.assumptions.idempotency_retention)
            until = "forever"
            if retention_ms is not None:
                until = f"until {format_timestamp(entry.at_ms + retention_ms)}"
            answer = "the call's own response" if _fate(entry) else "this response"
            forgotten = self._earlier(entry, key)
            was = "was unused"
            if forgotten is not None and entry.storage_key in _remembered_keys(forgotten):
                was = f"was free, as the response to #{forgotten.n} is no longer remembered"
            yield f"New: the key {key} {was}; {answer} is remembered for it {until}."
        elif entry.assumption == "idempotency_in_flight":
            yield f"In use: a request with the key {key} is still in progress."
        elif entry.code in _OF_ACCESS and not entry.acted:
            yield f"Not checked: access was refused before the key {key} was read."
        else:
            yield f"New: the key {key} was unused, and stays unused."

    def _earlier(self, entry: Entry, key: str) -> Entry | None:
        """Return the latest earlier request with a key whose response was remembered.

        One key may belong to several calls or principals, so a request whose response was
        remembered in the same place comes first, then one to the same call and path.
        """
        if not self._by_key:
            for one in self._log.after(0):
                if (sent := sent_header(one, _KEY_HEADER)) is not None:
                    self._by_key.setdefault((one.principal.user_id, sent), []).append(one)
        used = self._by_key.get((entry.principal.user_id, key), [])
        # The newest whose answer was remembered: an older one has been forgotten since.
        earlier = [one for one in used[::-1] if one.n < entry.n and _remembered(one)]
        same_place = [one for one in earlier if entry.storage_key in _remembered_keys(one)]
        same_call = [one for one in earlier if (one.call, one.path) == (entry.call, entry.path)]
        return next(iter([*same_place, *same_call, *earlier]), None)

    def _first(self, entry: Entry, key: str) -> str:
        """Say by which request a key was used, whose answer is remembered."""
        first = self._earlier(entry, key)
        if first is None:
            return f"the key {key} was first used by a request no longer in the log"
        fate = _fate(first)
        rest = f", whose response was {fate}" if fate else ""
        return f"the key {key} was first used by #{first.n}{rest}"


def _named(step: str, sentences: Iterable[str]) -> Iterator[Step]:
    return ((step, sentence) for sentence in sentences)


def _remembered(entry: Entry) -> bool:
    return bool(_remembered_keys(entry))


def _remembered_keys(entry: Entry) -> set[str]:
    """Return the keys under which a request's response was remembered: none, or its storage key."""
    return {
        key
        for made in entry.commits
        for key, row in made.writes.get(t.REMEMBERED.name, {}).items()
        if row is not None
    }


def _fate(entry: Entry) -> str:
    """Say what a fault made of an answer after the commit; empty: it arrived as it was."""
    if entry.lost is not None:
        return "lost"
    replaced = any(
        fault.rule.phase == "after_commit" and fault_kinds()[fault.kind].answers
        for fault in entry.acted
    )
    return "replaced" if replaced else ""


def _refusal(entry: Entry) -> str:
    if entry.code is None and entry.status < 400:
        return ""
    if entry.code is None and not entry.replayed:
        return f"{entry.status}, sent by a fault in place of a proxy; it is not a problem document."
    problem = problem_of(entry) or {"code": entry.code or "?", "detail": ""}
    told = f"{entry.status} {problem['code']}: {problem['detail']}".rstrip(": ")
    # Of what is not found the step `scope` says more, and of what a fault did its own step.
    more = entry.status == 404 and entry.call != REDEEM_TICKET
    reason = entry.why[-1] if entry.why and not more and not entry.acted else ""
    return f"{told} Reason: {reason}." if reason and reason != problem["detail"] else told


# --- who asked, what lay within their access, and with which role ---------------------------------


def _principal(world: World, principal: Principal) -> str:
    user = alias_of(world, t.USERS, principal.user_id)
    where = alias_of(world, t.ORGANIZATIONS, principal.organization_id)
    if principal.api_key_id is not None:
        key = world.get(t.API_KEYS, principal.api_key_id)
        name = key.name if key else principal.api_key_id
        return f"{user}, with the API key {name!r} of {where}."
    session = "signed in" if principal.interactive else "without a session"
    return f"{user}, with an access token for {where}, {session}."


def _access(world: World, entry: Entry, spec: CallSpec) -> Iterator[Step]:
    """Yield the steps `scope` and `role`, as far as the request came."""
    principal, subject_id = entry.principal, entry.subject_id
    if principal.organization_id is None:
        yield "scope", "The token names no organization, and every call needs one."
        return
    user_id, change = principal.user_id, Change(world, entry.at_ms)
    project_id, operation = subject_id, None
    if spec.subject == "operation":
        operation = world.get(t.OPERATIONS, subject_id)
        project_id = operation.project_id if operation else ""
    of_organization = spec.subject == "organization"
    found = None if of_organization else world.get(t.PROJECTS, project_id)
    owner_id = found.organization_id if found else subject_id
    there = world.get(t.ORGANIZATIONS, owner_id) if of_organization else found
    if there is None:
        yield "scope", f"No {spec.subject} has the id {subject_id}."
        return
    owner = alias_of(world, t.ORGANIZATIONS, owner_id)
    label = f"The project {found.alias}" if found else f"The organization {owner}"
    if found and operation:
        label = f"The operation of the project {found.alias}"
    member, role = world.get(t.MEMBERSHIPS, f"{owner_id}/{user_id}"), None
    if member is not None and owner_id == principal.organization_id:
        role = role_of(change, user_id, found) if found else member.role
    if role is None:
        reason = f"whose token is for {alias_of(world, t.ORGANIZATIONS, principal.organization_id)}"
        if found and owner_id == principal.organization_id:
            reason = f"who is not a member of {owner}"
            if member is not None:
                reason = f"who has no role in {found.alias}"
        seen_by = _could_see(change, owner_id, found)
        exists = f"{label} exists in {owner}" if found else f"{label} exists"
        user = alias_of(world, t.USERS, user_id)
        yield "scope", f"{exists}, outside the access of {user}, {reason}. {seen_by}"
    elif found is None:
        of_token = owner_id == principal.organization_id
        which = "is the organization of the token" if of_token else "is within the user's access"
        yield "scope", f"{owner} {which}, and the user is a member."
        yield from _membership(world, principal, spec, role)
    else:
        yield "scope", f"{label} is within the user's access: it belongs to {owner}."
        least, key = spec.least_role(world.assumptions), ""
        if principal.permissions is not None and spec.permission:
            needed = spec.permission
            carries = "carries" if needed in principal.permissions else "lacks"
            key = f" The API key {carries} the permission {needed}."
        yield "role", f"The call needs the role {least}; the user is {role}.{key}"


def _membership(world: World, principal: Principal, spec: CallSpec, role: str) -> Iterator[Step]:
    """Yield the step `role` of a call on an organization, by one of its members."""
    if not spec.interactive:
        return
    current = is_current(world, principal.session_id, principal.user_id)
    which = "has one" if current else "is from one that ended"
    which = which if principal.interactive else "has none"
    yield (
        "role",
        f"Any member may do this; the call needs a current session, and the token {which}.",
    )


def _could_see(change: Change, owner_id: str, project: Project | None) -> str:
    """Name the members of an organization who can see it, or a project of it."""
    world, users = change.world, list[str]()
    for _, member in world.rows(t.MEMBERSHIPS):
        if member.organization_id != owner_id:
            continue
        if role := role_of(change, member.user_id, project) if project else member.role:
            users.append(f"{alias_of(world, t.USERS, member.user_id)} ({role})")
    users.sort()
    if not users:
        return "No user can see it."
    more = f" and {len(users) - _MOST_USERS} more" if len(users) > _MOST_USERS else ""
    return f"Users who can see it: {', '.join(users[:_MOST_USERS])}{more}."


# --- which faults saw the request, which acted, and why the others did not -------------------------


def _faults(entry: Entry, counting: Sequence[Commit], phase: Phase) -> Iterator[Step]:
    acted = {fault.id for fault in entry.acted}
    refused = entry.status >= 400 and all(f.rule.phase == "before_commit" for f in entry.acted)
    for fault in entry.acted:
        if fault.rule.phase == phase:
            yield "fault", f"{fault.id} ({fault.kind}, {phase}) acted, hit {fault.hits}."
    for made in counting:
        faults = _counted(made)
        if any(fault.rule.phase == phase for fault in faults):
            for fault in faults:
                if fault.id not in acted:
                    why = idle_reason(fault, entry.at_ms, made.before, *entry.about(made.before))
                    if refused and phase == "after_commit":
                        why = "the request was refused, so nothing was done"
                    yield "fault", f"{fault.id} ({fault.kind}) matched but did not act: {why}."
            yield "fault", _commit(made)


def _outcomes(entry: Entry, own: Sequence[Commit]) -> Iterator[str]:
    """Say what was set in advance for the operation that a request began, and what did not apply."""
    for made in own:
        yield from _idle_outcomes(entry, made)
        for operation in made.writes.get(t.OPERATIONS.name, {}).values():
            if operation is None or operation.outcome is None:
                continue
            if made.before.get(t.OPERATIONS, operation.id) is None:
                armed = made.world.get(t.OUTCOMES, operation.outcome.id)
                hit = f", hit {armed.hits}" if armed else ""
                text = outcome_text(operation.outcome)
                yield f"{operation.outcome.id} applies to the operation{hit}: {text}."


def _idle_outcomes(entry: Entry, made: Commit) -> Iterator[str]:
    """Say why outcomes that match a request did not act on the operation that it began."""
    begun = [
        operation
        for operation in made.writes.get(t.OPERATIONS.name, {}).values()
        if operation is not None and made.before.get(t.OPERATIONS, operation.id) is None
    ]
    if not begun or entry.call is None:
        return
    project_id, organization_id = entry.about(made.before)
    for armed in faults_in_order(made.before, t.OUTCOMES):
        counted = made.writes.get(t.OUTCOMES.name, {}).get(armed.id)
        if counted is None:
            phase = outcome_of(armed).at
            matches_call = armed.rule.call in (None, entry.call)
            matches_project = armed.rule.project in (None, project_id)
            if matches_call and matches_project and phase and phase not in phases_of(entry.call):
                yield (
                    f"{armed.id} ({armed.kind}) does not apply: an operation of {entry.call} has "
                    f"no phase {phase}."
                )
        elif counted.hits == armed.hits:
            why = idle_reason(counted, entry.at_ms, made.before, project_id, organization_id)
            yield f"{armed.id} ({armed.kind}) matched but did not act: {why}."


def _counted(made: Commit) -> list[Fault]:
    return [fault for fault in made.writes.get(t.FAULTS.name, {}).values() if fault is not None]


# --- what commits wrote, and what happened to the things in them ------------------------------------


def _commit(made: Commit) -> str:
    wrote = ", ".join(
        f"{name.replace('_', ' ')} ({len(made.writes[name])})"
        for name in t.TABLES
        if made.writes.get(name)
    )
    happened = "; ".join(_happened(made))
    rest = f": {happened}" if happened else ""
    return f"Commit {made.world.commit} ({made.title}) changed rows in {wrote}{rest}."


def _happened(made: Commit) -> list[str]:
    """Tell what changed its state, in short; of many things, how many more."""
    all_ = [*_operations(made)]
    for table, kind in _KINDS.items():
        for id_, record in made.writes.get(table, {}).items():
            old = made.before.get(t.TABLES[table], id_)
            if record is not None and (old is None or old.status != record.status):
                project = alias_of(made.world, t.PROJECTS, getattr(record, "project_id", id_))
                was = f", was {old.status}" if old else ""
                all_.append(f"the {kind} of {project} is {record.status}{was}")
    all_ += [f"the timeline: {planned.said}" for planned in planned_in(made.writes)]
    more = len(all_) - _MOST_THINGS
    return all_[:_MOST_THINGS] + ([f"and {more} more"] if more > 0 else [])


def _operations(made: Commit) -> Iterator[str]:
    for id_, operation in made.writes.get(t.OPERATIONS.name, {}).items():
        old = made.before.get(t.OPERATIONS, id_)
        if operation is None or (old is not None and stands(old) == stands(operation)):
            continue
        ends = {operation.state, old.state if old else None}
        passed = dict.fromkeys(
            entered.state
            for _, entered in made.entered
            if entered.id == id_ and entered.state not in ends
        )
        was = f", was {stands(old)}" if old else ""
        way = f", after {' and '.join(passed)}" if passed else ""
        of = f"{operation.kind} of {alias_of(made.world, t.PROJECTS, operation.project_id)}"
        yield f"operation {id_} ({of}) is {stands(operation)}{was}{way}"


# --- which assumptions shaped the answer -----------------------------------------------------------


def _assumptions(assumptions: Assumptions, entry: Entry, spec: CallSpec | None) -> Iterator[str]:
    """Say what each assumption is that decided the answer, and each changed one that could."""
    deciding = list(dict.fromkeys(_deciding(assumptions, entry, spec)))
    changed = assumptions.changes()
    for name in deciding:
        if name == "problem_statuses":
            given = f"the contract gives no status for {entry.code}, so {entry.status} is assumed"
            yield f"problem_statuses: {given}."
        else:
            yield _value(assumptions, name)
    for name in changed:
        shapes = "every" in shaped_by(name) or (spec is not None and spec.is_shaped_by(name))
        if shapes and name not in deciding:
            yield _value(assumptions, name)


def _deciding(assumptions: Assumptions, entry: Entry, spec: CallSpec | None) -> Iterator[str]:
    """Yield the assumptions that decided this very answer, changed or not."""
    if entry.code is not None:
        yield from () if entry.acted else _deciding_refusal(assumptions, entry, spec)
        return
    if spec is None or not 200 <= entry.status < 300:
        return
    if entry.replayed:
        operation = "operation_replay" if spec.response == "Operation" else None
        yield from filter(None, [spec.replayed or operation])
    else:
        if isinstance(spec.success, str):
            yield spec.success
        yield from filter(None, [spec.decided_by, spec.path_from])
        query = parse_qs(entry.query, keep_blank_values=True)
        left_out = (p.default for p in spec.query if p.name(assumptions) not in query)
        yield from filter(None, left_out)
        last = entry.answer.endswith((b'"next_cursor":null}', b"]}"))
        if last and spec.response == "DeploymentPage":
            yield "last_page_cursor"
        if entry.body and spec.body is None:
            yield "unexpected_body"
    if assumptions.request_id_on_success != DEFAULTS.request_id_on_success:
        yield "request_id_on_success"


def _deciding_refusal(
    assumptions: Assumptions, entry: Entry, spec: CallSpec | None
) -> Iterator[str]:
    code = str(entry.code)
    if code == "resource_not_found" and not is_ulid(entry.project or entry.operation or "0" * 26):
        yield "malformed_project_id"
    if entry.assumption is not None:
        yield entry.assumption
    problem = PROBLEMS.get(code)
    if spec is not None and problem and problem_status(code, assumptions) != entry.status:
        yield "listed_statuses"
    if problem is not None and "status" not in problem.specified:
        yield "problem_statuses"


def _value(assumptions: Assumptions, name: str) -> str:
    if name not in assumptions.__struct_fields__:
        return f"{name} cannot be set. {_about()[name]}"
    value, default = getattr(assumptions, name), getattr(DEFAULTS, name)
    standing = ", the default" if value == default else f" (default {_word(default)})"
    return f"{name} is {_word(value)}{standing}. {_about()[name]}"


@lru_cache(maxsize=1)
def _about() -> dict[str, str]:
    return {row["name"]: row["about"] for row in describe(DEFAULTS)}


def _word(value: Any) -> str:
    if isinstance(value, tuple | list):
        return " ".join(value)
    if isinstance(value, dict):
        return " ".join(f"{name}={part}" for name, part in value.items()) or "empty"
    return str(value)


# --- where an operation stands, what it waits for, and what would move it --------------------------

_OF_CLOCK = {
    "real": "The clock is real: wait for it.",
    "scaled": "The clock is scaled: wait for it, at the clock's rate.",
    "frozen": "The clock is frozen: move it.",
    "skip": "The clock skips: the next poll of the operation moves time there.",
}


def _because(
    says: list[str],
    commands: Sequence[str] = (),
    held_by: str | None = None,
    waits_for: str | None = None,
    next_: dict[str, str] | None = None,
) -> dict[str, Any]:
    """Return why an operation stands where it does, and what would move it, as `why` has them."""
    waiting = {"next": next_, "waits_for": waits_for, "held_by": held_by}
    return {"says": says, **waiting, "commands": [*commands]}


def why(engine: Engine, operation_id: str) -> dict[str, Any] | None:
    """Return the explanation of an operation as a document; None when there is no such operation.

    Its commands are words of our command line, without what says which emulator and world is meant.
    """
    now_ms, world = engine.run_due(), engine.world
    operation = world.get(t.OPERATIONS, operation_id)
    if operation is None:
        return None
    project = world.get(t.PROJECTS, operation.project_id)
    assert project is not None
    if finished(operation):
        reason = _because([*_ended(operation)])
    else:
        reason = _reason(engine, operation, project, now_ms)
    seen = operation.reconciliation
    return {
        "operation": operation.id,
        "kind": operation.kind,
        "project": project.alias,
        "state": operation.state,
        "finished": finished(operation),
        "phase": operation.phase,
        "reconciliation": None if seen is None else seen.state,
        "at": format_timestamp(now_ms),
        **reason,
    }


def standstill(engine: Engine, operation_id: str) -> str:
    """Say why time does not move an unfinished operation, and which command moves it."""
    explanation = why(engine, operation_id)
    assert explanation is not None
    sentences = [f"operation {operation_id} does not move with time.", *explanation["says"]]
    sentences += [f"Run `{command}`." for command in explanation["commands"]]
    return " ".join(sentences)


def _ended(operation: Operation) -> Iterator[str]:
    """Say how an operation ended and what decided that."""
    ended = lifecycles.STATE_WORDS[operation.state].ended
    yield f"It {ended} at {operation.updated_at}; that is final."
    yield _decision(operation)
    ending = operation.ending
    told = operation.outcome
    if told is not None and (ending is None or ending.by != "outcome"):
        yield _other_outcome(told)
    error = operation.error
    if error is not None:
        yield (
            f"Its error is {error.code}: {error.message} "
            f"It is {'retryable' if error.retryable else 'not retryable'}."
        )


def _decision(operation: Operation) -> str:
    """Say what decided how an operation ended."""
    ending = operation.ending
    if ending is None:
        return "No call started it: it was put into the world with its deployment."
    if ending.by == "outcome":
        return f"{ending.name} had set this in advance."
    if ending.by == "intervention":
        return f"The intervention {ending.name} ended it."
    if ending.by == "generation":
        return (
            "Its expected source generation was no longer the current one when it was to start "
            "(assumption source_generation)."
        )
    if ending.name:
        return f"The intervention {ending.name} took the last step of its plan."
    if profile_of(operation)[0] != parse_profile(operation.profile)[0]:
        return "It completed its plan in the time that an outcome had set."
    return f"It completed its plan under its profile, {operation.profile}."


def _other_outcome(told: OperationOutcome) -> str:
    """Say what an outcome did to an operation whose end it did not decide."""
    if told.done < len(told.turns):
        rest = "the rest of what was set in advance" if told.done else "what was set in advance"
        return f"It ended before {told.id} did {rest}: {outcome_text(told)}."
    if told.turns:
        return f"Before that, {told.id} had acted in {told.phase}: {', '.join(told.turns)}."
    return f"{told.id} had set how long it takes."


def _reason(engine: Engine, operation: Operation, project: Project, now_ms: int) -> dict[str, Any]:
    """Explain an unfinished operation, and which faults may show a client something else."""
    world = engine.world
    if operation.kind == HELD:
        says = (
            "No call started it: the intervention hold_claim created it, and it "
            f"holds the mutation claim of {project.alias} until you release it."
        )
        command = f"intervene release_claim project={project.alias}"
        reason = _because([says], [command], "the intervention hold_claim")
    elif project.claim != operation.id:
        reason = _waiting(engine, operation, project, now_ms)
        if operation.stuck:
            stuck = _stuck(operation)
            reason["says"] = stuck["says"] + reason["says"]
            reason["commands"] = stuck["commands"] + reason["commands"]
            reason["held_by"] = stuck["held_by"]
    elif operation.stuck:
        reason = _stuck(operation)
    elif operation.event is not None:
        reason = _timed(engine, operation, now_ms)
    else:
        reason = _untimed(engine, operation)
    outcome = operation.outcome
    if outcome is not None and (outcome_will_act(operation) or not outcome.turns):
        text = outcome_text(outcome)
        if text:
            reason["says"].append(f"{outcome.id} is set for it: {text}.")
    for fault in faults_in_order(world):
        polls = fault.rule.call == GET_OPERATION.call_id
        if polls and fault.rule.project in (None, project.id) and not spent(fault, now_ms):
            reason["says"].append(
                f"{fault.id} ({fault.kind}) is armed for polls: a client may see something else."
            )
            reason["commands"].append(f"fault remove {fault.id}")
    return reason


def _stuck(operation: Operation) -> dict[str, Any]:
    seen, told = operation.reconciliation, operation.outcome
    by = operation.stuck_by
    if told is None or by != told.id:
        by = f"the intervention {by}"
    stopped = (
        f"It is stuck while {operation.state}: {by} stopped it, so no clock and no poll moves it."
    )
    if seen is None or seen.state not in ("required", "running"):
        command = f"intervene release_operation operation={operation.id}"
        return _because([stopped], [command], by)
    says = (
        f"Its result is not known yet: its reconciliation is {seen.state} "
        f"(attempt {seen.attempt_id}), and no clock ends that."
    )
    names = ["run_reconciliation"] if seen.state == "required" else []
    names += ["complete_reconciliation", *["release_operation"] * seen.was_stuck]
    commands = [f"intervene {name} operation={operation.id}" for name in names]
    also_stuck = [] if operation.stuck_by == "require_reconciliation" else [stopped]
    held_by = f"a reconciliation that is {seen.state}"
    return _because([says, *also_stuck], commands, held_by)


def _waiting(engine: Engine, operation: Operation, project: Project, now_ms: int) -> dict[str, Any]:
    """Explain an operation that waits for the one that holds its project's claim."""
    world, claim = engine.world, str(project.claim)
    key = project.queue_head
    waiting_ahead: list[Operation] = []
    while key is not None and key != operation.id:
        waiting = world.get(t.OPERATIONS, key)
        assert waiting is not None
        if waiting.state == "queued":
            waiting_ahead.append(waiting)
        key = waiting.next_waiting
    ahead = f", with {len(waiting_ahead)} more waiting ahead of it" if waiting_ahead else ""
    holder = world.get(t.OPERATIONS, claim)
    assert holder is not None
    before = _reason(engine, holder, project, now_ms)
    queued = (
        f"It is queued: operation {claim} holds the mutation claim of {project.alias}{ahead}. A "
        "project runs one operation at a time."
    )
    says = [queued, *(f"Blocking operation: {sentence}" for sentence in before["says"])]
    mode, _, _ = profile_of(operation)
    if mode in ("manual", "per_poll"):
        says.append(f"Once it holds the claim, it moves by its own profile, {operation.profile}.")
    ends_with_time = before["next"] is not None and all(
        map(_ends_with_time, (holder, *waiting_ahead, operation))
    )
    following = before["next"]
    return _because(
        says,
        [f"clock advance --until {operation.id}"] if ends_with_time else before["commands"],
        before["held_by"],
        claim,
        following and following | {"what": f"{following['what']} (the operation it waits for)"},
    )


def _ends_with_time(operation: Operation) -> bool:
    """Return whether time alone ends an operation once it holds its project's claim."""
    if operation.stuck or operation.kind == HELD:
        return False
    if outcome_will_act(operation) and operation.outcome and "stuck" in operation.outcome.turns:
        return False
    return profile_of(operation)[0] in ("timed", "immediate")


def _fails_stale(engine: Engine, operation: Operation) -> bool:
    """Return whether the next step of an operation fails it, because its generation is stale."""
    change = Change(engine.world, engine.world.at_ms)
    return operation.step == 0 and stale_generation(change, operation) is not None


_STALE = (
    "Its next step fails it: the source generation that it expects is no longer the current one "
    "(assumption source_generation)."
)


def _timed(engine: Engine, operation: Operation, now_ms: int) -> dict[str, Any]:
    due_ms = engine.due_of(operation.id)
    assert due_ms is not None
    following, now = plan_of(operation)[operation.step + 1], stands(operation)
    into = following.state if following.state != operation.state else following.phase
    becomes = f"becomes {into}"
    is_stale = _fails_stale(engine, operation)
    if is_stale:
        into = "failed"
        becomes = "fails"
    elif operation.outcome is not None and (turn := next_turn(operation)) is not None:
        into = operation.outcome.turns[turn]
        becomes = f"becomes {into}"
        if into in lifecycles.RECONCILIATION.transitions:
            becomes = f"its reconciliation becomes {into}"
            into = f"a reconciliation that is {into}"
    command = f"clock advance --until {operation.id}"
    if not (is_stale or _ends_with_time(operation)):
        command = f"clock advance {format_duration(max(0, due_ms - now_ms))}"
    left, at = format_duration(max(0, due_ms - now_ms)), format_timestamp(due_ms)
    return _because(
        [
            f"It is {now}, and {becomes} at {at}, in {left} of world time.",
            *([_STALE] if is_stale else []),
            _OF_CLOCK[engine.world.clock.mode],
        ],
        [command],
        next_={"at": at, "what": f"it changes from {now} to {into}"},
    )


def _untimed(engine: Engine, operation: Operation) -> dict[str, Any]:
    mode, per_state, _ = profile_of(operation)
    stale = [_STALE] if _fails_stale(engine, operation) else []
    if mode == "per_poll":
        polls = "1 poll" if per_state == 1 else f"{per_state} polls"
        says = (
            f"It is {stands(operation)} and moves when it is polled: each state lasts {polls}, and "
            f"it has had {operation.polls} in this one."
        )
        outcome = operation.outcome
        if outcome is not None and outcome.done and outcome_will_act(operation):
            says = (
                f"It is {stands(operation)} and moves when it is polled: each step that "
                f"{outcome.id} has set lasts 1 poll."
            )
        return _because([says, *stale])
    says = (
        f"It is {stands(operation)}, and its profile is {mode}: no clock moves it, only the "
        "intervention step_operation."
    )
    command = f"intervene step_operation operation={operation.id}"
    return _because([says, *stale], [command], f"its profile, {mode}")
