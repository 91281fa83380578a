"""Returns memory to the system after a large number of connections have closed."""

from __future__ import annotations

import asyncio
import gc
from contextlib import suppress
from typing import Final

#: This many concurrent connections are a crowd.
CROWD: Final = 100
#: This many successive connections are also a crowd.
SUCCESSIVE_CROWD: Final = 1000
#: A crowd has left when only a few connections are open and no connection has opened for this long,
#: in seconds of real time.
QUIET_S: Final = 5.0
_FEW: Final = CROWD // 20


class CrowdWatch:
    """Counts the connections of a server. It belongs to one event loop."""

    def __init__(self) -> None:
        self._open = 0
        #: The maximum number of open connections, and the total, since the previous crowd left.
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
    """Collect garbage, and make the allocator return free memory to the system, if it can (glibc).

    The allocator keeps freed memory that lies between objects in use. After five hundred concurrent
    clients, the process would otherwise look forever as if they were still connected.
    """
    import ctypes  # imported here because few processes ever have a crowd

    gc.collect()
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
