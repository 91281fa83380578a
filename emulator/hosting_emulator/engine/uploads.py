"""Chooses the faults that act while a request body is being read, before reading begins."""

from __future__ import annotations

from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.fault_steps import decide_upload, has_faults_of
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.pipeline import admit, authenticate, route
from hosting_emulator.faults.decisions import NO_EFFECT
from hosting_emulator.faults.uploads import UploadLimits, limits_of_decision


def begin_upload(engine: Engine, ctx: ExchangeContext) -> UploadLimits | None:
    """Choose the faults that act on a request body before it is read. Return their limits.

    If any fault on request bodies is armed, the request is listed as being in progress. Returns
    None if no fault acts on this body.
    """
    engine.protect()
    if not has_faults_of(engine, "upload"):
        return None
    ctx.announces_body = True
    engine.current_exchange = ctx
    try:
        for step in (admit, route, authenticate):
            step(engine, ctx)
        decision = decide_upload(engine, ctx)
    except (Refused, StoreFailed):
        # Ignore the refusal: once the body has been read, the steps run again and refuse the
        # request.
        decision = NO_EFFECT
    finally:
        engine.current_exchange = None
    ctx.upload = decision
    ctx.refused = None
    if engine.protected:
        engine.protected.take_counts(engine.world)
    engine.log.hold(ctx)
    return limits_of_decision(decision) if decision.acted else None
