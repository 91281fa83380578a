"""Worlds on disk: what a failing disk means for both APIs, and what needs a world in memory."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NoReturn

import pytest
from aiohttp.test_utils import TestClient

from tests.support.emulator_in_loop import EmulatorServer, emulator_in_loop, refusal_of_settings

ADVANCE = "/_emulator/worlds/default/clock/advance"


def fail(*_: object) -> NoReturn:
    raise OSError(5, "Input/output error")


@pytest.fixture
def server(tmp_path: Path) -> EmulatorServer:
    return EmulatorServer(data_dir=tmp_path / "data", durability="disk")


@pytest.fixture
async def client(
    aiohttp_client: Callable[..., Any], server: EmulatorServer
) -> TestClient[Any, Any]:
    client: TestClient[Any, Any] = await aiohttp_client(server)
    return client


async def test_a_control_change_that_cannot_be_written_changes_nothing(
    client: TestClient[Any, Any], server: EmulatorServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "write", fail)
    response = await client.post(ADVANCE, json={"by": "1h"})
    monkeypatch.undo()

    problem = await response.json()
    assert (response.status, problem["title"]) == (503, "Not kept")
    assert problem["detail"].startswith("nothing was changed: ")
    clock = await (await client.get("/_emulator/worlds/default/clock")).json()
    assert clock["now"] == server.emulator.ready().now


async def test_a_control_change_that_may_be_lost_is_reported(
    client: TestClient[Any, Any], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(os, "fsync", fail)
    response = await client.post(ADVANCE, json={"by": "1h"})
    monkeypatch.undo()

    problem = await response.json()
    assert (response.status, problem["title"]) == (503, "Not durable")
    assert problem["detail"] == "the change may be lost: [Errno 5] Input/output error"


async def test_a_public_change_that_may_be_lost_gets_no_success(
    client: TestClient[Any, Any],
    server: EmulatorServer,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
):
    ready = server.emulator.ready()
    headers = {"Authorization": f"Bearer {ready.token}", "Idempotency-Key": "k"}
    path = f"/v1/projects/{ready.project_id}/powered-by-flag"

    monkeypatch.setattr(os, "fsync", fail)
    response = await client.put(path, json={"enabled": True}, headers=headers)
    monkeypatch.undo()

    problem = await response.json()
    assert (response.status, problem["code"]) == (503, "service_unavailable")
    assert problem["detail"] == "The change could not be written to disk; it may be lost."
    assert "a change could not be made durable: [Errno 5] Input/output error" in caplog.messages


async def test_a_protected_fault_needs_a_world_in_memory(client: TestClient[Any, Any]):
    body = {"fault": {"timeout": {}}, "worlds": ["default"]}

    response = await client.post("/_emulator/protected-faults", json=body)

    problem = await response.json()
    assert (response.status, problem["title"]) == (409, "Not protected")
    assert problem["detail"] == (
        "world 'default' is kept on disk: a protected fault needs a temporary world"
    )


@pytest.mark.parametrize(
    ("kind", "document"), [("fault", {"timeout": {}}), ("outcome", {"fail": {}})]
)
async def test_a_copy_on_disk_has_no_protected_fault(
    client: TestClient[Any, Any], kind: str, document: dict[str, Any]
):
    """The worlds `named` and `watched` are in memory, and `watched` is in the fault's scope."""
    for name in ("watched", "named"):
        await client.post("/_emulator/worlds", json={"name": name, "ephemeral": True})
    for scope in (["watched"], None):
        body = {kind: document, "worlds": scope}
        created = await client.post("/_emulator/protected-faults", json=body)
        assert created.status == 201
    await client.post(f"/_emulator/worlds/watched/{kind}s", json=document)

    kept_ids = {}
    for source, ephemeral in (("watched", False), ("watched", True), ("named", False)):
        fork = f"{source}-{ephemeral}".lower()
        path = f"/_emulator/worlds/{source}/fork"
        await client.post(path, json={"name": fork, "ephemeral": ephemeral})
        listed = await (await client.get(f"/_emulator/worlds/{fork}/{kind}s")).json()
        kept_ids[fork] = [item["id"] for item in listed["items"]]

    first, second = f"{kind}-1000000001", f"{kind}-1000000002"
    assert kept_ids == {
        "watched-false": [f"{kind}-1"],
        "watched-true": [f"{kind}-1", first, second],
        "named-false": [],
    }
    scope = (await (await client.get(f"/_emulator/protected-faults/{first}")).json())["worlds"]
    assert scope == ["watched", "watched-true"]


def test_a_start_whose_world_cannot_be_written_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("hosting_emulator.storage.keeper.write_snapshot", fail)

    assert "Input/output error" in refusal_of_settings(data_dir=tmp_path / "data")


async def test_a_stop_that_cannot_store_the_time_of_a_world_is_logged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
):
    with monkeypatch.context() as failing:
        async with emulator_in_loop(data_dir=tmp_path / "data", clock="scaled:60"):
            failing.setattr(os, "write", fail)

    assert [message for message in caplog.messages if "Input/output error" in message]
