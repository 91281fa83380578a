"""One world over HTTP whose every response is checked against the contract."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from tests.support.calls import Response
from tests.support.http_world import HttpWorld
from tests.support.response_checks import hold, moment
from tests.support.served_worlds import served_world


class CheckedWorld(HttpWorld):
    """Calls whose every response is checked against the models of the contract.

    A refused request must leave the world as it was, and so must a read with an access token. Both
    are checked after each call, whatever the test is about.
    """

    def state(self) -> dict[str, Any]:
        """Return the whole world, with its seed."""
        return self.emulator.export(with_seed=True)

    def _unchanging_state(self) -> dict[str, Any]:
        """Return what a read and a refused request leave as it is.

        Three things may change all the same. A rate limit counts the requests that it refuses, an
        armed fault counts the requests that it matches and draws random numbers, and with the
        clock `skip` a request may move time.
        """
        world = served_world(self.emulator.base_url)
        if world.clock.mode != "frozen":  # let the events run that are due by now
            _ = self.emulator.summary
            world = served_world(self.emulator.base_url)
        tables = dict(world.tables)
        is_counting = world.assumptions.rate_limit != "off" or bool(tables["faults"])
        if tables["faults"]:
            tables.pop("streams")
        for counters in ("rate_windows", "faults", "retry_waits"):
            tables.pop(counters)
        if world.clock.mode == "skip":
            return {"projects": tables["projects"], "user_api_keys": tables["user_api_keys"]}
        return {**tables, "clock": world.clock, "commit": 0 if is_counting else world.commit}

    def load(self, state: dict[str, Any]) -> None:
        """Replace this world by an exported one."""
        self.emulator.import_state(state)

    def assume(self, **values: Any) -> None:
        """Change assumptions of the world."""
        self.emulator.set_assumptions(values)

    def send(self, method: str, path: str, **options: Any) -> Response:
        """Send without a look at the state (from threads, or where time runs by itself)."""
        return super().call(method, path, **options)

    def _refusals_change_nothing(self) -> bool:
        """Tell whether every refused request must leave the world as it was.

        A refusal may be remembered if the world assumes so, and a fault that acts after the commit
        refuses a request that has changed the world.
        """
        world = served_world(self.emulator.base_url)
        faults = world.tables["faults"].values()
        return world.assumptions.idempotency_remembers == "successes" and not any(
            fault.rule.phase == "after_commit" for fault in faults
        )

    def call(self, method: str, path: str, **options: Any) -> Response:
        before = self._unchanging_state()
        response = super().call(method, path, **options)
        assumptions = served_world(self.emulator.base_url).assumptions
        hold(method, path, response, null_cursor=assumptions.last_page_cursor == "null")
        if response.status >= 400 and self._refusals_change_nothing():
            assert self._unchanging_state() == before, "a refused request changed the world"
        elif method == "GET" and "/projects/" in path and options.get("token") is None:
            assert self._unchanging_state() == before, "a read changed the world"
        return response

    def project(self, alias: str = "shop") -> dict[str, Any]:
        """Return a project as the exported state has it."""
        record: dict[str, Any] = self.state()["tables"]["projects"][self.emulator.projects[alias]]
        return record

    def now(self) -> datetime:
        """Return world time."""
        return moment(self.emulator.clock.now)
