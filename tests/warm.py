"""Processes from a warm interpreter: forked off in milliseconds, with all that they would import.

Most of what a command of ours costs is Python's start and its imports: half a second of processor
time. Each worker of the tests has one helper process (this file, run by itself), which has
everything imported and runs nothing; asked for a process it forks, and the child takes over
arguments, environment, folder, streams and signals and becomes the command. A test whose subject is
the start of a process itself (what is imported, its environment in /proc, a terminal, signals
that are ignored from birth) starts a real one, and so does one test of each room at least.
"""

from __future__ import annotations

import atexit
import json
import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from threading import Lock, Thread
from typing import IO, Any, NoReturn, Self

#: Our command, as it is installed.
COMMAND = str(Path(sys.executable).with_name("hosting-emulator"))
_NUMBER = struct.Struct("i")
#: Signals that somebody may have let us ignore; the last is the helper's own.
_PLAIN = (signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT, signal.SIGINT, signal.SIGCHLD)
#: Before the words of a real process: its signals are then as in a terminal, as a warm one's are.
IN_A_TERMINAL = (
    *(sys.executable, "-I", "-S", "-c"),
    "import os, signal, sys\n"
    f"for number in {[int(number) for number in _PLAIN]}:\n"
    "    signal.signal(number, signal.SIG_DFL)\n"
    "os.execv(sys.argv[1], sys.argv[1:])\n",
)


# --- In the tests ----------------------------------------------------------------------------------


class WarmProcess:
    """A process of the warm interpreter: what tests use of `subprocess.Popen`, its streams as text.

    `args` are those of our command (COMMAND …) or of Python (sys.executable, and then `-m`, `-c` or a
    script). Signals are in it as in a terminal, however the tests themselves were started.
    """

    def __init__(
        self,
        args: Sequence[str],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        stdin: Any = None,
        stdout: Any = None,
        stderr: Any = None,
        start_new_session: bool = False,
    ) -> None:
        self.args = list(args)
        self.returncode: int | None = None
        self.stdin: IO[str] | None = None
        self.stdout: IO[str] | None = None
        self.stderr: IO[str] | None = None
        self._readers: dict[str, _Reader] = {}
        theirs: list[int] = []
        try:
            streams = [self._stream("stdin", 0, stdin, theirs)]
            streams.append(self._stream("stdout", 1, stdout, theirs))
            streams.append(
                streams[1] if stderr == STDOUT else self._stream("stderr", 2, stderr, theirs)
            )
            self._status, status = os.pipe()
            theirs.append(status)
            order = {
                "args": self.args,
                "env": dict(os.environ if env is None else env),
                "cwd": os.fspath(cwd or Path.cwd()),
                "session": start_new_session,
            }
            self.pid = _helper().fork(order, (*streams, status))
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def _stream(self, name: str, number: int, given: Any, theirs: list[int]) -> int:
        """Return the descriptor that the process gets; what only it is to have goes to `theirs`."""
        if given is None:
            return number
        if given == DEVNULL:
            theirs.append(os.open(os.devnull, os.O_RDWR))
        elif given == PIPE:
            reading, writing = os.pipe()
            theirs.append(writing if number else reading)
            ours = os.fdopen(reading) if number else os.fdopen(writing, "w")
            setattr(self, name, ours)
        else:
            return given if isinstance(given, int) else int(given.fileno())
        return theirs[-1]

    def poll(self) -> int | None:
        """Return its exit code, -N after signal N; None while it runs."""
        self._look(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for its end. Raises subprocess.TimeoutExpired."""
        self._look(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def _look(self, timeout: float | None) -> None:
        if self.returncode is None and select.select([self._status], [], [], timeout)[0]:
            told = os.read(self._status, _NUMBER.size)
            os.close(self._status)
            (self.returncode,) = _NUMBER.unpack(told)

    def send_signal(self, number: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(
        self, input: str | None = None, timeout: float | None = None
    ) -> tuple[str, str]:
        """Write its input, read all it prints, and wait. Raises subprocess.TimeoutExpired."""
        until = None if timeout is None else time.monotonic() + timeout
        for name in ("stdout", "stderr"):
            file = getattr(self, name)
            if file is not None and name not in self._readers:
                self._readers[name] = _Reader(file)
        if self.stdin is not None and not self.stdin.closed:
            with self.stdin:
                self.stdin.write(input or "")
        for reader in self._readers.values():
            reader.join(_left(until))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(_left(until))
        texts = {name: reader.text for name, reader in self._readers.items()}
        return texts.get("stdout", ""), texts.get("stderr", "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.kill()
        for file in (self.stdin, self.stdout, self.stderr):
            if file is not None:
                file.close()
        self.wait()


def run(
    args: Sequence[str],
    *,
    input: str | None = None,
    capture_output: bool = True,
    timeout: float = 120,
    **options: Any,
) -> subprocess.CompletedProcess[str]:
    """Run a process of the warm interpreter to its end, as `subprocess.run` does."""
    if capture_output:
        options = {"stdout": PIPE, "stderr": PIPE, **options}
    if input is not None:
        options["stdin"] = PIPE
    with WarmProcess(args, **options) as process:
        stdout, stderr = process.communicate(input, timeout)
    return subprocess.CompletedProcess(process.args, process.wait(), stdout, stderr)


def _left(until: float | None) -> float | None:
    return None if until is None else max(0.0, until - time.monotonic())


class _Reader(Thread):
    """Reads what a process prints, to its end."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self._file = file
        self.start()

    def run(self) -> None:
        with self._file:
            self.text = self._file.read()


class _Helper:
    """The warm interpreter of this process."""

    def __init__(self) -> None:
        self._orders, theirs = socket.socketpair()
        self._lock = Lock()
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, __file__, str(theirs.fileno())],
                pass_fds=(theirs.fileno(),),
                stdin=DEVNULL,
                stdout=DEVNULL,
                cwd="/",
            )
        atexit.register(self.close)

    def fork(self, order: Mapping[str, Any], descriptors: Sequence[int]) -> int:
        """Have a process forked that obeys an order; return its pid."""
        reading, writing = os.pipe()
        with self._lock:
            with os.fdopen(writing, "w") as file:
                socket.send_fds(self._orders, [b"+"], [reading, *descriptors])
                os.close(reading)
                json.dump(order, file)
            (pid,) = _NUMBER.unpack(self._orders.recv(_NUMBER.size, socket.MSG_WAITALL))
        return int(pid)

    def close(self) -> None:
        self._orders.close()
        self._process.wait(30)


