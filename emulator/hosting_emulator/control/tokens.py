"""Endpoints that create an access token or an API key for a user."""

from __future__ import annotations

from typing import Annotated, Final

from msgspec import UNSET, UnsetType

from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.sign_ins import home_of
from hosting_emulator.http.endpoint import (
    Body,
    Context,
    ControlRefusal,
    Example,
    KeyName,
    find,
    refused_as,
)
from hosting_emulator.identity.tokens import TOOL_TOKEN_LIFETIME_S, TokenClaims, mint_token
from hosting_emulator.messages import AccessToken, KeyMetadata, NewApiKey
from hosting_emulator.world.naming import default_user
from hosting_emulator.world.records import User
from hosting_emulator.world.tables import ORGANIZATIONS, USERS
from hosting_emulator.world.value import World

_LONGEST_KEY_NAME: Final = 64


class NewToken(Body):
    """The access token to create. `user` is the alias or id of the user that it is for.

    `lifetime` is a duration in world time, a whole number of seconds from 1s to 3650d, which is ten
    years and the default. If the lifetime does not end at a whole second, the token expires at the
    next one. The token stays valid after a reset, after a rewind, and after a scenario that moves
    world time back. The exception is the reset of a world that was imported without its original
    seed: users and organizations then get new ids, so earlier tokens no longer give access. Without
    `user`, the token is for the user with the alias `owner` or, if there is no such user, for an
    owner of the first organization that has one.
    """

    user: str | None = None
    organization: str | UnsetType | None = UNSET
    interactive: bool = True
    lifetime: str | None = None


class NewKey(Body):
    """The API key to create. `user` has the same meaning as in NewToken.

    By default, the key has all permissions of the organization.
    """

    user: str | None = None
    organization: str | None = None
    name: KeyName = "created by the control API"
    permissions: list[str] | None = None


def create_token(
    context: Context,
    engine: Engine,
    body: Annotated[NewToken, Example({"user": "member", "lifetime": "1h"})],
) -> AccessToken:
    """Create an access token (a JWT) for a user, as if the user had signed in."""
    return mint_token(engine, context.base_url, token_claims(engine.world, body))


def token_claims(world: World, body: NewToken) -> TokenClaims:
    """Return the claims for a requested token. Raises ControlRefusal."""
    user = _find_user(world, body.user)
    organization_id = _token_organization(world, user, body.organization)
    return TokenClaims(user, organization_id, body.interactive, _read_lifetime_s(body.lifetime))


def _read_lifetime_s(duration: str | None) -> int:
    """Parse a token's lifetime, and return it in whole seconds. Raises ControlRefusal 400 if it is
    invalid.
    """
    if duration is None:
        return TOOL_TOKEN_LIFETIME_S
    with refused_as(400, "Bad lifetime", ValueError):
        lifetime_s, rest_ms = divmod(parse_duration_ms(duration), 1000)
        if rest_ms or not 1 <= lifetime_s <= TOOL_TOKEN_LIFETIME_S:
            raise ValueError(
                f"lifetime must be a whole number of seconds from 1s to 3650d, not {duration!r}"
            )
    return lifetime_s


def create_api_key(
    engine: Engine, body: Annotated[NewKey, Example({"user": "owner", "name": "ci"})]
) -> NewApiKey:
    """Create a user API key with chosen permissions. The key's value is returned only once."""
    world = engine.world
    user = _find_user(world, body.user)
    organization_name = body.organization
    if organization_name is None:
        organization_name = home_of(world, user)
    if organization_name is None:
        raise ControlRefusal(
            409, "No organization", f"{user.alias} does not belong to an organization"
        )
    organization = find(world, ORGANIZATIONS, organization_name)
    if not 1 <= len(body.name) <= _LONGEST_KEY_NAME:
        detail = f"a key's name must have 1 to {_LONGEST_KEY_NAME} characters"
        raise ControlRefusal(400, "Bad name", detail)
    with refused_as(400, "Unknown permission", ValueError):
        created = engine.make_key(user, organization, body.name, body.permissions)
    return NewApiKey(value=created["value"], key=KeyMetadata(**created["key"]))


def _find_user(world: World, name: str | None) -> User:
    """Return the user with this alias or id, or the default user if `name` is None.

    Raises ControlRefusal.
    """
    if name is not None:
        return find(world, USERS, name)
    user = default_user(world)
    if user is None:
        raise ControlRefusal(409, "Nobody", "no organization has an owner: name a user with `user`")
    return user


def _token_organization(world: World, user: User, name: str | UnsetType | None) -> str | None:
    """Return the id of the organization that a token is for, or None if it is for no organization.

    `name` is UNSET for the user's own organization, and None for no organization. Raises
    ControlRefusal.
    """
    if isinstance(name, str):
        return find(world, ORGANIZATIONS, name).id
    if name is UNSET:
        return home_of(world, user)
    return None
