"""An observation, which records the requests to a running emulator's worlds."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any
from urllib.parse import urlencode

from hosting_emulator import messages
from hosting_emulator.sdk.errors import ControlError
from hosting_emulator.sdk.transport import Transport, path_of

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True


class WorldsObservation(AbstractContextManager["WorldsObservation", None]):
    """Watches an emulator's worlds until it is closed.

    The observation divides each world's lifetime into chapters. A chapter starts when the world is
    created or when the observation starts. It ends when the world is deleted, reset or replaced.
    After a reset or replacement, a new chapter starts. Chapters that have ended remain available,
    but the emulator drops the oldest states and exchanges to limit memory use.
    """

    def __init__(self, transport: Transport, id_: str) -> None:
        self._transport = transport
        self.id = id_

    def __exit__(self, *_: object) -> None:
        with suppress(ControlError):  # the emulator may already have stopped
            self.close()

    def report(self, *, final: bool = False, wait_s: float = 0) -> messages.ObservationReport:
        """Return a report on all chapters, including the verdict on each.

        `final` means that the clients have finished. `wait_s` is how long to wait for requests that
        are still in progress, in real seconds, up to 60.
        """
        wait_ms = max(0, min(60_000, round(wait_s * 1000)))
        query = {"final": str(final).lower(), "wait_ms": wait_ms}
        path = f"{self._path()}?{urlencode(query)}"
        return self._transport.fetch(messages.ObservationReport, "GET", path)

    def state(self, index: int, *, seed: bool = False, began: bool = False) -> messages.JsonObject:
        """Export the state of the world in a chapter.

        By default, this is the current state or, if the chapter has ended, the state at its end.
        With `began`, it is the state at the start of the chapter. With `seed`, it includes the
        world's seed.
        """
        path = self._path("chapters", index, "state")
        query = {}
        if seed:
            query["seed"] = "true"
        if began:
            query["began"] = "true"
        if query:
            path = f"{path}?{urlencode(query)}"
        state: messages.JsonObject = self._transport.get(path)
        return state

    def world_report(self, index: int, *, requests: int = 20) -> messages.WorldReport:
        """Return a report on the world in a chapter, with at most `requests` of the latest exchanges."""
        path = self._path("chapters", index, "report")
        return self._transport.fetch(messages.WorldReport, "GET", f"{path}?requests={requests}")

    def requests(self, index: int, *, limit: int = 1000) -> list[messages.Exchange]:
        """Return at most `limit` of the latest exchanges in a chapter, oldest first."""
        path = self._path("chapters", index, "requests")
        page = self._transport.fetch(messages.RequestPage, "GET", f"{path}?limit={limit}")
        return page.items[::-1]

    def whole_request(self, index: int, n: int) -> messages.WholeExchange:
        """Return exchange `n` from a chapter with headers, bodies and trail.

        It contains no tokens, API keys or tickets of the service.
        """
        path = self._path("chapters", index, "requests", n)
        return self._transport.fetch(messages.WholeExchange, "GET", path)

    def close(self) -> None:
        """End the observation."""
        self._transport.delete(self._path())

    def _path(self, *parts: Any) -> str:
        return path_of("observations", self.id, *parts)
