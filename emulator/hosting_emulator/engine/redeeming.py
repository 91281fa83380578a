"""Redeeming a dev access ticket as an exchange: at the dev origin, but in the request log like all.

It is no call of the contract: it needs no token, and faults do not touch it.
"""

from __future__ import annotations

from urllib.parse import parse_qs

from hosting_emulator.calls.create_dev_access_ticket import dev_origin
from hosting_emulator.calls.redeem_ticket import SESSION_MS, redeem
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Incoming, Outgoing
from hosting_emulator.engine.trail import Trail
from hosting_emulator.world.records import Project
from hosting_emulator.world.value import Change

#: What such an exchange is called in the request log, beside the calls.
REDEEM_TICKET = "redeem_ticket"
COOKIE = "dev_access"


def redeem_at(engine: Engine, incoming: Incoming, project: Project) -> Outgoing:
    """Answer a GET of the redeem address at a project's origin: a redirect, or a problem."""

    def answer(incoming: Incoming, trail: Trail) -> Outgoing:
        trail.now_ms = trail.came_ms = engine.run_due()
        trail.real_ms = engine.machine_ms
        trail.call, trail.project = REDEEM_TICKET, project.id
        change = Change(engine.world, trail.now_ms)
        session = redeem(change, project, _ticket(incoming.query))
        engine.commit(change, REDEEM_TICKET)
        return _redirect(dev_origin(change, project, incoming.dev_port), session)

    return engine.exchange(incoming, answer)


def _ticket(query: str) -> str:
    found = parse_qs(query, keep_blank_values=True)
    tickets, stages = found.get("ticket", []), found.get("stage", [])
    if len(tickets) != 1 or stages != ["dev"]:
        raise Refused("invalid_request", "A ticket is redeemed with ?stage=dev&ticket=….")
    return tickets[0]


def _redirect(origin: str, session: str) -> Outgoing:
    cookie = (
        f"{COOKIE}={session}; Path=/; Max-Age={SESSION_MS // 1000}; HttpOnly; Secure; SameSite=Lax"
    )
    headers = (
        ("Location", f"{origin}/"),
        ("Set-Cookie", cookie),
        ("Cache-Control", "no-store"),
        ("Referrer-Policy", "no-referrer"),
    )
    return Outgoing(303, b"", "", headers)
