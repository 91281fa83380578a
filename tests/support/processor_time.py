"""A limit on processor time that is generous enough for a busy machine."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

#: The limit in seconds of processor time. Linear work takes a hundredth of this limit, and quadratic work
#: takes a hundred times the limit.
LINEAR_S = 1.0


@contextmanager
def linear_time() -> Iterator[None]:
    """Fail if a block takes much more processor time than work that reads each character once."""
    began = time.process_time()
    yield
    assert time.process_time() - began < LINEAR_S
