"""The interface through which the engine reports to judges, without depending on them.

An observer runs while a client's request is being handled. An error in an observer must never
affect that client, so observers are always called through `notify`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Literal, Protocol, TypeAlias, TypeVar

from hosting_emulator.engine.exchange import Entry

_log = logging.getLogger("hosting_emulator.observers")

#: The reason why a world's request log ended.
EndReason: TypeAlias = Literal["deleted", "reset", "loaded", "replaced"]


class Observer(Protocol):
    """The base class of all observers."""

    def on_error(self, error: Exception) -> None:
        """Record an error that another method of this observer raised."""


class LogObserver(Observer, Protocol):
    """Observes the request log of one world."""

    def on_evict(self, entry: Entry) -> None:
        """Handle an exchange that the full log is about to drop."""

    def on_end(self, reason: EndReason) -> None:
        """Handle the end of the log, which is about to be cleared, or deleted together with its
        world.
        """


_Observer = TypeVar("_Observer", bound=Observer)


def notify(observers: Iterable[_Observer], call: Callable[[_Observer], None]) -> None:
    """Call every observer.

    An error in one observer is logged and recorded, and does not affect the other observers.
    """
    for observer in tuple(observers):
        try:
            call(observer)
        except Exception as error:
            _log.error("an observer of requests failed", exc_info=error)
            observer.on_error(error)
