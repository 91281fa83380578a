"""How long states last: the profiles `timed`, `immediate`, `per_poll` and `manual`, and the clocks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from hosting_emulator.sdk import ControlRefused
from tests.support.checked_world import CheckedWorld
from tests.support.response_checks import read_timestamp

Start = Callable[[CheckedWorld], dict[str, Any]]


def step(api: CheckedWorld, operation: str) -> Any:
    """Move an operation to its next state."""
    return api.emulator.control.post(f"worlds/{api.emulator.name}/operations/{operation}/step")


def initialize(api: CheckedWorld) -> dict[str, Any]:
    operation: dict[str, Any] = api.initialize(1).json
    return operation


def apply_domains(api: CheckedWorld) -> dict[str, Any]:
    operation: dict[str, Any] = api.apply_domains().json
    return operation


#: How an operation is started, the assumption with its profile, and that of the other kind.
both = pytest.mark.parametrize(
    ("start", "profile", "other"),
    [
        pytest.param(initialize, "source_profile", "domains_profile", id="source"),
        pytest.param(apply_domains, "domains_profile", "source_profile", id="domains"),
    ],
)


def state(api: CheckedWorld, operation: dict[str, Any]) -> str:
    current_state: str = api.poll(operation["id"]).json["state"]
    return current_state


@both
def test_the_profile_timed_takes_the_time_it_names(
    api: CheckedWorld, start: Start, profile: str, other: str
) -> None:
    api.assume(**{profile: "timed 1m 1h", other: "immediate"})
    operation = start(api)

    seen = []
    for by in ("59s", "1s", "59m59s", "1s"):
        api.advance(by)
        seen.append(state(api, operation))

    assert operation["progress"]["next_poll_after_seconds"] == 60
    assert seen == ["queued", "running", "running", "succeeded"]


@both
def test_an_immediate_operation_is_accepted_first_and_finished_at_the_first_poll(
    api: CheckedWorld, start: Start, profile: str, other: str
) -> None:
    api.assume(**{profile: "immediate", other: "manual"})

    operation = start(api)

    assert operation["state"] == "queued"
    ended = api.poll(operation["id"]).json
    assert ended["state"] == "succeeded"
    assert ended["created_at"] == ended["updated_at"] == api.emulator.clock.now


@both
def test_immediate_operations_never_block(
    api: CheckedWorld, start: Start, profile: str, other: str
) -> None:
    api.assume(**{profile: "immediate", other: "manual"})
    start(api)

    assert "blocking_operation_id" not in api.apply_domains().json


@both
@pytest.mark.parametrize("polls", [1, 3])
def test_the_profile_per_poll_moves_with_polls_and_not_with_time(
    api: CheckedWorld, start: Start, profile: str, other: str, polls: int
) -> None:
    api.assume(**{profile: f"per_poll {polls}", other: "immediate"})
    operation = start(api)
    api.advance("10d")
    seen: list[str] = []

    while not seen or seen[-1] != "succeeded":
        seen.append(state(api, operation))
        assert len(seen) <= 5 * polls

    assert seen[: polls - 1] == ["queued"] * (polls - 1)
    assert seen[polls - 1] == "running"
    assert list(dict.fromkeys(seen))[-2:] == ["running", "succeeded"]
    assert len(seen) % polls == 0


def test_the_phases_of_a_state_share_its_polls(api: CheckedWorld) -> None:
    api.assume(domains_profile="per_poll 2")
    operation = apply_domains(api)

    phases = [api.poll(operation["id"]).json["progress"]["phase"] for _ in range(4)]

    assert phases == ["queued", "deploying", "verifying", "done"]


@both
def test_under_per_poll_the_polls_of_a_waiting_operation_do_not_count(
    api: CheckedWorld, start: Start, profile: str, other: str
) -> None:
    api.assume(**{profile: "per_poll 2", other: "per_poll 2"})
    first = start(api)
    second = api.apply_domains().json

    assert {state(api, second) for _ in range(20)} == {"queued"}
    for _ in range(10):
        state(api, first)

    assert state(api, first) == "succeeded"
    assert [state(api, second) for _ in range(2)] == ["queued", "running"]


@both
def test_a_manual_operation_moves_only_by_steps(
    api: CheckedWorld, start: Start, profile: str, other: str
) -> None:
    api.assume(**{profile: "manual", other: "immediate"})
    operation = start(api)
    api.advance("30d")
    assert state(api, operation) == "queued"
    seen: list[str] = []

    while not seen or seen[-1] != "succeeded":
        stepped = step(api, operation["id"])
        seen.append(stepped["state"])
        assert stepped == api.poll(operation["id"]).json
        assert len(seen) <= 5

    assert list(dict.fromkeys(seen)) == ["running", "succeeded"]
    with pytest.raises(ControlRefused):
        step(api, operation["id"])


@both
def test_time_alone_cannot_bring_a_manual_operation_to_its_end(
    api: CheckedWorld, start: Start, profile: str, other: str
) -> None:
    api.assume(**{profile: "manual", other: "immediate"})
    operation = start(api)

    with pytest.raises(ControlRefused) as refused:
        api.emulator.clock.until(operation["id"])

    assert refused.value.status == 409


def test_a_waiting_operation_cannot_be_stepped(api: CheckedWorld) -> None:
    api.assume(source_profile="manual", domains_profile="manual")
    first = api.initialize(1).json
    second = api.apply_domains().json

    with pytest.raises(ControlRefused) as refused:
        step(api, second["id"])

    assert refused.value.status == 409
    assert [state(api, first), state(api, second)] == ["queued", "queued"]


@both
def test_a_timed_operation_can_be_stepped_ahead_of_its_time(
    api: CheckedWorld, start: Start, profile: str, other: str
) -> None:
    operation = start(api)

    step(api, operation["id"])

    assert state(api, operation) == "running"
    api.advance("8s")
    assert state(api, operation) == "succeeded"


# --- Clocks -------------------------------------------------------------------------------------


@both
def test_on_the_skip_clock_each_poll_moves_time_to_the_next_event(
    api: CheckedWorld, start: Start, profile: str, other: str
) -> None:
    api.emulator.clock.set("skip")
    operation = start(api)
    began = read_timestamp(operation["created_at"])
    seen: list[tuple[str, float]] = []

    while not seen or seen[-1][0] != "succeeded":
        response = api.poll(operation["id"]).json
        seen.append((response["state"], (api.now() - began).total_seconds()))
        assert response["progress"]["observed_at"] == api.emulator.clock.now
        assert len(seen) <= 5

    assert seen[0] == ("running", 2)
    assert seen[-1] == ("succeeded", 10)
    assert {name for name, _ in seen[:-1]} == {"running"}


def test_on_the_skip_clock_nothing_else_moves_time(api: CheckedWorld) -> None:
    api.emulator.clock.set("skip")
    operation = api.initialize(1).json
    before = api.emulator.clock.now

    api.dns()
    api.deployments()
    api.compute()
    api.ticket()
    api.set_flag(False)

    assert api.emulator.clock.now == before
    api.emulator.clock.until(operation["id"])
    ended = api.emulator.clock.now
    assert state(api, operation) == "succeeded"
    assert api.emulator.clock.now == ended


def test_on_the_skip_clock_polling_a_waiting_operation_moves_the_holder(api: CheckedWorld) -> None:
    api.emulator.clock.set("skip")
    first = api.initialize(1).json
    second = api.apply_domains().json
    polls = 0

    while state(api, second) != "succeeded":
        polls += 1
        assert polls < 12

    assert state(api, first) == "succeeded"


def test_a_refused_poll_does_not_move_the_skip_clock(api: CheckedWorld) -> None:
    api.emulator.clock.set("skip")
    operation = api.initialize(1).json
    before = api.emulator.clock.now

    assert api.poll(operation["id"], user="outsider").status == 404
    assert api.poll(operation["id"], user=None).status == 401

    assert api.emulator.clock.now == before


def test_a_scaled_clock_runs_by_itself(api: CheckedWorld) -> None:
    # given a clock on which the ten seconds take ten microseconds
    api.emulator.clock.set("scaled", rate=1_000_000)
    path = api.project_path("domains")
    operation = api.send("PUT", path, key="k").json

    for _ in range(1_000):  # until the machine's clock, in whole milliseconds, has moved at all
        polled = api.send("GET", f"/v1/operations/{operation['id']}").json
        if polled["state"] == "succeeded":
            break

    assert polled["state"] == "succeeded"
    took = read_timestamp(polled["updated_at"]) - read_timestamp(polled["created_at"])
    assert took.total_seconds() == 10


def test_world_time_does_not_go_back(api: CheckedWorld) -> None:
    before = api.emulator.clock.now

    with pytest.raises(ControlRefused) as refused:
        api.emulator.clock.advance_to("2020-01-01T00:00:00Z")

    assert refused.value.status == 409
    assert api.emulator.clock.now == before
