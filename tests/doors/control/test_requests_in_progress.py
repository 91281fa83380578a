"""A request counts from its arrival: while it waits, the log lists it and the judges see it."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from hosting_emulator.sdk import WorldsObservation
from tests.support.http_world import HttpWorld
from tests.support.wire import wire

NEW_KEY = "new-key-after-uncertainty"


@pytest.fixture
def api(hosting_emulator: Any) -> HttpWorld:
    """Calls whose responses are not compared with the state, because time passes in the background."""
    return HttpWorld(hosting_emulator)


@pytest.fixture
def observation(api: HttpWorld) -> Iterator[WorldsObservation]:
    with api.emulator.control.observe([api.emulator.name]) as observation:
        yield observation


def until(condition: Callable[[], Any]) -> Any:
    """Wait up to 20 s until a condition holds, and return its value."""
    end = time.monotonic() + 20
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        threading.Event().wait(0.01)
    raise AssertionError("the condition did not come true in 20 s")


@contextmanager
def unanswered(
    api: HttpWorld, key: str | None, *, body: bytes = b"", length: int = 0
) -> Iterator[None]:
    """Send a mutation, read no response, and close the connection at the end."""
    headers = api.emulator.headers("owner")
    if key is not None:
        headers["Idempotency-Key"] = key
    if length:
        headers["Content-Type"] = "application/json"
    path = api.project_path("domains")
    with wire(api.emulator.base_url) as connection:
        connection.send_request("PUT", path, headers.items(), body, length=length or None)
        yield


def listed(api: HttpWorld) -> list[dict[str, Any]]:
    """Return the log with the oldest request first."""
    path = api.emulator.control_path("requests")
    return list(reversed(api.emulator.control.get(path)["items"]))


def broken(observation: WorldsObservation) -> list[str]:
    chapters = observation.report(final=True).chapters
    return [finding.rule for chapter in chapters for finding in chapter.conduct.findings]


def test_a_delayed_request_is_listed_when_it_arrives(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.add_fault(latency={"delay_ms": 600_000}, times=1)

    with unanswered(api, "key-1"):
        (entry,) = until(lambda: listed(api))
        assert (entry["n"], entry["status"], entry["in_progress"]) == (1, 0, True)
        assert entry["call"] == "apply_project_domains"
        report = observation.report()

    assert report.requests == 1
    assert [(request.n, request.method) for request in report.in_progress] == [(1, "PUT")]


def test_a_request_that_is_answered_is_no_longer_in_progress(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.add_fault(latency={"delay_ms": 30}, times=1)

    assert api.apply_domains(key="key-1").status == 202

    (entry,) = listed(api)
    assert (entry["status"], entry["in_progress"]) == (202, False)
    assert observation.report().in_progress == []


def test_a_response_that_a_fault_delays_is_in_progress_until_it_leaves(api: HttpWorld) -> None:
    api.add_fault(latency={"delay_ms": 600_000}, after_commit=True, times=1)

    with unanswered(api, "key-1"):
        (entry,) = until(lambda: listed(api))

    assert (entry["status"], entry["in_progress"]) == (202, True)
    until(lambda: not listed(api)[0]["in_progress"])


def test_numbers_follow_the_order_of_arrival(api: HttpWorld) -> None:
    api.add_fault(latency={"delay_ms": 600_000}, times=1)

    with unanswered(api, "key-1"):
        until(lambda: listed(api))
        api.dns()
        entries = listed(api)

    assert [(entry["n"], entry["call"]) for entry in entries] == [
        (1, "apply_project_domains"),
        (2, "get_dns_authorization"),
    ]


def test_a_client_that_gives_up_and_retries_is_judged_with_both_requests(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.add_fault(latency={"delay_ms": 600_000}, times=1)

    with unanswered(api, "key-1"):
        until(lambda: listed(api))
    listed(api)  # The emulator has noticed the end of the connection.
    api.apply_domains(key="key-2")

    assert NEW_KEY in broken(observation)
    assert observation.report(final=True).requests == 2


def test_a_client_that_gives_up_and_retries_with_its_key_is_not_accused(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.add_fault(latency={"delay_ms": 600_000}, times=1)

    with unanswered(api, "key-1"):
        until(lambda: listed(api))
    api.apply_domains(key="key-1")

    assert NEW_KEY not in broken(observation)


def test_a_request_in_progress_is_judged_once_its_response_has_left(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.add_fault(latency={"delay_ms": 300}, times=1)

    def send() -> None:
        api.apply_domains(key="key-1")

    thread = threading.Thread(target=send)
    thread.start()
    until(lambda: observation.report().in_progress)
    before = observation.report(final=True)
    thread.join()
    after = observation.report(final=True)

    assert before.chapters[0].conduct.judged == 0
    assert after.chapters[0].conduct.judged == 1
    assert after.in_progress == []


def test_a_report_waits_for_requests_in_progress(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.add_fault(latency={"delay_ms": 200}, times=1)
    thread = threading.Thread(target=lambda: api.apply_domains(key=None))
    thread.start()
    until(lambda: observation.report().in_progress)

    report = observation.report(final=True, wait_s=20)
    thread.join()

    assert report.in_progress == []
    assert broken(observation) == ["missing-idempotency-key"]


def test_a_request_whose_body_does_not_come_counts(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    with unanswered(api, None, body=b"{", length=100):
        report = until(lambda: observation.report() if listed(api) else None)
        assert report.requests == 1
        assert [request.method for request in report.in_progress] == ["PUT"]
        assert listed(api)[0]["call"] == "apply_project_domains"

    until(lambda: not observation.report().in_progress)
    assert observation.report().requests == 1


def test_a_reset_while_a_request_waits_keeps_it_in_the_verdict(
    api: HttpWorld, observation: WorldsObservation
) -> None:
    api.add_fault(latency={"delay_ms": 600_000}, times=1)

    with unanswered(api, "key-1"):
        until(lambda: listed(api))
    listed(api)  # The emulator has noticed the end of the connection.
    api.apply_domains(key="key-2")
    api.emulator.reset()

    assert NEW_KEY in broken(observation)


def test_every_view_of_the_log_shows_a_request_in_progress(api: HttpWorld) -> None:
    api.add_fault(latency={"delay_ms": 600_000}, times=1)
    control = api.emulator.control
    path = api.emulator.control_path

    with unanswered(api, "key-1"):
        until(lambda: listed(api))
        whole = control.get(path("requests", 1))
        har = control.get(path("requests.har"))
        report = api.emulator.report()
        short = control.get(f"{path('requests')}?trail=false")

    assert whole["in_progress"]
    assert whole["trail"][-1]["step"] == "progress"
    assert len(har["log"]["entries"]) == 1
    assert "in progress" in report
    assert short["items"][0]["in_progress"]
    assert json.dumps(whole)
