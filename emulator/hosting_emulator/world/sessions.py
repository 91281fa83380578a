"""API keys, and interactive user sessions.

A session starts when a user signs in with a browser. Tokens created without a sign-in, by the
control API, commands and stories, belong to the user's implicit session, which has no row. Ending
all of a user's sessions also adds a row that marks the implicit session as ended. Tokens created
after that belong to the user's next implicit session.
"""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.records import ApiKey, InteractiveSession
from hosting_emulator.world.streams import derive, next_number
from hosting_emulator.world.tables import API_KEYS, SESSIONS
from hosting_emulator.world.value import Change, World

#: The lifetime of a key: 90 days (contract, section Limits).
KEY_LIFETIME_MS = 90 * 86_400_000
#: Tokens are accepted from this many implicit sessions: the current one and those after it.
_LATER_SESSIONS = 100


def put_key(
    change: Change,
    id_: str,
    *,
    organization_id: str,
    user_id: str,
    name: str,
    digest: str,
    last_characters: str,
    permissions: tuple[str, ...],
) -> ApiKey:
    """Store a new API key. `last_characters` is the part of its value that responses show."""
    key = ApiKey(
        id=id_,
        organization_id=organization_id,
        user_id=user_id,
        name=name,
        digest=digest,
        obfuscated_value=f"{change.assumptions.key_prefix}…{last_characters}",
        permissions=permissions,
        created_at=format_timestamp(change.now_ms),
        expires_ms=change.now_ms + KEY_LIFETIME_MS,
    )
    change.put(API_KEYS, key.id, key)
    return key


def implicit_session_id(world: World | Change, user_id: str) -> str:
    """Return the id of a user's current implicit session."""
    seed = world.world.seed if isinstance(world, Change) else world.seed
    session_id = derive(seed, "session", user_id, size=12).hex()
    # Skip implicit sessions that have a row, because a row means that the session has ended.
    while world.get(SESSIONS, session_id) is not None:
        session_id = _next_implicit_id(seed, session_id)
    return session_id


def begin_session(change: Change, user_id: str, organization_id: str | None) -> str:
    """Start a session, and return its id."""
    number = next_number(change, "sessions")
    session_id = derive(change.world.seed, "session", user_id, str(number), size=12).hex()
    session = InteractiveSession(user_id, organization_id, change.now_ms)
    change.put(SESSIONS, session_id, session)
    return session_id


def end_session(change: Change, session_id: str) -> None:
    """End a session. Does nothing if the session does not exist or has already ended."""
    session = change.get(SESSIONS, session_id)
    if session is not None and session.ended_ms is None:
        change.put(SESSIONS, session_id, replace(session, ended_ms=change.now_ms))


def end_implicit_session(change: Change, user_id: str) -> None:
    """End the current implicit session of a user."""
    now_ms = change.now_ms
    session = InteractiveSession(user_id, None, began_ms=now_ms, ended_ms=now_ms)
    change.put(SESSIONS, implicit_session_id(change, user_id), session)


def is_current(world: World, session_id: str | None, user_id: str) -> bool:
    """Return whether a user's session exists in a world and has not ended."""
    session = world.get(SESSIONS, session_id or "")
    if session is not None:
        return session.ended_ms is None
    # After the world has been rewound, a request can carry a token from a later implicit session,
    # which has not ended in the restored state.
    implicit_id = implicit_session_id(world, user_id)
    for _ in range(_LATER_SESSIONS):
        if session_id == implicit_id:
            return True
        implicit_id = _next_implicit_id(world.seed, implicit_id)
    return False


def _next_implicit_id(seed: str, session_id: str) -> str:
    return derive(seed, "session", session_id, size=12).hex()
