"""Starts processes in milliseconds, by forking an interpreter that has already imported everything.

Starting Python and importing our packages takes half a second of processor time, which is most of
the cost of a command. Therefore each worker of the tests has one helper process, the warm
interpreter (`tests.support.warm_interpreter`). The helper imports everything, and then waits for
jobs. For each job it forks a child, which applies the arguments, environment, folder, streams and
signals of the job, and runs the command. Tests start such a process directly (`WarmProcess`,
`run`), or put a folder of small programs in front of the PATH (`programs`). Each of these programs
starts a warm process and behaves as if it were that process.

A test about the start of a process itself must start a real process, for example a test about
imports, the environment in /proc, descriptors or terminals. At least one test in each folder also
starts a real process.
"""

from __future__ import annotations

import atexit
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from subprocess import DEVNULL, PIPE, STDOUT
from tempfile import mkdtemp
from threading import Thread
from typing import IO, Any, Self

from tests.support.warm_program import fork_process, read_number

#: The path of the installed command.
COMMAND = str(Path(sys.executable).with_name("hosting-emulator"))
_HELPER = Path(__file__).with_name("warm_interpreter.py")
_ROOT = Path(__file__).parents[2]
#: The command that each small program starts, by the name of the program.
_PROGRAMS = {
    "hosting-emulator": [COMMAND],
    "pytest": [sys.executable, "-m", "pytest"],
    "python": [sys.executable],
}
#: Options of `subprocess.Popen` that the warm interpreter does not support.
_UNSUPPORTED_OPTIONS = {"preexec_fn", "pass_fds"}
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: Precedes the command of a real process, and resets its signals as in a terminal. The warm interpreter
#: resets signals in the same way.
TERMINAL_SIGNALS_PREFIX = (
    sys.executable,
    "-I",
    "-S",
    "-c",
    "import os, signal, sys\n"
    f"for number in {[int(number) for number in _SIGNALS]}:\n"
    "    signal.signal(number, signal.SIG_DFL)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])\n",
)


class WarmProcess:
    """A process that the warm interpreter forks. Its streams are text.

    The class offers the part of `subprocess.Popen` that tests use. `args` start with COMMAND, or
    with sys.executable followed by `-m`, `-c` or a script. The process handles signals as if it
    were started in a terminal, even if the tests themselves ignore signals.
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
        child_descriptors: list[int] = []
        try:
            streams = [self._stream("stdin", 0, stdin, child_descriptors)]
            streams.append(self._stream("stdout", 1, stdout, child_descriptors))
            if stderr == STDOUT:
                streams.append(streams[1])
            else:
                streams.append(self._stream("stderr", 2, stderr, child_descriptors))
            job = {
                "args": self.args,
                "env": dict(os.environ if env is None else env),
                "cwd": os.fspath(cwd or Path.cwd()),
                "session": start_new_session,
                "python": str(_helper().programs / "python"),
            }
            self.pid, connection = fork_process(_helper().address, job, streams)
            self._connection = socket.socket(fileno=connection.detach())
        except BaseException:
            self._close()
            raise
        finally:
            for descriptor in child_descriptors:
                os.close(descriptor)

    def _stream(self, name: str, number: int, stream: Any, child_descriptors: list[int]) -> int:
        """Return the descriptor that the process receives as its stream `number`.

        A descriptor that is opened only for the process is added to `child_descriptors`.
        """
        if stream is None:
            return number
        if stream == DEVNULL:
            child_descriptors.append(os.open(os.devnull, os.O_RDWR))
        elif stream == PIPE:
            reading, writing = os.pipe()
            if number == 0:
                child_descriptors.append(reading)
                file = os.fdopen(writing, "w")
            else:
                child_descriptors.append(writing)
                file = os.fdopen(reading)
            setattr(self, name, file)
        else:
            return stream if isinstance(stream, int) else int(stream.fileno())
        return child_descriptors[-1]

    def poll(self) -> int | None:
        """Return the exit code, which is -N after signal N, or None while the process is running."""
        self._read_exit_code(0)
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the end of the process, and return its exit code.

        Raises subprocess.TimeoutExpired after `timeout` seconds.
        """
        self._read_exit_code(timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0)
        return self.returncode

    def _read_exit_code(self, timeout: float | None) -> None:
        if self.returncode is None and select.select([self._connection], [], [], timeout)[0]:
            with self._connection:
                self.returncode = read_number(self._connection)

    def send_signal(self, number: int) -> None:
        """Send a signal to the process, unless the process has ended."""
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)

    def communicate(
        self, input: str | None = None, timeout: float | None = None
    ) -> tuple[str, str]:
        """Write the input, wait for the end of the process, and return its stdout and stderr.

        Raises subprocess.TimeoutExpired after `timeout` seconds.
        """
        deadline = None if timeout is None else time.monotonic() + timeout
        for name in ("stdout", "stderr"):
            file = getattr(self, name)
            if file is not None and name not in self._readers:
                self._readers[name] = _Reader(file)
        if self.stdin is not None and not self.stdin.closed:
            with self.stdin:
                self.stdin.write(input or "")
        for reader in self._readers.values():
            reader.join(_seconds_left(deadline))
            if reader.is_alive():
                raise subprocess.TimeoutExpired(self.args, timeout or 0)
        self.wait(_seconds_left(deadline))
        texts = {name: reader.text for name, reader in self._readers.items()}
        return texts.get("stdout", ""), texts.get("stderr", "")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.kill()
        self._close()
        self.wait()

    def _close(self) -> None:
        for file in (self.stdin, self.stdout, self.stderr):
            if file is not None:
                file.close()


