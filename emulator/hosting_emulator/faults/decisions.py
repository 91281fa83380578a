"""Deciding which armed faults act on a request, in the order they were armed.

Every fault that matches counts the request as seen. Of those whose time has come, latencies add up
and let the others act; the first other kind ends the search, over both phases. One that acts after
the commit also sees the requests that are refused, and leaves them alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache, partial
from operator import attrgetter
from typing import Any, NamedTuple
from urllib.parse import parse_qs

import msgspec
from msgspec.structs import replace

from hosting_emulator.contract.calls import DOORS
from hosting_emulator.contract.json_body import JsonRefused, read_json
from hosting_emulator.contract.problems import Refused
from hosting_emulator.criteria.requests import path_matches
from hosting_emulator.faults.kinds import FaultKind, kind_of
from hosting_emulator.faults.kinds.latency import LONGEST_DELAY_MS
from hosting_emulator.faults.outcomes import outcome_of
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t
from hosting_emulator.world.streams import draw
from hosting_emulator.world.value import Change, World, deployment_count, deployment_runs

_by_order = attrgetter("order")


class FaultSubject(NamedTuple):
    """What a fault can match: one request, once it is known who asks what.

    `call` is a call's id or a door, `headers` returns every value of a header, `credentials` are what
    a request of the API came with.
    """

    call: str
    project: str | None
    organization: str | None
    principal: str
    method: str
    path: str
    headers: Callable[[str, tuple[()]], Sequence[str]]
    query: str = ""
    body: bytes = b""
    credentials: str = "token"
    replayed: bool = False


class Decision(NamedTuple):
    """What is to happen: a delay in real milliseconds, and at most one other kind's effect.

    `acted` are the faults behind it, in order; `problem` is what the effect answers, if it is one.
    """

    delay_ms: int = 0
    effect: FaultKind | None = None
    problem: Refused | None = None
    acted: tuple[r.Fault, ...] = ()


NOTHING = Decision()


def faults_in_order(world: World, table: t.Table[r.Fault] = t.FAULTS) -> list[r.Fault]:
    """Return a world's faults or outcomes in the order in which they are tried."""
    return sorted(world.tables[table.name].values(), key=_by_order)


def spent(fault: r.Fault, now_ms: int) -> bool:
    """Tell whether a fault can no longer act."""
    rule = fault.rule
    used_up = rule.times is not None and fault.hits >= rule.times
    return used_up or (rule.until_ms is not None and now_ms >= rule.until_ms)


def decide(
    change: Change, subject: FaultSubject, phase: r.Phase, *, refused: bool = False
) -> Decision:
    """Count the request and return what the faults of one phase do to it; to one refused, nothing."""
    delay_ms = 0
    acted: tuple[r.Fault, ...] = ()
    for fault in sorted(change.world.tables[t.FAULTS.name].values(), key=_by_order):
        if fault.rule.phase != phase or not matches(fault.rule, subject):
            continue
        if fault.first_answers and subject.replayed:
            continue
        fault = replace(fault, seen=fault.seen + 1)
        acts = not refused and _acts(change, fault, subject)
        if acts:
            effect = kind_of(fault)
            fault, acts = effect.count(fault, change.now_ms)
        fault = replace(fault, hits=fault.hits + acts)
        change.put(t.FAULTS, fault.id, fault)
        if not acts:
            continue
        acted = (*acted, fault)
        if not effect.delays:
            return Decision(delay_ms, effect, effect.problem(fault, change.now_ms), acted)
        delay_ms = min(LONGEST_DELAY_MS, delay_ms + effect.delay(partial(_chance, change)))
    return Decision(delay_ms, acted=acted) if acted else NOTHING


def next_outcome(change: Change, subject: FaultSubject) -> r.OperationOutcome | None:
    """Count the operation that a request begins, and return what the first outcome for it tells."""
    for armed in faults_in_order(change.world, t.OUTCOMES):
        if not matches(armed.rule, subject):
            continue
        told = outcome_of(armed).told(armed.id, subject.call)
        if told is None:
            continue
        armed = replace(armed, seen=armed.seen + 1)
        acts = _acts(change, armed, subject)
        change.put(t.OUTCOMES, armed.id, replace(armed, hits=armed.hits + acts))
        if acts:
            return told
    return None


