"""Runs a child command so that none of its processes outlives this process (see `ChildCommand`).

This file is also run on its own, as the supervisor: the parent process of the command. `main` takes
two file descriptors, ORDERS and NEWS. The supervisor starts the command when it receives an order,
reports how the command ended, ends all processes that the command left behind, and waits for the
next order. When the process that started the supervisor has exited, the supervisor ends all
processes and exits. To load quickly, this file imports only a few modules from the standard
library. Imports that only `ChildCommand` needs are made where they are used.

Orders and news are JSON, one object per line:
  {"run": {"number": 1, "command": [...], "environment": {...}}}   bytes as Latin-1
  {"signal": 15}                     pass the signal on to the command, unless it has reached the command
  {"end": 2.0}                       send SIGTERM to all processes, and SIGKILL after this many seconds
  {"run": 1, "refused": errno}       the command of this run could not be started
  {"run": 1, "ended": exit code, "pid": 4711}
                                     the command has ended; a run reports either `refused` or `ended`;
                                     `pid` is absent if the command was killed but has not exited
  {"run": 1, "gone": true, "cpu_ms": 120}
                                     no process of the run is left, so the next run may start; its
                                     processes used this much processor time
The reader (`RunMessages`) does not depend on the order of the news or on how reads split them.
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

#: Signals that end the command. The process that started the command passes them on when it
#: receives them.
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: How long remaining processes may take to end after SIGTERM, in real seconds.
GRACE_S = 1.0
#: How long a command may take to end after its time limit, in real seconds.
_LIMIT_GRACE_S = 0.5
#: How long to wait for killed processes, in real seconds. Only a process that is stuck in the
#: kernel takes longer.
_PATIENCE_S = 5.0
#: How long to remember that a signal was sent to the whole process group, in real seconds.
_MEMORY_S = 5.0
#: How often to check for remaining processes: the interval in real seconds.
_STEP_S = 0.02
#: How long a signal may take to reach all processes in a group on a busy machine, in real seconds.
_DELIVERY_S = 0.15
_PR_SET_CHILD_SUBREAPER = 36
#: The index of `num_threads` in /proc/PID/stat, counted after the name (see proc(5)).
_THREAD_COUNT_FIELD = 17
#: How many bytes are kept, at most, from the end of a command's output.
_CAPTURED_BYTES = 32 * 1024
#: Code that runs this file as a module. Python would compile a script again at each start.
_ALONE = "import sys; sys.path.append(sys.argv[1]); import supervisor; supervisor.main()"


# Use named tuples, because importing dataclasses would double the time it takes to load this file.
class Outcome(NamedTuple):
    """A command's exit code: 128+N after signal N, and 127 or 126 if the command could not be started.

    `refused` says why, if the command could not be started or its supervisor was killed.
    """

    code: int
    refused: str | None = None


class TimedRun(NamedTuple):
    """A finished run: its outcome, whether it exceeded its time limit, its duration, and the end of
    its output.

    `cpu_s` is the processor time used by the command and the processes that it left behind, in
    seconds. `pid` is the command's process id, or 0 if the command did not end.
    """

    outcome: Outcome
    hung: bool
    seconds: float
    output: bytes
    cpu_s: float
    pid: int = 0


class RunMessages:
    """The supervisor's messages about one run, read from pieces of any size.

    Lines that are not messages and messages about other runs are skipped.
    """

    def __init__(self, run: int) -> None:
        self._run = run
        self._unread = b""
        #: The command's exit code, or None if the command has not ended.
        self.exit_code: int | None = None
        #: The errno that says why the command could not be started, or None if it was started.
        self.refusal: int | None = None
        #: Whether every process of the run has exited.
        self.is_gone = False
        #: The processor time used by the run's processes, in milliseconds. Stays 0 until all of
        #: them have exited.
        self.cpu_ms = 0
        #: The process id of a command that has ended, or 0.
        self.pid = 0

    def feed(self, piece: bytes) -> None:
        """Read a piece of the messages. An incomplete line is kept until the rest of it arrives."""
        *lines, self._unread = (self._unread + piece).split(b"\n")
        for line in lines:
            self._read(line)

    @property
    def has_outcome(self) -> bool:
        """Whether the command has ended or could not be started."""
        return self.exit_code is not None or self.refusal is not None

    @property
    def is_complete(self) -> bool:
        """Whether there will be no more messages about the run."""
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
        self.cpu_ms = message.get("cpu_ms", self.cpu_ms)
        self.pid = message.get("pid", self.pid)


class ChildCommand:
    """Runs one command, or several in turn, under a new supervisor process. Raises OSError.

    `output` selects the command's input and output: those of this process (`ours`), or captured
    output and no input (`kept`). A command whose output is captured runs in its own session, so it
    does not receive this terminal's signals. Several objects can run such commands at the same
    time, and one object can run several of them one after the other (see `finish`). If the output
    is not captured, none of the command's processes are left after `close`. If this process dies
    suddenly, the supervisor ends the command's processes.
    """

    def __init__(self, output: Literal["ours", "kept"] = "ours") -> None:
        from pathlib import Path
        from subprocess import DEVNULL, Popen

        self._is_captured = output == "kept"
        # Descendants that this process already has do not belong to the command, for example
        # `server` in `sh -c 'server & exec hosting-emulator …'`.
        self._not_ours: set[int] = set()
        if not self._is_captured:
            self._not_ours = descendants()
            become_subreaper()
        orders, self._orders = os.pipe()
        self._news_end, news = os.pipe()
        # The pipe for captured output. If the output is not captured, nothing is written to it.
        self._output_end, output_end = os.pipe()
        os.set_blocking(self._output_end, False)
        #: Whether another command may run: all processes of the previous command must have exited.
        self.is_free = True
        self._messages = RunMessages(0)
        self._run_count = 0
        self._program = ""
        self._ends = ExitStack()
        for ours in (self._orders, self._news_end, self._output_end):
            self._ends.callback(os.close, ours)
        stdin = None
        stdout = None
        inherited: tuple[int, ...] = ()
        if self._is_captured:
            stdin = DEVNULL
            stdout = output_end
            inherited = (orders, news)
        for descriptor in (orders, news):
            os.set_inheritable(descriptor, True)
        # Block signals, so that none reaches the supervisor before it can handle it.
        signal.pthread_sigmask(signal.SIG_BLOCK, ENDING)
        try:
            self._supervisor = Popen(
                [
                    sys.executable,
                    "-I",
                    "-S",
                    "-c",
                    _ALONE,
                    Path(__file__).parent,
                    str(orders),
                    str(news),
                ],
                # The command inherits open descriptors, such as those for make's jobserver or for
                # `<(…)`.
                close_fds=self._is_captured,
                pass_fds=inherited,
                stdin=stdin,
                stdout=stdout,
                stderr=stdout,
                start_new_session=self._is_captured,
            )
        except OSError:
            self._ends.close()
            raise
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
            for theirs in (orders, news, output_end):
                os.close(theirs)

    def begin(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start a command with this environment. The program is looked up on this process's PATH."""
        self._run_count += 1
        self._messages = RunMessages(self._run_count)
        self._program = command[0]
        self._order(
            run={
                "number": self._run_count,
                "command": [_latin(word) for word in command],
                "environment": {_latin(k): _latin(v) for k, v in environment.items()},
            }
        )

    def signal(self, number: int) -> None:
        """Pass a signal on to the command, unless the whole process group has already received it."""
        self._order(signal=number)

    def end(self, grace_s: float = _LIMIT_GRACE_S) -> None:
        """Send SIGTERM to the command and its descendants, and SIGKILL after `grace_s` real seconds."""
        self._order(end=grace_s)

    def outcome(self) -> Outcome:
        """Wait until the command has ended or could not be started, and return its outcome."""
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
            return Outcome(code, "the process that supervises the command was killed")
        # Use the same exit codes as shells: 127 for an unknown command, 126 for a command that
        # cannot be run.
        if messages.refusal == errno.ENOENT:
            from shutil import which

            if which(self._program) is not None:
                reason = "its interpreter was not found; check the first line of the file"
                return Outcome(126, reason)
            return Outcome(127, "command not found")
        return Outcome(126, os.strerror(messages.refusal).lower())

    def finish(self, limit_s: float | None) -> TimedRun:
        """Wait until a command has ended and none of its processes are left, and return the
        finished run.

        If the command is still running after `limit_s` real seconds, it is ended.
        """
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
            left_ms = None
            if limit_s is not None and not hung and not messages.has_outcome:
                left_ms = max(0.0, began + limit_s - time.monotonic()) * 1000
            ready = poll.poll(left_ms)
            # Check the time limit too, because if a command prints continuously, its output is
            # always ready.
            if not ready or left_ms == 0:
                hung = True
                self.end()
            for end, _ in ready:
                piece = os.read(end, 65536)
                if end == self._output_end:
                    printed = (printed + piece)[-_CAPTURED_BYTES:]
                    if not piece:
                        poll.unregister(end)
                else:
                    supervised = bool(piece)
                    messages.feed(piece)
                    seconds = seconds or time.monotonic() - began
        self.is_free = messages.is_complete
        # Stop at BlockingIOError, because the pipe may still be open in the supervisor or in a
        # process that escaped.
        with suppress(BlockingIOError):
            piece = os.read(self._output_end, 65536)
            while piece:
                printed = (printed + piece)[-_CAPTURED_BYTES:]
                piece = os.read(self._output_end, 65536)
        cpu_s = messages.cpu_ms / 1000
        outcome = self._outcome_of(messages)
        return TimedRun(outcome, hung, seconds, printed, cpu_s, messages.pid)

    def close(self) -> None:
        """Stop the supervisor and wait for it to exit. It first ends the command's remaining processes."""
        self._ends.close()
        if self._supervisor.returncode is None:
            self._supervisor.wait()
            self._end_orphans()

    def _order(self, **order: Any) -> None:
        # If the supervisor is dead, ignore it here: `outcome` reports it.
        with suppress(OSError):
            unsent = json.dumps(order).encode() + b"\n"
            while unsent:
                unsent = unsent[os.write(self._orders, unsent) :]

    def _end_orphans(self) -> None:
        if not self._is_captured:
            end_orphans(self._not_ours | {self._supervisor.pid})


