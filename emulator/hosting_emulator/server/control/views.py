"""How the control API shows worlds, clocks and operations."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.engine.worlds import variation_view
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.hosts import world_prefix
from hosting_emulator.world import tables as t
from hosting_emulator.world.operations import plan_of
from hosting_emulator.world.records import Operation
from hosting_emulator.world.value import World

Summary = dict[str, Any]


def world_summary(context: Context, engine: Engine) -> Summary:
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
        "organizations": _rows(world, t.ORGANIZATIONS, "alias id name plan"),
        "people": _rows(world, t.PEOPLE, "alias id email name"),
        "projects": _rows(world, t.PROJECTS, "alias id handle organization_id source_generation"),
    }


def _rows(world: World, table: t.Table[Any], fields: str) -> list[Summary]:
    rows = sorted((row for _, row in world.rows(table)), key=lambda row: row.alias)
    return [{name: getattr(row, name) for name in fields.split()} for row in rows]


def clock_view(engine: Engine) -> Summary:
    """Return a world's clock: mode, now, rate, when and what the next event is, how many are pending."""
    now_ms = engine.run_due()
    world = engine.world
    due_ms = world.next_due_ms
    return {
        "mode": world.clock.mode,
        "now": format_timestamp(now_ms),
        "rate": world.clock.rate,
        "next_due_at": None if due_ms is None else format_timestamp(due_ms),
        "next_event": _next_event(world),
        "pending": world.count(t.SCHEDULE),
    }


def _next_event(world: World) -> str | None:
    """Say what is the next to come due, and of what; None when nothing is scheduled."""
    event = world.get(t.SCHEDULE, world.schedule[0][2]) if world.schedule else None
    if event is None:
        return None
    if event.kind == "timeline":
        return "the scenario's timeline goes on"
    if event.kind == "dns_expiry":
        return f"the DNS authorization of {alias(world, t.PROJECTS, event.subject)} expires"
    operation = world.get(t.OPERATIONS, event.subject)
    if operation is None:
        return None
    following = plan_of(operation)[operation.step + 1]
    into = following.phase if following.state == operation.state else following.state
    return f"{operation_title(world, operation)} goes on to {into}"


def operation_title(world: World, operation: Operation) -> str:
    """Return an operation's kind and project in words."""
    return f"{operation.kind.replace('_', ' ')} of {alias(world, t.PROJECTS, operation.project_id)}"


def operation_view(world: World, operation: Operation) -> Summary:
    """Return what every list of operations says of one."""
    return {
        "id": operation.id,
        "kind": operation.kind,
        "project": alias(world, t.PROJECTS, operation.project_id),
        "state": operation.state,
    }


def alias(world: World, table: t.Table[Any], id_: str) -> str:
    """Return what people call a record; its id where it is gone."""
    row = world.get(table, id_)
    return row.alias if row else id_
