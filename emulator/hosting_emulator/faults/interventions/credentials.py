"""Interventions that change dev access tickets, API keys and sessions.

A document names a ticket by its id or by its user, and an API key by its id or name.
"""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.interventions.declaration import intervention
from hosting_emulator.world import sessions
from hosting_emulator.world.records import (
    ApiKey,
    Ticket,
    User,
)
from hosting_emulator.world.tables import (
    API_KEYS,
    FAULTS,
    SESSIONS,
    TICKETS,
)
from hosting_emulator.world.value import Change


@intervention(user="owner")
def expire_ticket(change: Change, ticket: Ticket) -> str:
    """An unused ticket expires now, before its ten minutes have passed."""
    change.put(TICKETS, ticket.id, replace(ticket, expires_ms=change.now_ms))
    return f"ticket {ticket.id} has expired"


@intervention(user="owner")
def revoke_ticket(change: Change, ticket: Ticket) -> str:
    """An unused ticket is revoked."""
    change.put(TICKETS, ticket.id, replace(ticket, state="revoked"))
    return f"ticket {ticket.id} is revoked"


@intervention(key="deploy")
def expire_key(change: Change, key: ApiKey) -> str:
    """An API key expires now, before its 90 days have passed."""
    change.put(API_KEYS, key.id, replace(key, expires_ms=change.now_ms))
    return f"API key {key.name} has expired"


@intervention(key="deploy")
def revoke_key(change: Change, key: ApiKey) -> str:
    """An API key is revoked."""
    change.put(API_KEYS, key.id, replace(key, revoked=True))
    return f"API key {key.name} is revoked"


@intervention(user="owner")
def end_session(change: Change, user: User) -> str:
    """All of a user's sessions end. To create API keys, the user must sign in again or get a new token."""
    sessions.end_implicit_session(change, user.id)
    for session_id, session in change.applied().rows(SESSIONS):
        if session.user_id == user.id:
            sessions.end_session(change, session_id)
    return f"{user.alias} has no session; a new sign-in or a new token starts a session"


@intervention(times=1)
def leave_key_creation_uncertain(
    change: Change, times: Annotated[int, Meta(ge=1, le=1000)] = 1, *, optional: bool = False
) -> str:
    """The next API keys are created, but the responses are api_key_creation_uncertain.

    With `optional`, a story can pass even if no key is created.
    """
    fault = arm(
        change,
        {
            "abort": {"code": change.assumptions.code_of("creation_uncertain")},
            "call": "create_user_api_key",
            "after_commit": True,
            "times": times,
            "optional": optional,
        },
    )
    change.put(FAULTS, fault.id, replace(fault, skips_replays=True))
    return f"{fault.id} makes the next {times} key creations uncertain"
