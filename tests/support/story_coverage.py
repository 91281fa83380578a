"""Measures which problem codes and which states of records a story reaches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry, ExchangeContext
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.scenario.build import build_world
from hosting_emulator.scenario.reading import read_scenario
from hosting_emulator.scenario.story import StoryRun
from hosting_emulator.stories import respond_to_page
from hosting_emulator.world import tables
from hosting_emulator.world.value import Change, World

#: The lifecycles whose states are recorded.
WATCHED_LIFECYCLES = (
    "operation",
    "DNS authorization",
    "dev access ticket",
    "API key",
    "deployment",
    "reconciliation",
)


class StoryCoverage:
    """The problem codes and the states that one story reached."""

    def __init__(self) -> None:
        self.codes: set[str] = set()
        self.codes_without_faults: set[str] = set()
        #: Codes that the state of the world caused. No fault caused them, except faults that act only
        #: while the world is in a certain state.
        self.codes_by_state: set[str] = set()
        #: The states of records, by the name of their lifecycle.
        self.states: dict[str, set[str]] = defaultdict(set)
        #: The state before and the state after each transition, by the name of the lifecycle.
        self.transitions: dict[str, set[tuple[str, str]]] = defaultdict(set)


class _WatchedEngine(Engine):
    """Records the states after each commit, and the problem codes of responses."""

    def __init__(self, world: World) -> None:
        super().__init__(world, Keeper())
        self.coverage = StoryCoverage()
        self.tally.listener = self._observe_exchange
        self._states: dict[tuple[str, str], str] = {}
        self._observe()

    def _observe_exchange(self, world: World, entry: Entry) -> None:
        assert isinstance(entry, ExchangeContext)
        if entry.code is not None and entry.effect is None:
            self.coverage.codes.add(entry.code)
            if not world.count(tables.FAULTS):
                self.coverage.codes_without_faults.add(entry.code)
            if all(fault.rule.while_ is not None for fault in entry.acted):
                self.coverage.codes_by_state.add(entry.code)

    def commit(
        self, change: Change, title: str, manual_change: Mapping[str, Any] | None = None
    ) -> None:
        super().commit(change, title, manual_change)
        self._observe()

    def _observe(self) -> None:
        coverage = self.coverage
        for _, operation in self.world.rows(tables.OPERATIONS):
            if operation.error is not None and operation.error.code in PROBLEMS:
                coverage.codes_by_state.add(operation.error.code)
        states = _states_of(self.world)
        for (lifecycle, key), state in states.items():
            previous_state = self._states.get((lifecycle, key), state)
            coverage.states[lifecycle].add(state)
            if previous_state != state:
                coverage.transitions[lifecycle].add((previous_state, state))
        self._states = states


def _states_of(world: World) -> dict[tuple[str, str], str]:
    """Return the current state of each record that has a watched lifecycle."""
    states: dict[tuple[str, str], str] = {}
    for key, operation in world.rows(tables.OPERATIONS):
        reconciliation = operation.reconciliation
        states["operation", key] = operation.state
        states["reconciliation", key] = reconciliation.state if reconciliation else "none"
    for key, deployment in world.rows(tables.DEPLOYMENTS):
        states["deployment", key] = deployment.status
    for key, authorization in world.rows(tables.DNS):
        states["DNS authorization", key] = authorization.status
    for key, ticket in world.rows(tables.TICKETS):
        has_expired = ticket.state == "unused" and ticket.expires_ms <= world.at_ms
        states["dev access ticket", key] = "expired" if has_expired else ticket.state
    for key, api_key in world.rows(tables.API_KEYS):
        if api_key.revoked:
            states["API key", key] = "revoked"
        else:
            has_expired = api_key.expires_ms <= world.at_ms
            states["API key", key] = "expired" if has_expired else "active"
    return states


def coverage_of(path: Path) -> StoryCoverage:
    """Run the story of a scenario file, which must pass, and return its coverage."""
    scenario = read_scenario(path.read_text("utf-8"), path.name)
    engine = _WatchedEngine(build_world(scenario, "default", 0))
    report = StoryRun(scenario, engine, respond_to_page).run()
    assert report["passed"], report["steps"][-1]
    return engine.coverage