@cache
def _helper() -> _Helper:
    return _Helper()


# --- In the helper ---------------------------------------------------------------------------------


def serve(orders: socket.socket) -> None:
    """Fork a process for each order, and tell how each ended, until there are no more orders."""
    waking, wake = os.pipe()
    os.set_blocking(wake, False)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    signal.signal(signal.SIGCHLD, lambda *_: None)
    living: dict[int, int] = {}
    while True:
        both: list[Any] = [orders, waking]
        ready, _, _ = select.select(both, [], [])
        if waking in ready:
            os.read(waking, 4096)
            _reap(living)
        if orders not in ready:
            continue
        found, descriptors, _, _ = socket.recv_fds(orders, 1, 5)
        if not found:
            return
        child = os.fork()
        if child == 0:
            signal.set_wakeup_fd(-1)
            orders.close()
            for descriptor in (waking, wake, descriptors.pop(), *living.values()):
                os.close(descriptor)
            _become(*descriptors)
        living[child] = descriptors.pop()
        for descriptor in descriptors:
            os.close(descriptor)
        orders.send(_NUMBER.pack(child))


def _reap(living: dict[int, int]) -> None:
    while living:
        child, status = os.waitpid(-1, os.WNOHANG)
        if child == 0:
            return
        told = living.pop(child)
        with suppress(BrokenPipeError):  # nobody asks any more
            os.write(told, _NUMBER.pack(os.waitstatus_to_exitcode(status)))
        os.close(told)


def _become(order_end: int, *streams: int) -> NoReturn:
    """Be the process that was ordered."""
    with os.fdopen(order_end) as file:
        order = json.load(file)
    for number in _PLAIN:
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if order["session"]:
        os.setsid()
    for place, descriptor in enumerate(streams):
        os.dup2(descriptor, place)
    for descriptor in set(streams):
        os.close(descriptor)
    sys.stdout.reconfigure(line_buffering=sys.stdout.isatty())  # type: ignore[union-attr]
    os.chdir(order["cwd"])
    os.environ.clear()
    os.environ.update(order["env"])
    try:
        _run(*order["args"])
        sys.exit()
    except SystemExit as end:
        _ENDED[:] = [end.code]
        raise
    except KeyboardInterrupt:
        _ENDED[:] = [-signal.SIGINT]
        raise


#: With what this process ends, once that is known; what nobody catches ends it with 1.
_ENDED: list[Any] = [1]


def _leave() -> None:
    """End at once, as the last thing at exit: to take apart all that was imported takes as long."""
    (code,) = _ENDED
    if isinstance(code, str):
        print(code, file=sys.stderr)
        code = 1
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    except OSError:
        code = 120  # as Python does
    if code == -signal.SIGINT:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        signal.raise_signal(signal.SIGINT)
    os._exit(code or 0)


def _run(program: str, *arguments: str) -> None:
    import runpy

    if program == COMMAND:
        from hosting_emulator_cli.main import main

        sys.argv = [COMMAND, *arguments]
        main()
    how, *rest = arguments
    if how == "-m":
        sys.path.insert(0, str(Path.cwd()))
        sys.argv = ["-m", *rest[1:]]
        runpy.run_module(rest[0], run_name="__main__", alter_sys=True)
    elif how == "-c":
        sys.path.insert(0, "")
        sys.argv = ["-c", *rest[1:]]
        exec(compile(rest[0], "<string>", "exec"), {"__name__": "__main__"})
    else:
        sys.path.insert(0, str(Path(how).resolve().parent))
        sys.argv = [how, *rest]
        runpy.run_path(how, run_name="__main__")


def _import_all() -> None:
    """Import what a command or a run of pytest would."""
    import gc
    import importlib
    import pkgutil

    import pytest

    for name in ("hosting_emulator", "hosting_emulator_cli", "pytest_hosting_emulator"):
        package = importlib.import_module(name)
        for module in pkgutil.walk_packages(package.__path__, f"{name}."):
            if not module.name.endswith("__main__"):
                importlib.import_module(module.name)
    import hosting_emulator
    from hosting_emulator.bootstrap import load_models

    load_models()
    # `-p hosting_emulator` names the package too, which is not to be imported anew.
    hosting_emulator.__doc__ = f"{hosting_emulator.__doc__}\n\nPYTEST_DONT_REWRITE"
    pytest.main(["--version"])
    gc.collect()
    gc.freeze()  # what is never looked at again is never copied either


if __name__ == "__main__":
    atexit.register(_leave)  # what is registered first comes last
    del sys.path[0]  # this file's folder
    _import_all()
    with socket.socket(fileno=int(sys.argv[1])) as _orders:
        _orders.set_inheritable(False)
        serve(_orders)
    _ENDED[:] = [0]
