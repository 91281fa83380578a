"""The token endpoint of OAuth 2.0 (RFC 6749)."""

from __future__ import annotations

import logging
from typing import Any, Final
from urllib.parse import unquote_plus

from msgspec.structs import asdict

from hosting_emulator.contract.shell import command_line
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.foreign_credentials import describe_foreign_grant
from hosting_emulator.engine.id_tokens import sign_id_token
from hosting_emulator.engine.sign_ins import GrantRefused, RedeemedGrant, home_of
from hosting_emulator.http import responses
from hosting_emulator.http.request_head import basic_credentials
from hosting_emulator.identity.oauth import (
    BROWSER_GRANTS,
    GRANTS,
    OAuthRefusal,
    choose_user,
    is_member,
    read_fields,
    token_expiry_s,
    user_claims,
)
from hosting_emulator.identity.request import IdentityRequest
from hosting_emulator.identity.tokens import TokenClaims, mint_token
from hosting_emulator.messages import JsonObject
from hosting_emulator.world import sessions
from hosting_emulator.world.records import AuthorizationGrant, User
from hosting_emulator.world.tables import USERS
from hosting_emulator.world.value import Change, World

_log: Final = logging.getLogger("hosting_emulator")
#: Most clients accept a token that was issued up to this many milliseconds in the future.
_ACCEPTED_SKEW_MS: Final = 60_000


def token(request: IdentityRequest, engine: Engine) -> Any:
    """Issue tokens (RFC 6749). Users have no passwords, and any client secret is accepted.

    The `authorization_code` grant (with PKCE, RFC 7636) and the `refresh_token` grant are used
    after a sign-in at `…/authorize`. Each use of a refresh token replaces it with a new one. The
    `password` grant signs in the user named in `username`. The `client_credentials` grant issues a
    token without a session for the user named in `client_id`. With `password` and
    `client_credentials`, `organization` selects the organization.
    """
    try:
        fields = _read_form(request)
        if fields["grant_type"] in BROWSER_GRANTS:
            return _redeem_grant(request, engine, fields)
        return _sign_in_by_name(request, engine, fields)
    except GrantRefused as refusal:
        return _refuse("invalid_grant", str(refusal))
    except OAuthRefusal as refusal:
        return _refuse(refusal.error, refusal.description)


def _refuse(error: str, description: str) -> Any:
    return responses.json({"error": error, "error_description": description}, 400)


def _read_form(request: IdentityRequest) -> dict[str, str]:
    fields = read_fields(request.body.decode("utf-8", "replace"))
    if fields.get("grant_type") not in GRANTS:
        description = f"grant_type must be one of {', '.join(GRANTS)}"
        raise OAuthRefusal(description, "unsupported_grant_type")
    client_id, _ = basic_credentials(request.head)
    if client_id:
        fields["client_id"] = unquote_plus(client_id)
    return fields


def _sign_in_by_name(
    request: IdentityRequest, engine: Engine, fields: dict[str, str]
) -> JsonObject:
    """Issue a token for a named user without a browser sign-in. Raises OAuthRefusal."""
    if _is_from_other_origin(request):
        description = f"a web page on another origin can use only {' and '.join(BROWSER_GRANTS)}"
        raise OAuthRefusal(description, "unauthorized_client")
    interactive = fields["grant_type"] == "password"
    name_field = "username" if interactive else "client_id"
    user, organization_id = choose_user(
        engine.world,
        fields.get(name_field, ""),
        fields.get("organization", ""),
        "invalid_grant",
    )
    organization_id = organization_id or home_of(engine.world, user)
    claims = TokenClaims(user, organization_id, interactive)
    return asdict(mint_token(engine, request.base_url, claims))


def _is_from_other_origin(request: IdentityRequest) -> bool:
    headers = request.head.headers
    if "Origin" not in headers:
        return False
    _, _, origin_host = headers.get("Origin", "").lower().partition("://")
    return origin_host != headers.get("Host", "").lower()


def _redeem_grant(request: IdentityRequest, engine: Engine, fields: dict[str, str]) -> JsonObject:
    """Issue tokens in exchange for a code or a refresh token.

    Raises OAuthRefusal if a field is missing, or GrantRefused if the code or token is not valid.
    """
    now_ms = engine.run_due()
    redeemed, refresh_token, user = _spend_grant(engine, fields, now_ms)
    grant = redeemed.grant
    claims = TokenClaims(user, grant.organization_id, interactive=True)
    document: JsonObject = asdict(mint_token(engine, request.base_url, claims, redeemed))
    document["scope"] = grant.scope
    if refresh_token is not None:
        document["refresh_token"] = refresh_token
    if grant.has("openid"):
        _warn_of_world_time(request, engine, now_ms)
        id_claims = _id_token_claims(request, engine, grant, user, now_ms)
        document["id_token"] = sign_id_token(id_claims, document["access_token"])
    return document


