"""The cookie that identifies a browser's session with the identity provider.

Browsers send this cookie only to the paths of one world's identity provider.
"""

from __future__ import annotations

from typing import Final

from aiohttp import web

from hosting_emulator.engine.access_tokens import issuer_path
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.request_head import read_cookie
from hosting_emulator.identity.oauth import is_member
from hosting_emulator.identity.request import IdentityRequest
from hosting_emulator.world.records import InteractiveSession
from hosting_emulator.world.tables import SESSIONS, USERS
from hosting_emulator.world.value import Change

_NAME: Final = "hosting_emulator_session"


def read_session(
    request: IdentityRequest, engine: Engine, now_ms: int
) -> tuple[str, InteractiveSession] | None:
    """Return the id and data of the browser's session, or None if there is no valid session."""
    world = engine.world
    cookie = read_cookie(request.head, _NAME)
    if not cookie:
        return None
    session_id = engine.sign_ins.session_id_from_cookie(cookie, Change(world, now_ms))
    session = world.get(SESSIONS, session_id or "")
    if session_id is None or session is None or session.ended_ms is not None:
        return None
    user = world.get(USERS, session.user_id)
    if user is None:
        return None
    if session.organization_id and not is_member(world, user, session.organization_id):
        return None
    return session_id, session


def set_session(
    response: web.Response, engine: Engine, session_id: str, session: InteractiveSession
) -> None:
    """Add the session's cookie to a response."""
    value = engine.sign_ins.session_cookie(session_id, session.began_ms)
    path = issuer_path(engine.world.name)
    response.set_cookie(_NAME, value, path=path, httponly=True, samesite="Lax")


def delete_session(response: web.Response, engine: Engine) -> None:
    """Add the header that deletes the session cookie to a response."""
    path = issuer_path(engine.world.name)
    response.del_cookie(_NAME, path=path, httponly=True, samesite="Lax")
