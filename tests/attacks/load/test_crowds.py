"""Large numbers of connections cost little, leave nothing behind and block no other client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.emulator_process import emulator
from tests.support.held_connections import OPEN_DESCRIPTORS
from tests.support.server_process import ServerProcess, limit_open_files, raise_open_files_limit

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not OPEN_DESCRIPTORS.exists(), reason="looks at a process through /proc"),
]
#: The most memory of one idle connection, and the most that may remain after the last round.
CONNECTION_KB = 10
LEFT_KB = 10_000
#: Descriptors that client and server need for other purposes.
SPARE = 200


@pytest.mark.parametrize(
    ("count", "rounds"), [(1_000, 4), pytest.param(10_000, 8, marks=pytest.mark.torture)]
)
def test_idle_connections_cost_little_and_leave_nothing(count: int, rounds: int):
    """Python collects the cycles of closed connections only after some 50,000 connections."""
    open_files_limit = raise_open_files_limit()
    if open_files_limit < count + SPARE:
        count = open_files_limit - SPARE
        print(f"\nonly {count} connections: this process may have {open_files_limit} open files")
    with emulator("--ephemeral") as process:
        server = ServerProcess(process)
        assert server.is_responsive()
        figures = []
        for _ in range(rounds):
            resident = server.resident_kb()
            with server.idle_connections(count):
                server.wait_until(lambda: server.connection_count() >= count)
                during = server.resident_kb()
                assert server.is_responsive()
            server.wait_until(lambda: server.connection_count() == 0)
            assert server.is_responsive()
            figures.append((resident, during, server.resident_kb()))
        print(f"\n{count} connections, resident KB before, during and after: {figures}")
        assert figures[0][1] - figures[0][0] < CONNECTION_KB * count + LEFT_KB
        assert figures[-1][2] - figures[-3][2] < LEFT_KB
        assert process.stop() == (0, "")


def test_too_many_connections_are_reported_once_and_later_accepted():
    with emulator("--ephemeral", preexec_fn=limit_open_files(100)) as process:
        server = ServerProcess(process)
        assert server.is_responsive()
        with server.idle_connections(300):
            server.wait_until(lambda: server.descriptor_count() >= 99)

        server.wait_until(lambda: server.connection_count() == 0)

        assert server.is_responsive()
        code, errors = process.stop()
    assert code == 0
    assert set(errors.splitlines()) == {
        "hosting-emulator: no more connections can be accepted for now: Too many open files"
    }


def test_the_limit_on_open_files_is_raised():
    with emulator("--ephemeral", preexec_fn=limit_open_files(256)) as process:
        # The limit cannot be raised above the hard limit.
        assert _limits(process.popen.pid) == (256, 256)
    with emulator(
        "--ephemeral", preexec_fn=limit_open_files(256, raise_open_files_limit())
    ) as process:
        assert _limits(process.popen.pid) == (raise_open_files_limit(), raise_open_files_limit())


def _limits(pid: int) -> tuple[int, int]:
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    line = next(line for line in lines if line.startswith("Max open files"))
    soft, hard = line.split()[3:5]
    return int(soft), int(hard)
