"""The endpoint that reports a world's current state and latest requests in one document."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from operator import attrgetter
from typing import Annotated

from hosting_emulator.control.armed_rules import rule_document
from hosting_emulator.control.clock import get_clock
from hosting_emulator.control.operations import operations_in_order, why_operation
from hosting_emulator.control.world_summaries import scenario_file_of
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.request_views import problem_of, summary_members
from hosting_emulator.engine.world_variation import variation_view
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.guard import world_prefix
from hosting_emulator.http.query import LATEST_REQUESTS, Limit
from hosting_emulator.http.time_slices import LongJob
from hosting_emulator.messages import (
    JsonObject,
    ReportedExchange,
    ReportedRequests,
    Why,
    WorldReport,
)
from hosting_emulator.world.tables import OPERATIONS, TIMELINE
from hosting_emulator.world.value import World

#: A report explains at most this many unfinished operations, oldest first.
_MOST_OPERATIONS = 10


async def report(
    context: Context, engine: Engine, requests: Annotated[Limit, LATEST_REQUESTS] = 20
) -> WorldReport:
    """Report a world's clock, latest requests (oldest first), unfinished operations, faults and outcomes."""
    now_ms = engine.run_due()
    world = engine.world
    entries = engine.log.newest(requests)[::-1]
    exchanges = await _reported_exchanges(world, entries)
    operations = await _unfinished_operations(context, engine, world)
    return WorldReport(
        world=world.name,
        base_url=context.base_url + world_prefix(world.name),
        scenario=scenario_file_of(world),
        clock=get_clock(engine),
        commit=world.commit,
        assumptions=world.assumptions.changes(),
        variation=variation_view(engine),
        requests=ReportedRequests(total=engine.log.count, items=exchanges),
        refused=_refused_entries(world),
        operations=operations,
        faults=_armed_rules(engine, world, now_ms, FAULT),
        outcomes=_armed_rules(engine, world, now_ms, OUTCOME),
    )


async def _reported_exchanges(world: World, entries: Sequence[Entry]) -> list[ReportedExchange]:
    exchanges = []
    async with LongJob() as job:
        for entry in entries:
            summary = summary_members(world, entry)
            exchanges.append(ReportedExchange(**summary, problem=problem_of(entry)))
            await job.pause()
    return exchanges


async def _unfinished_operations(context: Context, engine: Engine, world: World) -> list[Why]:
    """Explain the oldest unfinished operations, without blocking other requests."""
    operations = await operations_in_order(world, unfinished=True)
    explanations = []
    async with LongJob() as job:
        for operation in islice(operations, _MOST_OPERATIONS):
            # Skip operations that no longer exist, because the world may have been reset during a
            # pause.
            if engine.world.get(OPERATIONS, operation.id) is not None:
                explanations.append(why_operation(context, engine, operation.id))
            await job.pause()
    return explanations


def _refused_entries(world: World) -> list[str]:
    """Return the error messages for the timeline entries that were refused when they were due."""
    entries = sorted((entry for _, entry in world.rows(TIMELINE)), key=attrgetter("order"))
    return [str(entry.message) for entry in entries if entry.refused]


def _armed_rules(
    engine: Engine, world: World, now_ms: int, category: RuleCategory
) -> list[JsonObject]:
    return [
        rule_document(engine, world, rule, now_ms, category)
        for rule in faults_in_order(world, category.table)
    ]
