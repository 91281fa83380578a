"""However `exec` ends, it leaves no process and no file, and the command gets each signal once.

EMULATOR_TEST_EXECS sets the number of kills (12, half of them torture), and
EMULATOR_TEST_SEED chooses their moments.
"""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from subprocess import PIPE

import pytest

from tests.support.exec_process import Execution, execution, wait_until
from tests.support.sampling import rotating

pytestmark = pytest.mark.skipif(
    sys.platform != "linux", reason="only Linux tells which process has which environment"
)
EXECS = int(os.environ.get("EMULATOR_TEST_EXECS", "12"))
SEED = os.environ.get("EMULATOR_TEST_SEED", "kills")
#: So many checks of all processes take longer than a cold start, and a sixth of them takes longer than
#: a warm start. After the output of the command begins, half as many follow.
MOST_CHECKS = 600

PLAIN = "echo $HOSTING_BASE_URL; sleep 1000 & sleep 1000"
IGNORING_SIGNALS = """
import os, signal, subprocess, sys, time
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
    signal.signal(number, signal.SIG_IGN)
subprocess.Popen(["sleep", "1000"])
subprocess.Popen(["sh", "-c", "sleep 1000 & sleep 1000"], start_new_session=True)
print(os.environ["HOSTING_BASE_URL"], flush=True)
time.sleep(1000)
"""
ORPHANING = "echo $HOSTING_BASE_URL; (setsid sh -c 'sleep 1000 & sleep 1000' &); sleep 1000"
COMMANDS = {
    "plain": ("sh", "-c", PLAIN),
    "deaf": (sys.executable, "-c", IGNORING_SIGNALS),
    "orphaning": ("sh", "-c", ORPHANING),
}
#: Prints each signal, the lower number first, and ends after a number of SIGTERMs.
ROUNDS = 5
PRINTING_SIGNALS = f"""
import signal
heard = [signal.SIGHUP, signal.SIGINT, signal.SIGTERM]
signal.pthread_sigmask(signal.SIG_BLOCK, heard)
print("ready", flush=True)
for _ in range({ROUNDS}):
    while (came := signal.sigwait(heard)) != signal.SIGTERM:
        print("came", int(came), flush=True)
    print("came", int(came), flush=True)
"""
#: Ends only when it is killed. It reports each signal with one write, because another signal could
#: interrupt `print`.
STUBBORN = """
import os, signal
signal.signal(signal.SIGINT, lambda *_: os.write(1, b"int\\n"))
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"term\\n"))
print("ready", flush=True)
while True:
    signal.pause()
"""


def python(code: str) -> tuple[str, ...]:
    return ("--", sys.executable, "-c", code)


def line(running: Execution) -> str:
    """Read a line of the output of the command."""
    assert running.popen.stdout is not None
    return running.popen.stdout.readline().strip()


# --- killed at any moment -------------------------------------------------------------------------


