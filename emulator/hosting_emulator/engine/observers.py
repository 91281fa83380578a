"""The interface through which the engine reports to judges. The engine knows nothing about the judges.

An observer runs while a client's request is handled. An error in an observer must never reach that
client, so every observer is called through `notify`.
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
    """The methods that all observers have in common."""

    def on_error(self, error: Exception) -> None:
        """Record an error that another method of this observer raised."""


class LogObserver(Observer, Protocol):
    """Observes the request log of one world."""

    def on_evict(self, entry: Entry) -> None:
        """Handle an exchange that the full log is about to drop."""

    def on_end(self, reason: EndReason) -> None:
        """Handle the end of the log, which is about to be cleared or deleted with its world."""


_Observer = TypeVar("_Observer", bound=Observer)


def notify(observers: Iterable[_Observer], call: Callable[[_Observer], None]) -> None:
    """Call every observer.

    An error in an observer is logged and recorded, and does not stop the other observers.
    """
    for observer in tuple(observers):
        try:
            call(observer)
        except Exception as error:
            _log.error("an observer of requests failed", exc_info=error)
            observer.on_error(error)
