"""What the engine reports to judges above it. It calls these protocols and knows nothing about judges.

An observer runs on the path of a client's request. An error in an observer must never reach that
client, so every call goes through `notify`.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, Protocol, TypeAlias, TypeVar

if TYPE_CHECKING:
    from hosting_emulator.engine.engine import Engine
    from hosting_emulator.engine.exchange import Entry

_log = logging.getLogger("hosting_emulator.observers")

#: Why the life of a world under its name ended.
EndReason: TypeAlias = Literal["deleted", "reset", "loaded", "replaced"]


class LogObserver(Protocol):
    """Observes the request log of one world."""

    def on_evict(self, entry: Entry) -> None:
        """Handle an exchange that is about to leave the full log."""

    def on_end(self, reason: EndReason) -> None:
        """Handle the end of the log: it is about to be cleared, or its world is about to be deleted."""

    def on_error(self, error: Exception) -> None:
        """Record an error that another method of this observer raised."""


class WorldsObserver(Protocol):
    """Observes which worlds a process has."""

    def on_open(self, engine: Engine, source: Engine | None) -> None:
        """Handle a new world. `source` is the world that it is a copy of, if any."""

    def on_error(self, error: Exception) -> None:
        """Record an error that another method of this observer raised."""


_O = TypeVar("_O", LogObserver, WorldsObserver)


def notify(observers: Iterable[_O], call: Callable[[_O], None]) -> None:
    """Call every observer. An error of one is logged and recorded; it stops nothing else."""
    for observer in tuple(observers):
        try:
            call(observer)
        except Exception as error:
            _log.error("an observer of requests failed", exc_info=error)
            observer.on_error(error)
