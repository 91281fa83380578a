"""Messages about access tokens and user API keys."""

from __future__ import annotations

from typing import Annotated, Literal

from hosting_emulator.messages.declaration import ControlMessage, doc


class AccessToken(ControlMessage, frozen=True, kw_only=True):
    """An access token."""

    access_token: Annotated[str, doc("The token.")]
    token_type: Annotated[Literal["Bearer"], doc("The scheme of the Authorization header.")]
    expires_in: Annotated[int, doc("The lifetime of the token, in seconds of world time.")]
    expires_at: Annotated[str, doc("The world time at which the token expires.")]


class KeyMetadata(ControlMessage, frozen=True, kw_only=True):
    """A user API key without its value."""

    id: Annotated[str, doc("The id of the key.")]
    organization_id: Annotated[str, doc("The id of the key's organization.")]
    name: Annotated[str, doc("The name of the key.")]
    obfuscated_value: Annotated[str, doc("The value, with most of its characters hidden.")]
    permissions: Annotated[list[str], doc("The permissions of the key.")]
    expires_at: Annotated[str, doc("The world time at which the key expires.")]
    created_at: Annotated[str, doc("The world time at which the key was created.")]


class NewApiKey(ControlMessage, frozen=True, kw_only=True):
    """A new user API key."""

    value: Annotated[str, doc("The value of the key, which no other response contains.")]
    key: Annotated[KeyMetadata, doc("The key, without its value.")]


class KeyState(ControlMessage, frozen=True, kw_only=True):
    """A user API key in a world."""

    id: Annotated[str, doc("The id of the key.")]
    name: Annotated[str, doc("The name of the key.")]
    user: Annotated[str, doc("The alias of the user who owns the key.")]
    organization: Annotated[str, doc("The alias of the key's organization.")]
    obfuscated_value: Annotated[str, doc("The value, with most of its characters hidden.")]
    permissions: Annotated[list[str], doc("The permissions of the key.")]
    created_at: Annotated[str, doc("The world time at which the key was created.")]
    expires_at: Annotated[str, doc("The world time at which the key expires.")]
    last_used_at: Annotated[
        str | None,
        doc("The world time at which the key was last used; null if it has never been used."),
    ]
    revoked: Annotated[bool, doc("Whether the key was revoked.")]
    expired: Annotated[bool, doc("Whether the key has expired.")]
