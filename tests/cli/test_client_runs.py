"""Runs of a command for `judge`, `explore` and `exec --shrink`: none begins after they were stopped."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator.settings import Settings
from hosting_emulator_cli import client_runs
from hosting_emulator_cli.client_runs import ClientRuns
from hosting_emulator_lab.run_conditions import ORDINARY, RunConditions, RunsStopped
from hosting_emulator_scenarios import FOLDER
from tests.support.http_world import HttpWorld


def test_no_command_begins_after_the_runs_were_stopped(monkeypatch: pytest.MonkeyPatch):
    def begin(_: str) -> None:
        pytest.fail("a command began")

    monkeypatch.setattr(client_runs, "ChildCommand", begin)
    runs = ClientRuns(("node",), Settings(port=0, data_dir=None), None, ())

    runs.stop("interrupted")
    runs.stop("out of time")

    assert runs.stop_reason == "interrupted"
    with pytest.raises(RunsStopped):
        runs._begin_command({})


#: Sends as many requests as the first argument says, and then waits until it is ended if there is a second.
SENDER = """
import os, sys, time
from urllib.request import urlopen
for number in range(int(sys.argv[1])):
    try:
        urlopen(os.environ["HOSTING_BASE_URL"] + "/v1/operations/O").close()
    except OSError:
        pass
while sys.argv[2:]:
    time.sleep(1)
"""


@pytest.mark.parametrize(("arguments", "is_ended"), [(("5",), False), (("6", "and wait"), True)])
def test_a_run_that_sends_too_many_requests_to_a_world_is_ended(
    arguments: tuple[str, ...], is_ended: bool, monkeypatch: pytest.MonkeyPatch
):
    """Without a time limit, the second command would never end."""
    monkeypatch.setattr(client_runs, "_MOST_REQUESTS", 5)
    command = (sys.executable, "-c", SENDER, *arguments)
    settings = Settings(port=0, data_dir=None, library=FOLDER, clock="skip")
    runs = ClientRuns(command, settings, None, ())
    ends: list[tuple[bool, bool]] = []

    def work() -> int:
        end = runs.perform(NoVisit(), "run", None, ORDINARY)
        ends.append((end.hung, end.sent_too_much))
        return 0

    asyncio.run(runs.use(work))

    assert ends == [(is_ended, is_ended)]


class NoVisit:
    """Prepares and examines nothing."""

    def begin(self, world: HostingEmulator, token: str | None = None) -> None:
        """Prepare nothing."""

    def end(self, world: HostingEmulator) -> None:
        """Examine nothing."""


def test_a_run_may_ask_clients_to_poll_less_often(api: HttpWorld):
    client_runs._set_next_poll(api.emulator, 77)

    responses = [api.apply_domains(), api.initialize(1, project="blog")]
    responses.append(api.poll(responses[0].json["id"]))

    assert [response.json["progress"]["next_poll_after_seconds"] for response in responses] == (
        [77] * 3
    )


@pytest.mark.parametrize(
    ("conditions", "changes"),
    [
        (ORDINARY, []),
        (replace(ORDINARY, clock="skip"), [{"mode": "skip"}]),
        (replace(ORDINARY, clock="scaled", rate=60.0), [{"mode": "scaled", "rate": 60.0}]),
    ],
)
def test_a_run_has_the_clock_of_its_conditions(
    conditions: RunConditions, changes: list[dict[str, object]]
):
    made: list[dict[str, object]] = []
    world: Any = SimpleNamespace(clock=SimpleNamespace(change=made.append))

    ClientRuns._set_clock(world, conditions)

    assert made == changes


def test_a_run_changes_only_the_profiles_that_have_their_default_values():
    first, second = client_runs._PROFILES
    changes: list[dict[str, str]] = []

    def set_profile(*values: str) -> None:
        rows = [
            SimpleNamespace(name=name, value=value, default="default")
            for name, value in zip((first, second, "other"), (*values, "default"), strict=True)
        ]
        world: Any = SimpleNamespace(
            assumptions=rows, set_assumptions=lambda change: changes.append(dict(change))
        )
        runs = ClientRuns(("node",), Settings(port=0, data_dir=None), None, ())
        runs._set_operation_profile(world, "slow")

    set_profile("default", "chosen")
    set_profile("default", "default")
    set_profile("chosen", "chosen")

    assert changes == [{first: "slow"}, {first: "slow", second: "slow"}]


def test_the_lines_of_a_run_can_be_compared_with_those_of_another_run():
    output = b"at 127.0.0.1:4711 or 14711\r\n\n  <A at 0x7f31c2>\x1b  \n\xff\ttab\n"
    timed_run: Any = SimpleNamespace(output=output)
    ready: Any = SimpleNamespace(base_url="http://127.0.0.1:4711")

    assert client_runs._comparable_lines(timed_run, ready) == [
        "at 127.0.0.1:PORT or 14711",
        "  <A at 0x…>\\x1b",
        "\ufffd   tab",
    ]
