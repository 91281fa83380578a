"""Creates more records and commits than a test could create with requests."""

from __future__ import annotations

from msgspec.structs import replace

from hosting_emulator.engine.engine import Engine
from hosting_emulator.world.records import ApiKey
from hosting_emulator.world.tables import API_KEYS, OPERATIONS
from tests.support.emulator_in_loop import intervene_in


def fill_world(engine: Engine, count: int) -> None:
    """Add `count` deployments, `count` operations and `count` API keys to a world."""
    intervene_in(engine, "add_deployments", project="shop", count=count)
    operation = next(operation for _, operation in engine.world.rows(OPERATIONS))
    change = engine.begin_change()
    for number in range(count):
        id_ = f"{operation.id[:-4]}{number:04d}"
        key = ApiKey(
            id=id_,
            organization_id="",
            user_id="",
            name="many",
            digest=f"{number:064x}",
            obfuscated_value="phk_…",
            permissions=(),
            created_at=operation.created_at,
            expires_ms=0,
        )
        change.put(API_KEYS, id_, key)
        change.put(OPERATIONS, id_, replace(operation, id=id_, deployment_id=None))
    engine.commit(change, "filled")


def commit_changes(engine: Engine, count: int) -> None:
    """Commit `count` changes of one API key."""
    _, key = next(engine.world.rows(API_KEYS))
    for number in range(count):
        change = engine.begin_change()
        change.put(API_KEYS, key.id, replace(key, name=f"key {number}"))
        engine.commit(change, f"change {number}")
