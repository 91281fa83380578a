"""The warden: the command's parent while `exec` runs it, so that nothing of it outlives `exec`.

`exec` runs this file by itself (`python -I -S warden.py ORDERS NEWS`, two descriptors), so it must
import the standard library only. It starts the command when it is told to, says how it ended, and
ends whatever the command leaves behind; also, and at once, when `exec` is gone.

Orders and news are JSON, one object a line:
  {"run": {"command": [...], "environment": {...}}}   bytes as Latin-1
  {"signal": 15}                                      pass it on, unless the command has it already
  {"end": 2.0}                                        SIGTERM to all, SIGKILL after so many seconds
  {"refused": errno} · {"ended": exit code}           the news, one of them, once
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any

#: Signals that mean: end. `exec` tells of those it gets; from a terminal all of us get them.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: How long what is left behind may take to end after SIGTERM, in real seconds.
GRACE_S = 1.0
#: How long we wait for what was killed to be gone; only a process stuck in the kernel takes longer.
_PATIENCE_S = 5.0
#: How long we know that a signal reached the whole process group, in real seconds.
_MEMORY_S = 5.0
_STEP_S = 0.02
_PR_SET_CHILD_SUBREAPER = 36


class Warden:
    """One command from its start to the end of its last descendant."""

    def __init__(self, orders: int, news: int) -> None:
        self._orders, self._news = orders, news
        self._unread = b""
        self._command: int | None = None
        self._kill_at: float | None = None
        self._seen: dict[int, list[float]] = {number: [] for number in ENDING}
        self._signals, writing = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch(self) -> None:
        """Obey orders until the command and all its descendants have ended."""
        self._handle_signals()
        while not self._is_over():
            waiting = None if self._kill_at is None else _STEP_S
            reading = [self._signals] + ([self._orders] if self._orders >= 0 else [])
            ready, _, _ = select.select(reading, [], [], waiting)
            self._notice()
            if self._orders in ready:
                self._read_orders()
            self._reap()

    def _handle_signals(self) -> None:
        # A handler, not SIG_IGN: the command would inherit that. What is ignored already stays so.
        for number in (*ENDING, signal.SIGCHLD):
            if number == signal.SIGCHLD or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)

    def _notice(self) -> None:
        """Remember which signals reached us: those from a terminal reached the command too."""
        with suppress(BlockingIOError):
            for number in os.read(self._signals, 4096):
                if number in self._seen:
                    self._seen[number].append(time.monotonic())

    def _read_orders(self) -> None:
        found = os.read(self._orders, 65536)
        if not found:  # exec is gone
            self._orders = -1
            self._end(GRACE_S)
        *lines, self._unread = (self._unread + found).split(b"\n")
        for line in lines:
            order = json.loads(line)
            if "run" in order:
                self._run(**order["run"])
            elif "signal" in order:
                self._pass_on(order["signal"])
            else:
                self._end(order["end"])

    def _run(self, command: list[str], environment: Mapping[str, str]) -> None:
        argv = [word.encode("latin-1") for word in command]
        env = {k.encode("latin-1"): v.encode("latin-1") for k, v in environment.items()}
        # Python ignores these; the command is to find them as they are by default.
        changed = [signal.SIGPIPE, signal.SIGXFSZ]
        try:
            self._command = os.posix_spawnp(argv[0], argv, env, setsigdef=changed)
        except OSError as error:
            self._tell({"refused": error.errno})
            self._end(0)
        # What came before the command was there, it cannot have got.
        self._notice()
        for moments in self._seen.values():
            moments.clear()

    def _pass_on(self, number: int) -> None:
        """Send the command a signal that `exec` got, unless it came to the whole process group."""
        self._notice()
        if self._command is None or self._reached_the_group(number):
            return
        os.kill(self._command, number)

    def _reached_the_group(self, number: int) -> bool:
        moments, recently = self._seen[number], time.monotonic() - _MEMORY_S
        moments[:] = [moment for moment in moments if moment > recently]
        if not moments:
            return False
        moments.pop(0)
        assert self._command is not None
        with suppress(ProcessLookupError):
            return os.getpgid(self._command) == os.getpgrp()
        return False

    def _end(self, grace_s: float) -> None:
        """Ask all that is left to end, and kill it after a while."""
        kill_at = time.monotonic() + grace_s
        if self._kill_at is None:
            living = descendants(os.getpid())
            send(signal.SIGTERM, living)
            send(signal.SIGCONT, living)  # a stopped process takes no other signal
            self._kill_at = kill_at
        self._kill_at = min(self._kill_at, kill_at)

    def _is_over(self) -> bool:
        if self._kill_at is None:
            return False
        living = descendants(os.getpid())
        if not living:
            self._reap()  # the command may have ended since: how is not to be lost
        late_s = time.monotonic() - self._kill_at
        if living and late_s >= 0:
            send(signal.SIGKILL, living)
        return not living or late_s > _PATIENCE_S

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._command:
                    self._command = None
                    code = os.waitstatus_to_exitcode(status)
                    self._tell({"ended": code if code >= 0 else 128 - code})
                    self._end(GRACE_S)

    def _tell(self, news: Mapping[str, Any]) -> None:
        with suppress(BrokenPipeError):
            os.write(self._news, json.dumps(news).encode() + b"\n")


def become_subreaper() -> None:
    """Become the parent of every descendant that loses its own. Linux only; elsewhere nothing."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants(pid: int) -> set[int]:
    """Return the living processes below `pid`, itself not counted."""
    children: dict[int, list[int]] = {}
    for child, parent in _processes():
        children.setdefault(parent, []).append(child)
    found: set[int] = set()
    below = children.get(pid, [])
    while below:
        found.update(below)
        below = [child for parent in below for child in children.get(parent, [])]
    return found


def send(number: int, pids: Iterable[int]) -> None:
    """Send a signal to processes, as far as they are still there and ours."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _processes() -> Iterable[tuple[int, int]]:
    """Walk pid and parent's pid of all processes that have not ended."""
    if sys.platform != "linux":
        yield from _processes_by_ps()
        return
    # Without pathlib, which would take longer to load than all this takes.
    for name in os.listdir("/proc"):  # noqa: PTH208
        if name.isdigit():
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                # pid (name) state parent …; the name may hold anything, brackets too.
                state, parent = file.read().rpartition(b")")[2].split()[:2]
                if state not in (b"Z", b"X"):
                    yield int(name), int(parent)


def _processes_by_ps() -> Iterable[tuple[int, int]]:
    import subprocess

    columns = ["ps", "-axo", "pid=,ppid=,stat="]
    with subprocess.Popen(columns, stdout=subprocess.PIPE, text=True) as ps:
        assert ps.stdout is not None
        for line in ps.stdout:
            pid, parent, state = line.split(None, 2)
            if int(pid) != ps.pid and not state.startswith("Z"):
                yield int(pid), int(parent)


def main() -> None:
    """Watch over one command, as told through the descriptors that the command line names."""
    orders, news = (int(number) for number in sys.argv[1:3])
    for descriptor in (orders, news):
        os.set_inheritable(descriptor, False)
    become_subreaper()
    Warden(orders, news).watch()


if __name__ == "__main__":
    main()
