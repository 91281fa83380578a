"""The command under its warden's eyes, as `exec` sees it: start it, signal it, learn how it ended.

It must not know what an emulator is.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from hosting_emulator_cli import warden

_PATIENCE_S = 5.0


class Outcome(NamedTuple):
    """How the command ended: its exit code (128+N after signal N), or why it was never begun."""

    code: int
    refused: int | None = None


class Supervised:
    """A command that is yet to begin, with its warden, which is there from now on.

    Raises OSError when there can be no warden. Call `gone` at the end: nothing of the command is
    then left. Where this process dies without a word, the warden sees to that. A `silent` command
    has the null device for its input and output.
    """

    def __init__(self, *, silent: bool = False) -> None:
        # What we were born with (`sh -c 'server & exec hosting-emulator …'`) is none of ours.
        self._not_ours = warden.descendants(os.getpid())
        warden.become_subreaper()
        orders, self._orders = os.pipe()
        self._news, news = os.pipe()
        # The warden is to hear of no signal before it can heed it.
        signal.pthread_sigmask(signal.SIG_BLOCK, warden.ENDING)
        try:
            for descriptor in (orders, news):
                os.set_inheritable(descriptor, True)
            script = [sys.executable, "-I", "-S", warden.__file__, str(orders), str(news)]
            # What was handed to us open, the command gets too (make's jobserver, `<(…)` of a shell).
            null = subprocess.DEVNULL if silent else None
            self._warden = subprocess.Popen(
                script, close_fds=False, stdin=null, stdout=null, stderr=null
            )
        finally:
            signal.pthread_sigmask(signal.SIG_UNBLOCK, warden.ENDING)
            os.close(orders)
            os.close(news)

    def begin(self, command: Sequence[str], environment: Mapping[str, str]) -> None:
        """Start the command, found on the environment's PATH."""
        self._order(
            run={
                "command": [_latin(word) for word in command],
                "environment": {_latin(k): _latin(v) for k, v in environment.items()},
            }
        )

    def signal(self, number: int) -> None:
        """Pass a signal on, unless the whole process group got it, the command with it."""
        self._order(signal=number)

    def end(self, grace_s: float) -> None:
        """Send SIGTERM to the command and its descendants, and SIGKILL after so many seconds."""
        self._order(end=grace_s)

    async def outcome(self) -> Outcome:
        """Wait until the command has ended, or is known not to begin."""
        line = await _first_line(self._news)
        if not line:  # the warden was killed
            self._end_orphans()
            return Outcome(128 + abs(self._warden.wait()))
        news = json.loads(line)
        if "refused" in news:
            # As shells do: 127 for what is not there, 126 for what cannot be run.
            return Outcome(127 if news["refused"] == 2 else 126, news["refused"])
        return Outcome(news["ended"])

    def gone(self) -> None:
        """Wait until all that the command started is gone; without a command, send it home."""
        for descriptor in (self._orders, self._news):
            os.close(descriptor)
        self._warden.wait()
        self._end_orphans()

    def _order(self, **order: Any) -> None:
        # Where there is no warden any more, `outcome` says so.
        with suppress(BrokenPipeError):
            left = json.dumps(order).encode() + b"\n"
            while left:
                left = left[os.write(self._orders, left) :]

    def _end_orphans(self) -> None:
        """Kill what the warden left to us, if it was killed itself."""
        until = time.monotonic() + _PATIENCE_S
        while orphans := warden.descendants(os.getpid()) - self._not_ours - {self._warden.pid}:
            warden.send(signal.SIGKILL, orphans)
            if time.monotonic() > until:
                break
            time.sleep(0.01)


async def _first_line(descriptor: int) -> bytes:
    """Read up to the end of a line, or of the pipe, without holding up the event loop."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[bytes] = loop.create_future()
    pieces: list[bytes] = []

    def read() -> None:
        pieces.append(os.read(descriptor, 4096))
        if not pieces[-1] or pieces[-1].endswith(b"\n"):
            loop.remove_reader(descriptor)
            found.set_result(b"".join(pieces))

    loop.add_reader(descriptor, read)
    try:
        return await found
    finally:
        loop.remove_reader(descriptor)


def _latin(text: str) -> str:
    """Write a word of the operating system, which may be no text, so that JSON can carry it."""
    return os.fsencode(text).decode("latin-1")
