"""Raises this process's limit on open files, and reports when the limit is reached."""

from __future__ import annotations

import asyncio
import errno
import logging
import resource
from typing import Any, Final

_log = logging.getLogger("hosting_emulator.http")
#: Limits that allow enough connections, highest first. Some systems accept only the lower one.
_SUFFICIENT_LIMITS: Final = (65_536, 10_240)
_NO_MORE_FILES: Final = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
#: The minimum time between two log messages about the limit, in real seconds.
_PAUSE_S: Final = 10.0


def raise_file_limit() -> None:
    """Raise this process's limit on open files if it is low and the system allows a higher one.

    Shells often set a limit of only 256 or 1024.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    for sufficient_limit in _SUFFICIENT_LIMITS:
        limit = sufficient_limit
        if hard != resource.RLIM_INFINITY:
            limit = min(sufficient_limit, hard)
        if 0 <= soft < limit:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            except (ValueError, OSError):
                continue
        return


class FileLimitReports:
    """An exception handler for an event loop that reports when the limit on open files is reached.

    It logs a line when the process cannot accept more connections, but at most one every ten
    seconds. New connections then wait in the operating system until asyncio can accept them. All
    other exceptions are passed to the loop's default handler.
    """

    def __init__(self) -> None:
        self._reported_s: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Handle an exception that the event loop reports."""
        error = context.get("exception")
        if self._reported_s is not None and "_start_serving" in repr(context.get("handle")):
            # Ignore this error: asyncio tries to accept connections even after the server has been
            # closed.
            return
        if not isinstance(error, OSError) or error.errno not in _NO_MORE_FILES:
            loop.default_exception_handler(context)
            return
        now_s = loop.time()
        if self._reported_s is None or now_s >= self._reported_s + _PAUSE_S:
            self._reported_s = now_s
            _log.warning("no more connections can be accepted for now: %s", error.strerror)
