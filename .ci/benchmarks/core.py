"""Calls the core without sockets: a world of a given size in this process, and calls to this world."""

from __future__ import annotations

import gc
import random
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from msgspec.structs import replace
from multidict import CIMultiDict

from hosting_emulator.calls.request import Reply
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import run_through
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import WorldSource
from hosting_emulator.world.tables import DEPLOYMENTS, OPERATIONS, USERS
from hosting_emulator.world.value import World, apply

_BLOCK = 200
_NOW_MS = 1_767_225_600_000


@dataclass(slots=True)
class Case:
    """A call in one world: the function that makes it, and the cost of each measured block of calls."""

    ask: Callable[[], Reply]
    reset: Callable[[], None]
    costs_us: list[float] = field(default_factory=list)

    def block(self) -> None:
        """Reset the world, make a block of calls, and record the cost of one call in microseconds."""
        ask = self.ask
        self.reset()
        began = time.perf_counter_ns()
        for _ in range(_BLOCK):
            ask()
        self.costs_us.append((time.perf_counter_ns() - began) / 1000 / _BLOCK)


class Core:
    """A world with `size` deployments and `size` operations, most of them in the project `shop`."""

    def __init__(self, size: int) -> None:
        self._start = grown(size)
        self._engine = Engine(self._start, Keeper(), lambda: _NOW_MS)
        self._numbers = iter(range(10**9))
        self._headers = {"Authorization": f"Bearer {self._token()}"}
        shop = self._start.indexes["project:shop"]
        rows = self._start.rows(OPERATIONS)
        ids = sorted(key for key, row in rows if row.project_id == shop)
        self._operations = random.Random(1).choices(ids, k=1000)

    def _reset(self) -> None:
        self._engine.world = self._start

    def _token(self) -> str:
        world = self._engine.world
        user = world.get(USERS, world.indexes["user:owner"])
        assert user is not None
        organization_id = world.indexes["organization:acme"]
        return self._engine.mint(user, organization_id, "http://127.0.0.1", lifetime_s=3600)

    def cases(self) -> Iterator[tuple[str, Case]]:
        """Yield each call's name and its case."""
        indexes = self._start.indexes
        project = f"/v1/projects/{indexes['project:shop']}"
        keys = f"/v1/organizations/{indexes['organization:acme']}/user-api-keys"
        flag, source = b'{"enabled":true}', b'{"expected_source_generation":1}'
        yield "set_project_powered_by_flag", self._case("PUT", f"{project}/powered-by-flag", flag)
        initialize = self._case("POST", f"{project}/source:initialize", source)
        yield "initialize_managed_source", initialize
        yield "create_user_api_key", self._case("POST", keys, b'{"name":"ci"}')
        yield "apply_project_domains", self._case("PUT", f"{project}/domains")
        yield "get_dns_authorization", self._case("GET", f"{project}/edge-dns")
        yield "list_deployments", self._case("GET", f"{project}/deployments")
        yield "create_dev_access_ticket", self._case("POST", f"{project}/dev-access-tickets")
        path = f"{project}/database/compute"
        yield "read_database_compute", self._case("GET", path, query="environment=dev")
        yield "get_operation", Case(self._poll_any, self._reset)

    def _case(self, method: str, path: str, body: bytes = b"", query: str = "") -> Case:
        headers = dict(self._headers)
        if body:
            headers["Content-Type"] = "application/json"

        def ask() -> Reply:
            if method != "GET":
                headers["Idempotency-Key"] = f"key-{next(self._numbers)}"
            return self._exchange(method, path, headers, body, query)

        return Case(ask, self._reset)

    def _poll_any(self) -> Reply:
        operation = self._operations[next(self._numbers) % len(self._operations)]
        return self._exchange("GET", f"/v1/operations/{operation}", self._headers)

    def _exchange(
        self,
        method: str,
        path: str,
        headers: dict[str, str],
        body: bytes = b"",
        query: str = "",
    ) -> Reply:
        context = ExchangeContext(
            method=method,
            path=path,
            query=query,
            docs_url=lambda: "",
            headers=CIMultiDict(headers.items()),
            body=body,
        )
        reply = run_through(run_exchange(self._engine, context))
        assert reply.status < 300, reply.body
        return reply


def grown(size: int) -> World:
    """Return a default world, enlarged to a total of `size` deployments and `size` operations.

    The added rows belong to `shop`, and share its digests. A million of them take about 1.2 GB.
    """
    world = new_world("default", "hosting-emulator", WorldSource(mode="frozen"), _NOW_MS)
    # Nothing becomes garbage, and searching for garbage would take longer than building the world.
    gc.disable()
    try:
        writes: dict[str, dict[str, Any]] = {DEPLOYMENTS.name: {}, OPERATIONS.name: {}}
        for table, key, record in _pairs(world, size - world.count(DEPLOYMENTS)):
            writes[table][key] = record
        grown = apply(world, writes, commit=1, at_ms=_NOW_MS)
    finally:
        gc.enable()
    assert grown.count(DEPLOYMENTS) == grown.count(OPERATIONS) == size
    return grown


def _pairs(world: World, count: int) -> Iterator[tuple[str, str, Any]]:
    project_id = world.indexes["project:shop"]
    operation = next(row for _, row in world.rows(OPERATIONS) if row.project_id == project_id)
    deployment = world.get(DEPLOYMENTS, operation.deployment_id or "")
    assert deployment is not None
    drawn = random.Random(1)
    moment = deployment.id[:10]
    for _ in range(count):
        # Use hexadecimal digits, because each of them is also a digit of a ULID.
        own, other = (f"{moment}{drawn.getrandbits(64):016X}" for _ in range(2))
        yield DEPLOYMENTS.name, own, replace(deployment, id=own, operation_id=other)
        yield OPERATIONS.name, other, replace(operation, id=other, deployment_id=own)
