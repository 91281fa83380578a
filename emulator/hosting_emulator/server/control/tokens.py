"""Tokens and keys for anyone in a world: by name, and as an identity provider gives them to clients.

Each world is its own OpenID provider, over HTTP, with nobody having a password.
"""

from __future__ import annotations

import logging
from typing import Annotated, Any, Final, TypeAlias
from urllib.parse import parse_qsl, unquote_plus

from msgspec import UNSET, Meta, UnsetType

from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.contract.words import command_line
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import bearer_token, home_of, issuer_path
from hosting_emulator.engine.sign_in import ID_TOKEN_ALGORITHM, GrantRefused, Redeemed, SignIns
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import (
    Body,
    Context,
    ControlRefusal,
    KeyName,
    find,
    refused_as,
)
from hosting_emulator.server.guard import basic_credentials
from hosting_emulator.world.naming import usual_person
from hosting_emulator.world.records import AuthorizationGrant, Person
from hosting_emulator.world.sessions import is_current
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, PEOPLE
from hosting_emulator.world.value import Change, World

_log: Final = logging.getLogger("hosting_emulator")
#: How far ahead of a client's time a token may have been issued, as most of them see it.
_SKEW_MS: Final = 60_000
_LONGEST_LIFETIME_S: Final = 10 * 365 * 86_400
#: Scopes that mean something here, in words; others are left out of what is granted.
SCOPES: Final = {
    "openid": "who you are",
    "profile": "your name",
    "email": "your e-mail address",
    "offline_access": "staying signed in",
}
RESPONSE_MODES: Final = ("query", "fragment")
#: Grants that prove that a person has chosen to sign in; a web app of another origin has no others.
_PROVEN: Final = ("authorization_code", "refresh_token")
_GRANTS: Final = (*_PROVEN, "password", "client_credentials")
#: What a token that was not made by a browser's sign-in may read: it was asked for no scope.
_WITHOUT_SCOPE: Final = "openid profile email"


#: As the OpenAPI document tells it.
Lifetime = Annotated[int, Meta(extra_json_schema={"minimum": 1, "maximum": _LONGEST_LIFETIME_S})]


class NewToken(Body, rename={"who": "as"}):
    """The user a token is for, by alias or id. Its lifetime is in seconds of world time.

    Without `as` it is for the user `owner`, or for an owner of the first organization.
    """

    who: str | None = None
    organization: str | UnsetType | None = UNSET
    interactive: bool = True
    expires_in_seconds: Lifetime | None = None


#: What a token says: person, organization, whether it carries a sign-in, and its lifetime.
Claims: TypeAlias = tuple[Person, str | None, bool, int | None]


class NewKey(Body, rename={"who": "as"}):
    """The user a key is for, as for a token. Default permissions: all of the organization's."""

    who: str | None = None
    organization: str | None = None
    name: KeyName = "created by the control API"
    permissions: list[str] | None = None


class OAuthRefused(Exception):
    """A request that is refused in OAuth's or OpenID's way; `error` is one of their codes."""

    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error, self.description = error, description


# --- by name -------------------------------------------------------------------------------------


def create_token(context: Context, engine: Engine, body: NewToken) -> dict[str, Any]:
    """Create an access JWT for a user, as if they had signed in."""
    return mint(context, engine, *claims_for(engine.world, body))


def claims_for(world: World, body: NewToken) -> Claims:
    """Return what a token is to say, for `mint`. Raises ControlRefusal."""
    person = _person(world, body.who)
    if isinstance(body.organization, str):
        organization_id: str | None = find(world, ORGANIZATIONS, body.organization).id
    else:
        organization_id = home_of(world, person) if body.organization is UNSET else None
    lifetime = body.expires_in_seconds
    if lifetime is not None and not 1 <= lifetime <= _LONGEST_LIFETIME_S:
        raise ControlRefusal(
            400, "Bad lifetime", f"expires_in_seconds must be 1 to {_LONGEST_LIFETIME_S}"
        )
    return person, organization_id, body.interactive, lifetime


def _person(world: World, name: str | None) -> Person:
    if name is not None:
        return find(world, PEOPLE, name)
    if (usual := usual_person(world)) is None:
        raise ControlRefusal(409, "Nobody", "no organization has an owner: name a user with `as`")
    return usual


