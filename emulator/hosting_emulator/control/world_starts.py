"""Finishes creating a world: starts its expiry timer and, on request, creates its first token."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import asdict

from hosting_emulator.control.world_expiry import expire_when_unused
from hosting_emulator.control.world_summaries import world_summary
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.endpoint import Context
from hosting_emulator.identity.tokens import TokenClaims, mint_token
from hosting_emulator.messages import NewWorldSummary, WorldSummary


def is_ephemeral(name: str | None, ephemeral: bool | None) -> bool:
    """Return whether a new world must not be stored on disk.

    By default, this applies to worlds without a name.
    """
    if ephemeral is None:
        return name is None
    return ephemeral


def start_world(
    context: Context,
    engine: Engine,
    ttl_ms: int | None,
    claims: TokenClaims | None,
    notices: Sequence[str] = (),
) -> WorldSummary:
    """Start a new world's expiry timer, and return the world's summary.

    With `claims`, the summary contains an access token with these claims. `ttl_ms` is in real
    milliseconds. If `ttl_ms` is None, the world exists until it is deleted. `notices` are added to
    the summary.
    """
    engine.ttl_ms = ttl_ms
    expire_when_unused(context.worlds, engine)
    summary = world_summary(context, engine)
    token = None
    if claims is not None:
        token = mint_token(engine, context.base_url, claims)
    return NewWorldSummary(**asdict(summary), token=token, notices=list(notices))
