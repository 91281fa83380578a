"""Two terminals: one shell for the commands of a page, one for the emulator.

Free ports replace those of the page. Our commands and Python run in the warm interpreter, except
those that `make` runs.
"""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.docs.markdown import Step, blocks, matches, steps
from tests.support.ports import free_ports
from tests.support.warm import programs

#: The ports the page names: the emulator's default, and one for TLS.
PORTS = ("4620", "4643")
#: Blocks of these languages are files; the comment in their first line is the file name.
FILES = ("python", "toml", "yaml")
_MARK = "\x1e"
_PATIENCE_S = 90.0


class Terminals:
    """Runs steps in a folder. Use it as a context manager, so that no process is left."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._ports = dict(zip(PORTS, map(str, free_ports()), strict=False))
        self._emulator: subprocess.Popen[str] | None = None
        #: Whether the page started an emulator in the background, which a failed test would leave.
        self._has_background = False
        self._shell = self._popen(["bash", "--noprofile", "--norc"], stdin=subprocess.PIPE)
        for path in programs().iterdir():  # functions still apply in an activated environment
            self._type(f'{path.name}() {{ {path} "$@"; }}')

    def __enter__(self) -> Terminals:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop_emulator()
        if self._has_background:
            self._type("hosting-emulator stop")
        _end(self._shell, signal.SIGKILL)

    def start_emulator(self) -> None:
        """Start the emulator that the reader of a page has running before the page begins."""
        self._start("hosting-emulator start")

    def type(self, command: str) -> None:
        """Type a command that the page leaves to its reader. It must succeed."""
        self.run(Step(0, command, ""))

    def run(self, step: Step) -> None:
        """Run one step and compare what it prints with what the page shows."""
        command = self.localized(step.command)
        expected = self.localized(step.output)
        if command.startswith(("make run", "hosting-emulator start")):
            code = 0
            printed = self._start(command)
        else:
            code, printed = self._type(command)
        where = f"line {step.line}: {command}\n--- printed (exit code {code})\n{printed}"
        assert code == 0, where
        assert not expected or matches(expected, printed), (
            f"{where}\n--- the page shows\n{expected}\n--- "
            "If the product was meant to change, write what is printed into the page."
        )

    def follow(self, page: str, files: Sequence[str] = FILES) -> None:
        """Follow a page: write the blocks whose language is in `files`, and run the commands."""
        for block in blocks(page):
            if block.skipped is not None:
                continue
            if block.language in files:
                name = block.text.splitlines()[0].lstrip("#/ ")
                (self._folder / name).write_text(self.localized(block.text), encoding="utf-8")
            elif block.language == "console":
                for step in steps(block):
                    self.run(step)

    def localized(self, text: str) -> str:
        # In one pass: a free port may equal another port of the page.
        return re.sub("|".join(PORTS), lambda match: self._ports[match.group()], text)

    def _popen(self, command: list[str], stdin: int) -> subprocess.Popen[str]:
        variables = {k: v for k, v in os.environ.items() if not k.startswith("HOSTING_")}
        overrides = {
            "PATH": os.pathsep.join(
                (str(programs()), str(Path(sys.executable).parent), os.environ["PATH"])
            ),
        }
        return subprocess.Popen(
            command,
            cwd=self._folder,
            env=variables | overrides,
            stdin=stdin,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )

    def _type(self, command: str) -> tuple[int, str]:
        assert self._shell.stdin is not None
        self._shell.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '\\n{_MARK}%d\\n' $?\n")
        self._shell.stdin.flush()
        printed = _read_until(self._shell, lambda line: line.startswith(_MARK))
        text, _, code = printed.rpartition(f"\n{_MARK}")
        return int(code), text

    def _start(self, command: str) -> str:
        """Start the emulator in the other terminal, after stopping a running one."""
        self.stop_emulator()
        self._has_background |= "--detach" in command
        port = f"--port {self._ports[PORTS[0]]}"
        if command.startswith("make"):
            # `-o`: the environment of these tests exists and need not be created.
            command = command.replace("make", "make --silent -o .venv/.installed-run", 1)
            command += f" ARGS='{port}'"
        else:
            command += f" {port}"
        self._emulator = self._popen(["bash", "-c", command], stdin=subprocess.DEVNULL)
        return _read_until(self._emulator, lambda line: line.startswith("Stop with"))

    def stop_emulator(self) -> None:
        """Press Ctrl-C in the terminal of the emulator and wait until it ends."""
        if self._emulator is not None:
            _end(self._emulator, signal.SIGINT)
            self._emulator = None


def _end(process: subprocess.Popen[str], number: int) -> None:
    if process.poll() is None:
        os.killpg(process.pid, number)
    process.wait(_PATIENCE_S)
    for stream in (process.stdin, process.stdout):
        if stream is not None:
            stream.close()


def _read_until(process: subprocess.Popen[str], last: Callable[[str], bool]) -> str:
    """Read lines up to one that satisfies `last`. A process that hangs is killed, which fails the test."""
    assert process.stdout is not None
    lines: list[str] = []
    watchdog = threading.Timer(_PATIENCE_S, lambda: os.killpg(process.pid, signal.SIGKILL))
    watchdog.start()
    try:
        for line in process.stdout:
            lines.append(line)
            if last(line):
                return "".join(lines)
    finally:
        watchdog.cancel()
    raise AssertionError(f"the process ended, or hung, after printing:\n{''.join(lines)}")
