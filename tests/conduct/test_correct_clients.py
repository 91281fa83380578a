"""Correct clients that behave in unusual ways: none gets a finding above a note."""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import pytest

from tests.support.calls import Response
from tests.support.judged_world import JudgedWorld

CLOCKS = ("real", "frozen", "scaled", "skip")
RATE = 100.0
ROUND_TRIP_S = 0.003
ENDS = ("succeeded", "failed", "cancelled")


class Place(JudgedWorld):
    """A world whose clients can sleep, and whose requests each take some time."""

    def __init__(self, mode: str) -> None:
        super().__init__(mode, RATE if mode == "scaled" else None)
        self.mode = mode
        self.connections = count(1)

    def sleep(self, seconds: float) -> None:
        """Let world time pass, as far as a client can."""
        if self.mode == "frozen":
            self.engine.move_by(round(seconds * 1000))
        else:
            self.pass_time(seconds / RATE if self.mode == "scaled" else seconds)

    def by(self, connection: int | None, ask: Callable[..., Response], *args: Any, **options: Any):
        """Send a request on a connection, or without a number on a new connection."""
        self.connection = next(self.connections) if connection is None else connection
        response = ask(*args, **options)
        self.pass_time(ROUND_TRIP_S)
        return response

    def follow(self, operation: dict[str, Any], connection: int | None, **options: Any) -> str:
        """Poll an operation until it ends, and wait as each response requests."""
        for _ in range(20):
            if operation["state"] in ENDS:
                return str(operation["state"])
            self.sleep(operation["progress"]["next_poll_after_seconds"])
            operation = self.by(connection, self.poll, operation["id"], **options).json
        raise AssertionError(f"it does not end: {operation}")


def hedged(api: Place) -> None:
    operation = api.by(1, api.apply_domains, key="a").json
    while operation["state"] not in ENDS:
        api.sleep(operation["progress"]["next_poll_after_seconds"])
        polls = [api.by(connection, api.poll, operation["id"]) for connection in (1, 2)]
        operation = polls[-1].json


def parallel(api: Place) -> None:
    lines = [next(api.connections) for _ in range(4)]
    operation = api.by(lines[0], api.apply_domains, key="a").json
    for line in lines:
        api.by(line, api.poll, "0" * 26)
    for line in lines[1:]:
        api.by(line, api.dns)
    api.follow(operation, lines[0])
    for line in lines[1:]:
        api.by(line, api.poll, operation["id"])


def two_processes(api: Place) -> None:
    first, second = (api.by(None, api.apply_domains, key="a").json for _ in range(2))
    for _ in range(6):
        api.sleep(first["progress"]["next_poll_after_seconds"])
        first, second = (
            api.by(None, api.poll, operation["id"]).json for operation in (first, second)
        )
        if first["state"] in ENDS:
            return


def two_processes_in_an_outage(api: Place) -> None:
    api.fault(abort={"code": "service_unavailable"}, times=6)
    for attempt in range(3):
        for process in ("a", "b"):
            api.by(None, api.apply_domains, key=process)
            api.pass_time(0.06)
        api.sleep(2**attempt)


def looks_again_in_an_outage(api: Place) -> None:
    operation = api.by(None, api.apply_domains, key="a").json
    api.follow(operation, None)
    api.fault(abort={"code": "service_unavailable"}, times=4)
    for attempt in range(5):
        api.sleep(2**attempt)
        api.by(None, api.poll, operation["id"])


def retrying_proxy(api: Place) -> None:
    api.fault(gateway_error={"status": 502}, times=3)
    lines = [next(api.connections) for _ in range(2)]
    for line in (*lines, *lines):
        response = api.by(line, api.apply_domains, key="a")
        if response.status < 500:
            break
    api.follow(response.json, lines[1])


def crash_and_resume(api: Place) -> None:
    api.lose_response()
    api.by(None, api.apply_domains, key="kept on disk")
    operation = api.by(None, api.apply_domains, key="kept on disk").json
    api.follow(operation, None)
    replay = api.by(None, api.apply_domains, key="kept on disk").json
    api.follow(replay, None)


def token_refresh(api: Place) -> None:
    assert api.by(1, api.apply_domains, key="a", token="old").status == 401
    operation = api.by(1, api.apply_domains, key="a").json
    assert api.by(1, api.poll, operation["id"], token="old").status == 401
    api.follow(operation, 1)


def short_timeouts(api: Place) -> None:
    operation = api.by(1, api.apply_domains, key="a").json
    api.sleep(operation["progress"]["next_poll_after_seconds"])
    path = f"/v1/operations/{operation['id']}"
    responses = []

    def give_up() -> None:
        api.pass_time(0.2)
        responses.append(api.by(2, api.poll, operation["id"]))

    api.send_delayed(400, "GET", path, between=give_up)
    api.follow(responses[0].json, 2)


def dashboard(api: Place) -> None:
    operation = api.by(1, api.apply_domains, key="a").json
    api.follow(operation, 1)
    for _ in range(10):
        api.sleep(5)
        api.by(2, api.dns)
        api.by(2, api.poll, operation["id"])


def cron(api: Place) -> None:
    api.fault(abort={"code": "service_unavailable"}, times=2)
    for minute in range(0, 20, 5):
        api.by(None, api.apply_domains, key=f"run of minute {minute}")
        # The machine's clock starts each run, whatever the world's clock does.
        api.pass_time(300)


def reads_all_pages(api: Place) -> None:
    query = ""
    line = next(api.connections)
    while True:
        page = api.by(line, api.deployments, query).json
        if "next_cursor" not in page:
            return
        query = f"?cursor={page['next_cursor']}"


def a_connection_each(api: Place) -> None:
    operation = api.by(None, api.initialize, 1, key="a").json
    api.follow(operation, None)
    api.by(None, api.set_flag, True, key="b")
    api.by(None, api.set_flag, False, key="c")


def two_jobs(api: Place) -> None:
    for line in (1, 2):
        api.by(line, api.dns)
    api.fault(abort={"code": "rate_limited", "retry_after_seconds": 5})
    assert api.by(1, api.deployments).status == 429
    for _ in range(4):
        api.by(2, api.deployments)
        api.by(2, api.dns)
    api.sleep(5)
    api.by(1, api.deployments)


def value_lost(api: Place) -> None:
    api.lose_response()
    api.by(1, api.create_key, "ci", key="first")
    assert api.by(1, api.create_key, "ci", key="first").json["value"] is None
    assert api.by(1, api.create_key, "ci again", key="second").json["value"]


CLIENTS = (
    hedged,
    parallel,
    two_processes,
    retrying_proxy,
    crash_and_resume,
    token_refresh,
    two_processes_in_an_outage,
    looks_again_in_an_outage,
    short_timeouts,
    dashboard,
    cron,
    reads_all_pages,
    a_connection_each,
    two_jobs,
    value_lost,
)


@pytest.mark.parametrize("clock", CLOCKS)
@pytest.mark.parametrize("client", CLIENTS)
def test_a_correct_client_gets_no_finding_above_a_note(client: Callable[[Place], None], clock: str):
    api = Place(clock)

    client(api)

    assert [
        finding.message for finding in api.findings(final=True) if finding.severity != "note"
    ] == []
    assert api.conduct_report().judged > 2
