"""Processes from a warm interpreter: forked off in milliseconds, with all that they would import.

Most of what a command of ours costs is Python's start and its imports: half a second of processor
time. Each worker of the tests has one helper process (`tests.support.warm_interpreter`), which has
everything imported and runs nothing; asked for a process it forks, and the child takes over
arguments, environment, folder, streams and signals and becomes the command. Tests have such a
process in hand (`WarmProcess`, `run`), or put a folder of small programs in front of a PATH
(`programs`), each of which has one forked and stands for it.

A test whose subject is the start of a process itself (what is imported, its environment in /proc,
its descriptors, a terminal) starts a real one, and so does one test of each room at least.
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

from tests.support.warm_program import forked, read_number

#: Our command, as it is installed.
COMMAND = str(Path(sys.executable).with_name("hosting-emulator"))
_HELPER = Path(__file__).with_name("warm_interpreter.py")
_ROOT = Path(__file__).parents[2]
#: What stands in for which words.
_PROGRAMS = {
    "hosting-emulator": [COMMAND],
    "pytest": [sys.executable, "-m", "pytest"],
    "python": [sys.executable],
}
#: What `subprocess.Popen` can do and a fork cannot.
_REAL_ONLY = {"preexec_fn", "pass_fds"}
_ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
#: Before the words of a real process: its signals are then as in a terminal, as a warm one's are.
IN_A_TERMINAL = (
    sys.executable,
    "-I",
    "-S",
    "-c",
    "import os, signal, sys\n"
    f"for number in {[int(number) for number in _ENDING]}:\n"
    "    signal.signal(number, signal.SIG_DFL)\n"
    "os.execvp(sys.argv[1], sys.argv[1:])\n",
)


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
            order = {
                "args": self.args,
                "env": dict(os.environ if env is None else env),
                "cwd": os.fspath(cwd or Path.cwd()),
                "session": start_new_session,
                "python": str(_helper().programs / "python"),
            }
            self.pid, news = forked(_helper().address, order, streams)
            self._news = socket.socket(fileno=news.detach())
        except BaseException:
            self._close()
            raise
        finally:
            for descriptor in theirs:
                os.close(descriptor)

    def _stream(self, name: str, number: int, stream: Any, theirs: list[int]) -> int:
        """Return the descriptor that the process gets; what only it is to have goes to `theirs`."""
        if stream is None:
            return number
        if stream == DEVNULL:
            theirs.append(os.open(os.devnull, os.O_RDWR))
        elif stream == PIPE:
            reading, writing = os.pipe()
            theirs.append(writing if number else reading)
            ours = os.fdopen(reading) if number else os.fdopen(writing, "w")
            setattr(self, name, ours)
        else:
            return stream if isinstance(stream, int) else int(stream.fileno())
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
        if self.returncode is None and select.select([self._news], [], [], timeout)[0]:
            with self._news:
                self.returncode = read_number(self._news)

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
        self._close()
        self.wait()

    def _close(self) -> None:
        for file in (self.stdin, self.stdout, self.stderr):
            if file is not None:
                file.close()


def start(args: Sequence[str], *, cold: bool = False, **options: Any) -> Any:
    """Start a process; one that is `cold`, or that only a real start can make, from nothing."""
    forkable = args[0] in (COMMAND, sys.executable) and not _REAL_ONLY & options.keys()
    if forkable and not cold:
        return WarmProcess(args, **options)
    return subprocess.Popen([*IN_A_TERMINAL, *args], text=True, **options)


def run(
    args: Sequence[str], *, input: str | None = None, timeout: float = 120, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a process (see `start`) to its end, and keep what it prints, as `subprocess.run` does."""
    stdin = {} if input is None else {"stdin": PIPE}
    with start(args, **{"stdout": PIPE, "stderr": PIPE, **stdin, **options}) as process:
        try:
            stdout, stderr = process.communicate(input, timeout)
        except BaseException:
            process.kill()
            raise
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


def programs() -> Path:
    """Return a folder with `hosting-emulator`, `pytest` and `python`, each from the warm interpreter.

    They stand in for those that are installed, for whoever starts a program by its name.
    """
    return _helper().programs


class _Helper:
    """The warm interpreter of this process."""

    def __init__(self) -> None:
        self._folder = Path(mkdtemp(prefix="warm-"))
        self.address = str(self._folder / "orders")
        self.programs = self._folder / "programs"
        self._life, theirs = socket.socketpair()
        with theirs, socket.socket(socket.AF_UNIX) as orders:
            orders.bind(self.address)
            orders.listen(128)
            numbers = (orders.fileno(), theirs.fileno())
            self._process = subprocess.Popen(
                [sys.executable, str(_HELPER), *map(str, numbers)],
                pass_fds=numbers,
                stdin=DEVNULL,
                stdout=DEVNULL,
                cwd="/",
            )
        self.programs.mkdir()
        python = self._folder / "interpreter"
        python.symlink_to(sys.executable)  # whose own path may have spaces, which end a `#!`
        for name, words in _PROGRAMS.items():
            path = self.programs / name
            path.write_text(
                f"#!{python} -IS\nimport sys\nsys.path.append({str(_ROOT)!r})\n"
                "from tests.support.warm_program import stand_for\n"
                f"stand_for({self.address!r}, {words!r})\n",
                encoding="utf-8",
            )
            path.chmod(0o755)
        atexit.register(self.close)

    def close(self) -> None:
        self._life.close()
        self._process.wait(30)
        shutil.rmtree(self._folder)


@cache
def _helper() -> _Helper:
    return _Helper()
