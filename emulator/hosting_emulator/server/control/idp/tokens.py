"""The token endpoint: what a code, a refresh token or a person's name is changed for."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from binascii import Error as Base64Error
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote_plus

from aiohttp import web

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import home_of, issuer_path
from hosting_emulator.engine.sign_in import GrantRefused, Redeemed, SignIn
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.idp.asking import PageRefused, read_fields
from hosting_emulator.server.control.idp.people import claims_of, organization_of
from hosting_emulator.server.control.people import find, token_document
from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.records import Person
from hosting_emulator.world.tables import MEMBERSHIPS, PEOPLE

#: Grants that prove that a person has chosen to sign in; a web app of another origin has no others.
_PROVEN: Final = ("authorization_code", "refresh_token")
GRANTS: Final = (*_PROVEN, "password", "client_credentials")


class _Refused(Exception):
    def __init__(self, error: str, description: str) -> None:
        super().__init__(description)
        self.error, self.description = error, description


async def token(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """POST …/idp/token (RFC 6749). Nobody has a password here, and every client secret is right.

    `authorization_code` (with PKCE, RFC 7636) and `refresh_token` (which changes each time) follow a
    sign-in at `…/authorize`. `password` with `username` signs a person in by name;
    `client_credentials` with `client_id` speaks for a person without a session; for both,
    `organization` chooses the organization.
    """
    engine = context.engine(world)
    try:
        fields = read_fields((await context.bytes()).decode("utf-8", "replace"))
        grant = fields.get("grant_type", "")
        if grant not in GRANTS:
            raise _Refused("unsupported_grant_type", f"grant_type is one of {', '.join(GRANTS)}")
        if grant in _PROVEN:
            found = _redeem(context, engine, fields)
            return answers.json(await _signed_in(context, engine, found))
        return answers.json(_by_name(context, engine, fields))
    except PageRefused as refused:
        return _refused("invalid_request", str(refused))
    except GrantRefused as refused:
        return _refused("invalid_grant", str(refused))
    except _Refused as refused:
        return _refused(refused.error, refused.description)


def _by_name(context: Context, engine: Engine, fields: Mapping[str, str]) -> dict[str, Any]:
    if context.from_another_origin:
        raise _Refused("unauthorized_client", f"a web page may only use {' and '.join(_PROVEN)}")
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
        raise _Refused("invalid_request", f"{missing[0]} is missing")
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
        "iss": context.base_url + issuer_path(engine.world.name),
        "aud": sign_in.client_id,
        "iat": issued,
        "exp": issued + lifetime_s,
        "auth_time": sign_in.auth_time,
        **claims_of(person, sign_in.scope),
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