def ending_signals() -> list[signal.Signals]:
    """Return the signals that end this process, except those that are ignored.

    If `nohup` or a script's `&` made this process ignore a signal, it continues to ignore it.
    """
    return [number for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN]


def end_orphans(not_ours: set[int]) -> None:
    """Kill this process's descendants that a dead supervisor left behind, except those in `not_ours`."""
    until = time.monotonic() + _PATIENCE_S
    orphans = descendants() - not_ours
    while orphans and time.monotonic() < until:
        send(signal.SIGKILL, orphans)
        time.sleep(0.01)
        orphans = descendants() - not_ours


def _latin(text: str) -> str:
    """Convert a string from the operating system to Latin-1 text for JSON.

    This works even if the string is not valid Unicode.
    """
    return os.fsencode(text).decode("latin-1")


class Supervisor:
    """Runs one command after another, waiting each time until its last descendant has ended."""

    def __init__(self, orders: int, news: int) -> None:
        self._orders = orders
        self._news = news
        self._unread = b""
        self._command: int | None = None
        self._run_number = 0
        #: The processor time used by all earlier runs, in milliseconds.
        self._cpu_ms_before = 0
        self._kill_at: float | None = None
        self._seen: dict[int, list[float]] = {number: [] for number in ENDING}
        self._signals, writing = os.pipe()
        os.set_blocking(self._signals, False)
        os.set_blocking(writing, False)
        signal.set_wakeup_fd(writing, warn_on_full_buffer=False)

    def watch(self) -> None:
        """Follow orders until no more can arrive and all processes of the last command have exited."""
        # Install a handler rather than SIG_IGN, which the command would inherit.
        for number in (*ending_signals(), signal.SIGCHLD):
            signal.signal(number, lambda *_: None)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, ENDING)
        while not self._is_done():
            descriptors = [self._signals]
            if self._orders >= 0:
                descriptors.append(self._orders)
            ready, _, _ = select.select(descriptors, [], [], self._wait_s())
            self._notice()
            if self._orders in ready:
                self._read_orders()
            self._reap()

    def _wait_s(self) -> float | None:
        """Return how long to wait for an order or a signal, in seconds, or None for no limit."""
        if self._kill_at is None:
            return None
        if sys.platform == "linux":
            # This process is a subreaper, so it receives a signal whenever an orphaned process
            # ends.
            return max(_STEP_S, self._kill_at - time.monotonic())
        return _STEP_S

    def _notice(self) -> None:
        """Record the signals that this process received. A terminal sends its signals to the
        command as well.
        """
        with suppress(BlockingIOError):
            for number in os.read(self._signals, 4096):
                if number in self._seen:
                    self._seen[number].append(time.monotonic())

    def _read_orders(self) -> None:
        piece = os.read(self._orders, 65536)
        if not piece:  # the process that started us has exited
            self._orders = -1
            self._end(GRACE_S)
        *lines, self._unread = (self._unread + piece).split(b"\n")
        handlers: dict[str, Callable[[Any], None]] = {
            "run": self._run,
            "signal": self._pass_on,
            "end": self._end_now,
        }
        for line in lines:
            for order, argument in json.loads(line).items():
                handlers[order](argument)

    def _run(self, order: Mapping[str, Any]) -> None:
        self._run_number = order["number"]
        self._cpu_ms_before = _cpu_ms_of_children()
        argv = [word.encode("latin-1") for word in order["command"]]
        environment = {
            name.encode("latin-1"): value.encode("latin-1")
            for name, value in order["environment"].items()
        }
        # Python ignores these signals, so restore the default handlers for the command.
        ignored_by_python = [signal.SIGPIPE, signal.SIGXFSZ]
        try:
            self._command = os.posix_spawnp(argv[0], argv, environment, setsigdef=ignored_by_python)
        except OSError as error:
            self._report(refused=error.errno)
            self._end(0)
        except ValueError:  # the name of the command or of a variable is empty
            self._report(refused=errno.EINVAL)
            self._end(0)
        # Forget earlier signals: they cannot have reached the command.
        self._notice()
        for moments in self._seen.values():
            moments.clear()

    def _pass_on(self, number: int) -> None:
        """Send a signal to the command, unless the whole process group has already received it."""
        self._notice()
        if self._command is None:
            return
        is_in_our_group = False
        with suppress(ProcessLookupError):
            is_in_our_group = os.getpgid(self._command) == os.getpgrp()
        if is_in_our_group:
            self._wait_for_signal(number)
        oldest = time.monotonic() - _MEMORY_S
        moments = [moment for moment in self._seen[number] if moment > oldest]
        # Forget the group signal that corresponds to this order, so that it does not count for the
        # next order too.
        self._seen[number] = moments[1:]
        if not (moments and is_in_our_group):
            os.kill(self._command, number)

    def _wait_for_signal(self, number: int) -> None:
        """Wait, at most _DELIVERY_S, until a signal that was sent to the process group reaches this
        process.

        The processes in a group receive a signal one after the other.
        """
        until = time.monotonic() + _DELIVERY_S
        while not self._seen[number]:
            left_s = until - time.monotonic()
            if left_s <= 0:
                return
            select.select([self._signals], [], [], left_s)
            self._notice()

    def _end_now(self, grace_s: float) -> None:
        """End the run. If it has already ended when the order arrives, do nothing."""
        if self._command is not None or self._kill_at is not None:
            self._end(grace_s)

    def _end(self, grace_s: float) -> None:
        """Ask all remaining processes to end, and kill those that are left after `grace_s` real seconds."""
        kill_at = time.monotonic() + grace_s
        if self._kill_at is None:
            living = descendants()
            send(signal.SIGTERM, living)
            send(signal.SIGCONT, living)  # a stopped process handles no other signals
            self._kill_at = kill_at
        self._kill_at = min(self._kill_at, kill_at)

    def _is_done(self) -> bool:
        """Kill processes that have taken too long to end, and report a run whose processes have all
        exited.

        Returns True if there is nothing left to do (no run is active and no more orders can arrive)
        or if a killed process is stuck.
        """
        if self._kill_at is None:
            return False
        living = descendants()
        # The command is considered alive until its exit code is known.
        if self._command is not None:
            living.add(self._command)
        if living:
            late_s = time.monotonic() - self._kill_at
            if late_s >= 0:
                send(signal.SIGKILL, living)
            is_stuck = late_s > _PATIENCE_S
            if is_stuck and self._command is not None:
                self._report(ended=128 + signal.SIGKILL)
            return is_stuck
        self._kill_at = None
        self._report(gone=True, cpu_ms=_cpu_ms_of_children() - self._cpu_ms_before)
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
                    if code < 0:  # a signal ended the command
                        code = 128 - code
                    self._report(ended=code, pid=pid)
                    self._end(GRACE_S)

    def _report(self, **news: int | None) -> None:
        with suppress(BrokenPipeError):
            os.write(self._news, json.dumps({"run": self._run_number, **news}).encode() + b"\n")


