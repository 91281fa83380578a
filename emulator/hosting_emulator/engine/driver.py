"""The driver runs the steps of an exchange, waits whenever a step returns a Delay, and records the
exchange.

The steps only make decisions. All waiting is done by the driver, and never between reading a world
and replacing it. Concurrent requests therefore change the world one at a time, without locks.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress

from hosting_emulator.calls.request import NO_HEADERS, Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.alteration_steps import alter_reply, count_alterations
from hosting_emulator.engine.effects import Delay, Durable, Wait, run_through, yield_effect
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import RELEASED, Entry, ExchangeContext
from hosting_emulator.engine.fault_steps import faults_after_commit
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.machine_clock import stopwatch_ns
from hosting_emulator.engine.pipeline import CALL_STEPS, Step, route
from hosting_emulator.engine.refusals import refuse, vary_response_headers
from hosting_emulator.engine.skip_wait import note_wait


async def run_exchange(
    engine: Engine,
    ctx: ExchangeContext,
    steps: Sequence[Step] = CALL_STEPS,
    wait: Wait = yield_effect,
) -> Reply:
    """Handle one request to the public API, and return the response.

    This function raises no exception, whatever the client sends. `wait` is called to await the
    exchange's effects. A caller that does not need to wait passes the coroutine to
    `effects.run_through`.
    """
    try:
        outcome = _run_steps(engine, ctx, steps)
        while isinstance(outcome, Delay):
            engine.log.hold(ctx)
            await wait(outcome)
            outcome = _run_steps(engine, ctx, steps)
        if engine.keeper.waits:
            engine.log.hold(ctx)
            try:
                await wait(Durable(engine.keeper.durable))
            except OSError:
                ctx.effect = None
                detail = "The change could not be written to disk; it may be lost."
                refused_ctx = ctx.copy_request(Refused("service_unavailable", detail))
                return run_through(run_exchange(engine, refused_ctx, steps))
        if ctx.second_delivery is not None:
            reply = await _deliver_again(engine, ctx, ctx.second_delivery, steps, wait)
            if ctx.is_discarded:
                outcome = reply
        if ctx.delay_ms or ctx.held:
            engine.log.hold(ctx)
            await wait(Delay(ctx.delay_ms, is_done=True))
        return outcome
    finally:
        _release(engine, ctx)


async def _deliver_again(
    engine: Engine, ctx: ExchangeContext, second: Entry, steps: Sequence[Step], wait: Wait
) -> Reply:
    """Handle the second delivery of a request, and return its response.

    If the client receives the response to the second delivery, `ctx` takes over that delivery's
    effect on the connection.
    """
    assert isinstance(second, ExchangeContext)
    engine.log.hold(ctx)
    _release_key(engine, ctx)
    reply = await run_exchange(engine, second, steps, wait)
    if ctx.is_discarded:
        ctx.effect = second.effect
    return reply


def _release_key(engine: Engine, ctx: ExchangeContext) -> None:
    """Release the Idempotency-Key of an exchange that is no longer in progress."""
    if engine.in_flight.get(ctx.storage_key) is ctx:
        del engine.in_flight[ctx.storage_key]


def _release(engine: Engine, ctx: ExchangeContext) -> None:
    """End an exchange: release its Idempotency-Key, and drop all data that the request log does not
    show.
    """
    if ctx.in_progress:
        engine.log.release(ctx)
    _release_key(engine, ctx)
    ctx.headers = NO_HEADERS
    ctx.docs_url = str
    ctx.change = RELEASED
    ctx.record = RELEASED
    ctx.reply = RELEASED
    # An exception's traceback would keep the request and its bytes in memory.
    ctx.refused = None
    ctx.decision = None
    ctx.upload = None


def list_arrival(engine: Engine, ctx: ExchangeContext) -> None:
    """List a request in the log while its body is still being received."""
    engine.log.count += 1
    ctx.n = engine.log.count
    ctx.took_ns = stopwatch_ns()
    ctx.world = engine.world
    ctx.at_ms = engine.now_ms()
    ctx.came_ms = ctx.at_ms
    ctx.real_ms = engine.machine_ms
    with suppress(Refused):
        route(engine, ctx)
    ctx.refused = None
    engine.log.hold(ctx)


def _run_steps(engine: Engine, ctx: ExchangeContext, steps: Sequence[Step]) -> Delay | Reply:
    """Run the steps until one of them ends the exchange, record the exchange, and return the response.

    If the exchange must wait, return a Delay instead. After the wait, the caller runs the steps
    again.
    """
    engine.protect()
    engine.current_exchange = ctx
    outcome: Delay | Reply | None = None
    try:
        try:
            for step in steps:
                outcome = step(engine, ctx)
                if outcome is not None:
                    break
        except Refused as refused:
            ctx.assumption = refused.assumption
            ctx.reply = None
            ctx.why += (refused.why or refused.detail,)
            outcome = ctx.remembered_refusal
            if outcome is None:
                outcome = refuse(engine, ctx, refused)
                alter_reply(engine, ctx, outcome, breaking=False)
            alter_reply(engine, ctx, outcome, breaking=True)
            count_alterations(engine, ctx)
            faults_after_commit(engine, ctx)
    except StoreFailed as error:
        unavailable = Refused("service_unavailable", f"Nothing was changed: {error}.")
        ctx.effect = None
        ctx.discard_alterations()
        ctx.why += (unavailable.detail,)
        outcome = refuse(engine, ctx, unavailable)
    if engine.protected:
        engine.protected.take_counts(engine.world)
    if isinstance(outcome, Delay):
        engine.current_exchange = None
        return outcome
    reply = outcome or ctx.reply
    assert reply is not None
    if engine.world.variation is not None and reply.status:
        vary_response_headers(engine, reply, ctx)
    if engine.world.clock.mode == "skip":
        note_wait(engine, ctx, reply)
    engine.current_exchange = None
    engine.log.record(ctx, reply)
    if engine.feed.awake:
        engine.feed.emit("request", ctx)
    engine.tally.add(engine.world, ctx)
    return reply
