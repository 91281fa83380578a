"""The steps in which a ticket is redeemed at a dev origin.

Redeeming a ticket is not one of the contract's calls.
"""

from __future__ import annotations

from urllib.parse import parse_qs

from hosting_emulator.calls.dev_access import (
    DEV_SESSION_COOKIE,
    DEV_SESSION_LIFETIME_MS,
    dev_origin,
    redeem,
)
from hosting_emulator.calls.request import NO_STORE, Reply
from hosting_emulator.contract.calls import REDEEM_TICKET
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.foreign_credentials import describe_foreign_ticket
from hosting_emulator.world.value import Change


def find_origin(engine: Engine, ctx: ExchangeContext) -> None:
    """Record the project whose dev origin received the request. Redeeming a ticket does not require
    a token.
    """
    ctx.call = REDEEM_TICKET
    ctx.subject = "project"
    ctx.subject_id = ctx.record.id


def redeem_ticket(engine: Engine, ctx: ExchangeContext) -> None:
    """Redeem a ticket. The response is a redirect that sets a session cookie.

    If a fault before the commit suppresses the response, nothing is committed.
    """
    change = Change(engine.world, ctx.at_ms)
    project = ctx.record
    query = parse_qs(ctx.query, keep_blank_values=True)
    tickets = query.get("ticket", [])
    if len(tickets) != 1 or query.get("stage", []) != ["dev"]:
        raise Refused("invalid_request", "Redeem a ticket with ?stage=dev&ticket=….")
    try:
        session = redeem(change, project, tickets[0])
    except Refused as refused:
        refused.why = describe_foreign_ticket(engine, tickets[0]) or refused.why
        raise
    if ctx.effect is None or ctx.effect.delivers_response:
        engine.commit(change, REDEEM_TICKET)
    cookie = (
        f"{DEV_SESSION_COOKIE}={session}; Path=/; Max-Age={DEV_SESSION_LIFETIME_MS // 1000}; "
        "HttpOnly; Secure; SameSite=Lax"
    )
    headers = (
        ("Location", f"{dev_origin(change, project, ctx.dev_port)}/"),
        ("Set-Cookie", cookie),
        *NO_STORE,
        ("Referrer-Policy", "no-referrer"),
    )
    ctx.reply = Reply(303, b"", content_type="", headers=headers)
