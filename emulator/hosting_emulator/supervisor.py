"""The one place that runs a child command, so that nothing of it outlives us: `ChildCommand`.

This file is also run by itself (`main`, with two descriptors: ORDERS and NEWS), as the command's
parent. It starts the command when it is told to, says how it ended, ends whatever the
command leaves behind, and waits to be told of another; when the process that started it is gone, it
ends all at once, and itself. So its imports are few, of the standard library, and those that only
`ChildCommand` needs stand where they are used.

Orders and news are JSON, one object a line:
  {"run": {"number": 1, "command": [...], "environment": {...}}}   bytes as Latin-1
  {"signal": 15}                     pass it on, unless the command has it already
  {"end": 2.0}                       SIGTERM to all, SIGKILL after so many seconds
  {"run": 1, "refused": errno}       the command of this run could not be started
  {"run": 1, "ended": exit code}     or it has ended: one of the two for each run
  {"run": 1, "gone": true}           no process of the run is left: another may be run
The reader (`RunMessages`) depends neither on the order of the news nor on where a read cuts them.
"""

from __future__ import annotations

import errno
import json
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import ExitStack, suppress
from typing import Any, Literal, NamedTuple

#: Signals that mean: end. Whoever started the command tells of those it gets.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: How long what is left behind may take to end after SIGTERM, in real seconds.
GRACE_S = 1.0
#: How long a command may take to end when its time is over, in real seconds.
_LIMIT_GRACE_S = 0.5
#: How long we wait for what was killed to be gone; only a process stuck in the kernel takes longer.
_PATIENCE_S = 5.0
#: How long we know that a signal reached the whole process group, in real seconds.
_MEMORY_S = 5.0
_STEP_S = 0.02
#: How long a signal may take from one process of a group to the next, on a busy machine.
_ON_ITS_WAY_S = 0.15
_PR_SET_CHILD_SUBREAPER = 36
#: The index of `num_threads` in /proc/PID/stat, counted after the name (see proc(5)).
_THREAD_COUNT_FIELD = 17
#: How much of what a command prints is kept: its end, in bytes.
_KEPT = 32 * 1024
#: Runs this file by itself. As a module, since a script is compiled again at each start.
_ALONE = "import sys; sys.path.append(sys.argv[1]); import supervisor; supervisor.main()"


class Outcome(NamedTuple):
    """A command's exit code: 128+N after signal N; 127 or 126 if it never began, `refused` being why."""

    code: int
    refused: str | None = None


class TimedRun(NamedTuple):
    """A run from begin to end: its outcome, whether its time ran out, how long, what it printed."""

    outcome: Outcome
    hung: bool
    seconds: float
    output: bytes


