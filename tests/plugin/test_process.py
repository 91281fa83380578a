"""An emulator in its own process offers everything that the plugin has, and ends with the tests."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
from pathlib import Path
from subprocess import PIPE, Popen

import pytest

from pytest_hosting_emulator import ProcessEmulator, StartError
from tests.plugin.conftest import Suite
from tests.support.exec_process import wait_until

PROCESS = "--hosting-emulator-server=process"
OWN_PROCESS = """
import os

def test_server(hosting_emulator_server):
    assert hosting_emulator_server.ready.pid != os.getpid()
"""


def is_gone(port: int) -> bool | None:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) != 0 or None


def test_worlds_marks_shared_worlds_and_options(suite: Suite):
    suite.ini("hosting_emulator_server = process", "hosting_emulator_seed = mine")
    suite.write(
        test_it=OWN_PROCESS
        + """
import pytest
from calling import apply_domains
from pytest_hosting_emulator import world_fixture

shared = world_fixture(clock="skip")

def test_a_world(hosting_emulator):
    assert hosting_emulator.summary.seed == "mine"
    apply_domains(hosting_emulator)
    assert len(hosting_emulator.requests) == 1

def test_another(hosting_emulator, hosting_emulator_worlds):
    assert len(hosting_emulator.requests) == len(hosting_emulator_worlds().requests) == 0

@pytest.mark.hosting_scenario("stuck-operation")
def test_marked(hosting_emulator):
    apply_domains(hosting_emulator)
    hosting_emulator.clock.advance("1h")
    assert [item.state for item in hosting_emulator.report_document().operations]

@pytest.mark.parametrize("times", [1, 2])
def test_shared(shared, times):
    apply_domains(shared, f"domains-{times}")
    assert len(shared.requests) == times

@pytest.mark.hosting_explore(faults=["connection_reset"])
def test_explored(hosting_emulator):
    try:
        apply_domains(hosting_emulator)
    except OSError:
        apply_domains(hosting_emulator)
"""
    )

    suite.passes()


def test_a_failed_test_reports_and_keeps_its_world_in_a_process(suite: Suite):
    suite.write(
        test_it="""
        from calling import apply_domains

        def test_fails(hosting_emulator):
            apply_domains(hosting_emulator)
            assert False
        """
    )

    result = suite.run(PROCESS, "--hosting-emulator-keep=failed")

    result.stdout.fnmatch_lines(["  #1  PUT  apply_project_domains  owner  202", "kept: *"])
    (world_file,) = (suite.path / "hosting-emulator-worlds").iterdir()
    assert json.loads(world_file.read_bytes())["kind"] == "hosting-emulator state"


def test_each_worker_has_its_own_emulator_process(suite: Suite):
    suite.write(test_it=OWN_PROCESS, test_that=OWN_PROCESS)

    suite.passes(PROCESS, *suite.workers(2))


@pytest.mark.parametrize("server", ["thread", "process"])
def test_worlds_are_kept_when_a_test_fakes_the_file_system(suite: Suite, server: str):
    suite.write(
        test_it="""
        def test_it(fs, hosting_emulator):
            fs.create_file("/made/up")
        """
    )
    own = f"--hosting-emulator-server={server}"

    result = suite.run(own, "-p", "pyfakefs.pytest_plugin", "--hosting-emulator-keep=all")

    result.assert_outcomes(passed=1)
    assert len(list((suite.path / "hosting-emulator-worlds").iterdir())) == 1


def test_a_fake_file_system_does_not_reach_the_emulator_process(suite: Suite):
    """Otherwise the library of scenarios would be missing."""
    suite.write(
        test_it="""
        def test_it(fs, hosting_emulator_worlds):
            assert hosting_emulator_worlds("stuck-operation").report_document().scenario
        """
    )

    suite.passes(PROCESS, "-p", "pyfakefs.pytest_plugin")


def test_a_module_in_the_current_folder_is_not_imported_by_the_emulator_process(
    tmp_path: os.PathLike[str], monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with open("asyncio.py", "w", encoding="utf-8") as file:  # noqa: PTH123
        file.write("raise SystemExit(1)")

    with ProcessEmulator() as emulator:
        assert emulator.control.health().status == "ok"


def test_an_emulator_process_that_ends_at_once_raises_start_error(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(sys, "executable", "/bin/false")

    with pytest.raises(StartError, match="the emulator's process ended immediately"):
        ProcessEmulator().start()


def test_the_emulator_process_does_not_measure_coverage(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    program = tmp_path / "program"
    program.write_text(f"#!/bin/sh\nenv >{tmp_path}/environment\n")
    program.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(program))
    for name in ("COVERAGE_PROCESS_START", "COV_CORE_SOURCE", "COLUMNS"):
        monkeypatch.setenv(name, "1")

    with pytest.raises(StartError):
        ProcessEmulator().start()

    variables = (tmp_path / "environment").read_text().splitlines()
    assert "COLUMNS=1" in variables
    assert [variable for variable in variables if variable.startswith("COV")] == []


@pytest.mark.parametrize("fork", [False, True], ids=["alone", "with a fork that goes on"])
def test_killed_tests_leave_no_emulator_process(suite: Suite, fork: bool):
    suite.write(
        test_it=f"""
        import os
        import signal

        def test_it(hosting_emulator_server):
            fork = os.fork() if {fork} else 0
            if fork or not {fork}:
                print(hosting_emulator_server.base_url.split(":")[-1], fork, flush=True)
            signal.pause()
        """
    )
    options = ("-s", "-q", "-p", "hosting_emulator", "-p", "no:cacheprovider", PROCESS)
    command = [sys.executable, "-m", "pytest", *options]
    with Popen(command, cwd=suite.path, stdout=PIPE, text=True) as tests:
        assert tests.stdout is not None
        port, forked_pid = map(int, tests.stdout.readline().split())
        assert not is_gone(port)

        tests.kill()
        tests.wait()

        try:
            assert wait_until(lambda: is_gone(port))
        finally:
            if forked_pid:
                os.kill(forked_pid, signal.SIGKILL)
