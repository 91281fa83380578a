"""What clients fetch from a world's identity provider: tokens, who they speak for, discovery and keys."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_plus

from aiohttp import web

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import bearer_token, home_of, issuer_path
from hosting_emulator.engine.sign_in import ID_TOKEN_ALGORITHM, GrantRefused, Redeemed, SignIn
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused, find
from hosting_emulator.server.control.idp.authorization import (
    RESPONSE_MODES,
    SCOPES,
    PageRefused,
    read_fields,
)
from hosting_emulator.server.control.people import token_document
from hosting_emulator.world.records import Person
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, PEOPLE
from hosting_emulator.world.value import Change, World

#: Grants that prove that a person has chosen to sign in; a web app of another origin has no others.
_PROVEN: Final = ("authorization_code", "refresh_token")
_GRANTS: Final = (*_PROVEN, "password", "client_credentials")
#: What a token that was not made by a browser's sign-in may read: it was asked for no scope.
_WITHOUT_SCOPE: Final = "openid profile email"


class TokenRefused(Exception):
    """A token request that is refused; `error` is one of OAuth's codes."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error, self.description = error, description


async def token(context: Context, engine: Engine) -> web.Response:
    """POST …/idp/token (RFC 6749). Nobody has a password here, and every client secret is right.

    `authorization_code` (with PKCE, RFC 7636) and `refresh_token` (which changes each time) follow a
    sign-in at `…/authorize`. `password` with `username` signs a person in by name;
    `client_credentials` with `client_id` speaks for a person without a session; for both,
    `organization` chooses the organization.
    """
    try:
        fields = read_fields((await context.bytes()).decode("utf-8", "replace"))
        grant = fields.get("grant_type", "")
        if grant not in _GRANTS:
            raise TokenRefused(
                "unsupported_grant_type", f"grant_type is one of {', '.join(_GRANTS)}"
            )
        if grant in _PROVEN:
            found = _redeem(context, engine, fields)
            return answers.json(await _signed_in(context, engine, found))
        return answers.json(_by_name(context, engine, fields))
    except PageRefused as refused:
        return _refused("invalid_request", str(refused))
    except GrantRefused as refused:
        return _refused("invalid_grant", str(refused))
    except TokenRefused as refused:
        return _refused(refused.error, refused.description)


def _by_name(context: Context, engine: Engine, fields: Mapping[str, str]) -> dict[str, Any]:
    if context.from_another_origin:
        raise TokenRefused(
            "unauthorized_client", f"a web page may only use {' and '.join(_PROVEN)}"
        )
    interactive = fields["grant_type"] == "password"
    who = fields.get("username", "") if interactive else _client(context, fields)
    try:
        person = find(engine.world, PEOPLE, who)
        organization_id = organization_of(
            engine.world, person, fields.get("organization", "")
        ) or home_of(engine.world, person)
    except ControlRefused as refused:
        raise GrantRefused(refused.detail) from None
    return token_document(context, engine, person, organization_id, interactive=interactive)


def _redeem(context: Context, engine: Engine, fields: Mapping[str, str]) -> Redeemed:
    client_id = _client(context, fields)
    named = "code" if fields["grant_type"] == "authorization_code" else "refresh_token"
    needed = {"client_id": client_id, named: fields.get(named)}
    if named == "code":
        needed |= {name: fields.get(name) for name in ("redirect_uri", "code_verifier")}
    missing = [name for name, value in needed.items() if not value]
    if missing:
        raise TokenRefused("invalid_request", f"{missing[0]} is missing")
    sign_ins, now_ms = engine.identity.sign_ins, engine.run_due()
    if named == "refresh_token":
        return sign_ins.redeem_refresh_token(fields[named], client_id, now_ms)
    return sign_ins.redeem_code(
        fields[named], client_id, fields["redirect_uri"], fields["code_verifier"], now_ms
    )


async def _signed_in(context: Context, engine: Engine, redeemed: Redeemed) -> dict[str, Any]:
    sign_in, world = redeemed.sign_in, engine.world
    person = world.get(PEOPLE, sign_in.person_id)
    if person is None:
        raise GrantRefused("the person is no longer in this world")
    organization_id = sign_in.organization_id
    if organization_id and world.get(MEMBERSHIPS, f"{organization_id}/{person.id}") is None:
        raise GrantRefused("the person no longer belongs to that organization")
    document = token_document(
        context, engine, person, organization_id, interactive=True, sign_in=sign_in
    )
    document["scope"] = sign_in.scope
    now_ms = engine.now_ms()
    if sign_in.has("offline_access"):
        document["refresh_token"] = engine.identity.sign_ins.refresh_token(redeemed, now_ms)
    if sign_in.has("openid"):
        claims = _id_claims(context, engine, person, sign_in, now_ms)
        # In a thread: the first time, finding the key takes a while.
        document["id_token"] = await asyncio.to_thread(
            engine.identity.sign_ins.id_token, claims, document["access_token"]
        )
    return document


