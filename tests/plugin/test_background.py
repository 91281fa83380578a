"""An emulator in the background of a process or in a child process: start, stop and fork."""

from __future__ import annotations

import io
import os
import pickle
import select
import signal
import socket
import sys
import threading
import time
from pathlib import Path
from urllib.request import Request, urlopen

import pytest
from freezegun import freeze_time

from hosting_emulator.sdk import EmulatorUnreachable
from pytest_hosting_emulator import (
    BackgroundEmulator,
    ProcessEmulator,
    RunningEmulator,
    StartError,
    server,
)
from tests.plugin.conftest import Suite
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.warm import programs

OwnEmulator = type[BackgroundEmulator] | type[ProcessEmulator]
both = pytest.mark.parametrize("new_emulator", [BackgroundEmulator, ProcessEmulator])


@pytest.fixture
def warm_python(monkeypatch: pytest.MonkeyPatch) -> None:
    """Started processes come from the warm interpreter."""
    monkeypatch.setattr(sys, "executable", str(programs() / "python"))


@both
def test_a_background_emulator_responds_until_it_is_stopped(new_emulator: OwnEmulator):
    before = threading.active_count()
    emulator = new_emulator().start()
    with RunningEmulator(emulator.base_url) as running:
        assert running.control.health().status == "ok"

        emulator.stop()
        emulator.stop()

        with pytest.raises(EmulatorUnreachable):
            running.control.health()
    assert threading.active_count() == before


@both
def test_a_restarted_background_emulator_responds_at_its_new_address(new_emulator: OwnEmulator):
    with new_emulator() as emulator:
        first = emulator.control
        first.health()

        emulator.start()

        assert emulator.world().base_url.startswith(emulator.base_url)
        with pytest.raises(EmulatorUnreachable):
            first.health()


@both
def test_stopping_an_emulator_that_never_started_does_nothing(new_emulator: OwnEmulator):
    new_emulator().stop()


@both
@pytest.mark.usefixtures("warm_python")
def test_a_background_emulator_leaves_signal_handlers_alone(new_emulator: OwnEmulator):
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}

    with new_emulator():
        during = {number: signal.getsignal(number) for number in before}

    assert during == before


@both
@pytest.mark.usefixtures("warm_python")
def test_the_end_of_with_stops_the_background_emulator(new_emulator: OwnEmulator):
    with new_emulator() as emulator, emulator.world(clock="skip") as world:
        assert world.clock.mode == "skip"
        assert world.base_url.startswith(emulator.base_url)

    with pytest.raises(EmulatorUnreachable):
        emulator.control.health()


@both
@pytest.mark.usefixtures("warm_python")
def test_a_background_emulator_that_cannot_start_raises_start_error(new_emulator: OwnEmulator):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(StartError, match=f"port {port} on 127.0.0.1 "):
            new_emulator(port=port).start()
    with pytest.raises(StartError, match="port 99999 is not a valid port: use 0 to 65535"):
        new_emulator(port=99999).start()


def test_a_background_emulator_makes_worlds_of_scenarios_files_and_documents(
    hosting_emulator_server: BackgroundEmulator, tmp_path: os.PathLike[str]
):
    from pathlib import Path

    file = Path(tmp_path) / "skipping.yaml"
    file.write_text("name: s\ndescription: Jumps.\nclock: {mode: skip}\n", encoding="utf-8")
    for scenario, mode in (
        ("stuck-operation", "frozen"),
        (file, "skip"),
        (str(file), "skip"),
        ({"clock": "real"}, "real"),
    ):
        with hosting_emulator_server.world(scenario) as world:
            assert world.clock.mode == mode
    with pytest.raises(ValueError, match=r"there is no file missing\.yaml"):
        hosting_emulator_server.world("missing.yaml")


def test_the_first_request_imports_no_module(suite: Suite):
    suite.write(
        test_it="""
        import json
        import sys
        import urllib.request


        def test_it(hosting_emulator):
            headers = {**hosting_emulator.headers(), "Content-Type": "application/json"}
            request = urllib.request.Request(
                hosting_emulator.url("/v1/projects/{project}/source:initialize"),
                json.dumps({"expected_source_generation": 1}).encode(),
                {**headers, "Idempotency-Key": "first"},
                method="POST",
            )
            before = set(sys.modules)

            with urllib.request.urlopen(request) as answer:
                assert answer.status == 202

            loaded = {name.partition(".")[0] for name in set(sys.modules) - before}
            assert loaded - sys.stdlib_module_names == set()
        """
    )

    suite.passes()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@both
