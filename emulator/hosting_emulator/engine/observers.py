"""The interface through which the engine reports to judges. It knows nothing about them.

An observer runs on the path of a client's request. An error in an observer must never reach that
client, so every call goes through `notify`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import Literal, Protocol, TypeAlias, TypeVar

from hosting_emulator.engine.exchange import Entry

_log = logging.getLogger("hosting_emulator.observers")

#: Why the life of a world under its name ended.
EndReason: TypeAlias = Literal["deleted", "reset", "loaded", "replaced"]


class Observer(Protocol):
    """What all observers have in common."""

    def on_error(self, error: Exception) -> None:
        """Record an error that another method of this observer raised."""


class LogObserver(Observer, Protocol):
    """Observes the request log of one world."""

    def on_evict(self, entry: Entry) -> None:
        """Handle an exchange that is about to leave the full log."""

    def on_end(self, reason: EndReason) -> None:
        """Handle the end of the log: it is about to be cleared, or its world is about to be deleted."""


_Observer = TypeVar("_Observer", bound=Observer)


def notify(observers: Iterable[_Observer], call: Callable[[_Observer], None]) -> None:
    """Call every observer. An error of one is logged and recorded; the others are still called."""
    for observer in tuple(observers):
        try:
            call(observer)
        except Exception as error:
            _log.error("an observer of requests failed", exc_info=error)
            observer.on_error(error)