def _acts(change: Change, fault: r.Fault, subject: FaultSubject) -> bool:
    """Tell whether a fault or outcome acts on what it has seen, this time."""
    probability = fault.rule.probability
    idle = _idle_reason(fault, change.now_ms, change.world, subject.project, subject.organization)
    return idle is None and (probability >= 1 or _chance(change) < probability)


def matches(rule: r.Rule, subject: FaultSubject) -> bool:
    """Tell whether a rule matches a request. Without credentials, only one that asks for that does."""
    return next(differing_fields(rule, subject), None) is None


def differing_fields(rule: r.Rule, subject: FaultSubject) -> Iterator[str]:
    """Yield the fields of a rule that a request does not match. A rule without `call` matches no door."""
    if rule.call != subject.call and (rule.call is not None or subject.call in DOORS):
        yield "call"
    if rule.credentials is None:
        if subject.credentials not in ("token", "key"):
            yield "credentials"
    elif rule.credentials not in ("any", subject.credentials):
        yield "credentials"
    if rule.project is not None and rule.project != subject.project:
        yield "project"
    if rule.organization is not None and rule.organization != subject.organization:
        yield "organization"
    if rule.principal is not None and rule.principal != subject.principal:
        yield "principal"
    if rule.method is not None and rule.method != subject.method:
        yield "method"
    if rule.path is not None and not path_matches(subject.path, rule.path):
        yield "path"
    for name in ("header", "query", "body"):
        patterns = getattr(rule, name)
        if patterns is not None and not _has(_values(rule, subject, name), patterns):
            yield name


def _values(rule: r.Rule, subject: FaultSubject, name: str) -> Mapping[str, Sequence[Any]]:
    """Return what a request has of the headers, the query or the body that a rule names."""
    if name == "header":
        return {header: subject.headers(header, ()) for header in rule.header or ()}
    if name == "query":
        return parse_qs(subject.query, keep_blank_values=True)
    return _members(subject.body, rule.body or ())


def found_value(rule: r.Rule, subject: FaultSubject, name: str) -> Any:
    """Return what a request has in the place of a field of a rule, to be shown to people."""
    if name not in ("header", "query", "body"):
        return getattr(subject, name)
    values = _values(rule, subject, name)
    return {
        key: " and ".join(map(str, values.get(key, ()))) or "none" for key in getattr(rule, name)
    }


def _has(found: Mapping[str, Sequence[Any]], wanted: Mapping[str, Any]) -> bool:
    """Tell whether each name has a value that is as wanted; a text may have `*` for any other."""
    return all(
        any(
            fits(value, pattern)
            if isinstance(value, str) and isinstance(pattern, str)
            else value == pattern and type(value) is type(pattern)
            for value in found.get(name, ())
        )
        for name, pattern in wanted.items()
    )


def _members(body: bytes, wanted: Iterable[str]) -> Mapping[str, Sequence[Any]]:
    """Return what of a body is wanted, by its path (`key.name`, `items.0`); a form's fields likewise."""
    try:
        document = read_json(body)
    except JsonRefused:
        return parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True)
    found = {path: value_at(document, path.removeprefix("$.")) for path in wanted}
    return {path: (value,) for path, value in found.items() if value is not msgspec.UNSET}


def value_at(document: Any, path: str) -> Any:
    """Return what stands at a path (`items.0.name`) of a JSON document, or UNSET."""
    for part in path.split("."):
        if isinstance(document, dict) and part in document:
            document = document[part]
        elif (
            isinstance(document, list)
            and re.fullmatch("[0-9]{1,9}", part)
            and int(part) < len(document)
        ):
            document = document[int(part)]
        else:
            return msgspec.UNSET
    return document


def fits(text: str, pattern: str) -> bool:
    """Tell whether a text is what a pattern says, in which only `*` stands for any other."""
    return _expression(pattern).fullmatch(text) is not None


@lru_cache(maxsize=256)
def _expression(pattern: str) -> re.Pattern[str]:
    first, *parts = map(re.escape, pattern.split("*"))
    # Each part is taken where it comes first, for good: trying others takes its length to the power
    # of the stars.
    between = "".join(f"(?>.*?{part})" for part in parts[:-1])
    return re.compile(first + between + "".join(f".*{part}" for part in parts[-1:]), re.DOTALL)


