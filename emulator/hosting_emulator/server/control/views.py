"""How the control API shows worlds and clocks."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.engine.worlds import variation_view
from hosting_emulator.server.control.commits import next_event
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.sites import world_prefix
from hosting_emulator.world import tables as t


def world_summary(context: Context, engine: Engine) -> dict[str, Any]:
    """Return what is worth knowing of a world at a glance."""
    engine.run_due()
    world, base_url = engine.world, context.base_url
    return {
        "name": world.name,
        "seed": world.seed,
        "ephemeral": context.facts.data_dir is None or context.worlds.ephemeral(world.name),
        "base_url": base_url + world_prefix(world.name),
        "control_url": f"{base_url}/_emulator/worlds/{world.name}",
        "issuer": base_url + issuer_path(world.name),
        "commit": world.commit,
        "clock": clock_view(engine),
        "assumptions": world.assumptions.changes(),
        "variation": variation_view(engine),
        "counts": {
            "projects": world.count(t.PROJECTS),
            "operations": world.count(t.OPERATIONS),
            "deployments": world.count(t.DEPLOYMENTS),
            "tickets": world.count(t.TICKETS),
            "api_keys": world.count(t.API_KEYS),
        },
        "organizations": [
            {"alias": o.alias, "id": o.id, "name": o.name, "plan": o.plan}
            for o in sorted((o for _, o in world.rows(t.ORGANIZATIONS)), key=lambda o: o.alias)
        ],
        "people": [
            {"alias": p.alias, "id": p.id, "email": p.email, "name": p.name}
            for p in sorted((p for _, p in world.rows(t.PEOPLE)), key=lambda p: p.alias)
        ],
        "projects": [
            {
                "alias": p.alias,
                "id": p.id,
                "handle": p.handle,
                "organization_id": p.organization_id,
                "source_generation": p.source_generation,
            }
            for p in sorted((p for _, p in world.rows(t.PROJECTS)), key=lambda p: p.alias)
        ],
    }


def clock_view(engine: Engine) -> dict[str, Any]:
    """Return a world's clock: mode, now, rate, when and what the next event is, how many are pending."""
    now_ms = engine.run_due()
    world = engine.world
    due_ms = world.next_due_ms
    return {
        "mode": world.clock.mode,
        "now": format_timestamp(now_ms),
        "rate": world.clock.rate,
        "next_due_at": None if due_ms is None else format_timestamp(due_ms),
        "next_event": next_event(world),
        "pending": world.count(t.SCHEDULE),
    }
