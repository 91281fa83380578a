"""Who an access token speaks for (OpenID Connect Core 1.0, 5.3)."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.identity import bearer_token
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.control.idp.people import claims_of
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.tables import PEOPLE
from hosting_emulator.world.value import Change

#: What a token that was not made by a browser's sign-in may read: it was asked for no scope.
_WITHOUT_SCOPE = "openid profile email"


async def userinfo(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """GET and POST …/idp/userinfo, with an access token in the Authorization header."""
    engine = context.engine(world)
    sent = context.request.headers.getall("Authorization", [])
    try:
        token = bearer_token(sent)
        principal, key = engine.identity.authenticate(Change(engine.world, engine.run_due()), token)
    except Refused as refused:
        return _refused(refused.detail, told="invalid_token" if sent else "")
    person = engine.world.get(PEOPLE, principal.person_id)
    if key is not None or person is None:
        return _refused("An access token of a person is needed.", told="invalid_token")
    scope = engine.identity.scope_of(token)
    claims = claims_of(person, _WITHOUT_SCOPE if scope is None else scope)
    if principal.organization_id is not None:
        claims["org_id"] = principal.organization_id
    return answers.json(claims)


def _refused(detail: str, told: str) -> web.Response:
    challenge = "Bearer"
    if told:
        challenge += f' error="{told}", error_description="{detail}"'
    response = answers.json({"error": told or "invalid_request", "error_description": detail}, 401)
    response.headers["WWW-Authenticate"] = challenge
    return response