def start(args: Sequence[str], *, cold: bool = False, **options: Any) -> Any:
    """Start a process, and return a WarmProcess or a Popen.

    A real process is started if `cold`, or if the warm interpreter does not support the program or
    an option.
    """
    is_known_program = args[0] in (COMMAND, sys.executable)
    if is_known_program and not cold and not _UNSUPPORTED_OPTIONS & options.keys():
        return WarmProcess(args, **options)
    return subprocess.Popen([*TERMINAL_SIGNALS_PREFIX, *args], text=True, **options)


def run(
    args: Sequence[str], *, input: str | None = None, timeout: float = 120, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Start a process like `start`, wait for its end, and capture its output like `subprocess.run`."""
    stdin = {} if input is None else {"stdin": PIPE}
    with start(args, **{"stdout": PIPE, "stderr": PIPE, **stdin, **options}) as process:
        try:
            stdout, stderr = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
    return subprocess.CompletedProcess(process.args, process.wait(), stdout, stderr)


def _seconds_left(deadline: float | None) -> float | None:
    return None if deadline is None else max(0.0, deadline - time.monotonic())


class _Reader(Thread):
    """Reads an output stream of a process to its end."""

    def __init__(self, file: IO[str]) -> None:
        super().__init__(daemon=True)
        self.text = ""
        self._file = file
        self.start()

    def run(self) -> None:
        with self._file:
            self.text = self._file.read()


def programs() -> Path:
    """Return a folder with the programs `hosting-emulator`, `pytest` and `python`.

    Each program runs in a warm process. Tests put the folder in front of the PATH, so that these
    programs replace the installed ones.
    """
    return _helper().programs


class _Helper:
    """The warm interpreter that belongs to this process."""

    def __init__(self) -> None:
        self._folder = Path(mkdtemp(prefix="warm-"))
        self.address = str(self._folder / "jobs")
        self.programs = self._folder / "programs"
        # The helper ends when this end of the pair is closed, even if this process is killed.
        self._lifeline, helper_end = socket.socketpair()
        with helper_end, socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self.address)
            listener.listen(128)
            numbers = (listener.fileno(), helper_end.fileno())
            self._process = subprocess.Popen(
                [sys.executable, str(_HELPER), *map(str, numbers)],
                pass_fds=numbers,
                stdin=DEVNULL,
                stdout=DEVNULL,
                cwd="/",
            )
        self.programs.mkdir()
        python = self._folder / "interpreter"
        python.symlink_to(sys.executable)  # because a `#!` line allows no spaces in the path
        for name, words in _PROGRAMS.items():
            path = self.programs / name
            path.write_text(
                f"#!{python} -IS\nimport sys\nsys.path.append({str(_ROOT)!r})\n"
                "from tests.support.warm_program import run_as_warm_process\n"
                f"run_as_warm_process({self.address!r}, {words!r})\n",
                encoding="utf-8",
            )
            path.chmod(0o755)
        atexit.register(self.close)

    def close(self) -> None:
        self._lifeline.close()
        self._process.wait(30)
        shutil.rmtree(self._folder)


@cache
def _helper() -> _Helper:
    return _Helper()
