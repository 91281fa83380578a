"""Skips the wait before a retry in worlds with a skip clock.

When a request fails or a read is stale, the world stores the time at which a retry makes sense.
When the client retries the request, the clock moves to that time, so that no test has to wait.
"""

from __future__ import annotations

from contextlib import suppress

from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import LATEST_MS, format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.history import WAIT_NOTED
from hosting_emulator.engine.keeper import StoreFailed
from hosting_emulator.engine.problem_replies import retry_after_s
from hosting_emulator.messages import SKIP_NOTE
from hosting_emulator.world.records import RetryWait
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import RETRY_WAITS, SCHEDULE
from hosting_emulator.world.value import Change

#: The maximum number of waits before retries that a world with a skip clock stores.
_MOST_WAITS = 1000


def move_to_end_of_wait(engine: Engine, ctx: ExchangeContext) -> None:
    """Move a skip clock to the end of the wait after the previous response to the same request."""
    ctx.wait_key = _wait_key(engine, ctx)
    wait = engine.world.get(RETRY_WAITS, ctx.wait_key)
    if wait is None or wait.due_ms <= ctx.at_ms:
        return
    engine.move_up_to(wait.due_ms)
    ctx.at_ms = engine.now_ms()
    moved = f"{SKIP_NOTE} {format_timestamp(ctx.at_ms)}"
    ctx.why += (f"{moved}, the end of the wait after the previous response",)


def _wait_key(engine: Engine, ctx: ExchangeContext) -> str:
    """Return a digest that is the same for a request and its retries.

    The digest is based on the principal rather than the token, because a fork of the world issues
    its own tokens.
    """
    sent = ctx.headers.getall("Authorization", ())
    try:
        principal, key = engine.access_tokens.authenticate(Change(engine.world, ctx.at_ms), sent)
    except Refused:
        caller = " ".join(sent)
    else:
        caller = f"{principal.user_id} {principal.organization_id} {key.id if key else ''}"
    return digest("\n".join((caller, ctx.method, ctx.path)))


def note_wait(engine: Engine, ctx: ExchangeContext, reply: Reply) -> None:
    """Store the time at which it makes sense to retry a refused request or a stale read.

    A successful request whose response is not stale need not be retried. For a refused request, the
    time is determined by Retry-After, by the end of the fault that acted, or by the next timeline
    entry. After a stale read, the wait is as long as the fault's `age`.
    """
    if 200 <= reply.status < 400 and not ctx.stale_age_ms:
        return
    if not ctx.wait_key:
        return  # the clock was not in skip mode when the request arrived
    due_ms = _retry_ms(engine, ctx, reply)
    if due_ms <= ctx.at_ms:
        return
    change = Change(engine.world, ctx.at_ms)
    waits = sorted(engine.world.rows(RETRY_WAITS), key=lambda row: row[1].due_ms)
    for index, (key, wait) in enumerate(waits):
        if wait.due_ms <= ctx.at_ms or index <= len(waits) - _MOST_WAITS:
            change.delete(RETRY_WAITS, key)
    change.put(RETRY_WAITS, ctx.wait_key, RetryWait(due_ms))
    # A failure to store the wait must not affect the response.
    with suppress(StoreFailed):
        engine.commit(change, WAIT_NOTED)


def _retry_ms(engine: Engine, ctx: ExchangeContext, reply: Reply) -> int:
    """Return the world time at which a retry makes sense, or 0 if it is unknown."""
    if ctx.stale_age_ms:
        return min(LATEST_MS, ctx.at_ms + ctx.stale_age_ms)
    wait_s = retry_after_s(reply.headers)
    if wait_s is not None:
        return min(LATEST_MS, ctx.at_ms + wait_s * 1000)
    if ctx.acted:
        stops = [fault.rule.stop_ms(ctx.at_ms) for fault in ctx.acted]
        return min((stop_ms for stop_ms in stops if stop_ms is not None), default=0)
    if reply.status >= 500:
        schedule = engine.world.rows(SCHEDULE)
        planned = (event.due_ms for _, event in schedule if event.kind == "timeline")
        return min(planned, default=0)
    return 0
