"""Faults at the doors of the identity provider: before its answer, in place of it, and on its wire."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from hosting_emulator.calls.request import Reply
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.pipeline import decide_at, reply_of
from hosting_emulator.engine.problem_documents import problem_reply
from hosting_emulator.faults.decisions import NOTHING, Decision, FaultSubject
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.faulty_response import FaultyResponse
from hosting_emulator.server.ready_response import ReadyResponse
from hosting_emulator.world.fault_records import Phase


async def answer_at(
    context: Context,
    engine: Engine,
    door: str,
    path: str,
    answer: Callable[[], Awaitable[web.StreamResponse]],
) -> web.StreamResponse:
    """Answer a request at a door, as its `answer` does or as the faults that are armed for it say."""
    subject = FaultSubject(
        call=door,
        project=None,
        organization=None,
        principal="",
        method=context.request.method,
        path=path,
        headers=context.request.headers,
        query=context.query,
        body=await context.bytes(),
    )
    before = _decided(engine, subject, "before_commit")
    if before.delay_ms:
        await context.wait(before.delay_ms)
    if (instead := _instead(context, engine, before)) is not None:
        return instead
    response = await answer()
    after = NOTHING
    if before.effect is None:  # the first ends the search
        after = _decided(engine, subject, "after_commit", refused=response.status >= 400)
    if after.delay_ms:
        await context.wait(after.delay_ms)
    if (instead := _instead(context, engine, after)) is not None:
        return instead
    effect = before.effect or after.effect
    if effect is None or not isinstance(response, web.Response):
        return response
    body = response.body if isinstance(response.body, bytes) else b""
    kept = [
        (k, v) for k, v in response.headers.items() if k not in ("Content-Type", "Content-Length")
    ]
    reply = Reply(
        response.status, body, content_type=response.headers.get("Content-Type", ""), headers=kept
    )
    return FaultyResponse(reply, effect)


def _decided(
    engine: Engine, subject: FaultSubject, phase: Phase, *, refused: bool = False
) -> Decision:
    return decide_at(engine, subject, engine.run_due(), phase, refused=refused)


def _instead(context: Context, engine: Engine, decision: Decision) -> web.StreamResponse | None:
    """Return what is answered in place of the door's own answer; None: nothing is."""
    if decision.effect is None:
        return None
    if decision.problem is not None:
        docs_url = context.site.docs_url(context.request)
        assumptions = engine.world.assumptions
        problem = problem_reply(decision.problem, engine.request_id(), docs_url, assumptions)
        return ReadyResponse(problem)
    reply = reply_of(decision.effect)
    if reply is None:
        return None
    return (
        FaultyResponse(reply, decision.effect) if decision.effect.silent else ReadyResponse(reply)
    )
