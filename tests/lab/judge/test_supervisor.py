"""The supervisor reports every run completely, however its command ends."""

from __future__ import annotations

import platform
import shutil
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import permutations
from pathlib import Path

import pytest

from hosting_emulator.supervisor import ChildCommand, Outcome, RunMessages
from tests.lab.judge.explore_process import explore_report, verdicts_by_point
from tests.support.exec_process import PATIENCE_S, wait_until

#: The number of the system call `exit`, which ends only the calling thread.
EXIT_CALL = {"x86_64": 60, "aarch64": 93}.get(platform.machine())
#: A program whose first thread ends while another thread runs, as a threaded runtime does when it
#: exits. Meanwhile the system shows the process as a zombie.
FIRST_THREAD_ENDS = f"""
import ctypes, os, sys, threading, time
threading.Thread(target=lambda: (time.sleep(float(sys.argv[1])), os._exit(3))).start()
ctypes.CDLL(None).syscall({EXIT_CALL}, 0)
"""
#: A program that prints faster than its output can be read.
PRINTS_FOR_20_S = """
import os, time
end = time.monotonic() + 20
while time.monotonic() < end:
    os.write(1, b"x" * 60_000)
"""
needs_linux = pytest.mark.skipif(
    sys.platform != "linux" or EXIT_CALL is None, reason="needs Linux and a known system call"
)
NODE_WITHOUT_A_TIMEOUT = """
const project = `/v1/projects/${process.env.HOSTING_PROJECT_ID}`;
const response = await fetch(`${process.env.HOSTING_BASE_URL}${project}/edge-dns`, {
  headers: { Authorization: `Bearer ${process.env.HOSTING_TOKEN}` },
});
process.exit(response.ok ? 0 : 1);
"""
MESSAGES = (b'{"run": 2, "ended": 3}\n', b'{"run": 2, "gone": true}\n', b'{"run": 1, "ended": 9}\n')


@needs_linux
def test_the_supervisor_ends_a_command_whose_first_thread_ended():
    child = ChildCommand("kept")
    try:
        child.begin([sys.executable, "-c", FIRST_THREAD_ENDS, "300"], {})
        hung_run = child.finish(1.0)
        child.begin([sys.executable, "-c", "raise SystemExit(7)"], {})
        next_run = child.finish(None)
    finally:
        child.close()

    assert (hung_run.hung, hung_run.outcome.code) == (True, 143)
    assert (next_run.hung, next_run.outcome.code) == (False, 7)


def test_a_command_that_prints_without_pause_is_ended_after_its_time_limit():
    child = ChildCommand("kept")
    try:
        child.begin([sys.executable, "-c", PRINTS_FOR_20_S], {})
        run = child.finish(0.3)
        is_free = child.is_free
    finally:
        child.close()

    assert (run.hung, run.outcome.code) == (True, 143)
    assert run.seconds < 10
    assert is_free


@pytest.mark.parametrize(("command", "variable"), [("", "NAME"), ("true", "")])
def test_a_command_that_python_cannot_start_is_refused(command: str, variable: str):
    child = ChildCommand("kept")
    try:
        child.begin([command], {variable: "value"})
        run = child.finish(None)
    finally:
        child.close()

    assert run.outcome == Outcome(126, "invalid argument")


@needs_linux
def test_explore_judges_a_client_whose_first_thread_ended():
    script = f"""
import os, urllib.request
url = os.environ["HOSTING_BASE_URL"] + "/v1/projects/" + os.environ["HOSTING_PROJECT_ID"]
token = {{"Authorization": "Bearer " + os.environ["HOSTING_TOKEN"]}}
try:
    urllib.request.urlopen(urllib.request.Request(url + "/edge-dns", headers=token), timeout=10)
except OSError:
    import sys
    sys.argv = ["", "300"]
    {FIRST_THREAD_ENDS.strip().replace(chr(10), chr(10) + "    ")}
"""
    command = ("--time-limit", "2s", "--", sys.executable, "-c", script)

    report = explore_report("--faults", "connection_reset,gateway_error", *command)

    assert set(verdicts_by_point(report).values()) == {"hung"}


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no node")
def test_explore_judges_each_short_node_program_that_hangs():
    arguments = ("--faults", "timeout,connection_reset", "--time-limit", "3s", "-j", "4")

    report = explore_report(
        *arguments, "--", "node", "--input-type=module", "-e", NODE_WITHOUT_A_TIMEOUT
    )

    assert verdicts_by_point(report) == {
        "get_dns_authorization#1/timeout/before_commit": "hung",
        "get_dns_authorization#1/connection_reset/before_commit": "failed",
    }


@pytest.mark.parametrize("order", list(permutations(MESSAGES)))
@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_supervisor_messages_are_read_in_any_order_and_in_pieces_of_any_size(
    order: tuple[bytes, ...], size: int
):
    data = b"".join(order)
    messages = RunMessages(2)

    for start in range(0, len(data), size):
        messages.feed(data[start : start + size])

    assert messages.is_complete
    assert messages.exit_code == 3
    assert messages.refusal is None


@pytest.mark.parametrize("line", [b"\n", b'{"run": 2, "en\n', b"[]\n", b"\xff\n", b'{"run": 2}\n'])
def test_the_supervisor_ignores_a_line_that_is_not_a_message(line: bytes):
    messages = RunMessages(2)

    messages.feed(line)
    assert not messages.has_outcome

    messages.feed(b'{"run": 2, "refused": 2}\n{"run": 2, "gone": true}')
    assert messages.has_outcome
    assert not messages.is_complete  # the last message is cut off
    messages.feed(b"\n")
    assert messages.is_complete
    assert messages.refusal == 2


#: Ends itself with exit code 5 when it is asked to end.
TIDY = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: os._exit(5))
open(sys.argv[1], "x").close()
time.sleep(300)
"""


def test_a_command_that_is_ended_has_time_to_end_itself(tmp_path: Path):
    child = ChildCommand("kept")
    ready = tmp_path / "ready"
    try:
        child.begin([sys.executable, "-c", TIDY, str(ready)], {})
        with ThreadPoolExecutor(1) as pool:
            future = pool.submit(child.finish, None)
            wait_until(lambda: ready.exists() or None)
            child.end(PATIENCE_S)
            run = future.result()
    finally:
        child.close()

    assert run.outcome.code == 5
    assert run.seconds > 0
