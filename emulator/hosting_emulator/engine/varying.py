"""Varying: where an exchange meets its world's variation, and what is noted of it in its trail.

What may vary and how is decided in `variation`; this only asks it, and only in a world that varies.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import structs

from hosting_emulator.calls.list_deployments import LONGER
from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.engine.exchange import Outgoing
from hosting_emulator.engine.trail import Trail
from hosting_emulator.variation.answers import vary_body, vary_dress, vary_paging
from hosting_emulator.variation.worlds import Answered, assumed_points, listed_statuses
from hosting_emulator.world.records import Variation
from hosting_emulator.world.value import World


def vary_ask(ask: CallRequest, variation: Variation, trail: Trail) -> None:
    """Name the answer to come, and say how its page is to be made, if it is one.

    A request with an Idempotency-Key is named by that: its replays are varied as it was.
    """
    if ask.spec.idempotent:
        trail.what = f"key {ask.principal.person_id} {ask.idempotency_key}"
    if ask.spec.call_id == "list_deployments":
        paging = vary_paging(variation, trail.what, ask.values["limit"], LONGER)
        ask.values = {**ask.values, "limit": paging.size, "cursor_longer": paging.longer}
        trail.paging = paging


def vary_reply(variation: Variation | None, reply: Reply, ask: CallRequest, trail: Trail) -> Reply:
    """Return a call's answer as varied. One that was remembered stays as it was then."""
    if reply.varied is None and variation is not None:
        body, varied = vary_body(variation, trail.what, ask.spec.response, reply.body, trail.paging)
        reply = replace(reply, body=body, varied=varied)
    trail.varied = reply.varied or ()
    trail.assumption = trail.assumption or reply.assumption
    return reply


def problem_assumptions(world: World, trail: Trail) -> Assumptions:
    """Return what a problem is written by: a call that lists its statuses has no other one drawn."""
    variation, assumptions = world.variation, world.assumptions
    if variation is None or "problem_statuses" not in variation.assumed:
        return assumptions
    statuses = listed_statuses(trail.call, variation, assumptions.problem_statuses)
    return structs.replace(assumptions, problem_statuses=statuses)


def vary_problem(variation: Variation, document: bytes, trail: Trail) -> bytes:
    """Return a problem document as varied."""
    # By its own number: a refused request leaves its key free, and the next try is another answer.
    body, trail.varied = vary_body(variation, trail.number_text, "ProblemDetails", document)
    return body


def dress(world: World, outgoing: Outgoing, trail: Trail, request_id: str) -> None:
    """Vary an answer's headers and media type, and note what else of it the variation has made."""
    variation = world.variation
    if variation is None or not outgoing.status:
        return
    if not outgoing.content_type.startswith("application/"):
        return  # what a proxy or a dev origin answers is none of the contract's
    dressed = vary_dress(variation, trail.what, outgoing.content_type, outgoing.headers, request_id)
    outgoing.content_type, outgoing.headers = dressed.content_type, dressed.headers
    answered = Answered(trail.call, outgoing.status, trail.code, trail.replayed, trail.assumption)
    assumed = assumed_points(variation, world.assumptions, answered)
    trail.varied = tuple(sorted({*trail.varied, *dressed.varied, *assumed}))
