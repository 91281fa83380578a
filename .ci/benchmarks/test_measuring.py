"""Tests that each part of the benchmark runs. Each makes a small measurement of a server or the core."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from benchmarks import growth, slowest
from benchmarks.asked import requests
from benchmarks.core import Core, grown
from benchmarks.load import load
from benchmarks.servers import emulator, port_of, resident_mb
from hosting_emulator.contract.calls import CALLS
from hosting_emulator.world.indexes import deployment_chunks, deployment_count, deployments_between
from hosting_emulator.world.tables import DEPLOYMENTS

NAMES = {*CALLS, "get_operation"}


def test_the_core_is_asked_every_call():
    assert {call for call, _ in Core(100).cases()} == NAMES, (
        "give the new call a case in Core.cases() of .ci/benchmarks/core.py"
    )


def test_a_grown_world_lists_its_deployments():
    world = grown(1000)
    shop = world.indexes["project:shop"]

    count = deployment_count(world.indexes, shop)
    listed = deployments_between(deployment_chunks(world.indexes, shop, 0, count), 0, count)

    assert world.count(DEPLOYMENTS) == 1000
    assert count > 900
    assert len({deployment.id for deployment in listed}) == count


def test_growth_measures_every_call():
    figures = growth.measure(1, (100, 200))

    calls = [figure for figure in figures if " among " in figure.what]
    assert [figure.what.split()[0] for figure in calls] == [call for call, _ in Core(100).cases()]
    assert all(figure.ratio > 0 for figure in calls)


def test_the_core_is_profiled():
    profile = slowest.of_core("list_deployments")

    assert "run_exchange" in {function for _, _, function in profile.stats}  # type: ignore[attr-defined]


@pytest.mark.slow
@pytest.mark.parametrize("wrk", [True, False])
def test_every_call_is_asked_of_a_server(
    wrk: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    if wrk and not shutil.which("wrk"):
        pytest.skip("wrk is not installed")
    if not wrk:
        monkeypatch.setattr("benchmarks.load.shutil.which", lambda _: None)
    with emulator(tmp_path, None) as ready:
        asked = dict(requests(ready))
        measured = load(port_of(ready), list(asked.values()), 0.2, None)
        assert resident_mb(ready["pid"]) > 10

    assert set(asked) == NAMES, (
        "give the new call a request in requests() of .ci/benchmarks/asked.py"
    )
    assert measured.answered > 0
    assert 0 < measured.p50_ms <= measured.p99_ms


@pytest.mark.slow
def test_the_server_is_profiled(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr("benchmarks.load.shutil.which", lambda _: None)  # wrk would take a second

    profile = slowest.of_server("list_deployments", 0.2)

    assert "run_exchange" in {function for _, _, function in profile.stats}  # type: ignore[attr-defined]
