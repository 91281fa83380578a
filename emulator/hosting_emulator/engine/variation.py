"""Variation: where an exchange meets its world's variation, and what is noted of it in its context.

What may vary and how is decided in the package `variation`; this only asks it, in a world that varies.
"""

from __future__ import annotations

from msgspec import structs

from hosting_emulator.calls.list_deployments import LONGER
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.variation.answers import vary_body, vary_headers, vary_paging
from hosting_emulator.variation.worlds import AnswerFacts, assumed_points, listed_statuses
from hosting_emulator.world.records import Variation
from hosting_emulator.world.value import World


def vary_request(x: ExchangeContext, variation: Variation) -> None:
    """Name the answer to come, and say how its page is to be made, if it is one.

    A request with an Idempotency-Key is named by that: its replays are varied as it was.
    """
    if x.spec.idempotent:
        x.what = f"key {x.principal.person_id} {x.idempotency_key}"
    if x.spec.response == "DeploymentPage":
        paging = vary_paging(variation, x.what, x.values["limit"], LONGER)
        x.values = {**x.values, "limit": paging.size, "cursor_longer": paging.longer}
        x.paging = paging


def vary_reply(variation: Variation | None, reply: Reply, x: ExchangeContext) -> None:
    """Vary a call's answer. One that was remembered stays as it was then."""
    if reply.varied is None and variation is not None:
        reply.body, reply.varied = vary_body(
            variation, x.what, x.spec.response, reply.body, x.paging
        )
    x.varied = reply.varied or ()


def problem_assumptions(world: World, x: ExchangeContext) -> Assumptions:
    """Return what a problem is written by: a call that lists its statuses has no other one drawn."""
    variation, assumptions = world.variation, world.assumptions
    if variation is None or "problem_statuses" not in variation.assumed:
        return assumptions
    statuses = listed_statuses(x.call, variation, assumptions.problem_statuses)
    return structs.replace(assumptions, problem_statuses=statuses)


def vary_problem(variation: Variation, reply: Reply, x: ExchangeContext) -> None:
    """Vary a problem document.

    By the request's number: a refused request leaves its key free, and the next try is another answer.
    """
    reply.body, x.varied = vary_body(variation, x.number_text, "ProblemDetails", reply.body)


def dress(world: World, reply: Reply, x: ExchangeContext) -> None:
    """Vary an answer's headers and media type, and note what else of it the variation has made."""
    variation = world.variation
    if variation is None or not reply.content_type.startswith("application/"):
        return  # what a proxy or a dev origin answers is none of the contract's
    headers = vary_headers(variation, x.what, reply.content_type, reply.headers, x.request_id())
    reply.content_type, reply.headers = headers.content_type, headers.headers
    facts = AnswerFacts(x.call, reply.status, x.code, x.replayed, x.assumption)
    assumed = assumed_points(variation, world.assumptions, facts)
    x.varied = tuple(sorted({*x.varied, *headers.varied, *assumed}))