def _spend_grant(
    engine: Engine, fields: dict[str, str], now_ms: int
) -> tuple[RedeemedGrant, str | None, User]:
    """Redeem a code or a refresh token. Return its grant, the next refresh token and the user."""
    is_code = fields["grant_type"] == "authorization_code"
    needed = ("code", "redirect_uri", "code_verifier") if is_code else ("refresh_token",)
    for name in ("client_id", *needed):
        if not fields.get(name):
            raise OAuthRefusal(f"{name} is missing")
    client_id = fields["client_id"]
    sign_ins = engine.sign_ins
    change = Change(engine.world, now_ms)
    try:
        if is_code:
            redeemed = sign_ins.redeem_code(
                change, fields["code"], client_id, fields["redirect_uri"], fields["code_verifier"]
            )
        else:
            redeemed = sign_ins.redeem_refresh_token(change, fields["refresh_token"], client_id)
        user = _signed_in_user(engine.world, redeemed.grant)
        until_ms = token_expiry_s(engine, now_ms) * 1000
        redeemed, refresh_token = sign_ins.keep_grant(change, redeemed, until_ms)
    except GrantRefused:
        reason = _foreign_grant_reason(engine, fields)
        if reason is None:
            raise
        raise GrantRefused(reason) from None
    finally:
        # Commit after a refusal too, because every attempt uses up the code.
        engine.commit(change, "token issued")
    return redeemed, refresh_token, user


def _foreign_grant_reason(engine: Engine, fields: dict[str, str]) -> str | None:
    """Return a sentence that says which other world issued the code or refresh token, or None if
    none did.
    """
    if fields["grant_type"] == "authorization_code":
        code = fields["code"]
        return describe_foreign_grant(
            engine, "code", lambda other: other.sign_ins.has_issued_code(other.world, code)
        )
    token = fields["refresh_token"]
    return describe_foreign_grant(
        engine, "refresh token", lambda other: other.sign_ins.has_issued_refresh_token(token)
    )


def _signed_in_user(world: World, grant: AuthorizationGrant) -> User:
    """Return the user for whom a grant was issued.

    Raises GrantRefused if the session has ended, if the user has been removed from the world, or if
    the user is no longer a member of the grant's organization.
    """
    user = world.get(USERS, grant.user_id)
    if not sessions.is_current(world, grant.session_id, grant.user_id):
        raise GrantRefused("the session has ended; sign in again")
    if user is None:
        raise GrantRefused("the user is no longer in this world")
    if grant.organization_id and not is_member(world, user, grant.organization_id):
        raise GrantRefused("the user no longer belongs to the organization")
    return user


def _id_token_claims(
    request: IdentityRequest,
    engine: Engine,
    grant: AuthorizationGrant,
    user: User,
    now_ms: int,
) -> JsonObject:
    issued_ms = now_ms + engine.world.clock.token_skew_ms
    claims: JsonObject = {
        "iss": request.issuer(engine),
        "aud": grant.client_id,
        "iat": issued_ms // 1000,
        "exp": token_expiry_s(engine, issued_ms),
        "auth_time": grant.auth_time,
        "sid": grant.session_id,
        **user_claims(user, grant.scope, grant.organization_id),
    }
    if grant.nonce is not None:
        claims["nonce"] = grant.nonce
    return claims


def _warn_of_world_time(request: IdentityRequest, engine: Engine, now_ms: int) -> None:
    """Log a warning, once per world, if clients will reject an ID token because of the world's
    time.
    """
    sign_ins = engine.sign_ins
    ahead_ms = now_ms - engine.machine_ms
    is_accepted = -engine.token_lifetime_s * 1000 < ahead_ms <= _ACCEPTED_SKEW_MS
    if sign_ins.has_warned_of_time or is_accepted:
        return
    sign_ins.has_warned_of_time = True
    name = engine.world.name
    advice = ""
    if ahead_ms < 0:
        advice = f", or advance its clock: `{command_line('clock advance --to now', request.base_url, name)}`"
    _log.warning(
        "a user signed in to world %s at world time %s; OpenID clients will refuse the tokens, because "
        "they use this machine's time, %s; start the world with `--at now`%s",
        name,
        format_timestamp(now_ms),
        format_timestamp(engine.machine_ms),
        advice,
    )
