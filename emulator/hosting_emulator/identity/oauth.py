"""OAuth 2.0 fields, scopes, grants and refusals that several of the identity provider's endpoints
use.
"""

from __future__ import annotations

from typing import Final
from urllib.parse import parse_qsl

from hosting_emulator.contract.durations import whole_seconds
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import ControlRefusal, find
from hosting_emulator.messages import JsonObject
from hosting_emulator.world.naming import id_of
from hosting_emulator.world.records import Organization, User
from hosting_emulator.world.tables import MEMBERSHIPS, ORGANIZATIONS, USERS
from hosting_emulator.world.value import World

#: The supported scopes, with the descriptions shown on the sign-in page. No other scopes are
#: granted.
SCOPES: Final = {
    "openid": "who you are",
    "profile": "your name",
    "email": "your e-mail address",
    "offline_access": "staying signed in",
}
RESPONSE_MODES: Final = ("query", "fragment")
PROMPTS: Final = ("none", "login", "consent", "select_account")
#: The grant types that are used after a browser sign-in. Web pages on other origins can use only
#: these.
BROWSER_GRANTS: Final = ("authorization_code", "refresh_token")
GRANTS: Final = (*BROWSER_GRANTS, "password", "client_credentials")
_MOST_FIELDS: Final = 100


class OAuthRefusal(Exception):
    """Raised if the identity provider refuses a request. `error` is an OAuth or OpenID Connect
    error code.
    """

    def __init__(self, description: str, error: str = "invalid_request") -> None:
        super().__init__(description)
        self.error = error
        self.description = description


def read_fields(text: str) -> dict[str, str]:
    """Return the fields of a form or query string.

    Fields with an empty value are treated as omitted (RFC 6749, section 3.1). Raises OAuthRefusal
    if a field is repeated, or if there are more than 100 fields.
    """
    try:
        pairs = parse_qsl(text, max_num_fields=_MOST_FIELDS)
    except ValueError:
        raise OAuthRefusal(f"The request has more than {_MOST_FIELDS} parameters.") from None
    fields: dict[str, str] = {}
    for name, value in pairs:
        if name in fields:
            raise OAuthRefusal(f"The parameter {name[:80]} was sent more than once.")
        fields[name] = value
    return fields


def user_named(world: World, name: str) -> User | None:
    """Return the user with this alias, id or email address, or None if there is none."""
    user = world.get(USERS, id_of(world, USERS, name))
    if user is not None:
        return user
    return next((row for _, row in world.rows(USERS) if row.email == name), None)


def choose_user(
    world: World, user_name: str, organization_name: str, error: str
) -> tuple[User, str | None]:
    """Find a user by alias, id or email address, and return the user and the id of the named
    organization.

    The organization id is None if `organization_name` is empty.

    Raises OAuthRefusal with the error code `error` if the user or the organization does not exist,
    or if the user is not a member of the organization.
    """
    try:
        user = user_named(world, user_name) or find(world, USERS, user_name)
        organization = _find_organization(world, organization_name)
    except ControlRefusal as refusal:
        raise OAuthRefusal(refusal.detail, error) from None
    if organization is None:
        return user, None
    if not is_member(world, user, organization.id):
        raise OAuthRefusal(f"the user does not belong to {organization.alias}", error)
    return user, organization.id


def _find_organization(world: World, name: str) -> Organization | None:
    if not name:
        return None
    return find(world, ORGANIZATIONS, name)


def is_member(world: World, user: User, organization_id: str) -> bool:
    """Return whether a user is a member of an organization."""
    return world.get(MEMBERSHIPS, f"{organization_id}/{user.id}") is not None


def user_claims(user: User, scope: str, organization_id: str | None) -> JsonObject:
    """Return those claims about a user that a client with this `scope` may receive.

    See OpenID Connect Core 1.0, section 5.4.
    """
    scopes = scope.split()
    claims: JsonObject = {"sub": user.id}
    if "profile" in scopes:
        claims["name"] = user.name
        claims["preferred_username"] = user.alias
    if "email" in scopes:
        claims["email"] = user.email
        claims["email_verified"] = True
    if organization_id is not None:
        claims["org_id"] = organization_id
    return claims


def token_expiry_s(engine: Engine, now_ms: int) -> int:
    """Return when a token issued at `now_ms` expires, in seconds of world time, rounded up."""
    return whole_seconds(now_ms) + engine.token_lifetime_s
