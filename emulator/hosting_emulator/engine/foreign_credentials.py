"""Recognizes credentials from other worlds, and describes them for the request log.

The public API never includes these sentences in a problem, because the real service has no worlds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from hosting_emulator.world.naming import DEFAULT_WORLD
from hosting_emulator.world.streams import digest

if TYPE_CHECKING:
    from hosting_emulator.engine.engine import Engine


def describe_foreign(credential: str, owner: str, reached: str) -> str:
    """Describe a credential from the world `owner` in a request that reached the world `reached`.

    `credential` names the kind of credential in the request, such as `token`. If the request
    reached the default world, the sentence also names the usual mistake: the client dropped the
    path of the world `owner` from its base URL.
    """
    sentence = f"this {credential} belongs to {owner}; the request reached {reached}"
    if reached == DEFAULT_WORLD:
        sentence += (
            f". A client that resolves /v1/… as a URL against the base URL of {owner} loses its "
            f"path /worlds/{owner}: append /v1/… to the base URL as text"
        )
    return sentence


def describe_foreign_key(engine: Engine, value: str) -> str | None:
    """Return a sentence about an API key from another world, or None if no other world has this key."""
    return _describe(engine, "API key", f"api_key:{digest(value)}")


def describe_foreign_ticket(engine: Engine, secret: str) -> str | None:
    """Return a sentence about a ticket from another world, or None if no other world has this ticket."""
    return _describe(engine, "ticket", f"ticket:{digest(secret)}")


def describe_foreign_grant(
    engine: Engine, credential: str, is_issued_by: Callable[[Engine], bool]
) -> str | None:
    """Return a sentence about a code or refresh token that another world issued, or None if none did."""
    owners = [other.world.name for other in engine.worlds() if is_issued_by(other)]
    return _describe_owners(engine, credential, owners)


def _describe(engine: Engine, credential: str, index_key: str) -> str | None:
    owners = [other.world.name for other in engine.worlds() if index_key in other.world.indexes]
    return _describe_owners(engine, credential, owners)


def _describe_owners(engine: Engine, credential: str, owners: list[str]) -> str | None:
    # A copy of a world also has the original's credentials.
    if not owners or engine.world.name in owners:
        return None
    return describe_foreign(credential, owners[0], engine.world.name)
