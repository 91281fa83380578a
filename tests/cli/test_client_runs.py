"""Runs of a command for `judge`, `explore` and `exec --shrink`: none begins after they were stopped."""

from __future__ import annotations

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import client_runs
from hosting_emulator_cli.client_runs import ClientRuns
from hosting_emulator_lab.run_conditions import RunsStopped
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


def test_a_run_may_ask_clients_to_poll_less_often(api: HttpWorld):
    client_runs._set_next_poll(api.emulator, 77)

    responses = [api.apply_domains(), api.initialize(1, project="blog")]
    responses.append(api.poll(responses[0].json["id"]))

    assert [response.json["progress"]["next_poll_after_seconds"] for response in responses] == (
        [77] * 3
    )
