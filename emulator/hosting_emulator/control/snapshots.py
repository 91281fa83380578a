"""Endpoints that list, take, restore and delete a world's snapshots."""

from __future__ import annotations

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.control.world_summaries import world_summary
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.history import SavedState, TooManySnapshots
from hosting_emulator.http.endpoint import Context, refused_as, require
from hosting_emulator.messages import SnapshotState, WorldSummary


def list_snapshots(engine: Engine) -> list[SnapshotState]:
    """List the snapshots, oldest first."""
    return [_snapshot_state(id_, saved) for id_, saved in engine.snapshots.items()]


def take_snapshot(engine: Engine) -> SnapshotState:
    """Save a snapshot of the current state."""
    now_ms = engine.run_due()
    with refused_as(409, "Too many snapshots", TooManySnapshots):
        id_ = engine.snapshots.take(engine.world, now_ms)
    return _snapshot_state(id_, SavedState(engine.world, now_ms))


def _snapshot_state(id_: str, saved: SavedState) -> SnapshotState:
    return SnapshotState(id=id_, commit=saved.world.commit, at=format_timestamp(saved.at_ms))


def restore_snapshot(context: Context, engine: Engine, snapshot: str) -> WorldSummary:
    """Restore a world's state, clock, faults and assumptions from a snapshot."""
    engine.restore(_find_snapshot(engine, snapshot), f"{snapshot} restored")
    return world_summary(context, engine)


def delete_snapshot(engine: Engine, snapshot: str) -> None:
    """Delete a snapshot."""
    _find_snapshot(engine, snapshot)
    del engine.snapshots[snapshot]


def _find_snapshot(engine: Engine, id_: str) -> SavedState:
    """Return the snapshot with this id. Raises ControlRefusal 404 if there is none."""
    snapshot_ids = ", ".join(engine.snapshots) or "none"
    detail = f"there is no snapshot {id_[:40]!r}; the snapshots are {snapshot_ids}"
    return require(engine.snapshots.get(id_), "No such snapshot", detail)
