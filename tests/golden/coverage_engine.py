"""An engine that notes what a story reaches: the codes it answers, the states records go through."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hosting_emulator.bootstrap import visit_page
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.history import Keeper
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.document import read_scenario
from hosting_emulator.scenario.story import StoryRun
from hosting_emulator.world import tables as t
from hosting_emulator.world.value import Change, World

Moves = dict[str, set[tuple[str, str]]]


class WatchedEngine(Engine):
    """Looks at the world after each commit, and at each answer. Changes nothing."""

    def __init__(self, world: World) -> None:
        super().__init__(world, Keeper())
        self.codes: set[str] = set()
        self.codes_without_faults: set[str] = set()
        #: Codes that came from how the world was: of no fault, or of one that holds while it is so.
        self.codes_by_state: set[str] = set()
        self.states: dict[str, set[str]] = defaultdict(set)
        self.moves: Moves = defaultdict(set)
        self._seen: dict[tuple[str, str], str] = {}
        self._look()

    async def exchange(self, ctx: ExchangeContext, *way: Any, **how: Any) -> Reply:
        reply = await super().exchange(ctx, *way, **how)
        if ctx.code is not None and ctx.effect is None:
            self.codes.add(ctx.code)
            if not self.world.count(t.FAULTS):
                self.codes_without_faults.add(ctx.code)
            if all(fault.rule.while_ is not None for fault in ctx.acted):
                self.codes_by_state.add(ctx.code)
        return reply

    def commit(self, change: Change, title: str, turn: Mapping[str, Any] | None = None) -> None:
        super().commit(change, title, turn)
        self._look()

    def _look(self) -> None:
        now = states_of(self.world)
        for _, operation in self.world.rows(t.OPERATIONS):
            if operation.error is not None and operation.error.code in PROBLEMS:
                self.codes_by_state.add(operation.error.code)
        for key, state in now.items():
            before = self._seen.get(key, state)
            self.states[key[0]].add(state)
            if before != state:
                self.moves[key[0]].add((before, state))
        self._seen = now


def states_of(world: World) -> dict[tuple[str, str], str]:
    """Return the state of each record with a lifecycle, as it is at the world's moment."""
    now_ms = world.at_ms
    found = {("operation", key): row.state for key, row in world.rows(t.OPERATIONS)}
    found |= {("deployment", key): row.status for key, row in world.rows(t.DEPLOYMENTS)}
    found |= {("DNS authorization", key): row.status for key, row in world.rows(t.DNS)}
    for key, row in world.rows(t.OPERATIONS):
        state = row.reconciliation.state if row.reconciliation else "none"
        found["reconciliation", key] = state
    for key, ticket in world.rows(t.TICKETS):
        over = ticket.state == "unused" and ticket.expires_ms <= now_ms
        found["dev access ticket", key] = "expired" if over else ticket.state
    for key, held in world.rows(t.API_KEYS):
        over = held.expires_ms <= now_ms
        found["API key", key] = "revoked" if held.revoked else "expired" if over else "active"
    return found


def watch(path: Path) -> WatchedEngine:
    """Run a file's story and return the engine it ran on."""
    scenario = read_scenario(path.read_text("utf-8"), path.name)
    engine = WatchedEngine(build_world(scenario, "default", 0))
    report = StoryRun(scenario, engine, visit_page).run()
    assert report["passed"], report["steps"][-1]
    return engine
