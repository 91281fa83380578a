"""The contract's tests speak through an `api` that holds each answer against the contract."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from tests.conftest import Api, Response
from tests.contract.answer_checks import hold, moment
from tests.served_worlds import served_world


class HeldApi(Api):
    """Calls whose every answer is held against the models.

    A refused request must leave the world as it was, and so must a read with an access token:
    both are checked on each call, whatever its test is about.
    """

    #: Whether the last page's next_cursor may be null (the assumption `last_page_cursor`).
    null_cursor = False
    #: Whether a refusal may be remembered (the assumption `idempotency_remembers`).
    refusals_are_kept = False

    def state(self) -> dict[str, Any]:
        """Return the whole world, with its seed."""
        return self.emulator.export(with_seed=True)

    def _held(self) -> dict[str, Any]:
        """Return what a read and a refused request leave as it is.

        A rate limit counts what it refuses, too.
        """
        world = served_world(self.emulator.base_url)
        if world.clock.mode != "frozen":  # what is due by now is none of the request's doing
            _ = self.emulator.summary
            world = served_world(self.emulator.base_url)
        tables = {key: rows for key, rows in world.tables.items() if key != "rate_windows"}
        limited = world.assumptions.rate_limit != "off"
        return {**tables, "clock": world.clock, "commit": 0 if limited else world.commit}

    def load(self, state: dict[str, Any]) -> None:
        """Put a whole world in place of this one."""
        self.emulator.import_state(state)

    def assume(self, **values: Any) -> None:
        """Change assumptions of the world."""
        self.emulator.set_assumptions(values)

    def send(self, method: str, path: str, **options: Any) -> Response:
        """Send without looking at the state (from threads, or where time runs by itself)."""
        return super().call(method, path, **options)

    def call(self, method: str, path: str, **options: Any) -> Response:
        before = self._held()
        answer = super().call(method, path, **options)
        hold(method, path, answer, null_cursor=self.null_cursor)
        if answer.status >= 400 and not self.refusals_are_kept:
            assert self._held() == before, "a refused request changed the world"
        elif method == "GET" and "/projects/" in path and options.get("token") is None:
            assert self._held() == before, "a read changed the world"
        return answer

    def project(self, alias: str = "shop") -> dict[str, Any]:
        """Return a project as the exported state has it."""
        found: dict[str, Any] = self.state()["tables"]["projects"][self.emulator.projects[alias]]
        return found

    def now(self) -> datetime:
        """Return world time."""
        return moment(self.emulator.clock.now)

    def advance(self, by: str) -> None:
        """Move world time."""
        self.emulator.clock.advance(by)


@pytest.fixture
def api(hosting_emulator: HostingEmulator) -> HeldApi:
    """Calls of a fresh world whose clock stands still; every answer is held."""
    return HeldApi(hosting_emulator)