class RunMessages:
    """The supervisor's messages about one run, collected from pieces of any size in any order.

    Lines that are not messages and messages about other runs are skipped.
    """

    def __init__(self, run: int) -> None:
        self._run = run
        self._unread = b""
        #: The command's exit code, once it has ended.
        self.exit_code: int | None = None
        #: Why the command could not be started, as an errno.
        self.refusal: int | None = None
        #: Whether no process of the run is left.
        self.is_gone = False

    def feed(self, piece: bytes) -> None:
        """Read what came through the pipe. A message that is cut off waits for its rest."""
        *lines, self._unread = (self._unread + piece).split(b"\n")
        for line in lines:
            self._read(line)

    @property
    def has_outcome(self) -> bool:
        """Whether it is known how the command ended, or why it did not start."""
        return self.exit_code is not None or self.refusal is not None

    @property
    def is_complete(self) -> bool:
        """Whether no other message about the run will come."""
        return self.has_outcome and self.is_gone

    def _read(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except ValueError:
            return
        if not isinstance(message, dict) or message.get("run") != self._run:
            return
        self.exit_code = message.get("ended", self.exit_code)
        self.refusal = message.get("refused", self.refusal)
        self.is_gone = self.is_gone or "gone" in message


class ChildCommand:
    """A command yet to begin, or several in turn, and their supervisor, started here. Raises OSError.

    `output` says where its input and output are: ours, the null device, or kept. One whose output is
    kept has no input and a session of its own: no signal of our terminal reaches it, several may run
    at once, and one after the other (`finish`). Of the others nothing is left after `close`. Where this
    process dies without a word, the supervisor sees to that.
    """

    def __init__(self, output: Literal["ours", "null", "kept"] = "ours") -> None:
        from pathlib import Path
        from subprocess import DEVNULL, Popen

        self._kept = output == "kept"
        # What we were born with (`sh -c 'server & exec hosting-emulator …'`) is none of ours.
        self._not_ours = set() if self._kept else descendants()
        if not self._kept:
            become_subreaper()
        orders, self._orders = os.pipe()
        self._news_end, news = os.pipe()
        # Of a command whose output is not kept, nothing ever comes here.
        self._output_end, output_end = os.pipe()
        os.set_blocking(self._output_end, False)
        #: Whether another command may be run: of the one before, nothing is left.
        self.is_free = True
        self._messages = RunMessages(0)
        self._run_count = 0
        self._ends = ExitStack()
        for ours in (self._orders, self._news_end, self._output_end):
            self._ends.callback(os.close, ours)
        stdin = None if output == "ours" else DEVNULL
        stdout = output_end if self._kept else stdin
        for descriptor in (orders, news):
            os.set_inheritable(descriptor, True)
        # The supervisor is to hear of no signal before it can heed it.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self._supervisor = Popen(
                [
                    *(sys.executable, "-I", "-S", "-c", _ALONE, Path(__file__).parent),
                    *(str(orders), str(news)),
                ],
                # What was handed to us open, the command gets too (make's jobserver, `<(…)`).
                close_fds=self._kept,
                pass_fds=(orders, news) if self._kept else (),
                stdin=stdin,
                stdout=stdout,
                stderr=stdout,
                start_new_session=self._kept,
            )
        except OSError:
            self._ends.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
            for theirs in (orders, news, output_end):
                os.close(theirs)

    def begin(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the command, found on the environment's PATH."""
        self._run_count += 1
        self._messages = RunMessages(self._run_count)
        self._order(
            run={
                "number": self._run_count,
                "command": [_latin(word) for word in command],
                "environment": {_latin(k): _latin(v) for k, v in environment.items()},
            }
        )

    def signal(self, number: int) -> None:
        """Pass a signal on, unless the whole process group got it, the command with it."""
        self._order(signal=number)

    def end(self, grace_s: float = _LIMIT_GRACE_S) -> None:
        """Send SIGTERM to the command and its descendants, and SIGKILL after so many seconds."""
        self._order(end=grace_s)

    def outcome(self) -> Outcome:
        """Wait until the command has ended, or is known not to begin."""
        messages = self._messages
        while not messages.has_outcome:
            piece = os.read(self._news_end, 65536)
            if not piece:
                break
            messages.feed(piece)
        return self._outcome_of(messages)

    def _outcome_of(self, messages: RunMessages) -> Outcome:
        if messages.exit_code is not None:
            return Outcome(messages.exit_code)
        if messages.refusal is None:
            self._end_orphans()
            code = 128 + abs(self._supervisor.wait())
            return Outcome(code, "the process that supervises it was killed")
        # As shells do: 127 for what is not there, 126 for what cannot be run.
        if messages.refusal == errno.ENOENT:
            return Outcome(127, "command not found")
        return Outcome(126, os.strerror(messages.refusal).lower())

    def finish(self, limit_s: float | None) -> TimedRun:
        """Let a command run to its end, or to the end of its time, until all of it is gone."""
        began = time.monotonic()
        self.is_free = False
        messages = self._messages
        poll = select.poll()
        for end in (self._news_end, self._output_end):
            poll.register(end, select.POLLIN)
        printed = b""
        seconds = 0.0
        hung = False
        supervised = True
        while supervised and not messages.is_complete:
            left_s = None
            if limit_s is not None and not hung and not messages.has_outcome:
                left_s = max(0.0, began + limit_s - time.monotonic())
            ready = poll.poll(None if left_s is None else left_s * 1000)
            if not ready:
                hung = True
                self.end()
            for end, _ in ready:
                piece = os.read(end, 65536)
                if end == self._output_end:
                    printed = (printed + piece)[-_KEPT:]
                    if not piece:
                        poll.unregister(end)
                else:
                    supervised = bool(piece)
                    messages.feed(piece)
                    seconds = seconds or time.monotonic() - began
        self.is_free = messages.is_complete
        with suppress(BlockingIOError):  # somebody holds it: the supervisor, or who got away
            while piece := os.read(self._output_end, 65536):
                printed = (printed + piece)[-_KEPT:]
        return TimedRun(self._outcome_of(messages), hung, seconds, printed)

    def close(self) -> None:
        """Wait until all that the command started is gone; without a command, send it home."""
        self._ends.close()
        if self._supervisor.returncode is None:
            self._supervisor.wait()
            self._end_orphans()

    def _order(self, **order: Any) -> None:
        # Where there is no supervisor any more, `outcome` says so.
        with suppress(OSError):
            left = json.dumps(order).encode() + b"\n"
            while left:
                left = left[os.write(self._orders, left) :]

    def _end_orphans(self) -> None:
        if not self._kept:
            end_orphans(self._not_ours | {self._supervisor.pid})


def ending_signals() -> list[signal.Signals]:
    """Return the signals that end us; one that is ignored (`nohup`, a script's `&`) stays so."""
    return [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]


def end_orphans(not_ours: set[int]) -> None:
    """Kill what is below this process, but for `not_ours`: a supervisor that was killed left it."""
    until = time.monotonic() + _PATIENCE_S
    while (orphans := descendants() - not_ours) and time.monotonic() < until:
        send(signal.SIGKILL, orphans)
        time.sleep(0.01)


def _latin(text: str) -> str:
    """Write a word of the operating system, which may be no text, so that JSON can carry it."""
    return os.fsencode(text).decode("latin-1")


class Supervisor:
    """One command after another, each from its start to the end of its last descendant."""

    def __init__(self, orders: int, news: int) -> None:
        self._orders, self._news = orders, news
        self._unread = b""
        self._command: int | None = None
        self._run_number = 0
        self._kill_at: float | None = None
        self._seen: dict[int, list[float]] = {number: [] for number in ENDING}
        self._signals, writing = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch(self) -> None:
        """Obey orders until nobody can give one and nothing is left of the last command."""
        # A handler, not SIG_IGN: the command would inherit that. What is ignored already stays so.
        for number in (*ending_signals(), signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        while not self._is_done():
            waiting = None if self._kill_at is None else _STEP_S
            if waiting and sys.platform == "linux":  # where orphans become ours, each end is told
                waiting = max(_STEP_S, (self._kill_at or 0) - time.monotonic())
            reading = [self._signals] + ([self._orders] if self._orders >= 0 else [])
            ready, _, _ = select.select(reading, [], [], waiting)
            self._notice()
            if self._orders in ready:
                self._read_orders()
            self._reap()

    def _notice(self) -> None:
        """Remember which signals reached us: those from a terminal reached the command too."""
        with suppress(BlockingIOError):
            for number in os.read(self._signals, 4096):
                if number in self._seen:
                    self._seen[number].append(time.monotonic())

    def _read_orders(self) -> None:
        found = os.read(self._orders, 65536)
        if not found:  # whoever started us is gone
            self._orders = -1
            self._end(GRACE_S)
        *lines, self._unread = (self._unread + found).split(b"\n")
        obey: dict[str, Callable[[Any], None]]
        obey = {"run": self._run, "signal": self._pass_on, "end": self._end_now}
        for line in lines:
            for order, what in json.loads(line).items():
                obey[order](what)

    def _run(self, what: Mapping[str, Any]) -> None:
        self._run_number = what["number"]
        argv = [word.encode("latin-1") for word in what["command"]]
        env = {k.encode("latin-1"): v.encode("latin-1") for k, v in what["environment"].items()}
        # Python ignores these; the command is to find them as they are by default.
        changed = [signal.SIGPIPE, signal.SIGXFSZ]
        try:
            self._command = os.posix_spawnp(argv[0], argv, env, setsigdef=changed)
        except OSError as error:
            self._tell(refused=error.errno)
            self._end(0)
        # What came before the command was there, it cannot have got.
        self._notice()
        for moments in self._seen.values():
            moments.clear()

    def _pass_on(self, number: int) -> None:
        """Send the command a signal that we were told of, unless it came to the whole process group."""
        self._notice()
        if self._command is None:
            return
        together = False
        with suppress(ProcessLookupError):
            together = os.getpgid(self._command) == os.getpgrp()
        if together:
            # A group's processes get a signal one after the other: ours may be on its way still.
            until = time.monotonic() + _ON_ITS_WAY_S
            while not self._seen[number] and (left_s := until - time.monotonic()) > 0:
                select.select([self._signals], [], [], left_s)
                self._notice()
        moments, recently = self._seen[number], time.monotonic() - _MEMORY_S
        moments[:] = [moment for moment in moments if moment > recently]
        came, moments[:1] = bool(moments), []
        if not (came and together):
            os.kill(self._command, number)

    def _end_now(self, grace_s: float) -> None:
        """End what runs; what ended while the order was on its way leaves nothing to do."""
        if self._command is not None or self._kill_at is not None:
            self._end(grace_s)

    def _end(self, grace_s: float) -> None:
        """Ask all that is left to end, and kill it after a while."""
        kill_at = time.monotonic() + grace_s
        if self._kill_at is None:
            living = descendants()
            send(signal.SIGTERM, living)
            send(signal.SIGCONT, living)  # a stopped process takes no other signal
            self._kill_at = kill_at
        self._kill_at = min(self._kill_at, kill_at)

    def _is_done(self) -> bool:
        """Return whether nothing is left to do: no run, and nobody who could order one."""
        if self._kill_at is None:
            return False
        living = descendants()
        if self._command is not None:  # it has not ended before we know how it ended
            living.add(self._command)
        if living:
            late_s = time.monotonic() - self._kill_at
            if late_s >= 0:
                send(signal.SIGKILL, living)
            is_stuck = late_s > _PATIENCE_S
            if is_stuck and self._command is not None:
                self._tell(ended=128 + signal.SIGKILL)
            return is_stuck
        self._kill_at = None
        self._tell(gone=True)
        return self._orders < 0

    def _reap(self) -> None:
        with suppress(ChildProcessError):
            while True:
                pid, status = os.waitpid(-1, os.WNOHANG)
                if pid == 0:
                    return
                if pid == self._command:
                    self._command = None
                    code = os.waitstatus_to_exitcode(status)
                    self._tell(ended=code if code >= 0 else 128 - code)
                    self._end(GRACE_S)

    def _tell(self, **news: int | None) -> None:
        with suppress(BrokenPipeError):
            os.write(self._news, json.dumps({"run": self._run_number, **news}).encode() + b"\n")


def become_subreaper() -> None:
    """Become the parent of every descendant that loses its own. Linux only; elsewhere nothing."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> set[int]:
    """Return the living processes below this one."""
    if sys.platform == "linux":
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # without a child there is nothing below, and no need to look
            return set()
    children: dict[int, list[int]] = {}
    for child, parent in _processes():
        children.setdefault(parent, []).append(child)
    found: set[int] = set()
    below = children.get(os.getpid(), [])
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
    if sys.platform == "linux":
        # Without pathlib, which would take longer to load than all this takes.
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                # pid (name) state parent …; the name may hold anything, brackets too.
                fields = file.read().rpartition(b")")[2].split()
                state = fields[0]
                thread_count = int(fields[_THREAD_COUNT_FIELD])
                # A process whose first thread has ended is shown as a zombie while others still run.
                runs = state not in (b"Z", b"X") or (state == b"Z" and thread_count > 1)
                if runs:
                    yield int(name), int(fields[1])
        return
    import subprocess

    columns = ["ps", "-axo", "pid=,ppid=,stat="]
    with subprocess.Popen(columns, stdout=subprocess.PIPE, text=True) as ps:
        for line in ps.stdout or ():
            pid, ppid, stat = line.split(None, 2)
            if int(pid) != ps.pid and not stat.startswith("Z"):
                yield int(pid), int(ppid)


def main() -> None:
    """Watch over commands, as told through the descriptors that the command line names."""
    orders, news = (int(number) for number in sys.argv[-2:])
    for descriptor in (orders, news):
        os.set_inheritable(descriptor, False)
    become_subreaper()
    Supervisor(orders, news).watch()
