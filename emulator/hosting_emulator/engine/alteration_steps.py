"""The steps in which armed faults alter the response to a call.

Alterations that the contract allows are made before the response is remembered for its
Idempotency-Key, so a replay repeats them. Alterations that break the contract are made afterwards,
so a replay does not repeat them. Faults that match the replay itself can alter it too.
"""

from __future__ import annotations

from contextlib import suppress

import msgspec

from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.allowed_changes import SentResponse
from hosting_emulator.contract.alterations import PartChange
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.fault_subjects import fault_subject
from hosting_emulator.engine.history import FAULTS_COUNTED
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.refusals import vary_response_headers
from hosting_emulator.faults.alterations import (
    AlteredBy,
    altering_faults,
    decide_alterations,
    has_altering_fault,
)
from hosting_emulator.faults.decisions import NO_EFFECT, Decision, faults_in_order
from hosting_emulator.faults.kinds import stage_of
from hosting_emulator.messages import AlteredPart
from hosting_emulator.world.tables import FAULTS, STREAMS
from hosting_emulator.world.value import Change

#: The maximum length of a value quoted in a note, in characters.
_MAX_VALUE_LENGTH = 80


def alter_reply(engine: Engine, ctx: ExchangeContext, reply: Reply, *, breaking: bool) -> None:
    """Apply the armed `alter` faults to a call's response.

    If `breaking` is true, only faults that are allowed to break the contract act, and otherwise
    only the others. After the call, `count_alterations` commits the faults' counts.
    """
    world = engine.world
    if not world.has_faults_or_timeline or ctx.decision is None or ctx.spec is None:
        return
    if ctx.is_discarded or not has_altering_fault(world):
        return
    faults = altering_faults(world, breaking=breaking)
    if not faults:
        return
    # Vary the headers first, so that the variation does not overwrite an altered header.
    vary_response_headers(engine, reply, ctx)
    change = ctx.alteration_counts or Change(world, ctx.at_ms)
    subject = fault_subject(engine, ctx)
    decision = decide_alterations(change, faults, subject, ctx.spec, _sent_response(reply))
    if change.writes:
        ctx.alteration_counts = change
    engine.usage.observe_faults(
        faults,
        world,
        subject,
        Decision(acted=tuple(altered.fault for altered in decision.acted)),
        ctx.at_ms,
        ctx.n,
        refused=False,
        reasons=decision.reasons,
    )
    ctx.unaltered += tuple(decision.reasons.items())
    if decision.acted:
        _take(engine, ctx, reply, decision.response)
        for altered in decision.acted:
            _note(engine, ctx, altered)
        ctx.altered_beyond_contract = ctx.altered_beyond_contract or breaking


def skip_alterations(engine: Engine, ctx: ExchangeContext, fault_id: str) -> None:
    """Record that the call's response was not altered, because the fault `fault_id` replaced it."""
    faults = [fault for fault in faults_in_order(engine.world) if stage_of(fault) == "response"]
    if not faults:
        return
    engine.usage.observe_faults(
        faults,
        engine.world,
        fault_subject(engine, ctx),
        NO_EFFECT,
        ctx.at_ms,
        ctx.n,
        refused=False,
        ended_by=fault_id,
    )


def count_alterations(engine: Engine, ctx: ExchangeContext) -> None:
    """Commit the counts of the faults that could alter a response, even if the call failed."""
    counts = ctx.alteration_counts
    if counts is None:
        return
    ctx.alteration_counts = None
    change = Change(engine.world, ctx.at_ms)
    for table in (FAULTS, STREAMS):
        for key, record in counts.writes.get(table.name, {}).items():
            change.put(table, key, record)
    # The response has already been decided, so a failure to store the counts must not change it.
    with suppress(StoreFailed):
        engine.commit(change, FAULTS_COUNTED)


def _sent_response(reply: Reply) -> SentResponse:
    headers = (*reply.headers, ("Content-Type", reply.content_type))
    return SentResponse(reply.status, headers, reply.body)


def _take(engine: Engine, ctx: ExchangeContext, reply: Reply, response: SentResponse) -> None:
    """Copy the status, headers and body of an altered response into a reply."""
    if not ctx.own_status:
        ctx.own_status = reply.status
    reply.status = response.status
    reply.body = response.body
    reply.content_type = response.header("Content-Type") or ""
    reply.headers = tuple(pair for pair in response.headers if pair[0].lower() != "content-type")
    if ctx.code is not None:
        ctx.code = _code_of(response) or ctx.code


def _code_of(response: SentResponse) -> str | None:
    """Return the problem code in a response, or None if it contains no code from the contract."""
    try:
        document = msgspec.json.decode(response.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    code = document.get("code") if isinstance(document, dict) else None
    return code if isinstance(code, str) and code in PROBLEMS else None


def _note(engine: Engine, ctx: ExchangeContext, altered: AlteredBy) -> None:
    """Record which fault altered a response and what it changed, with secrets removed."""
    fault = altered.fault
    redactor = Redactor(engine.world)
    parts = [_part(redactor, fault.id, change) for change in altered.changes]
    ctx.acted += (fault,)
    ctx.altered += tuple(parts)
    changes = "; ".join(part.describe() for part in parts)
    ctx.why += (f"{fault.id} ({fault.kind}) acted, hit {fault.hits}: {changes}",)


def _part(redactor: Redactor, fault_id: str, change: PartChange) -> AlteredPart:
    def shorten(text: str | None) -> str | None:
        if text is None:
            return None
        text = redactor.text(text)
        return text if len(text) <= _MAX_VALUE_LENGTH else f"{text[:_MAX_VALUE_LENGTH]}…"

    before = shorten(change.before)
    after = shorten(change.after)
    return AlteredPart(fault=fault_id, part=redactor.text(change.part), before=before, after=after)