def idle_reason(
    fault: r.Fault, now_ms: int, world: World, project_id: str | None, organization_id: str | None
) -> str:
    """Say why a fault that has seen a request did not act on it."""
    reason = _idle_reason(fault, now_ms, world, project_id, organization_id)
    if reason is None and fault.rule.probability < 1:
        reason = f"its probability is {fault.rule.probability:g}, and it was not drawn this time"
    return reason or "its limit is not reached"


def _idle_reason(
    fault: r.Fault, now_ms: int, world: World, project_id: str | None, organization_id: str | None
) -> str | None:
    rule = fault.rule
    if rule.from_ms is not None and now_ms < rule.from_ms:
        return f"it acts from {rule.from_} on"
    if rule.until_ms is not None and now_ms >= rule.until_ms:
        return f"it acted until {rule.until}"
    if rule.while_ is not None:
        reason = unmet(rule.while_, world, project_id, organization_id)
        if reason is not None:
            return f"it acts only while {condition_text(rule.while_)}: {reason}"
    if rule.times is not None and fault.hits >= rule.times:
        return f"it has already acted {'once' if rule.times == 1 else f'{rule.times} times'}"
    number = fault.seen - rule.skip_first
    if number <= 0:
        return f"it skips the first {rule.skip_first} requests, and this was number {fault.seen}"
    if number % rule.every:
        return f"it acts on 1 of {rule.every} requests, and this was number {number}"
    return None


def _chance(change: Change) -> float:
    """Draw from [0, 1). The stream is the faults' own, so drawing shifts no id and no secret."""
    return int.from_bytes(draw(change, "faults", 7), "big") / 2**56


# --- conditions on the world ---------------------------------------------------------------------


def unmet(
    condition: r.Condition, world: World, project_id: str | None, organization_id: str | None
) -> str | None:
    """Say what keeps a condition from holding for a project, or else an organization; None: it holds."""
    project = world.get(t.PROJECTS, project_id or "")
    owner = project.organization_id if project else organization_id
    organization = world.get(t.ORGANIZATIONS, owner or "")
    for name, wanted in _asked(condition).items():
        if name == "not":
            if unmet(wanted, world, project_id, organization_id) is None:
                return f"{condition_text(wanted)}, which must not be"
            continue
        if name in ("plan", "credits_below"):
            if organization is None:
                return f"it depends on {name}, and the request names no organization"
            if name == "credits_below":
                if organization.credits >= wanted:
                    return f"there are {organization.credits} credits"
                continue
            found: Any = organization.plan
        elif project is None:
            return f"it depends on {name}, and the request names no project"
        else:
            found = _of_project(name, world, project)
        if found not in (wanted if isinstance(wanted, tuple) else (wanted,)):
            return f"{name} is {_word(found)}"
    return None


def _of_project(name: str, world: World, project: r.Project) -> Any:
    if name == "deployed":
        count = deployment_count(world.indexes, project.id)
        runs = deployment_runs(world.indexes, project.id, 0, count)
        return any(found.status == "ready" for run in reversed(runs) for found in reversed(run))
    dns = world.get(t.DNS, project.id) or r.Dns()
    database = world.get(t.DATABASES, f"{project.id}/prod") or r.Database("separate")
    placement = database.placement
    return {
        "dns": dns.status,
        "zone": dns.zone is not None,
        "claim": "free" if project.claim is None else "held",
        "flag": project.flag_enabled,
        "domain": project.custom_domain is not None,
        "database": placement.state if placement else "absent",
        "database_change": bool(placement and placement.pending_state),
        "data_mode": database.data_mode,
    }[name]


def condition_text(condition: r.Condition) -> str:
    """Write a condition as people read it: `dns is pending or expired, credits_below is 1`."""
    return ", ".join(
        f"not ({condition_text(wanted)})" if name == "not" else f"{name} is {_word(wanted)}"
        for name, wanted in _asked(condition).items()
    )


def _asked(condition: r.Condition) -> dict[str, Any]:
    """Return what a condition asks for, by the names it is written with."""
    asked = zip(condition.__struct_encode_fields__, msgspec.structs.astuple(condition), strict=True)
    return {name: wanted for name, wanted in asked if wanted is not None}


def _word(value: Any) -> str:
    if isinstance(value, tuple):
        return " or ".join(map(_word, value))
    return str(value).lower() if isinstance(value, bool) else str(value)
