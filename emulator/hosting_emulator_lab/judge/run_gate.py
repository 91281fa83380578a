"""Lets runs happen at the same time, or one of them alone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class RunGate:
    """A gate for threads that run a command.

    Any number of threads may be inside `shared()` at a time. A thread inside `alone()` is the only
    one inside. A thread that waits for `alone()` goes before threads that wait for `shared()`.
    A thread inside `aside()` runs beside all of these. Only a thread that uses `empty()` excludes it.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._shared_count = 0
        self._is_alone = False
        self._aside_count = 0
        #: The number of threads that use or await `empty()`.
        self._empty_count = 0
        #: The number of threads that wait to be alone.
        self.waiting_count = 0

    @property
    def has_aside(self) -> bool:
        """Whether a thread is inside `aside()`."""
        return self._aside_count > 0

    @contextmanager
    def shared(self) -> Iterator[None]:
        """Share the gate within a `with` block, after all threads that use or await `alone()`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._is_alone and not self.waiting_count)
            self._shared_count += 1
        try:
            yield
        finally:
            with self._changed:
                self._shared_count -= 1
                self._changed.notify_all()

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Wait until no other thread is inside, and keep all others out within a `with` block."""
        with self._changed:
            self.waiting_count += 1
            self._changed.wait_for(lambda: not self._is_alone and not self._shared_count)
            self.waiting_count -= 1
            self._is_alone = True
        try:
            yield
        finally:
            with self._changed:
                self._is_alone = False
                self._changed.notify_all()

    @contextmanager
    def aside(self) -> Iterator[None]:
        """Run beside other threads within a `with` block, after all threads that use or await `empty()`."""
        with self._changed:
            self._changed.wait_for(lambda: not self._empty_count)
            self._aside_count += 1
        try:
            yield
        finally:
            with self._changed:
                self._aside_count -= 1
                self._changed.notify_all()

    @contextmanager
    def empty(self) -> Iterator[None]:
        """Be the only thread inside within a `with` block. Not even a thread in `aside()` is inside."""
        with self._changed:
            self._empty_count += 1
        try:
            with self.alone():
                with self._changed:
                    self._changed.wait_for(lambda: not self._aside_count)
                yield
        finally:
            with self._changed:
                self._empty_count -= 1
                self._changed.notify_all()
