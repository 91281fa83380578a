"""A protected fault is in every world of the process, and no client removes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import pytest

from hosting_emulator.sdk import ControlClient, ControlRefused, HostingEmulator

FAULT = {"abort": {"code": "service_unavailable"}, "call": "list_deployments"}


def status_of(world: HostingEmulator) -> int:
    """List deployments; return the status."""
    url = world.url("/v1/projects/{project}/deployments")
    try:
        with urlopen(Request(url, headers=world.headers("owner"))) as response:
            return int(response.status)
    except HTTPError as error:
        error.close()
        return error.code


@pytest.fixture
def control(hosting_emulator: HostingEmulator) -> ControlClient:
    return hosting_emulator.control


@pytest.fixture
def protect(
    hosting_emulator: HostingEmulator, control: ControlClient
) -> Iterator[Callable[..., Any]]:
    """Protect a fault in the test's world and its copies, until the test ends."""
    created_ids = []

    def protect(**body: Any) -> Any:
        document = {"worlds": [hosting_emulator.name], **body}
        protected_fault = control.post("protected-faults", document)
        created_ids.append(protected_fault["id"])
        return protected_fault

    yield protect
    for fault_id in created_ids:
        control.delete(f"protected-faults/{fault_id}")


def put_state(world: HostingEmulator) -> None:
    world.control.put(f"worlds/{world.name}/state", world.export())


WAYS: dict[str, Callable[[HostingEmulator], Any]] = {
    "reset": lambda world: world.reset(),
    "load": lambda world: world.load_scenario(name="stuck-operation"),
    "clear": lambda world: world.control.delete(f"worlds/{world.name}/faults"),
    "import": put_state,
    "rewind": lambda world: world.control.post(f"worlds/{world.name}/rewind", {"commit": 1}),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_protected_fault_survives_every_way_to_replace_a_world(
    hosting_emulator: HostingEmulator, protect: Callable[..., Any], way: str
):
    protect(fault=FAULT)
    WAYS[way](hosting_emulator)

    assert status_of(hosting_emulator) == 503


def test_a_protected_fault_is_listed_and_cannot_be_removed_by_a_world(
    hosting_emulator: HostingEmulator, control: ControlClient, protect: Callable[..., Any]
):
    id_ = protect(fault=FAULT)["id"]
    faults = f"worlds/{hosting_emulator.name}/faults"

    (fault,) = control.get(faults)["items"]
    with pytest.raises(ControlRefused) as refused:
        control.delete(f"{faults}/{id_}")

    assert (fault["id"], fault["protected"]) == (id_, True)
    assert refused.value.status == 409
    assert control.delete(faults) == {"removed": 0}


def upload(world: HostingEmulator) -> int | None:
    """Show the flag; return the status, or None if the connection was reset."""
    headers = {**world.headers("owner"), "Idempotency-Key": "k", "Content-Type": "application/json"}
    url = world.url("/v1/projects/{project}/powered-by-flag")
    try:
        with urlopen(Request(url, b'{"enabled": true}', headers, method="PUT")) as response:
            return int(response.status)
    except (URLError, ConnectionError):
        return None


def test_all_worlds_share_the_counts_of_a_protected_fault_on_uploads(
    hosting_emulator: HostingEmulator, protect: Callable[..., Any]
):
    protect(fault={"reset_in_upload": {"bytes": 4}, "skip_first": 1, "times": 1})

    with hosting_emulator.fork() as fork:
        statuses = [upload(world) for world in (hosting_emulator, fork, hosting_emulator)]

    assert statuses == [200, None, 200]


def test_all_worlds_share_the_counts_of_a_protected_fault(
    hosting_emulator: HostingEmulator, control: ControlClient, protect: Callable[..., Any]
):
    id_ = protect(fault={**FAULT, "skip_first": 2, "times": 1})["id"]

    with hosting_emulator.fork() as fork:
        statuses = [status_of(world) for world in (hosting_emulator, fork)]
        hosting_emulator.reset()
        statuses += [status_of(world) for world in (hosting_emulator, fork)]

    assert statuses == [200, 200, 503, 200]
    fault = control.get(f"protected-faults/{id_}")
    assert (fault["seen"], fault["hits"]) == (4, 1)


def test_a_new_world_has_a_protected_fault_unless_worlds_are_named(
    hosting_emulator: HostingEmulator, control: ControlClient, protect: Callable[..., Any]
):
    protect(fault=FAULT)

    with HostingEmulator.fresh(control) as other:
        assert status_of(other) == 200
        protect(fault=FAULT, worlds=None)
        assert status_of(other) == 503


def test_a_protected_intervention_is_repeated_after_a_reset(
    hosting_emulator: HostingEmulator, protect: Callable[..., Any]
):
    def count() -> int:
        url = hosting_emulator.url("/v1/projects/{project}/deployments?limit=100")
        with urlopen(Request(url, headers=hosting_emulator.headers("owner"))) as response:
            return int(response.read().count(b'"created_at"'))

    usual = count()
    project = hosting_emulator.project
    protect(intervention={"add_deployments": {"project": project, "count": 3}})

    assert count() == usual + 3
    hosting_emulator.reset()
    assert count() == usual + 3


def test_an_exported_state_has_no_protected_fault(
    hosting_emulator: HostingEmulator, protect: Callable[..., Any]
):
    protect(fault=FAULT)
    assert status_of(hosting_emulator) == 503

    assert hosting_emulator.export()["tables"].get("faults", {}) == {}


def test_a_removed_protected_fault_is_gone_from_all_worlds(
    hosting_emulator: HostingEmulator, control: ControlClient
):
    body = {"fault": FAULT, "worlds": [hosting_emulator.name]}
    id_ = control.post("protected-faults", body)["id"]
    with hosting_emulator.fork() as fork:
        control.delete(f"protected-faults/{id_}")

        assert [status_of(world) for world in (hosting_emulator, fork)] == [200, 200]
        assert control.get(f"worlds/{fork.name}/faults")["items"] == []


def test_an_earlier_state_has_no_protected_fault_that_was_removed_later(
    hosting_emulator: HostingEmulator, control: ControlClient
):
    body = {"fault": FAULT, "worlds": [hosting_emulator.name]}
    id_ = control.post("protected-faults", body)["id"]
    assert status_of(hosting_emulator) == 503
    commit = control.get(f"worlds/{hosting_emulator.name}")["commit"]
    control.delete(f"protected-faults/{id_}")

    with hosting_emulator.fork(commit=commit) as fork:
        control.post(f"worlds/{hosting_emulator.name}/rewind", {"commit": commit})

        assert [status_of(world) for world in (hosting_emulator, fork)] == [200, 200]


@pytest.mark.parametrize("body", [{}, {"fault": FAULT, "outcome": {"fail": {}}}])
def test_a_protected_fault_must_have_exactly_one_kind(control: ControlClient, body: Any):
    with pytest.raises(ControlRefused) as refused:
        control.post("protected-faults", body)

    assert refused.value.status == 400
