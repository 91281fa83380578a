"""Large numbers of connections cost little, leave nothing behind and block no other client."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.emulator_process import emulator
from tests.support.held_connections import PROC
from tests.support.process_limits import Watched, allowed, limited

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not PROC.exists(), reason="looks at a process through /proc"),
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
    open_files_limit = allowed()
    if open_files_limit < count + SPARE:
        count = open_files_limit - SPARE
        print(f"\nonly {count} connections: this process may have {open_files_limit} open files")
    with emulator("--ephemeral") as process:
        watched = Watched(process)
        assert watched.answers()
        figures = []
        for _ in range(rounds):
            resident = watched.resident_kb()
            with watched.crowd(count):
                watched.wait_until(lambda: watched.held() >= count)
                during = watched.resident_kb()
                assert watched.answers()
            watched.wait_until(lambda: watched.held() == 0)
            assert watched.answers()
            figures.append((resident, during, watched.resident_kb()))
        print(f"\n{count} connections, resident KB before, during and after: {figures}")
        assert figures[0][1] - figures[0][0] < CONNECTION_KB * count + LEFT_KB
        assert figures[-1][2] - figures[-3][2] < LEFT_KB
        assert process.stop() == (0, "")


def test_too_many_connections_are_reported_once_and_later_accepted():
    with emulator("--ephemeral", preexec_fn=limited(100)) as process:
        watched = Watched(process)
        assert watched.answers()
        with watched.crowd(300):
            watched.wait_until(lambda: watched.descriptors() >= 99)

        watched.wait_until(lambda: watched.held() == 0)

        assert watched.answers()
        code, errors = process.stop()
    assert code == 0
    assert set(errors.splitlines()) == {
        "hosting-emulator: no more connections can be accepted for now: Too many open files"
    }


def test_the_limit_on_open_files_is_raised():
    with emulator("--ephemeral", preexec_fn=limited(256)) as process:
        # The limit cannot be raised above the hard limit.
        assert _limits(process.popen.pid) == (256, 256)
    with emulator("--ephemeral", preexec_fn=limited(256, allowed())) as process:
        assert _limits(process.popen.pid) == (allowed(), allowed())


def _limits(pid: int) -> tuple[int, int]:
    lines = Path(f"/proc/{pid}/limits").read_text().splitlines()
    line = next(line for line in lines if line.startswith("Max open files"))
    soft, hard = line.split()[3:5]
    return int(soft), int(hard)
