"""Access tokens and user API keys."""

from __future__ import annotations

from typing import Annotated, Literal

from hosting_emulator.messages.declaration import ControlMessage, doc


class AccessToken(ControlMessage, frozen=True, kw_only=True):
    """An access token."""

    access_token: Annotated[str, doc("The token.")]
    token_type: Annotated[Literal["Bearer"], doc("How the token is sent.")]
    expires_in: Annotated[int, doc("For how many seconds of world time the token is valid.")]
    expires_at: Annotated[str, doc("Until which world time the token is valid.")]


class KeyMetadata(ControlMessage, frozen=True, kw_only=True):
    """A user API key without its value."""

    id: Annotated[str, doc("The id of the key.")]
    organization_id: Annotated[str, doc("The id of the key's organization.")]
    name: Annotated[str, doc("The name of the key.")]
    obfuscated_value: Annotated[str, doc("The value with most characters hidden.")]
    permissions: Annotated[list[str], doc("What the key may do.")]
    expires_at: Annotated[str, doc("When the key expires, in world time.")]
    created_at: Annotated[str, doc("When the key was created, in world time.")]


class NewApiKey(ControlMessage, frozen=True, kw_only=True):
    """A new user API key."""

    value: Annotated[str, doc("The value of the key. Only this response has it.")]
    key: Annotated[KeyMetadata, doc("The key without its value.")]


class KeyState(ControlMessage, frozen=True, kw_only=True):
    """A user API key of a world."""

    id: Annotated[str, doc("The id of the key.")]
    name: Annotated[str, doc("The name of the key.")]
    user: Annotated[str, doc("The alias of the user whose key it is.")]
    organization: Annotated[str, doc("The alias of the key's organization.")]
    obfuscated_value: Annotated[str, doc("The value with most characters hidden.")]
    permissions: Annotated[list[str], doc("What the key may do.")]
    created_at: Annotated[str, doc("When the key was created, in world time.")]
    expires_at: Annotated[str, doc("When the key expires, in world time.")]
    last_used_at: Annotated[
        str | None, doc("When the key was last used, in world time; null if it never was.")
    ]
    revoked: Annotated[bool, doc("Whether the key was revoked.")]
    expired: Annotated[bool, doc("Whether the key has expired.")]
