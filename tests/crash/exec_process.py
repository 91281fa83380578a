"""`hosting-emulator exec` as a real process, and a look at what is left of it.

Every process it starts carries a mark in its environment, whatever becomes of its parents.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hosting_emulator.supervisor import ENDING
from tests.crash.process import COMMAND

PATIENCE_S = 30.0
_MARK = "HOSTING_EMULATOR_TEST_MARK"
#: Signals are as they are in a terminal, however the tests themselves were started.
_AS_IN_A_TERMINAL = (
    *(sys.executable, "-I", "-S", "-c"),
    "import os, signal, sys\n"
    f"for number in {[int(number) for number in ENDING]}:\n"
    "    signal.signal(number, signal.SIG_DFL)\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n",
)


class Execution:
    """One `exec` that runs, and its processes."""

    def __init__(self, *arguments: str, before: tuple[str, ...] = (), **options: Any) -> None:
        self._mark = uuid.uuid4().hex
        self.popen: subprocess.Popen[str] = subprocess.Popen(
            [*_AS_IN_A_TERMINAL, *before, COMMAND, "exec", *arguments],
            env=environment() | {_MARK: self._mark},
            text=True,
            **options,
        )

    def send(self, number: int) -> None:
        """Send a signal to `exec` alone."""
        if self.popen.poll() is None:
            self.popen.send_signal(number)

    def processes(self) -> dict[int, str]:
        """Look at what carries the mark: command lines by pid. Linux only."""
        found = {}
        for folder in Path("/proc").iterdir():
            if folder.name.isdigit():
                try:
                    if self._mark.encode() in (folder / "environ").read_bytes():
                        words = (folder / "cmdline").read_bytes().split(b"\0")
                        found[int(folder.name)] = b" ".join(words).decode().strip()
                except OSError:  # it has ended, or is not ours
                    continue
        return found

    def supervisor(self) -> int:
        """Wait for the supervisor, and return its pid."""
        return until(
            lambda: next(
                (p for p, line in self.processes().items() if "supervisor.py" in line), None
            )
        )

    def ended(self) -> int:
        """Wait until it has ended, and all of it; return its exit code."""
        code = self.popen.wait(PATIENCE_S)
        until(lambda: not self.processes() or None)
        return code

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
    # Whoever waits for a word of it does not wait for ever.
    watchdog = threading.Timer(PATIENCE_S, running.close)
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
    return subprocess.run(
        [*_AS_IN_A_TERMINAL, COMMAND, "exec", *arguments],
        **{
            "env": environment(),
            "capture_output": True,
            "text": True,
            "timeout": PATIENCE_S,
            **options,
        },
    )


def until(look: Callable[[], Any]) -> Any:
    """Look again and again until there is something; return it."""
    deadline = time.monotonic() + PATIENCE_S
    while (found := look()) is None:
        assert time.monotonic() < deadline, "waited in vain"
    return found
