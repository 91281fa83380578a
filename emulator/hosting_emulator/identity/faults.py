"""Faults at the identity provider's endpoints.

A generator handles each request and applies faults to it. It yields delays in milliseconds, and
returns the response. The server waits out each delay in real time, whereas a scenario's story
advances world time by it.
"""

from __future__ import annotations

from collections.abc import Callable, Generator
from functools import partial
from typing import TypeAlias

from aiohttp import web

from hosting_emulator.calls.request import Reply
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.fault_steps import decide_at, reply_of
from hosting_emulator.faults.decisions import Decision
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.faults.matching import FaultSubject
from hosting_emulator.http import responses
from hosting_emulator.http.protocol import protocol_of
from hosting_emulator.http.ready_responses import FaultyResponse, ReadyResponse
from hosting_emulator.http.world_pauses import pass_world_time
from hosting_emulator.identity.request import IdentityRequest

#: A request in progress: a generator that yields delays in milliseconds and returns the response.
Exchange: TypeAlias = Generator[int, None, web.StreamResponse]


def exchange(
    request: IdentityRequest,
    engine: Engine,
    call: str,
    path: str,
    respond: Callable[[], web.Response],
) -> Exchange:
    """Handle a request, and apply the armed faults.

    `call` is the endpoint's name in fault definitions, and `path` is its path. `respond` creates
    the endpoint's own response.
    """
    if not engine.world.has_faults_or_timeline:
        return respond()
    subject = _subject(request, call, path)
    decision = decide_at(engine, subject, engine.run_due(), "before_commit")
    replacement = yield from _act(engine, decision)
    if replacement is not None:
        return replacement
    response = respond()
    if decision.effect is None:
        # At most one fault can determine the response, so look for faults that act after the commit
        # only if none before the commit has done so.
        refused = response.status >= 400
        decision = decide_at(engine, subject, engine.run_due(), "after_commit", refused=refused)
        replacement = yield from _act(engine, decision)
        if replacement is not None:
            return replacement
    if decision.effect is None:
        return response
    reply = as_reply(response)
    # A FaultyResponse writes its own Server header.
    reply.headers = [pair for pair in reply.headers if pair[0] != "Server"]
    return _faulty(engine, reply, decision.effect)


def _faulty(engine: Engine, reply: Reply, effect: FaultKind) -> FaultyResponse:
    return FaultyResponse(reply, engine.date_s(), effect, partial(pass_world_time, engine))


def _subject(request: IdentityRequest, call: str, path: str) -> FaultSubject:
    """Return the properties of a request that a fault's conditions can match."""
    return FaultSubject(
        call=call,
        project=None,
        organization=None,
        principal="",
        method=request.head.method,
        path=path,
        headers=request.head.headers.getall,
        query=request.query,
        body=request.body,
        connection=_connection_word(request),
    )


def _connection_word(request: IdentityRequest) -> str | None:
    """Return whether a request's connection is `new` or `reused`, or None if the request has no
    connection.
    """
    if not isinstance(request.head, web.BaseRequest):
        return None
    return "reused" if protocol_of(request.head).response_count else "new"


def _act(engine: Engine, decision: Decision) -> Generator[int, None, web.StreamResponse | None]:
    """Yield the delay that a decision requires, and return the response that the fault produces.

    Returns None if the endpoint's own response should be sent.
    """
    if decision.delay_ms:
        yield decision.delay_ms
    return _replacement(engine, decision)


def _replacement(engine: Engine, decision: Decision) -> web.StreamResponse | None:
    """Return a fault's replacement for the endpoint's own response, or None if no fault replaces
    it. No fault at these endpoints sends a problem.
    """
    if decision.effect is None:
        return None
    reply = reply_of(decision.effect)
    if reply is None:
        return None
    if decision.effect.sends_nothing:
        return _faulty(engine, reply, decision.effect)
    return ReadyResponse(reply, engine.date_s())


def as_reply(response: web.Response) -> Reply:
    """Convert an endpoint's response to an engine Reply."""
    headers = [pair for pair in response.headers.items() if pair[0] != "Content-Type"]
    # aiohttp adds the cookies to the headers only when it sends the response itself.
    headers += [("Set-Cookie", cookie.OutputString()) for cookie in response.cookies.values()]
    content_type = response.headers.get("Content-Type", "")
    return Reply(
        response.status,
        responses.complete_body(response),
        content_type=content_type,
        headers=headers,
    )
