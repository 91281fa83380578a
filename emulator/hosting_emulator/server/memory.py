"""Memory that many clients have left behind, given back to the system.

The allocator keeps what was freed between things that stay, and a process that had five hundred
clients at once, or ten thousand one after another, would look for good as if they were still there.
"""

from __future__ import annotations

import gc
from contextlib import suppress

#: So many connections at once are a crowd, and so are so many one after another.
CROWD, MANY = 100, 1000
#: It has gone when no connection has come for so long, in seconds of real time, and few are left.
AFTER_S = 5.0
FEW = CROWD // 20


def give_back() -> None:
    """Collect garbage, and let the allocator return what is free, where it can (glibc)."""
    # Imported here: few processes ever have a crowd.
    import ctypes

    gc.collect()
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