def _cpu_ms_of_children() -> int:
    """Return the processor time used by all processes that this process has waited for, in milliseconds."""
    times = os.times()
    return round((times.children_user + times.children_system) * 1000)


def become_subreaper() -> None:
    """Become the parent of any descendant that loses its own parent. Only Linux supports this."""
    if sys.platform == "linux":
        with suppress(ImportError, OSError, AttributeError):
            import ctypes

            ctypes.CDLL(None).prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def descendants() -> set[int]:
    """Return the pids of all of this process's living descendants."""
    if sys.platform == "linux":
        try:
            os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
        except ChildProcessError:  # this process has no children, and therefore no descendants
            return set()
    children: dict[int, list[int]] = {}
    for child, parent in _processes():
        children.setdefault(parent, []).append(child)
    pids: set[int] = set()
    generation = children.get(os.getpid(), [])
    while generation:
        pids.update(generation)
        generation = [child for parent in generation for child in children.get(parent, [])]
    return pids


def send(number: int, pids: Iterable[int]) -> None:
    """Send a signal to the processes that still exist and belong to this user."""
    for pid in pids:
        with suppress(ProcessLookupError, PermissionError):
            os.kill(pid, number)


def _processes() -> Iterable[tuple[int, int]]:
    """Yield the pid and parent pid of each process that has not ended."""
    if sys.platform == "linux":
        # Do not use pathlib here, because importing it takes longer than this function.
        for name in filter(str.isdigit, os.listdir("/proc")):  # noqa: PTH208
            with suppress(OSError), open(f"/proc/{name}/stat", "rb") as file:  # noqa: PTH123
                # The format is `pid (name) state parent …`. The name may contain any character,
                # even parentheses.
                fields = file.read().rpartition(b")")[2].split()
                state = fields[0]
                thread_count = int(fields[_THREAD_COUNT_FIELD])
                # Check the number of threads: a process whose first thread has ended looks like a
                # zombie even if other threads are still running.
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
    """Run the commands that are ordered through the descriptors given on the command line."""
    orders, news = (int(number) for number in sys.argv[-2:])
    for descriptor in (orders, news):
        os.set_inheritable(descriptor, False)
    become_subreaper()
    Supervisor(orders, news).watch()
