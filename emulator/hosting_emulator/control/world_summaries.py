"""Builds the summary of a world."""

from __future__ import annotations

from hosting_emulator.contract.assumption_table import warnings_of
from hosting_emulator.control.clock import get_clock
from hosting_emulator.engine.access_tokens import issuer_path
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.triggers import triggers_of
from hosting_emulator.engine.world_variation import variation_view
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.guard import world_prefix
from hosting_emulator.messages import (
    WorldOrganization,
    WorldProject,
    WorldSummary,
    WorldUser,
)
from hosting_emulator.world.indexes import removed_total
from hosting_emulator.world.naming import in_order
from hosting_emulator.world.tables import (
    API_KEYS,
    DEPLOYMENTS,
    OPERATIONS,
    ORGANIZATIONS,
    ORIGIN,
    PROJECTS,
    SINGLETON_KEY,
    TICKETS,
    USERS,
)
from hosting_emulator.world.value import World


def world_summary(context: Context, engine: Engine) -> WorldSummary:
    """Return the summary of a world's current state."""
    engine.run_due()
    world = engine.world
    base_url = context.base_url
    return WorldSummary(
        name=world.name,
        seed=world.seed,
        ephemeral=context.facts.data_dir is None or engine.ephemeral,
        base_url=base_url + world_prefix(world.name),
        control_url=f"{base_url}/_emulator/worlds/{world.name}",
        issuer=base_url + issuer_path(world.name),
        commit=world.commit,
        scenario=scenario_file_of(world),
        clock=get_clock(engine),
        assumptions=world.assumptions.changes(),
        warnings=warnings_of(world.assumptions),
        variation=variation_view(engine),
        counts={
            "projects": world.count(PROJECTS),
            "operations": world.count(OPERATIONS),
            "deployments": world.count(DEPLOYMENTS) - removed_total(world.indexes),
            "tickets": world.count(TICKETS),
            "api_keys": world.count(API_KEYS),
        },
        triggers=triggers_of(engine),
        organizations=_organizations(world),
        users=_users(world),
        projects=_projects(world),
    )


def scenario_file_of(world: World) -> str | None:
    """Return the file name of a world's scenario, or None if it has no scenario."""
    origin = world.get(ORIGIN, SINGLETON_KEY)
    if origin is None or origin.scenario is None:
        return None
    return origin.scenario_file


def _organizations(world: World) -> list[WorldOrganization]:
    return [
        WorldOrganization(alias=record.alias, id=record.id, name=record.name, plan=record.plan)
        for record in in_order(world, ORGANIZATIONS)
    ]


def _users(world: World) -> list[WorldUser]:
    return [
        WorldUser(alias=record.alias, id=record.id, email=record.email, name=record.name)
        for record in in_order(world, USERS)
    ]


def _projects(world: World) -> list[WorldProject]:
    return [
        WorldProject(
            alias=record.alias,
            id=record.id,
            handle=record.handle,
            organization_id=record.organization_id,
            source_generation=record.source_generation,
        )
        for record in in_order(world, PROJECTS)
    ]
