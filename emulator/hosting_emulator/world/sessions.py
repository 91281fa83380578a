"""API keys, and interactive sessions: that somebody is signed in by a browser, until its end.

A token made by name (by the control API, a command, a story) speaks for a session of its user that
no sign-out ends: it needs no row. When all sessions of a user are ended, it gets one as ended, and
tokens made by name from then on speak for the next.
"""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.records import ApiKey, InteractiveSession
from hosting_emulator.world.streams import derive, next_number
from hosting_emulator.world.tables import API_KEYS, SESSIONS
from hosting_emulator.world.value import Change, World

#: A key is valid 90 days (contract, Limits).
KEY_LIFETIME_MS = 90 * 86_400_000


def put_key(
    change: Change,
    id_: str,
    of: tuple[str, str, str],
    kept: tuple[str, str],
    permissions: tuple[str, ...],
) -> ApiKey:
    """Write a key `of` an organization, a user and a name; `kept`: its digest, its last characters."""
    organization_id, user_id, name = of
    found, end = kept
    key = ApiKey(
        id=id_,
        organization_id=organization_id,
        user_id=user_id,
        name=name,
        digest=found,
        obfuscated_value=f"{change.assumptions.key_prefix}…{end}",
        permissions=permissions,
        created_at=format_timestamp(change.now_ms),
        expires_ms=change.now_ms + KEY_LIFETIME_MS,
    )
    change.put(API_KEYS, key.id, key)
    return key


def standing_session(world: World | Change, user_id: str) -> str:
    """Return the id of the session that a user's tokens made by name now speak for."""
    seed = world.world.seed if isinstance(world, Change) else world.seed
    session_id = derive(seed, "session", user_id, size=12).hex()
    while world.get(SESSIONS, session_id) is not None:  # it was ended
        session_id = derive(seed, "session", session_id, size=12).hex()
    return session_id


def begin_session(change: Change, user_id: str, organization_id: str | None) -> str:
    """Begin a session now, and return its id."""
    number = next_number(change, "sessions")
    session_id = derive(change.world.seed, "session", user_id, str(number), size=12).hex()
    record = InteractiveSession(user_id, organization_id, change.now_ms)
    change.put(SESSIONS, session_id, record)
    return session_id


def end_session(change: Change, session_id: str) -> None:
    """End a session, if it is one that goes on."""
    found = change.get(SESSIONS, session_id)
    if found is not None and found.ended_ms is None:
        change.put(SESSIONS, session_id, replace(found, ended_ms=change.now_ms))


def end_standing_session(change: Change, user_id: str) -> None:
    """End the session that a user's tokens made by name speak for until now."""
    now_ms = change.now_ms
    ended = InteractiveSession(user_id, None, began_ms=now_ms, ended_ms=now_ms)
    change.put(SESSIONS, standing_session(change, user_id), ended)


def is_current(world: World, session_id: str | None, user_id: str) -> bool:
    """Tell whether a session is one of this world's that goes on."""
    found = world.get(SESSIONS, session_id or "")
    if found is None:
        return session_id == standing_session(world, user_id)
    return found.ended_ms is None
