"""Control of identity: tokens and API keys for anyone in a world."""

from __future__ import annotations

from typing import Any

from msgspec import UNSET, UnsetType

from hosting_emulator.calls.create_user_api_key import make_key
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import home_of, issuer_path
from hosting_emulator.engine.sign_in import SignIn
from hosting_emulator.server.answers import Created
from hosting_emulator.server.control.context import Body, Context, ControlRefused, find
from hosting_emulator.world import views
from hosting_emulator.world.records import Person
from hosting_emulator.world.tables import ORGANIZATIONS, PEOPLE
from hosting_emulator.world.value import Change

LONGEST_LIFETIME_S = 10 * 365 * 86_400


class NewToken(Body, rename={"who": "as"}):
    """Body of `POST …/tokens`."""

    who: str = "owner"
    organization: str | UnsetType | None = UNSET
    interactive: bool = True
    expires_in_seconds: int | None = None


class NewKey(Body, rename={"who": "as"}):
    """Body of `POST …/api-keys`: a key that was not made through the contract."""

    who: str = "owner"
    organization: str | None = None
    name: str = "made by the control API"
    permissions: list[str] | None = None


def create_token(context: Context, engine: Engine, body: NewToken) -> Created:
    """POST …/tokens: an access JWT for a person, as if they had signed in."""
    person = find(engine.world, PEOPLE, body.who)
    if body.organization is UNSET:
        organization_id = home_of(engine.world, person)
    elif body.organization is None:
        organization_id = None
    else:
        organization_id = find(engine.world, ORGANIZATIONS, str(body.organization)).id
    lifetime = body.expires_in_seconds
    if lifetime is not None and not 1 <= lifetime <= LONGEST_LIFETIME_S:
        raise ControlRefused(
            400, "Bad lifetime", f"expires_in_seconds is 1 to {LONGEST_LIFETIME_S}"
        )
    return Created(
        token_document(context, engine, person, organization_id, body.interactive, lifetime)
    )


def token_document(
    context: Context,
    engine: Engine,
    person: Person,
    organization_id: str | None,
    interactive: bool,
    lifetime_s: int | None = None,
    sign_in: SignIn | None = None,
) -> dict[str, Any]:
    """Mint a token and describe it as OAuth 2.0 token endpoints do (and when it expires).

    `sign_in` is the one that it follows, if somebody signed in by a browser.
    """
    assumptions = engine.world.assumptions
    now_ms = engine.run_due()
    if lifetime_s is None:
        lifetime_s = max(1, parse_duration_ms(assumptions.token_lifetime) // 1000)
    token = engine.identity.mint(
        person,
        organization_id,
        issuer=context.base_url + issuer_path(engine.world.name),
        audience=assumptions.token_audience,
        now_ms=now_ms,
        lifetime_s=lifetime_s,
        interactive=interactive,
        sign_in=sign_in,
    )
    return {
        "access_token": token,
        "token_type": "Bearer",
        "expires_in": lifetime_s,
        "expires_at": format_timestamp((now_ms // 1000 + lifetime_s) * 1000),
    }


def create_api_key(engine: Engine, body: NewKey) -> Created:
    """POST …/api-keys: a key with chosen permissions, its value shown once."""
    person = find(engine.world, PEOPLE, body.who)
    organization_id = body.organization or home_of(engine.world, person)
    if organization_id is None:
        raise ControlRefused(409, "No organization", f"{body.who} belongs to no organization")
    organization = find(engine.world, ORGANIZATIONS, organization_id)
    permissions = tuple(organization.permissions if body.permissions is None else body.permissions)
    unknown = sorted(set(permissions) - set(organization.permissions))
    if unknown:
        known = ", ".join(organization.permissions)
        raise ControlRefused(400, "Unknown permission", f"{unknown[0]!r} is none of {known}")
    if not 1 <= len(body.name) <= 64:
        raise ControlRefused(400, "Bad name", "a key's name has 1 to 64 characters")
    now_ms = engine.run_due()
    change = Change(engine.world, now_ms)
    key, value = make_key(change, organization, person.id, body.name, permissions)
    engine.commit(change, "API key made by the control API")
    return Created({"value": value, "key": views.api_key(key, engine.world.assumptions)})