@pytest.mark.usefixtures("warm_python")
def test_a_forked_process_can_call_the_emulator_and_cannot_stop_it(new_emulator: OwnEmulator):
    with new_emulator() as emulator, emulator.world() as world:
        world.token()
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:  # pragma: no cover - in the child
            try:
                world.clock.advance("1m")
                emulator.stop()
                os.write(writing, world.clock.now.encode())
            finally:
                os._exit(0)
        os.close(writing)
        os.waitpid(child, 0)
        with os.fdopen(reading) as pipe:
            assert pipe.read() == "2026-01-01T00:01:00.000Z"
        assert world.clock.now == "2026-01-01T00:01:00.000Z"


@both
@pytest.mark.usefixtures("warm_python")
def test_a_test_that_freezes_time_does_not_reach_the_emulator(new_emulator: OwnEmulator):
    """Otherwise a latency would never end, and a running clock would jump to the time of the test."""
    with new_emulator() as emulator, emulator.world(clock={"mode": "real"}) as world:
        path = f"{world.base_url}/v1/projects/{world.project}/edge-dns"
        headers = {"Authorization": f"Bearer {world.token('owner')}"}

        with freeze_time("2099-01-01"):
            world.fault("latency", delay_ms=20, times=1)
            with urlopen(Request(path, headers=headers), timeout=20) as response:
                status = response.status
            now = world.clock.now

        assert status == 200
        assert world.faults[0].hits == 1
        assert not now.startswith("2099")


@both
def test_the_error_for_a_port_in_use_names_the_python_argument(new_emulator: OwnEmulator):
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with pytest.raises(StartError) as refused:
            new_emulator(port=port).start()

    message = str(refused.value)
    assert message.startswith(f"port {port} on 127.0.0.1 is in use")
    assert message.endswith(", or pass port=0 for a free port")


def test_the_error_for_a_port_in_use_is_the_same_with_a_stored_world(tmp_path: Path):
    with emulator_in_thread(data_dir=tmp_path):
        pass

    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        with (
            pytest.raises(StartError, match=r", or pass port=0 for a free port$"),
            emulator_in_thread(port=port, data_dir=tmp_path),
        ):
            pytest.fail("the emulator started")


def test_a_background_emulator_that_does_not_stop_is_reported(monkeypatch: pytest.MonkeyPatch):
    emulator = BackgroundEmulator().start()

    with monkeypatch.context() as patches:
        patches.setattr(threading.Thread, "is_alive", lambda _: True)
        with pytest.raises(RuntimeError, match=r"^the emulator did not stop within 10 s$"):
            emulator.stop()


# --- The child process ----------------------------------------------------------------------------


def test_the_child_process_sends_the_reason_why_its_emulator_cannot_start(
    monkeypatch: pytest.MonkeyPatch,
):
    def fail(settings: object, send: object) -> None:
        raise StartError(f"cannot start {settings}")

    output = io.BytesIO()
    monkeypatch.setattr("hosting_emulator.bootstrap.run", fail)
    monkeypatch.setattr(server, "_end_with", lambda _: None)
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(pickle.dumps("the settings"))))
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(output))

    server.serve()

    message = pickle.loads(output.getvalue())
    assert isinstance(message, StartError)
    assert str(message) == "cannot start the settings"


@pytest.mark.parametrize(
    ("closes_input", "parents"),
    [(True, [7, 7, 7]), (False, [7, 7, 1])],
    ids=["its input is closed", "its parent has ended"],
)
def test_the_child_process_ends_itself(
    monkeypatch: pytest.MonkeyPatch, closes_input: bool, parents: list[int]
):
    """It ends even if its emulator does not stop within ten seconds."""
    remaining_parents = list(parents)
    actions: list[object] = []
    waits: list[object] = []

    def select_input(*wait: object) -> tuple[list[object], list[object], list[object]]:
        waits.append(wait)
        assert len(waits) <= len(parents)
        is_closed = closes_input and len(remaining_parents) == 1
        return ([sys.stdin] if is_closed else [], [], [])

    monkeypatch.setattr(select, "select", select_input)
    monkeypatch.setattr(os, "getppid", lambda: remaining_parents.pop(0))
    monkeypatch.setattr(os, "kill", lambda _, number: actions.append(number))
    monkeypatch.setattr(time, "sleep", actions.append)

    server._end_with(7)

    assert actions == [signal.SIGTERM, 10, signal.SIGKILL]
    assert len(remaining_parents) == (1 if closes_input else 0)
