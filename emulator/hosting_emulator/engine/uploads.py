"""Faults that act while the body of a request is read. A fault that acts on the body is chosen
before the body is read.
"""

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
    """Before the body of a request is read, choose the faults that act on it. Return their limits.

    If a fault on request bodies is armed, the request is listed as in progress. Returns None if no
    fault acts on this body.
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
        # Ignore the refusal, because the steps start over after the body has been read, and then
        # refuse the request.
        decision = NO_EFFECT
    finally:
        engine.current_exchange = None
    ctx.upload = decision
    ctx.refused = None
    if engine.protected:
        engine.protected.take_counts(engine.world)
    engine.log.hold(ctx)
    return limits_of_decision(decision) if decision.acted else None
