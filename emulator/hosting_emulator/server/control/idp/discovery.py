"""What the identity provider says of itself: OpenID discovery, and its keys."""

from __future__ import annotations

import asyncio

from aiohttp import web

from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.engine.sign_in import ID_TOKEN_ALGORITHM
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.control.idp.asking import RESPONSE_MODES, SCOPES
from hosting_emulator.server.control.idp.tokens import GRANTS
from hosting_emulator.world.naming import DEFAULT_WORLD


def issuer(context: Context, world: str) -> str:
    """Return a world's issuer, as whoever asks has to write it. Raises ControlRefused 404."""
    return context.base_url + issuer_path(context.engine(world).world.name)


async def discovery(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """GET …/idp/.well-known/openid-configuration (OpenID Connect Discovery 1.0)."""
    here = issuer(context, world)
    return answers.json(
        {
            "issuer": here,
            "jwks_uri": f"{here}/jwks.json",
            "token_endpoint": f"{here}/token",
            "authorization_endpoint": f"{here}/authorize",
            "userinfo_endpoint": f"{here}/userinfo",
            "end_session_endpoint": f"{here}/end-session",
            "scopes_supported": list(SCOPES),
            "response_types_supported": ["code"],
            "response_modes_supported": list(RESPONSE_MODES),
            "grant_types_supported": list(GRANTS),
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": True,
            "prompt_values_supported": ["none", "login", "consent", "select_account"],
            "token_endpoint_auth_methods_supported": [
                "none",
                "client_secret_post",
                "client_secret_basic",
            ],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ID_TOKEN_ALGORITHM],
            "claims_supported": (
                "iss aud sub iat exp auth_time nonce at_hash org_id sid client_id scope"
                " name preferred_username email email_verified"
            ).split(),
            "claims_parameter_supported": False,
            "request_parameter_supported": False,
            "request_uri_parameter_supported": False,
        }
    )


async def jwks(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """GET …/idp/jwks.json (RFC 7517)."""
    identity = context.engine(world).identity
    # In a thread: the first time, finding the key of ID tokens takes a while.
    return answers.json(await asyncio.to_thread(identity.jwks))