@pytest.mark.parametrize("number", rotating(range(EXECS), EXECS // 2))
def test_a_killed_exec_leaves_no_process_and_no_file(number: int, tmp_path: Path):
    random = Random(f"{SEED}-{number}")
    ending_signal = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL][number % 3]
    command = COMMANDS[[*COMMANDS][number // 3 % 3]]
    output = tmp_path / "said"
    cold = number % 2 == 0
    most_checks = MOST_CHECKS if cold else MOST_CHECKS // 6

    with (
        output.open("w") as stream,
        execution(
            "--quiet",
            "--kill-after",
            "200ms",
            "--",
            *command,
            cold=cold,
            stdout=stream,
            stderr=stream,
        ) as running,
    ):
        has_output = random.random() < 0.5
        if has_output:
            wait_until(lambda: output.read_text() or None)
        for _ in range(random.randrange(most_checks // 2 if has_output else most_checks)):
            running.processes()
        running.send(ending_signal)
        code = running.wait_for_end()

    assert code != 0
    if ending_signal == signal.SIGKILL:
        assert code == -signal.SIGKILL
    for port in re.findall(r"http://127\.0\.0\.1:([0-9]+)", output.read_text()):
        assert not is_open(int(port))


def is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_a_killed_supervisor_leaves_no_process(command: tuple[str, ...]):
    with execution("--quiet", "--", *command, stdout=PIPE) as running:
        port = int(line(running).rpartition(":")[2])
        os.kill(running.supervisor_pid(), signal.SIGKILL)

        assert running.wait_for_end() == 128 + signal.SIGKILL

    assert not is_open(port)


def test_processes_that_the_command_leaves_behind_are_ended():
    leaves = "(setsid sleep 1000 &); trap '' TERM; sleep 1000 & exit 7"

    with execution("--quiet", "--", "sh", "-c", leaves) as running:
        assert running.wait_for_end() == 7


# --- signals --------------------------------------------------------------------------------------


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGHUP])
@pytest.mark.parametrize("group", [False, True], ids=["to exec alone", "to the group"])
def test_the_command_gets_each_signal_once(group: bool, number: signal.Signals):
    arguments = ("--quiet", "--kill-after", "never", *python(PRINTING_SIGNALS))
    with execution(*arguments, stdout=PIPE, start_new_session=True) as running:
        assert line(running) == "ready"
        for _ in range(ROUNDS):
            if group:  # A terminal and `timeout` signal the whole group.
                os.killpg(running.popen.pid, number)
            else:
                running.send(number)
            assert line(running) == f"came {number}"
            # It is passed on after the first signal. A duplicate of the first would be here by now.
            running.send(signal.SIGTERM)
            assert line(running) == "came 15"

        assert running.wait_for_end() == 0


def test_ctrl_c_in_a_terminal_reaches_the_command_once():
    with terminal("--kill-after", "never", *python(PRINTING_SIGNALS)) as (running, keyboard):
        with os.fdopen(os.dup(keyboard), "rb") as screen:
            assert screen.readline() == b"ready\r\n"
            for _ in range(ROUNDS):
                os.write(keyboard, b"\x03")
                assert screen.readline() == b"^Ccame 2\r\n"
                running.send(signal.SIGTERM)
                assert screen.readline() == b"came 15\r\n"

        assert running.wait_for_end() == 0


def test_the_exit_code_after_ctrl_c_is_that_of_the_command():
    with terminal(
        "--", "sh", "-c", "trap 'exit 0' INT; echo ready; while :; do sleep 0.05; done"
    ) as (running, key):
        with os.fdopen(os.dup(key), "rb") as screen:
            assert screen.readline() == b"ready\r\n"
        os.write(key, b"\x03")

        assert running.wait_for_end() == 0


@contextmanager
def terminal(*arguments: str) -> Iterator[tuple[Execution, int]]:
    """Run `exec` in the foreground of its own terminal; yield it and the terminal's input."""
    keyboard, screen = os.openpty()
    take_it = (
        sys.executable,
        "-c",
        "import fcntl, termios\n"
        "fcntl.ioctl(0, termios.TIOCSCTTY, 0)\n"
        "from hosting_emulator_cli.main import main\n"
        "main()\n",
    )
    try:
        with (
            os.fdopen(screen, "rb+", buffering=0) as theirs,
            execution(
                "--quiet",
                *arguments,
                command=take_it,
                start_new_session=True,
                **dict.fromkeys(("stdin", "stdout", "stderr"), theirs),
            ) as running,
        ):
            theirs.close()  # Then the reader of the screen gets an end of file.
            yield running, keyboard
    finally:
        os.close(keyboard)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT])
def test_other_signals_are_passed_on(number: signal.Signals):
    with execution("--quiet", "--", "sh", "-c", "echo ready; sleep 1000", stdout=PIPE) as running:
        assert line(running) == "ready"
        running.send(number)

        assert running.wait_for_end() == 128 + number


def test_a_command_that_ignores_a_signal_is_killed_after_the_grace_period():
    arguments = ("--quiet", "--kill-after", "100ms", *python(STUBBORN))
    with execution(*arguments, stdout=PIPE) as running:
        assert line(running) == "ready"
        running.send(signal.SIGINT)

        assert line(running) == "int"
        assert line(running) == "term"
        assert running.wait_for_end() == 128 + signal.SIGKILL


def test_a_second_ctrl_c_ends_the_command_at_once():
    with execution("--kill-after", "1h", *python(STUBBORN), stdout=PIPE, stderr=PIPE) as running:
        assert line(running) == "ready"
        running.send(signal.SIGINT)
        assert line(running) == "int"
        with pytest.raises(subprocess.TimeoutExpired):
            running.popen.wait(0.3)  # By then, the next signal counts as a second one.
        running.send(signal.SIGINT)

        assert running.wait_for_end() == 128 + signal.SIGKILL
        assert running.popen.stderr is not None
        assert running.popen.stderr.read() == ""


def test_a_command_that_survives_ctrl_c_continues():
    arguments = ("--quiet", "--kill-after", "never", *python(STUBBORN))
    with execution(*arguments, stdout=PIPE) as running:
        assert line(running) == "ready"
        for _ in range(3):
            running.send(signal.SIGINT)
            assert line(running) == "int"
        assert running.popen.poll() is None


@pytest.mark.parametrize("trap", ["", "trap '' INT HUP; "], ids=["as ever", "ignored"])
def test_the_command_inherits_the_signal_handling_of_exec(trap: str):
    code = (
        "import signal\n"
        "names = 'SIGINT SIGTERM SIGHUP SIGQUIT SIGPIPE SIGCHLD'.split()\n"
        "print(*[n for n in names if signal.getsignal(getattr(signal, n)) is signal.SIG_IGN])\n"
        "print(signal.pthread_sigmask(signal.SIG_BLOCK, []))\n"
    )
    script = ("/bin/sh", "-c", f'{trap}exec "$@"', "sh") if trap else ()
    with execution(*python(code), wrapper=script, stdout=PIPE) as running:
        # Python itself ignores SIGPIPE.
        ignored = "SIGINT SIGHUP SIGPIPE" if trap else "SIGPIPE"
        assert (line(running), line(running)) == (ignored, "set()")
        assert running.wait_for_end() == 0
