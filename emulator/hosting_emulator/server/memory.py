"""Memory that a crowd of clients has left behind, given back to the system.

The allocator keeps what was freed between things that stay, and a process that had five hundred
clients once would look for good as if they were still there.
"""

from __future__ import annotations

import gc
from contextlib import suppress

#: So many connections at once are a crowd; it is over when a twentieth of it is left.
CROWD = 100
#: So long after it, in seconds of real time, their handlers have ended as well.
AFTER_S = 5.0


def give_back() -> None:
    """Collect garbage, and let the allocator return what is free, where it can (glibc)."""
    # Imported here: few processes ever have a crowd.
    import ctypes

    gc.collect()
    with suppress(OSError, TypeError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
