"""One run of the command: under a warden and in a session of its own, its last words kept.

Nothing of it outlives its time limit, nor this process: the warden sees to both.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

from hosting_emulator_cli import warden

#: How much of what a run prints is kept: its end, in bytes.
_KEPT = 32 * 1024
#: How long a run may take to end once it is asked to, in real seconds.
_GRACE_S = 0.5


class Ran(NamedTuple):
    """How a run ended: exit code (128+N after signal N), why it never began (errno), its output."""

    code: int
    refused: int | None
    hung: bool
    seconds: float
    output: bytes


class Process:
    """A run that is yet to begin. `through` passes its output and our stdin on, and keeps nothing.

    Raises OSError when there can be no process.
    """

    def __init__(self, *, through: bool = False) -> None:
        self._news, self._output = b"", b""
        self._hung = False
        orders, self._orders = os.pipe()
        self._news_end, news = os.pipe()
        self._output_end, output = (-1, None) if through else os.pipe()
        try:
            script = [sys.executable, "-I", "-S", warden.__file__, str(orders), str(news)]
            self._warden = subprocess.Popen(
                script,
                pass_fds=(orders, news),
                stdin=None if through else subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                start_new_session=True,  # a Ctrl-C reaches us, and we end it
            )
        except OSError:
            self._close(self._orders, self._news_end, self._output_end)
            raise
        finally:
            self._close(orders, news, -1 if output is None else output)

    @property
    def pid(self) -> int:
        """The warden's process id: all of the run is below it."""
        return self._warden.pid

    async def run(
        self, command: Sequence[str], environment: Mapping[str, str], *, limit_s: float | None
    ) -> Ran:
        """Run a command to its end, or to the end of its time; all of it is gone then."""
        loop = asyncio.get_running_loop()
        began = time.monotonic()
        self._order(
            run={
                "command": [_latin(word) for word in command],
                "environment": {_latin(k): _latin(v) for k, v in environment.items()},
            }
        )
        expiry = None if limit_s is None else loop.call_later(limit_s, self._expire)
        ended_at: list[float] = []
        try:
            await self._read_all(lambda: ended_at.append(time.monotonic()))
        finally:
            if expiry is not None:
                expiry.cancel()
            self.end(0)
            code = await asyncio.shield(asyncio.to_thread(self._warden.wait))
            self._close(self._orders, self._news_end, self._output_end)
        seconds = (ended_at[0] if ended_at else time.monotonic()) - began
        news: dict[str, Any] = json.loads(self._news or b"{}")
        refused = news.get("refused")
        ended = news.get("ended", 128 + abs(code))  # without news the warden was killed
        return Ran(ended, refused, self._hung, seconds, self._output)

    def end(self, grace_s: float = _GRACE_S) -> None:
        """Ask all of it to end, and end it after so many seconds."""
        self._order(end=grace_s)

    def _expire(self) -> None:
        self._hung = not self._news
        self.end()

    async def _read_all(self, on_news: Callable[[], None]) -> None:
        """Read news and output until the warden closes the news: all of the run is gone then."""
        loop = asyncio.get_running_loop()
        gone = loop.create_future()

        def read_news() -> None:
            piece = os.read(self._news_end, 4096)
            if piece:
                self._news += piece
                on_news()
            elif not gone.done():
                gone.set_result(None)

        loop.add_reader(self._news_end, read_news)
        if self._output_end >= 0:
            os.set_blocking(self._output_end, False)
            loop.add_reader(self._output_end, self._read_output)
        try:
            await gone
        finally:
            loop.remove_reader(self._news_end)
            if self._output_end >= 0:
                loop.remove_reader(self._output_end)
        while self._output_end >= 0 and self._read_output():
            pass

    def _read_output(self) -> bool:
        """Take in what there is; False when there is nothing more for now."""
        try:
            piece = os.read(self._output_end, 65536)
        except BlockingIOError:
            return False
        if not piece:
            asyncio.get_running_loop().remove_reader(self._output_end)
        self._output = (self._output + piece)[-_KEPT:]
        return bool(piece)

    def _order(self, **order: Any) -> None:
        # Where there is no warden any more, its wait says so.
        with suppress(BrokenPipeError, OSError):
            left = json.dumps(order).encode() + b"\n"
            while left:
                left = left[os.write(self._orders, left) :]

    @staticmethod
    def _close(*descriptors: int) -> None:
        for descriptor in descriptors:
            if descriptor >= 0:
                os.close(descriptor)


def _latin(text: str) -> str:
    """Write a word of the operating system, which may be no text, so that JSON can carry it."""
    return os.fsencode(text).decode("latin-1")
