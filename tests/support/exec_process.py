"""`hosting-emulator exec` as a process, and a look at what is left of it.

Every process it starts carries a mark in its environment, whatever becomes of its parents; so does
it itself where it is started from nothing.
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
_MARK = "HOSTING_EMULATOR_TEST_MARK"


class Execution:
    """One `exec` that runs, and its processes.

    It comes from the warm interpreter; one that is `cold`, or has words `before` it, from nothing.
    `command` are the words that it is started by.
    """

    def __init__(
        self,
        *arguments: str,
        before: tuple[str, ...] = (),
        command: tuple[str, ...] = (COMMAND,),
        cold: bool = False,
        **options: Any,
    ) -> None:
        self._mark = uuid.uuid4().hex
        self.was_rescued = False
        self.popen = warm.start(
            [*before, *command, "exec", *arguments],
            cold=cold or bool(before),
            env=environment() | {_MARK: self._mark},
            **options,
        )

    def send(self, number: int) -> None:
        """Send a signal to `exec` alone."""
        if self.popen.poll() is None:
            self.popen.send_signal(number)

    def processes(self) -> dict[int, str]:
        """Look at what carries the mark: command lines by pid. Linux only."""
        commands = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if self._mark.encode() in (folder / "environ").read_bytes():
                        words = (folder / "cmdline").read_bytes().split(b"\0")
                        commands[int(folder.name)] = b" ".join(words).decode().strip()
                except OSError:  # it has ended, or is not ours
                    continue
        return commands

    def supervisor(self) -> int:
        """Wait for the supervisor, and return its pid."""
        return until(
            lambda: next(
                (p for p, line in self.processes().items() if "supervisor.main" in line), None
            )
        )

    def ended(self) -> int:
        """Wait until it has ended, and all of it; return its exit code."""
        code = self.popen.wait(PATIENCE_S)
        until(lambda: not self.processes() or None)
        assert not self.was_rescued, "processes were left until the watchdog killed them"
        return code

    def rescue(self) -> None:
        """End all of it, because it took too long. Then `ended` fails."""
        self.was_rescued = True
        self.close()

    def close(self) -> None:
        """End what a failed test left."""
        for pid in (*self.processes(), self.popen.pid):
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue
        self.popen.wait(PATIENCE_S)


def environment() -> dict[str, str]:
    """Return this process's environment without what an outer emulator put there."""
    return {k: v for k, v in os.environ.items() if not k.startswith("HOSTING_")}


@contextmanager
def execution(*arguments: str, **options: Any) -> Iterator[Execution]:
    """Run `exec` for the time of a block; whatever happens, all of it ends with the block."""
    running = Execution(*arguments, **options)
    # A test that reads its output does not wait forever.
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
    """Run `exec` to its end."""
    options = {"env": environment(), "timeout": PATIENCE_S, **options}
    return warm.run([COMMAND, "exec", *arguments], **options)


def until(look: Callable[[], Any]) -> Any:
    """Look again and again until there is something; return it."""
    deadline = time.monotonic() + PATIENCE_S
    while (result := look()) is None:
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)  # between two looks at other processes
    return result
