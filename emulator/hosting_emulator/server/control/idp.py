"""The identity provider of each world: OpenID discovery, keys, and the token endpoint."""

from __future__ import annotations

from base64 import b64decode
from binascii import Error as Base64Error
from urllib.parse import parse_qs, unquote_plus

from aiohttp import web

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import ALGORITHM, home_of, issuer_path
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.people import find, token_document
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, PEOPLE
from hosting_emulator.world.zones import DEFAULT_WORLD

GRANTS = ("password", "client_credentials")


async def discovery(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """GET …/idp/.well-known/openid-configuration."""
    issuer = context.base_url + issuer_path(context.engine(world).world.name)
    return answers.json(
        {
            "issuer": issuer,
            "jwks_uri": f"{issuer}/jwks.json",
            "token_endpoint": f"{issuer}/token",
            "token_endpoint_auth_methods_supported": [
                "none",
                "client_secret_post",
                "client_secret_basic",
            ],
            "grant_types_supported": list(GRANTS),
            "response_types_supported": [],
            "subject_types_supported": ["public"],
            "id_token_signing_alg_values_supported": [ALGORITHM],
            "claims_supported": "iss aud sub iat exp org_id sid name email".split(),
        }
    )


async def jwks(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """GET …/idp/jwks.json."""
    return answers.json(context.engine(world).identity.jwks())


async def token(context: Context, world: str = DEFAULT_WORLD) -> web.Response:
    """POST …/idp/token (RFC 6749). Nobody has a password here: naming a person is enough.

    `password` with `username` signs a person in (an interactive session); `client_credentials`
    with `client_id` speaks for a person without one. `organization` chooses the organization.
    """
    engine = context.engine(world)
    form = parse_qs((await context.bytes()).decode("utf-8", "replace"), keep_blank_values=True)
    fields = {name: values[-1] for name, values in form.items()}
    grant = fields.get("grant_type", "")
    if grant not in GRANTS:
        return _refused("unsupported_grant_type", f"grant_type is one of {', '.join(GRANTS)}")
    if grant == "password":
        who = fields.get("username", "")
    else:
        who = _basic_user(context.request.headers.get("Authorization", "")) or fields.get(
            "client_id", ""
        )
    try:
        person = find(engine.world, PEOPLE, who, "person")
        organization_id = _organization(engine, person.id, fields) or home_of(engine.world, person)
    except ControlRefused as refused:
        return _refused("invalid_grant", refused.detail)
    return answers.json(
        token_document(context, engine, person, organization_id, interactive=grant == "password")
    )


def _organization(engine: Engine, person_id: str, fields: dict[str, str]) -> str | None:
    if "organization" not in fields:
        return None
    organization = find(engine.world, ORGANIZATIONS, fields["organization"], "organization")
    if engine.world.get(MEMBERSHIPS, f"{organization.id}/{person_id}") is None:
        raise ControlRefused(400, "", f"the person does not belong to {organization.alias}")
    return organization.id


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
