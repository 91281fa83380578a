"""Returns memory to the system after a large number of connections have closed."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from typing import Final

#: The number of concurrent connections that counts as a crowd.
CROWD: Final = 100
#: The total number of connections that counts as a crowd, even if few were open at the same time.
SUCCESSIVE_CROWD: Final = 1000
#: A crowd has gone when only a few connections are open, and no connection has been opened for this
#: many real seconds.
QUIET_S: Final = 5.0
_FEW: Final = CROWD // 20


class CrowdWatch:
    """Counts a server's connections in one event loop, and returns memory after a crowd has gone."""

    def __init__(self) -> None:
        self._open = 0
        #: The highest number of open connections, and the total number of connections, since the
        #: end of the previous crowd.
        self._most = 0
        self._total = 0
        self._is_waiting = False

    def add(self) -> None:
        """Count a connection that has opened."""
        self._open += 1
        self._most = max(self._most, self._open)
        self._total += 1
        if not self._is_waiting and (self._most >= CROWD or self._total >= SUCCESSIVE_CROWD):
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
        self._most = self._open
        self._total = 0
        self._is_waiting = False
        return_memory()


def return_memory() -> None:
    """Collect garbage, and make the C library return free memory to the system (with glibc only).

    This is necessary because the C library keeps freed memory that lies between objects in use.
    Without this function, the process would keep the memory that five hundred concurrent clients
    needed long after they have disconnected.
    """
    import ctypes  # import this here, because few processes ever have a crowd

    gc.collect()
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
