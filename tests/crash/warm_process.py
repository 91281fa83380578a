"""Emulators from a warm interpreter: each is forked off in milliseconds, so that many can be killed.

A helper process has everything imported and nothing running. Asked for an emulator, it forks; the
child becomes one. With `die_at` the child kills itself at that step of its work on files.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.crash.process import Client

#: What the helper runs: a line of JSON in, an emulator's pid and later its exit status out.
HELPER = """
import json, os, signal, sys
import hosting_emulator.bootstrap, hosting_emulator.server.app
import hosting_emulator_cli.commands.start
import hosting_emulator.storage.recovery
from hosting_emulator.storage import keeper
from hosting_emulator_cli.main import main

def die_at(step):
    left = [step]
    def look(event, arguments):
        if event in STEPS and (event != "open" or arguments[2] & os.O_CREAT):
            left[0] -= 1
            if left[0] == 0:
                os.kill(os.getpid(), signal.SIGKILL)
    sys.addaudithook(look)

STEPS = {"open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir"}

for line in iter(sys.stdin.readline, ""):
    asked = json.loads(line)
    child = os.fork()
    if child == 0:
        out = os.open(asked["out"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        err = os.open(asked["err"], os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        null = os.open(os.devnull, os.O_RDONLY)
        for number, file in enumerate((null, out, err)):
            os.dup2(file, number)
        if asked["fold_bytes"] is not None:
            keeper.DiskKeeper.__init__.__defaults__ = (asked["fold_bytes"], 0)
            keeper._size = lambda path: 0
        if asked["die_at"] is not None:
            die_at(asked["die_at"])
        sys.argv = ["hosting-emulator", "start", "--port", "0", *asked["arguments"]]
        main()
    print(child, flush=True)
    sys.stdin.readline()  # until then its pid is nobody else's, even if it is dead
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Warm:
    """A helper process, and the one emulator at a time that it runs."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._helper = subprocess.Popen(
            [sys.executable, "-c", HELPER],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            bufsize=1,
        )
        assert self._helper.stdin is not None
        assert self._helper.stdout is not None
        self._ask, self._told = self._helper.stdin, self._helper.stdout
        self._pid: int | None = None
        self.clients: list[Client] = []

    def start(
        self, *arguments: str, fold_bytes: int | None = None, die_at: int | None = None
    ) -> dict[str, Any] | None:
        """Start an emulator; return what it is ready with, None when it died before that."""
        ready = self._folder / "ready.fifo"
        ready.unlink(missing_ok=True)
        os.mkfifo(ready)
        out, err = self._folder / "out", self._folder / "err"
        asked = {
            "arguments": [*arguments, "--json"],
            "out": str(ready),
            "err": str(err),
            "fold_bytes": fold_bytes,
            "die_at": die_at,
        }
        self._ask.write(json.dumps(asked) + "\n")
        self._pid = int(self._told.readline())
        with ready.open() as file:  # ends when whoever writes to it has printed, or is dead
            lines: list[str] = []
            for line in file:
                lines.append(line)
                if line == "}\n":
                    break
        out.write_text("".join(lines))
        return json.loads("".join(lines)) if lines and lines[-1] == "}\n" else None

    def client(self, base_url: str) -> Client:
        self.clients.append(Client(base_url))
        return self.clients[-1]

    def end(self, number: int) -> tuple[int, str]:
        """Send a signal, unless it is dead already; return exit code and what it said."""
        assert self._pid is not None
        os.kill(self._pid, number)
        return self.ended()

    def ended(self) -> tuple[int, str]:
        """Wait for its end; return exit code and what it said."""
        self._ask.write("ended\n")
        code = int(self._told.readline())
        self._pid = None
        for client in self.clients:
            client.close()
        self.clients.clear()
        return code, (self._folder / "err").read_text()

    def close(self) -> None:
        self._ask.close()
        self._helper.wait(30)
        self._told.close()


@contextmanager
def warm(folder: Path) -> Iterator[Warm]:
    """Have a warm interpreter for the time of a block; nothing of it stays behind."""
    folder.mkdir(exist_ok=True)
    found = Warm(folder)
    try:
        yield found
    finally:
        if found._pid is not None:
            found.end(9)
        found.close()
