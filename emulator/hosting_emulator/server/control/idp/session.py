"""A browser's session at a world's identity provider: a cookie that no other path gets."""

from __future__ import annotations

from dataclasses import dataclass
from http.cookies import CookieError, SimpleCookie

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.server.control.context import Context
from hosting_emulator.world.records import Person
from hosting_emulator.world.tables import MEMBERSHIPS, PEOPLE

COOKIE = "hosting_emulator_session"


@dataclass(frozen=True, slots=True)
class Session:
    """Who signed in with this browser, for which organization, and when (s of world time)."""

    person: Person
    organization_id: str | None
    since: int


def read(context: Context, engine: Engine, now_ms: int) -> Session | None:
    """Return the session that a request carries, if it is good in this world as it is now."""
    cookies: SimpleCookie = SimpleCookie()
    try:
        cookies.load(context.request.headers.get("Cookie", ""))
    except CookieError:
        return None
    sent = cookies.get(COOKIE)
    found = engine.identity.sign_ins.open_session(sent.value, now_ms) if sent else None
    if found is None:
        return None
    person_id, organization_id, since = found
    person = engine.world.get(PEOPLE, person_id)
    if person is None:
        return None
    if organization_id and not engine.world.get(MEMBERSHIPS, f"{organization_id}/{person_id}"):
        return None
    return Session(person, organization_id, since)


def keep(response: web.Response, engine: Engine, session: str) -> None:
    """Tell a browser to keep a session until it is closed."""
    path = issuer_path(engine.world.name)
    response.set_cookie(COOKIE, session, path=path, httponly=True, samesite="Lax")


def end(response: web.Response, engine: Engine) -> None:
    """Tell a browser to forget its session."""
    path = issuer_path(engine.world.name)
    response.del_cookie(COOKIE, path=path, httponly=True, samesite="Lax")
