"""The report: a world's story in one document, for whoever must understand a failed test."""

from __future__ import annotations

from aiohttp import web

from hosting_emulator.engine.request_log import entry_view, problem_of
from hosting_emulator.engine.why import why
from hosting_emulator.engine.worlds import variation_view
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.documents import fault_view
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context
from hosting_emulator.server.control.operations import unfinished
from hosting_emulator.server.control.requests import read_limit
from hosting_emulator.server.control.views import clock_view
from hosting_emulator.server.sites import world_prefix
from hosting_emulator.world.tables import ONLY, ORIGIN

#: More operations under way than these would bury the rest.
_OPERATIONS = 10


async def report(context: Context, world: str) -> web.Response:
    """GET …/report?requests=20: clock, last requests (oldest first), pending operations, faults."""
    engine = context.engine(world)
    limit = read_limit(context, "requests", 20)
    now_ms = engine.run_due()
    value = engine.world
    origin = value.get(ORIGIN, ONLY)
    entries = engine.log.newest(limit)[::-1]
    return answers.json(
        {
            "world": value.name,
            "base_url": context.base_url + world_prefix(value.name),
            "scenario": origin.scenario_file if origin and origin.scenario else None,
            "clock": clock_view(engine),
            "commit": value.commit,
            "assumptions": value.assumptions.changes(),
            "variation": variation_view(engine),
            "requests": {
                "total": engine.log.count,
                "items": [
                    {**entry_view(value, entry), "problem": problem_of(entry)} for entry in entries
                ],
            },
            "operations": [
                why(engine, operation.id) for operation in unfinished(engine)[:_OPERATIONS]
            ],
            "faults": [fault_view(value, fault, now_ms) for fault in faults_in_order(value)],
        }
    )
