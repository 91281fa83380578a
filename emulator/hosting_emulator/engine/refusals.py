"""Refuses a request with a problem document, and applies a world's variation to responses.

The `variation` package decides what varies, and how. This module gives each response a name, so
that the random draws for a response depend only on the seed and its name.
"""

from __future__ import annotations

from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.problem_replies import problem_reply
from hosting_emulator.variation.draws import vary_body, vary_headers
from hosting_emulator.variation.worlds import assumed_points
from hosting_emulator.world.streams import id_counter


def refuse(engine: Engine, ctx: ExchangeContext, refused: Refused) -> Reply:
    """Return the problem document for a refusal, according to the world's assumptions and variation."""
    ctx.code = refused.code
    reply = problem_reply(
        refused, ctx.request_id(), ctx.docs_url(), engine.world.assumptions, ctx.spec
    )
    variation = engine.world.variation
    if variation is not None:
        # A refused request usually does not use up its Idempotency-Key, so a retry gets a new
        # response.
        ctx.response_name = name_response(engine, ctx, suffix=" refused")
        reply.body, ctx.varied = vary_body(
            variation, ctx.response_name, "ProblemDetails", reply.body
        )
    return reply


def name_response(engine: Engine, ctx: ExchangeContext, key: str = "", suffix: str = "") -> str:
    """Return a name for a response, made up of the request's call, subject and caller, and an ordinal.

    The ordinal counts the responses to requests with the same call, subject and caller. Random
    draws based on the name therefore do not depend on other calls, nor on ids that contain the
    time. All responses for the same Idempotency-Key (`key`) share a name.
    """
    id_ = ctx.subject_id
    about = id_counter(id_) if ctx.subject == "operation" and is_ulid(id_) else id_
    caller = ctx.principal.user_id
    request = f"{engine.starts} {ctx.call or ctx.method} {about} {caller}{suffix}"
    return engine.log.name_response(request, f"{caller} {key}" if key else "")


def vary_response_headers(engine: Engine, reply: Reply, ctx: ExchangeContext) -> None:
    """Vary the headers and media type of a response, and record all points at which it was varied.

    Responses by a proxy or a dev origin are not covered by the contract, so they are never varied.
    """
    variation = engine.world.variation
    if variation is None or ctx.headers_varied:
        return
    if not reply.content_type.startswith("application/"):
        return
    ctx.headers_varied = True
    name = ctx.response_name or name_response(engine, ctx)
    reply.content_type, reply.headers, varied = vary_headers(
        variation, name, reply.content_type, reply.headers, ctx.request_id()
    )
    assumed = assumed_points(
        variation,
        engine.world.assumptions,
        reply.status,
        call=ctx.call,
        code=ctx.code,
        replayed=ctx.replayed,
        decided_by=ctx.assumption,
    )
    ctx.varied = tuple(sorted({*ctx.varied, *varied, *assumed}))
