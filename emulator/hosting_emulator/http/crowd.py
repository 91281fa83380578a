"""Returns memory to the operating system after a large number of connections have been closed."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from typing import Final

#: This many concurrent connections are a crowd.
CROWD: Final = 100
#: This many connections in total are a crowd, even if few of them were open at the same time.
SUCCESSIVE_CROWD: Final = 1000
#: A crowd has left when few connections are open and no connection has been opened for this many
#: real seconds.
QUIET_S: Final = 5.0
_FEW: Final = CROWD // 20


class CrowdWatch:
    """Counts a server's connections in one event loop, and returns memory after a crowd has left."""

    def __init__(self) -> None:
        self._open = 0
        #: The number of connections that were opened since the previous crowd left.
        self._total = 0
        self._is_waiting = False

    def add(self) -> None:
        """Count a new connection."""
        self._open += 1
        self._total += 1
        if not self._is_waiting and (self._open >= CROWD or self._total >= SUCCESSIVE_CROWD):
            self._is_waiting = True
            self._check_later()

    def remove(self) -> None:
        """Remove a closed connection from the count of open connections."""
        self._open -= 1

    def _check_later(self) -> None:
        asyncio.get_running_loop().call_later(QUIET_S, self._check, self._total)

    def _check(self, previous_total: int) -> None:
        if self._total > previous_total or self._open > _FEW:
            self._check_later()
            return
        self._total = 0
        self._is_waiting = False
        return_memory()


def return_memory() -> None:
    """Collect garbage, and make the C library return free memory to the operating system (glibc
    only).

    This is necessary because the C library keeps freed memory that lies between objects in use.
    Otherwise the process would keep the memory needed for five hundred concurrent clients long
    after they have disconnected.
    """
    import ctypes  # imported here because few processes ever see a crowd

    gc.collect()
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
