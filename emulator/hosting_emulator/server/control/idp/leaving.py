"""Signing out (OpenID Connect RP-Initiated Logout 1.0)."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.control.idp import session
from hosting_emulator.server.control.idp.asking import PageRefused, destination, read_fields
from hosting_emulator.server.control.idp.discovery import issuer
from hosting_emulator.server.pages import sign_in_page as pages
from hosting_emulator.world.naming import DEFAULT_WORLD


async def end_session(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """GET …/idp/end-session: end this browser's session, and go back where that is local.

    Tokens go on until they expire. To an address that is not local a link leads.
    """
    engine = context.engine(world)
    try:
        fields = read_fields(context.query)
        _check_hint(context, world, fields)
        to = None
        if "post_logout_redirect_uri" in fields:
            to = destination(fields["post_logout_redirect_uri"], context.origins)
    except PageRefused as refused:
        return answers.html(pages.refused_page(str(refused)), pages.POLICY, 400)
    state = {"state": fields["state"]} if "state" in fields else {}
    address = (to.url(state) if state else to.uri) if to else ""
    if to is not None and to.local:
        response = answers.redirect(address)
    else:
        response = answers.html(pages.signed_out_page(address), pages.POLICY)
    session.end(response, engine)
    return response


def _check_hint(context: Context, world: str, fields: dict[str, str]) -> None:
    identity = context.engine(world).identity
    hint = fields.get("id_token_hint")
    claims = identity.sign_ins.read_id_token(hint, issuer(context, world)) if hint else None
    if hint and claims is None:
        raise PageRefused("The id_token_hint is no ID token of this world.")
    if claims is not None and fields.get("client_id", claims["aud"]) != claims["aud"]:
        raise PageRefused("The id_token_hint was issued to another client_id.")
