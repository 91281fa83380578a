"""A limit on the processor time of a piece of work, wide enough for a busy machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

#: In seconds of this process. What is linear takes a hundredth of it, what is not a hundred times it.
LINEAR_S = 1.0


@contextmanager
def linear_time() -> Iterator[None]:
    """Fail if the block takes much more processor time than work that reads each character once."""
    began = time.process_time()
    yield
    assert time.process_time() - began < LINEAR_S
