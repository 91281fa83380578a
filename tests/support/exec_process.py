"""Runs `hosting-emulator exec` as a process, and finds the processes that it has started.

Every process that `exec` starts has a unique mark in its environment, so that the process can be
found even if its parent has ended. `exec` itself also has the mark, unless the warm interpreter
forked it.
"""

from __future__ import annotations

import os
import signal
import subprocess
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.support import warm
from tests.support.warm import COMMAND

PATIENCE_S = 30.0
_MARK = "EMULATOR_TEST_MARK"


class Execution:
    """A running `exec` and its processes.

    The warm interpreter forks `exec`, unless it is `cold` or `wrapper` is given. `wrapper` is a
    command that runs `exec`, such as `script`. `command` is the command that precedes the word
    `exec`.
    """

    def __init__(
        self,
        *arguments: str,
        wrapper: tuple[str, ...] = (),
        command: tuple[str, ...] = (COMMAND,),
        cold: bool = False,
        **options: Any,
    ) -> None:
        self._mark = uuid.uuid4().hex
        self.was_rescued = False
        self.popen = warm.start(
            [*wrapper, *command, "exec", *arguments],
            cold=cold or bool(wrapper),
            env=environment() | {_MARK: self._mark},
            **options,
        )

    def send(self, number: int) -> None:
        """Send a signal to `exec` alone."""
        if self.popen.poll() is None:
            self.popen.send_signal(number)

    def processes(self) -> dict[int, str]:
        """Return the command lines of the processes with the mark, by pid. Works only on Linux."""
        commands = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if self._mark.encode() in (folder / "environ").read_bytes():
                        words = (folder / "cmdline").read_bytes().split(b"\0")
                        commands[int(folder.name)] = b" ".join(words).decode().strip()
                except OSError:  # the process has ended, or belongs to another user
                    continue
        return commands

    def supervisor_pid(self) -> int:
        """Wait for the supervisor process, and return its pid."""

        def find_supervisor() -> int | None:
            for pid, command_line in self.processes().items():
                if "supervisor.main" in command_line:
                    return pid
            return None

        return wait_until(find_supervisor)

    def wait_for_end(self) -> int:
        """Wait until `exec` and all of its processes have ended. Return the exit code of `exec`."""
        code = self.popen.wait(PATIENCE_S)
        wait_until(lambda: not self.processes() or None)
        assert not self.was_rescued, "processes were left until the watchdog killed them"
        return code

    def rescue(self) -> None:
        """Kill all processes, because they took too long. `wait_for_end` then fails."""
        self.was_rescued = True
        self.close()

    def close(self) -> None:
        """Kill all processes that are still running, for example after a failed test."""
        for pid in (*self.processes(), self.popen.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.popen.wait(PATIENCE_S)


def environment() -> dict[str, str]:
    """Return the environment of this process without the variables of an outer emulator."""
    variables = os.environ.items()
    return {name: value for name, value in variables if not name.startswith("HOSTING_")}


@contextmanager
def execution(*arguments: str, **options: Any) -> Iterator[Execution]:
    """Run `exec` during a block. At the end of the block, all of its processes are killed."""
    running = Execution(*arguments, **options)
    # Without the watchdog, a test that reads the output could wait forever.
    watchdog = threading.Timer(PATIENCE_S, running.rescue)
    watchdog.start()
    try:
        yield running
    finally:
        watchdog.cancel()
        running.close()
        for stream in (running.popen.stdin, running.popen.stdout, running.popen.stderr):
            if stream is not None:
                stream.close()


def run(*arguments: str, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run `exec`, wait for its end, and capture its output."""
    options = {"env": environment(), "timeout": PATIENCE_S, **options}
    return warm.run([COMMAND, "exec", *arguments], **options)


def wait_until(check: Callable[[], Any]) -> Any:
    """Call `check` repeatedly until it returns a value other than None, and return the value.

    Raises AssertionError after 30 seconds.
    """
    deadline = time.monotonic() + PATIENCE_S
    result = check()
    while result is None:
        assert time.monotonic() < deadline, f"no result within {PATIENCE_S} s"
        time.sleep(0.01)  # the interval between checks of other processes
        result = check()
    return result
