"""More clients than this process may have files: raise the limit, and say briefly when it is reached."""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
from typing import Any

_log = logging.getLogger("hosting_emulator.http")
#: As many connections as are worth having; some systems take no more than the second.
_ENOUGH = (65_536, 10_240)
_NO_MORE = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
#: The full house is said once in so many seconds of real time.
_PAUSE_S = 10.0


def raise_limit() -> None:
    """Let this process open as many files as it may; shells begin with 256 or 1024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for enough in _ENOUGH:
        wanted = enough if hard == resource.RLIM_INFINITY else min(enough, hard)
        if 0 <= soft < wanted:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
            except (ValueError, OSError):
                continue
        return


class TooManyFiles:
    """Handles what an event loop cannot: `loop.set_exception_handler(TooManyFiles())`.

    A connection that cannot be accepted waits with the system and is taken in later, by asyncio.
    """

    def __init__(self) -> None:
        self._said_at: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Say in one line that the house is full; leave all else to the loop."""
        error = context.get("exception")
        if self._said_at is not None and "_start_serving" in repr(context.get("handle")):
            return  # asyncio tries again to accept, though we have stopped meanwhile
        if not isinstance(error, OSError) or error.errno not in _NO_MORE:
            loop.default_exception_handler(context)
            return
        now = loop.time()
        if self._said_at is None or now >= self._said_at + _PAUSE_S:
            self._said_at = now
            _log.warning("no more connections can be accepted for now: %s", error.strerror)
