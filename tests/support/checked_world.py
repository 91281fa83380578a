"""Worlds whose responses are all checked against the contract, in this process or over HTTP."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from datetime import datetime
from email.message import Message
from typing import Any

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.value import World
from tests.support.calls import Calls, Response
from tests.support.exported_worlds import export_document
from tests.support.http_world import HttpWorld
from tests.support.in_process import InProcess
from tests.support.response_checks import check_response, read_timestamp
from tests.support.served_worlds import served_world


class CheckedCalls(Calls):
    """Calls whose responses are all checked against the models of the contract.

    After each call, in every test, the world is checked too: a refused request, or a read with an
    access token, must not have changed the world.
    """

    @abstractmethod
    def send(self, method: str, path: str, **options: Any) -> Response:
        """Send a request without checks, for tests with threads or with a running clock."""

    @abstractmethod
    def current_world(self) -> World:
        """Return the world after all events that are due now."""

    @abstractmethod
    def token(
        self, user: str = "owner", *, interactive: bool = True, organization: str | None = None
    ) -> str:
        """Return an access token for a user, of an interactive session unless `interactive` is False."""

    @abstractmethod
    def finish(self, operation_id: str) -> None:
        """Move world time until an operation has ended."""

    @abstractmethod
    def timestamp(self) -> str:
        """Return world time in the format that responses use."""

    @abstractmethod
    def state(self) -> dict[str, Any]:
        """Return the exported document of the whole world, including the seed."""

    def now(self) -> datetime:
        """Return world time."""
        return read_timestamp(self.timestamp())

    def assume(self, **values: Any) -> None:
        """Change assumptions of the world."""
        self.set_assumptions(**values)

    def _unchanging_state(self) -> dict[str, Any]:
        """Return the part of the world that a read or a refused request must not change.

        The part leaves out three changes that are allowed. A rate limit counts the requests that it
        refuses. An armed fault counts the requests that it matches, and draws random numbers. With
        the clock `skip`, a request may move time.
        """
        world = self.current_world()
        tables = dict(world.tables)
        is_counting = world.assumptions.rate_limit != "off" or bool(tables["faults"])
        if tables["faults"]:
            tables.pop("streams")
        for counters in ("rate_windows", "faults", "retry_waits"):
            tables.pop(counters)
        if world.clock.mode == "skip":
            return {"projects": tables["projects"], "user_api_keys": tables["user_api_keys"]}
        return {**tables, "clock": world.clock, "commit": 0 if is_counting else world.commit}

    def _refusals_change_nothing(self) -> bool:
        """Return whether no refused request may change the world.

        Return False if the world stores refusals because of its assumptions, or if a fault acts
        after the commit. Such a fault refuses a request that has already changed the world.
        """
        world = self.current_world()
        faults = world.tables["faults"].values()
        return world.assumptions.idempotency_remembers == "successes" and not any(
            fault.rule.commit_phase == "after_commit" for fault in faults
        )

    def call(self, method: str, path: str, **options: Any) -> Response:
        before = self._unchanging_state()
        response = self.send(method, path, **options)
        assumptions = self.current_world().assumptions
        check_response(method, path, response, null_cursor=assumptions.last_page_cursor == "null")
        if response.status >= 400 and self._refusals_change_nothing():
            assert self._unchanging_state() == before, "a refused request changed the world"
        elif method == "GET" and "/projects/" in path and options.get("token") is None:
            assert self._unchanging_state() == before, "a read changed the world"
        return response


class CheckedWorld(CheckedCalls, HttpWorld):
    """A world over HTTP whose responses are all checked."""

    def send(self, method: str, path: str, **options: Any) -> Response:
        return HttpWorld.call(self, method, path, **options)

    def current_world(self) -> World:
        world = served_world(self.emulator.base_url)
        if world.clock.mode != "frozen":
            _ = self.emulator.summary
            world = served_world(self.emulator.base_url)
        return world

    def token(
        self, user: str = "owner", *, interactive: bool = True, organization: str | None = None
    ) -> str:
        return self.emulator.token(user, interactive=interactive, organization=organization)

    def finish(self, operation_id: str) -> None:
        self.emulator.clock.until(operation_id)

    def timestamp(self) -> str:
        return self.emulator.clock.now

    def state(self) -> dict[str, Any]:
        return self.emulator.export(with_seed=True)

    def load(self, state: dict[str, Any]) -> None:
        """Replace this world with an exported state."""
        self.emulator.import_state(state)

    def project_record(self, alias: str = "shop") -> dict[str, Any]:
        """Return the record of a project in the exported state."""
        record: dict[str, Any] = self.state()["tables"]["projects"][self.emulator.projects[alias]]
        return record


class CheckedInProcess(CheckedCalls):
    """A world in this process whose responses are all checked. The world's clock is frozen."""

    def __init__(self) -> None:
        self.in_process = InProcess()

    def send(self, method: str, path: str, **options: Any) -> Response:
        for name, value in dict(options.get("headers") or {}).items():
            options["headers"] = options["headers"] | {name: _as_received(value)}
        if options.get("key") is not None:
            options["key"] = _as_received(options["key"])
        response = self.in_process.call(method, path, **options)
        headers = Message()
        for name, value in response.headers.items():
            headers[name] = value
        return Response(response.status, headers, response.body)

    def current_world(self) -> World:
        return self.in_process.world

    def project_id(self, alias: str = "shop") -> str:
        return self.in_process.project_id(alias)

    def organization_id(self, alias: str = "acme") -> str:
        return self.in_process.organization_id(alias)

    def token(
        self, user: str = "owner", *, interactive: bool = True, organization: str | None = None
    ) -> str:
        if organization is None:
            return self.in_process.token(user, interactive=interactive)
        return self.in_process.new_token(user, organization, interactive=interactive)

    def finish(self, operation_id: str) -> None:
        self.in_process.engine.move_until_ended(operation_id)

    def timestamp(self) -> str:
        return format_timestamp(self.in_process.engine.now_ms())

    def state(self) -> dict[str, Any]:
        return export_document(self.in_process.world, with_seed=True)

    def add_fault(self, **fault: Any) -> str:
        return self.in_process.add_fault(**fault)

    def add_outcome(self, **outcome: Any) -> str:
        return self.in_process.add_outcome(**outcome)

    def intervene(self, name: str, /, **fields: Any) -> str:
        return self.in_process.intervene(name, **fields)

    def advance(self, duration: str) -> None:
        self.in_process.advance(duration)

    def set_assumptions(self, **values: Any) -> None:
        self.in_process.set_assumptions(**values)


def _as_received(header_value: str) -> str:
    """Return the value of a header as a server decodes it."""
    return header_value.encode("latin-1").decode("utf-8", "surrogateescape").strip(" \t")


#: The ways in which a world can continue from a stored state.
WAYS_TO_CONTINUE = ("restart", "fork", "rewind")


def continue_world(world: CheckedWorld, way: str, change: Callable[[], object]) -> CheckedWorld:
    """Return a world after a restart, a fork, a rewind or a restored snapshot, depending on `way`.

    `change` is called before a rewind or a restore, which undoes the change.
    """
    if way == "restart":  # an export and an import have the same effect as a restart
        world.load(world.state())
        return world
    if way == "fork":
        return CheckedWorld(world.emulator.fork())
    if way == "snapshot":
        with world.emulator.snapshot():
            change()
        return world
    commit = world.emulator.history[-1].commit
    change()
    world.emulator.rewind(commit)
    return world
