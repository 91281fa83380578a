"""A hundred simultaneous worlds share no clock, fault, key, token or log."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import pytest

from hosting_emulator.sdk import HostingEmulator
from pytest_hosting_emulator import MoreWorlds
from tests.support.http_client import HttpClient

WORLDS = 100
START = datetime.fromisoformat("2026-01-01T00:00:00Z")

Worlds = list[HostingEmulator]
ForEachWorld = Callable[[Callable[[int, HostingEmulator], Any], Worlds], list[Any]]


def in_turn(act: Callable[[int, HostingEmulator], Any], worlds: Worlds) -> list[Any]:
    return [act(n, world) for n, world in enumerate(worlds)]


def in_threads(act: Callable[[int, HostingEmulator], Any], worlds: Worlds) -> list[Any]:
    with ThreadPoolExecutor(16) as pool:
        return list(pool.map(act, range(len(worlds)), worlds))


@pytest.fixture(params=[in_threads, pytest.param(in_turn, marks=pytest.mark.torture)])
def for_each_world(request: pytest.FixtureRequest) -> ForEachWorld:
    runner: ForEachWorld = request.param
    return runner


def ask(
    world: HostingEmulator, path: str, bearer: str, method: str = "GET", key: str | None = None
) -> tuple[int, Any]:
    """Return the status and the JSON of a call. `path` is below the project."""
    headers = {"Authorization": f"Bearer {bearer}"}
    if key is not None:
        headers["Idempotency-Key"] = key
    target = f"{urlsplit(world.base_url).path}/v1/projects/{world.project}/{path}"
    with HttpClient(world.base_url) as client:
        response = client.send(method, target, headers=headers)
    return response.status, response.json


def test_a_hundred_simultaneous_worlds_are_isolated(
    hosting_emulator_worlds: MoreWorlds, for_each_world: ForEachWorld
):
    """Each world has its own time, fault, API key and token, and all use the same idempotency key."""
    names: Worlds = [hosting_emulator_worlds(seed=f"seed-{n}") for n in range(WORLDS)]

    def prepare(n: int, world: HostingEmulator) -> tuple[str, str, str]:
        world.clock.advance(timedelta(minutes=n))
        if n % 2:
            world.fault("abort", code="rate_limited", call="list_deployments", times=n)
        status, operation = ask(world, "domains", world.token(), "PUT", "the-same-key")
        assert status == 202
        return world.token("reader"), world.api_key(name=f"key-{n}"), operation["id"]

    prepared = for_each_world(prepare, names)

    def check(n: int, world: HostingEmulator) -> None:
        token, api_key, operation = prepared[n]
        of_another = prepared[(n + 1) % WORLDS]
        moment = datetime.fromisoformat(world.clock.now)
        assert moment == START + timedelta(minutes=n)
        assert ask(world, "deployments", token)[0] == (429 if n % 2 else 200)
        assert ask(world, "edge-dns", api_key)[0] == 200
        assert ask(world, "edge-dns", of_another[0])[0] == 401
        assert ask(world, "edge-dns", of_another[1])[0] == 401
        assert [fault.hits for fault in world.faults] == [1] * (n % 2)
        unfinished = world.control.get(f"worlds/{world.name}/operations?unfinished=true")["items"]
        assert [row["id"] for row in unfinished] == [operation]
        calls = [item.call for item in reversed(world.requests.page().items)]
        assert calls == [
            "apply_project_domains",
            "list_deployments",
            *["get_dns_authorization"] * 3,
        ]

    for_each_world(check, names)

    assert len({operation for *_, operation in prepared}) == WORLDS
    assert len({key for _, key, _ in prepared}) == WORLDS
