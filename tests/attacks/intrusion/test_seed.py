"""The seed of a world reveals its tokens, keys and tickets, so documents for other people omit it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from pytest_hosting_emulator import BackgroundEmulator
from tests.support.emulator_process import Client

SEED = "a-tell-tale-seed"
SCENARIO = {"name": "mine", "description": "Has a seed.", "clock": {"mode": "frozen"}}


@pytest.fixture(params=["asked for", "a scenario's"])
def world(server: BackgroundEmulator, request: pytest.FixtureRequest) -> Iterator[HostingEmulator]:
    """A world with that seed, in which one request was sent."""
    if request.param == "asked for":
        created_world = server.world(seed=SEED)
    else:
        created_world = server.world({**SCENARIO, "seed": SEED})
    with created_world:
        status(created_world, created_world.token())
        yield created_world


def status(world: HostingEmulator, bearer: str) -> int:
    client = Client(world.base_url)
    headers = {"Authorization": f"Bearer {bearer}"}
    path = world.url("/v1/projects/{project}/edge-dns").partition(world.base_url)[2]
    path = world.base_url.removeprefix(world.base_url.rpartition("/worlds/")[0]) + path
    try:
        return client.send("GET", path, headers=headers).status
    finally:
        client.close()


def draw_secrets(world: HostingEmulator) -> set[str]:
    """Create an API key. Return its value and id, and the header of a token, which names the signing key."""
    key = world.create_api_key(name="later")
    return {key.value, key.key.id, world.token().partition(".")[0]}


def test_documents_for_other_people_contain_no_seed(world: HostingEmulator):
    control = world.control
    name = world.name
    documents: dict[str, Any] = {
        path: control.get(f"worlds/{name}/{path}")
        for path in (
            "state",
            "requests.har?state=true",
            "requests?limit=10",
            "requests/1",
            "report",
            "history",
            "timeline",
            "operations",
            "projects",
            "keys",
            "conduct",
            "faults",
        )
    }

    assert [path for path, document in documents.items() if SEED in json.dumps(document)] == []
    assert SEED in json.dumps(world.export(with_seed=True))


def test_a_world_of_an_export_without_seed_draws_other_secrets(world: HostingEmulator):
    """With the same name and the same seed, the world would draw exactly the same secrets."""
    key = world.api_key()
    state = world.export()
    state_with_seed = world.export(with_seed=True)
    source_secrets = draw_secrets(world)

    world.import_state(state_with_seed)
    same_secrets = draw_secrets(world)
    world.import_state(state)
    other_secrets = draw_secrets(world)

    assert same_secrets == source_secrets
    assert not other_secrets & source_secrets
    assert status(world, key) == 200


def test_a_reset_of_an_imported_world_draws_other_secrets(world: HostingEmulator):
    token = world.token()
    project = world.project

    world.import_state(world.export())
    world.reset()

    assert world.project != project
    assert status(world, token) == 401


def test_a_world_of_an_export_may_be_given_a_seed(
    server: BackgroundEmulator, world: HostingEmulator
):
    states = [world.export(), world.export(with_seed=True)]

    for state in states:
        with HostingEmulator.fresh(server.control, state=state, seed="another") as imported:
            assert imported.summary.seed == "another"
            assert imported.project == world.project
