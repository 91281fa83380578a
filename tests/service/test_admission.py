"""Requests over the limit of a window of world time: refused with a hint of their own, or kept waiting."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.contract.documents import DocumentRefused
from tests.support.checked_world import CheckedCalls
from tests.support.in_process import InProcess
from tests.support.judged_world import JudgedWorld
from tests.support.simulated_clients import Request, Simulation, Sleep, Worker
from tests.support.stories import run_story

# --- admission_window --------------------------------------------------------------------------------


def hints(world: CheckedCalls | InProcess, count: int) -> list[int | None]:
    """Send reads at once, and return how long each has to wait; None: it was admitted."""
    responses = [world.dns() for _ in range(count)]
    waits = [response.header("Retry-After") for response in responses]
    assert {response.status for response in responses} <= {200, 429}
    return [None if wait is None else int(wait) for wait in waits]


@pytest.mark.over_http
def test_each_refused_request_has_a_hint_of_its_own(world: CheckedCalls):
    world.add_fault(admission_window={"limit": 2, "window": "10s"})

    assert hints(world, 7) == [None, None, 10, 10, 20, 20, 30]


@pytest.mark.over_http
def test_windows_follow_each_other_from_the_first_request_on(world: CheckedCalls):
    world.add_fault(admission_window={"limit": 1, "window": "10s"})
    hints(world, 1)

    world.advance("13s")
    within_second_window = hints(world, 2)
    world.advance("7s")

    assert within_second_window == [None, 7]
    assert hints(world, 2) == [None, 10]


def test_clients_that_return_as_they_were_told_are_admitted():
    api = InProcess()
    api.add_fault(admission_window={"limit": 2, "window": "3s"})
    returns = sorted(wait for wait in hints(api, 6) if wait is not None)
    assert returns == [3, 3, 6, 6]

    api.advance("3s")
    assert hints(api, 2) == [None, None]
    api.advance("3s")
    assert hints(api, 2) == [None, None]


@pytest.mark.over_http
def test_call_1_is_refused_with_a_status_that_it_lists(world: CheckedCalls):
    world.add_fault(admission_window={"limit": 1})

    assert world.set_flag(True).status == 200
    refused = world.set_flag(False)

    assert (refused.status, refused.json["code"]) == (400, "rate_limited")


def test_only_refused_requests_are_hits():
    api = InProcess()
    fault = api.add_fault(admission_window={"limit": 2})

    hints(api, 5)

    assert (api.record("faults", fault).seen, api.record("faults", fault).hits) == (5, 3)


# --- admission_queue ---------------------------------------------------------------------------------


def step_report(faults: list[dict[str, Any]], *steps: dict[str, Any]) -> dict[str, Any]:
    """Run a story on a real clock, in which requests arrive together."""
    story = [{"together": list(steps)}]
    return run_story(story, faults, clock={"mode": "real"})


READ = {"call": "get_dns_authorization"}


def test_requests_over_the_limit_wait_for_their_window():
    faults = [{"admission_queue": {"limit": 2, "window": "2s"}}]

    report = step_report(faults, {**READ, "times": 5}, {"call": "list_deployments"})

    assert report["passed"]
    message = report["steps"][0]["message"]
    assert message.count("2s late") == 2
    assert message.count("4s late") == 2
    assert report["steps"][0]["waited_ms"] == 4000


def test_a_scaled_clock_shortens_the_waiting():
    faults = [{"admission_queue": {"limit": 1, "window": "60s"}}]
    story = [{"together": [READ, READ]}]

    report = run_story(story, faults, clock={"mode": "scaled", "rate": 60})

    assert report["steps"][0]["waited_ms"] == 1000


def test_a_queue_is_refused_where_the_clock_does_not_run():
    with pytest.raises(DocumentRefused, match="the requests would wait forever"):
        InProcess().add_fault(admission_queue={"limit": 1})


def test_a_queue_does_not_act_once_the_clock_stands_still():
    api = JudgedWorld("real")
    fault = api.add_fault(admission_queue={"limit": 1})
    api.engine.move_to(None, "frozen")

    assert [api.dns().status for _ in range(3)] == [200, 200, 200]

    assert (api.record("faults", fault).seen, api.record("faults", fault).hits) == (3, 0)


# --- Careful clients -----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["admission_window", "admission_queue"])
def test_conduct_does_not_blame_clients_that_wait_for_their_admission(kind: str):
    api = Simulation()
    api.add_fault(**{kind: {"limit": 1, "window": "2s"}})

    def reader() -> Worker:
        path = f"/v1/projects/{api.project_id()}/edge-dns"
        for _ in range(3):
            response = yield Request("GET", path)
            while response.status == 429:
                yield Sleep(int(response.header("Retry-After") or 0))
                response = yield Request("GET", path)

    api.start(reader(), reader(), reader())
    api.run()

    assert api.conduct_report().judged > 8
    assert [f.rule for f in api.findings(final=True) if f.severity != "note"] == []
