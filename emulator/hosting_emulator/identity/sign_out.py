"""Browser sign-out (OpenID Connect RP-Initiated Logout 1.0)."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.id_tokens import read_id_token
from hosting_emulator.http import responses
from hosting_emulator.identity import pages, session_cookie
from hosting_emulator.identity.destinations import (
    Destination,
    read_destination,
    with_parameters,
)
from hosting_emulator.identity.oauth import OAuthRefusal, read_fields
from hosting_emulator.identity.request import IdentityRequest
from hosting_emulator.world import sessions
from hosting_emulator.world.tables import SESSIONS
from hosting_emulator.world.value import Change


def end_session(request: IdentityRequest, engine: Engine) -> web.Response:
    """End the browser's session and the session identified by `id_token_hint`, then redirect to the
    client.

    The refresh tokens of these sessions become invalid. Access tokens remain valid until they
    expire, except for calls that require a current session. If the client's address is not local,
    the browser is not redirected. It gets a page with a link to that address instead.
    """
    try:
        fields = read_fields(request.query)
        hinted_session_id = _hinted_session(request, engine, fields)
        destination = _destination(request, fields)
    except OAuthRefusal as refusal:
        return pages.refused_sign_out_page(refusal.description)
    if destination is not None and destination.local:
        response = responses.redirect(destination.uri)
    else:
        response = pages.signed_out_page(destination)
    _end_sessions(request, engine, hinted_session_id)
    session_cookie.delete_session(response, engine)
    return response


def _hinted_session(request: IdentityRequest, engine: Engine, fields: dict[str, str]) -> str | None:
    """Return the session id in `id_token_hint`, or None if there is no hint. Raises OAuthRefusal."""
    if "id_token_hint" not in fields:
        return None
    claims = read_id_token(fields["id_token_hint"], request.issuer(engine))
    if claims is None:
        raise OAuthRefusal("The id_token_hint is not an ID token of this world.")
    if fields.get("client_id", claims["aud"]) != claims["aud"]:
        raise OAuthRefusal("The id_token_hint was issued to another client_id.")
    return str(claims["sid"])


def _destination(request: IdentityRequest, fields: dict[str, str]) -> Destination | None:
    """Return the destination that the client requested, with the client's `state`.

    Returns None if the client requested no destination. Raises OAuthRefusal for an invalid destination.
    """
    if "post_logout_redirect_uri" not in fields:
        return None
    destination = read_destination(fields["post_logout_redirect_uri"], request.site)
    if "state" not in fields:
        return destination
    uri = with_parameters(destination.uri, {"state": fields["state"]})
    return Destination(uri, destination.name, destination.local)


def _end_sessions(request: IdentityRequest, engine: Engine, hinted_session_id: str | None) -> None:
    """End the browser's session and the hinted session in one commit."""
    change = Change(engine.world, engine.run_due())
    if hinted_session_id is not None:
        sessions.end_session(change, hinted_session_id)
    browser_session = session_cookie.read_session(request, engine, change.now_ms)
    if browser_session is not None:
        sessions.end_session(change, browser_session[0])
    if not change.writes:
        return
    ended_session = next(iter(change.writes[SESSIONS.name].values()))
    step = {"intervene": {"end_session": {"user": ended_session.user_id}}}
    engine.commit(change, "signed out", step)
