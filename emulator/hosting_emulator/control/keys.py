"""A world's user API keys, without their values."""

from __future__ import annotations

from collections.abc import Iterator
from operator import itemgetter

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.http.time_slices import sort_in_slices
from hosting_emulator.messages import KeyState
from hosting_emulator.world.naming import alias_of
from hosting_emulator.world.tables import API_KEYS, ORGANIZATIONS, USERS


async def list_keys(engine: Engine) -> Iterator[KeyState]:
    """List the user API keys, newest first, without their values."""
    now_ms = engine.run_due()
    world = engine.world
    rows = await sort_in_slices(world.rows(API_KEYS), itemgetter(0), reverse=True)
    return (
        KeyState(
            id=key.id,
            name=key.name,
            user=alias_of(world, USERS, key.user_id),
            organization=alias_of(world, ORGANIZATIONS, key.organization_id),
            obfuscated_value=key.obfuscated_value,
            permissions=list(key.permissions),
            created_at=key.created_at,
            expires_at=format_timestamp(key.expires_ms),
            last_used_at=key.last_used_at,
            revoked=key.revoked,
            expired=key.expires_ms <= now_ms,
        )
        for _, key in rows
    )