def mint(
    context: Context,
    engine: Engine,
    person: Person,
    organization_id: str | None,
    interactive: bool,
    lifetime_s: int | None = None,
    redeemed: Redeemed | None = None,
) -> dict[str, Any]:
    """Mint a token and describe it as OAuth 2.0 token endpoints do (and when it expires).

    `redeemed` is what gives it, if somebody signed in by a browser.
    """
    now_ms = engine.run_due()
    lifetime_s = lifetime_s or engine.token_lifetime_s
    token = engine.mint(
        person,
        organization_id,
        context.base_url,
        interactive=interactive,
        lifetime_s=lifetime_s,
        redeemed=redeemed,
    )
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": lifetime_s,
        "expires_at": format_timestamp((now_ms // 1000 + lifetime_s) * 1000),
    }


def create_api_key(engine: Engine, body: NewKey) -> dict[str, Any]:
    """Create a user API key with chosen permissions; its value is returned once."""
    person, named = _person(engine.world, body.who), body.organization
    organization_id = home_of(engine.world, person) if named is None else named
    if organization_id is None:
        raise ControlRefusal(409, "No organization", f"{person.alias} belongs to no organization")
    organization = find(engine.world, ORGANIZATIONS, organization_id)
    if not 1 <= len(body.name) <= 64:
        raise ControlRefusal(400, "Bad name", "a key's name has 1 to 64 characters")
    with refused_as(400, "Unknown permission", ValueError):
        return engine.make_key(person, organization, body.name, body.permissions)


# --- the token endpoint --------------------------------------------------------------------------


async def token(context: Context, engine: Engine) -> Any:
    """The token endpoint (RFC 6749). Users have no passwords, and every client secret is accepted.

    `authorization_code` (with PKCE, RFC 7636) and `refresh_token` (which changes each time)
    follow a sign-in at `…/authorize`. `password` with `username` signs a user in by
    name; `client_credentials` with `client_id` is for a user without a session; for both,
    `organization` chooses the organization.
    """
    try:
        fields = read_fields((await context.bytes()).decode("utf-8", "replace"))
        if fields.get("grant_type") not in _GRANTS:
            raise OAuthRefused(
                "unsupported_grant_type", f"grant_type must be one of {', '.join(_GRANTS)}"
            )
        if client := basic_credentials(context.request)[0]:
            fields["client_id"] = unquote_plus(client)
        if fields["grant_type"] in _PROVEN:
            return await _signed_in(context, engine, fields)
        return _by_name(context, engine, fields)
    except GrantRefused as refused:
        error, description = "invalid_grant", str(refused)
    except OAuthRefused as refused:
        error, description = refused.error, refused.description
    return answers.json({"error": error, "error_description": description}, 400)


def read_fields(text: str) -> dict[str, str]:
    """Return the parameters of a query or form; empty ones count as left out (RFC 6749, 3.1).

    Raises OAuthRefused when one comes twice.
    """
    fields: dict[str, str] = {}
    try:
        pairs = parse_qsl(text, max_num_fields=100)
    except ValueError:
        message = "The request has more than 100 parameters."
        raise OAuthRefused("invalid_request", message) from None
    for name, value in pairs:
        if name in fields:
            raise OAuthRefused("invalid_request", f"The parameter {name[:80]} was sent twice.")
        fields[name] = value
    return fields


def _by_name(context: Context, engine: Engine, fields: dict[str, str]) -> dict[str, Any]:
    origin, host = context.request.headers.get("Origin"), context.request.headers.get("Host", "")
    if origin is not None and origin.lower().partition("://")[2] != host.lower():
        only = f"a web page may only use {' and '.join(_PROVEN)}"
        raise OAuthRefused("unauthorized_client", only)
    interactive = fields["grant_type"] == "password"
    who = fields.get("username" if interactive else "client_id", "")
    named = fields.get("organization", "")
    person, organization_id = choose(engine.world, who, named, "invalid_grant")
    organization_id = organization_id or home_of(engine.world, person)
    return mint(context, engine, person, organization_id, interactive)


def choose(world: World, who: str, organization: str, error: str) -> tuple[Person, str | None]:
    """Return the person of an alias or id, and the id of their organization, if one is named.

    Raises OAuthRefused with that error when it is none of this world's, or none of the person's.
    """
    try:
        person = find(world, PEOPLE, who)
        if not organization:
            return person, None
        place = find(world, ORGANIZATIONS, organization)
    except ControlRefusal as refused:
        raise OAuthRefused(error, refused.detail) from None
    if world.get(MEMBERSHIPS, f"{place.id}/{person.id}") is None:
        raise OAuthRefused(error, f"the user does not belong to {place.alias}")
    return person, place.id


def _redeem(change: Change, sign_ins: SignIns, fields: dict[str, str]) -> Redeemed:
    by_code = fields["grant_type"] == "authorization_code"
    needed = ("code", "redirect_uri", "code_verifier") if by_code else ("refresh_token",)
    for name in ("client_id", *needed):
        if not fields.get(name):
            raise OAuthRefused("invalid_request", f"{name} is missing")
    client_id, *given = (fields[name] for name in ("client_id", *needed))
    if by_code:
        code, redirect_uri, verifier = given
        return sign_ins.redeem_code(change, code, client_id, redirect_uri, verifier)
    return sign_ins.redeem_refresh_token(change, given[0], client_id)


async def _signed_in(context: Context, engine: Engine, fields: dict[str, str]) -> dict[str, Any]:
    sign_ins, now_ms = engine.identity.sign_ins, engine.run_due()
    change = Change(engine.world, now_ms)
    try:
        redeemed = _redeem(change, sign_ins, fields)
        person = _still_there(engine.world, redeemed.grant)
        until_ms = (now_ms // 1000 + engine.token_lifetime_s) * 1000
        redeemed, refresh_token = sign_ins.keep_grant(change, redeemed, until_ms)
    finally:  # a code is spent by whoever tries
        engine.commit(change, "token issued")
    grant, organization_id = redeemed.grant, redeemed.grant.organization_id
    document = mint(context, engine, person, organization_id, True, redeemed=redeemed)
    document["scope"] = grant.scope
    if refresh_token is not None:
        document["refresh_token"] = refresh_token
    if grant.has("openid"):
        claims = {
            "iss": issuer(context, engine),
            "aud": grant.client_id,
            "iat": now_ms // 1000,
            "exp": now_ms // 1000 + engine.token_lifetime_s,
            "auth_time": grant.auth_time,
            "sid": grant.session_id,
            **_claims(person, grant.scope, organization_id),
        }
        if grant.nonce is not None:
            claims["nonce"] = grant.nonce
        # In a thread: the first time, finding the key takes a while.
        _tell_of_time(context, engine, now_ms)
        document["id_token"] = await context.apart(
            sign_ins.id_token, claims, document["access_token"]
        )
    return document


def _tell_of_time(context: Context, engine: Engine, now_ms: int) -> None:
    """Warn, once for a world, where clients will refuse an ID token by their own machine's time."""
    ahead_ms = now_ms - engine.machine_ms
    if engine.identity.sign_ins.told_of_time or (
        -engine.token_lifetime_s * 1000 < ahead_ms <= _SKEW_MS
    ):
        return
    engine.identity.sign_ins.told_of_time = True
    name = engine.world.name
    forward = command_line("clock set now", context.base_url, name)
    _log.warning(
        "a user signed in to world %s at world time %s; OpenID clients compare with this machine's "
        "time, %s, and refuse the tokens: start the world with `--at now`%s",
        name,
        format_timestamp(now_ms),
        format_timestamp(engine.machine_ms),
        f", or move it there: `{forward}`" if ahead_ms < 0 else "",
    )


def _still_there(world: World, grant: AuthorizationGrant) -> Person:
    """Return whom a grant is for, if they could still sign in so. Raises GrantRefused."""
    person, organization_id = world.get(PEOPLE, grant.person_id), grant.organization_id
    if not is_current(world, grant.session_id, grant.person_id):
        raise GrantRefused("the session has ended; sign in again")
    if person is None:
        raise GrantRefused("the user is no longer in this world")
    if organization_id and world.get(MEMBERSHIPS, f"{organization_id}/{person.id}") is None:
        raise GrantRefused("the user no longer belongs to that organization")
    return person


def _claims(person: Person, scope: str, organization_id: str | None) -> dict[str, Any]:
    """Return what a client with this scope may know (OpenID Connect Core 1.0, 5.4)."""
    scopes = scope.split()
    claims: dict[str, Any] = {"sub": person.id}
    if "profile" in scopes:
        claims |= {"name": person.name, "preferred_username": person.alias}
    if "email" in scopes:
        claims |= {"email": person.email, "email_verified": True}
    return claims if organization_id is None else claims | {"org_id": organization_id}


# --- what else clients fetch ---------------------------------------------------------------------


def userinfo(context: Context, engine: Engine) -> Any:
    """Return the user of the access token in the Authorization header (OpenID Connect)."""
    sent = context.request.headers.getall("Authorization", [])
    error = "invalid_token" if sent else ""
    try:
        token = bearer_token(sent)
        principal, key = engine.identity.authenticate(engine.begin_change(), sent)
        person = engine.world.get(PEOPLE, principal.person_id)
        if key is not None or person is None:
            raise Refused("unauthenticated", "An access token of a user is needed.")
    except Refused as refused:
        detail = refused.detail
        challenge = f'Bearer error="{error}", error_description="{detail}"' if error else "Bearer"
        document = {"error": error or "invalid_request", "error_description": detail}
        response = answers.json(document, 401)
        response.headers["WWW-Authenticate"] = challenge
        return response
    scope = engine.identity.scope_of(token)
    return _claims(person, _WITHOUT_SCOPE if scope is None else scope, principal.organization_id)


def issuer(context: Context, engine: Engine) -> str:
    """Return a world's issuer, as whoever asks has to write it."""
    return context.base_url + issuer_path(engine.world.name)


def discovery(context: Context, engine: Engine) -> dict[str, Any]:
    """Describe the identity provider (OpenID Connect Discovery 1.0)."""
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
        "response_modes_supported": RESPONSE_MODES,
        "grant_types_supported": _GRANTS,
        "code_challenge_methods_supported": ["S256"],
        "authorization_response_iss_parameter_supported": True,
        "prompt_values_supported": ["none", "login", "consent", "select_account"],
        "token_endpoint_auth_methods_supported": (
            "none client_secret_post client_secret_basic".split()
        ),
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


async def jwks(context: Context, engine: Engine) -> Any:
    """Return the keys that verify tokens (RFC 7517)."""
    # In a thread: the first time, finding the key of ID tokens takes a while.
    return await context.apart(engine.identity.jwks)