def _id_claims(
    context: Context, engine: Engine, person: Person, sign_in: SignIn, now_ms: int
) -> dict[str, Any]:
    issued = now_ms // 1000
    lifetime_s = max(1, parse_duration_ms(engine.world.assumptions.token_lifetime) // 1000)
    claims: dict[str, Any] = {
        "iss": issuer(context, engine),
        "aud": sign_in.client_id,
        "iat": issued,
        "exp": issued + lifetime_s,
        "auth_time": sign_in.auth_time,
        **_claims_of(person, sign_in.scope),
    }
    if sign_in.organization_id is not None:
        claims["org_id"] = sign_in.organization_id
    if sign_in.nonce is not None:
        claims["nonce"] = sign_in.nonce
    return claims


def _client(context: Context, fields: Mapping[str, str]) -> str:
    header = context.request.headers.get("Authorization", "")
    return _basic_user(header) or fields.get("client_id", "")


def _basic_user(header: str) -> str | None:
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        return unquote_plus(b64decode(encoded, validate=True).decode().partition(":")[0])
    except (Base64Error, ValueError):
        return None


def _refused(error: str, description: str) -> web.Response:
    return answers.json({"error": error, "error_description": description}, 400)


# --- who a token speaks for ----------------------------------------------------------------------


def userinfo(context: Context, engine: Engine) -> web.Response:
    """GET and POST …/idp/userinfo, with an access token in the Authorization header."""
    sent = context.request.headers.getall("Authorization", [])
    try:
        token = bearer_token(sent)
        principal, key = engine.identity.authenticate(Change(engine.world, engine.run_due()), token)
    except Refused as refused:
        return _unknown(refused.detail, told="invalid_token" if sent else "")
    person = engine.world.get(PEOPLE, principal.person_id)
    if key is not None or person is None:
        return _unknown("An access token of a person is needed.", told="invalid_token")
    scope = engine.identity.scope_of(token)
    claims = _claims_of(person, _WITHOUT_SCOPE if scope is None else scope)
    if principal.organization_id is not None:
        claims["org_id"] = principal.organization_id
    return answers.json(claims)


def _unknown(detail: str, told: str) -> web.Response:
    challenge = "Bearer"
    if told:
        challenge += f' error="{told}", error_description="{detail}"'
    response = answers.json({"error": told or "invalid_request", "error_description": detail}, 401)
    response.headers["WWW-Authenticate"] = challenge
    return response


def _claims_of(person: Person, scope: str) -> dict[str, Any]:
    """Return what a client with this scope may know (OpenID Connect Core 1.0, 5.4)."""
    scopes = scope.split()
    claims: dict[str, Any] = {"sub": person.id}
    if "profile" in scopes:
        claims |= {"name": person.name, "preferred_username": person.alias}
    if "email" in scopes:
        claims |= {"email": person.email, "email_verified": True}
    return claims


def organization_of(world: World, person: Person, name: str) -> str | None:
    """Return the id of the organization that is named, if one is.

    Raises ControlRefused when it is none of this world's, or none of the person's.
    """
    if not name:
        return None
    organization = find(world, ORGANIZATIONS, name)
    if world.get(MEMBERSHIPS, f"{organization.id}/{person.id}") is None:
        raise ControlRefused(400, "", f"the person does not belong to {organization.alias}")
    return organization.id


# --- what the provider says of itself ------------------------------------------------------------


def issuer(context: Context, engine: Engine) -> str:
    """Return a world's issuer, as whoever asks has to write it."""
    return context.base_url + issuer_path(engine.world.name)


def discovery(context: Context, engine: Engine) -> dict[str, Any]:
    """GET …/idp/.well-known/openid-configuration (OpenID Connect Discovery 1.0)."""
    here = issuer(context, engine)
    return {
        "issuer": here,
        "jwks_uri": f"{here}/jwks.json",
        "token_endpoint": f"{here}/token",
        "authorization_endpoint": f"{here}/authorize",
        "userinfo_endpoint": f"{here}/userinfo",
        "end_session_endpoint": f"{here}/end-session",
        "scopes_supported": list(SCOPES),
        "response_types_supported": ["code"],
        "response_modes_supported": list(RESPONSE_MODES),
        "grant_types_supported": list(_GRANTS),
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


async def jwks(engine: Engine) -> Any:
    """GET …/idp/jwks.json (RFC 7517)."""
    # In a thread: the first time, finding the key of ID tokens takes a while.
    return await asyncio.to_thread(engine.identity.jwks)
