"""The identity provider's discovery, keys and user info endpoints."""

from __future__ import annotations

from typing import Any, Final

from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.access_tokens import bearer_token
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.id_tokens import ALGORITHM as ID_TOKEN_ALGORITHM
from hosting_emulator.http import responses
from hosting_emulator.identity.oauth import GRANTS, PROMPTS, RESPONSE_MODES, SCOPES, user_claims
from hosting_emulator.identity.request import IdentityRequest
from hosting_emulator.messages import JsonObject
from hosting_emulator.world.records import User
from hosting_emulator.world.tables import USERS

#: The scope that `userinfo` assumes for a token that was issued without a browser sign-in.
_SCOPE_WITHOUT_SIGN_IN: Final = "openid profile email"
_CLAIMS: Final = [
    "iss",
    "aud",
    "sub",
    "iat",
    "exp",
    "auth_time",
    "nonce",
    "at_hash",
    "org_id",
    "sid",
    "client_id",
    "scope",
    "name",
    "preferred_username",
    "email",
    "email_verified",
]


def discovery(request: IdentityRequest, engine: Engine) -> JsonObject:
    """Describe the identity provider (OpenID Connect Discovery 1.0)."""
    issuer = request.issuer(engine)
    return {
        "issuer": issuer,
        "jwks_uri": f"{issuer}/jwks.json",
        "token_endpoint": f"{issuer}/token",
        "authorization_endpoint": f"{issuer}/authorize",
        "userinfo_endpoint": f"{issuer}/userinfo",
        "end_session_endpoint": f"{issuer}/end-session",
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": RESPONSE_MODES,
        "grant_types_supported": GRANTS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "prompt_values_supported": PROMPTS,
        "token_endpoint_auth_methods_supported": [
            "none",
            "client_secret_post",
            "client_secret_basic",
        ],
        "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": [ID_TOKEN_ALGORITHM],
        "claims_supported": _CLAIMS,
        "claims_parameter_supported": False,
        "request_parameter_supported": False,
        "request_uri_parameter_supported": False,
    }


def jwks(engine: Engine) -> Any:
    """Return the public keys that clients use to verify tokens (RFC 7517)."""
    return engine.access_tokens.jwks()


def userinfo(request: IdentityRequest, engine: Engine) -> Any:
    """Return the claims about the user of an access token (OpenID Connect Core 1.0, section 5.3)."""
    credentials = request.head.headers.getall("Authorization", [])
    try:
        user, token, organization_id = _authenticate(engine, credentials)
    except Refused as refusal:
        return _challenge(refusal.detail, has_credentials=bool(credentials))
    scope = engine.access_tokens.scope_of(token)
    if scope is None:
        scope = _SCOPE_WITHOUT_SIGN_IN
    return user_claims(user, scope, organization_id)


def _authenticate(engine: Engine, credentials: list[str]) -> tuple[User, str, str | None]:
    """Return an access token's user, the token itself, and the id of the token's organization.

    Raises Refused if `credentials` is not a valid access token.
    """
    token = bearer_token(credentials)
    principal, key = engine.access_tokens.authenticate(engine.begin_change(), credentials)
    user = engine.world.get(USERS, principal.user_id)
    if key is not None or user is None:
        raise Refused(
            "unauthenticated",
            "A user's access token is required.",
        )
    return user, token, principal.organization_id


def _challenge(detail: str, *, has_credentials: bool) -> Any:
    """Return a 401 response (RFC 6750, section 3).

    The challenge includes an error code only if the request had credentials.
    """
    error = "invalid_request"
    challenge = "Bearer"
    if has_credentials:
        error = "invalid_token"
        challenge = f'Bearer error="{error}", error_description="{detail}"'
    response = responses.json({"error": error, "error_description": detail}, 401)
    response.headers["WWW-Authenticate"] = challenge
    return response
