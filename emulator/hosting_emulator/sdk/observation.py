"""An observation of a running emulator: all worlds and requests from its start to its end."""

from __future__ import annotations

from contextlib import AbstractContextManager, suppress
from typing import Any
from urllib.parse import urlencode

from hosting_emulator import messages
from hosting_emulator.sdk.errors import ControlError
from hosting_emulator.sdk.transport import Transport, path_of


class WorldsObservation(AbstractContextManager["WorldsObservation", None]):
    """Watches the worlds of an emulator, including deleted and reset worlds, until it is closed.

    A chapter is the life of a world: from its creation, or from the start of the observation, until
    the world is deleted, reset, loaded or replaced.
    """

    def __init__(self, transport: Transport, id_: str) -> None:
        self._transport = transport
        self.id = id_

    def __exit__(self, *_: object) -> None:
        with suppress(ControlError):  # the emulator may have stopped first
            self.close()

    def report(self, *, final: bool = False, wait_s: float = 0) -> messages.ObservationReport:
        """Report every chapter with its verdict.

        `final` means that the clients have finished. `wait_s` is the maximum wait for requests in
        progress, in real seconds.
        """
        wait_ms = max(0, min(60_000, round(wait_s * 1000)))
        query = {"final": str(final).lower(), "wait_ms": wait_ms}
        path = f"{self._path()}?{urlencode(query)}"
        return self._transport.fetch(messages.ObservationReport, "GET", path)

    def state(self, index: int, *, seed: bool = False, began: bool = False) -> messages.JsonObject:
        """Export the state of a chapter's world: the current state, or the state at the chapter's end.

        With `began`, export the state at the start of the chapter.
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
        """Report the world of a chapter with its latest `requests` exchanges."""
        path = self._path("chapters", index, "report")
        return self._transport.fetch(messages.WorldReport, "GET", f"{path}?requests={requests}")

    def requests(self, index: int, *, limit: int = 1000) -> list[messages.Exchange]:
        """Return the latest exchanges of a chapter, oldest first."""
        path = self._path("chapters", index, "requests")
        page = self._transport.fetch(messages.RequestPage, "GET", f"{path}?limit={limit}")
        return page.items[::-1]

    def whole_request(self, index: int, n: int) -> messages.WholeExchange:
        """Return one exchange of a chapter with headers, bodies and trail. Secrets are removed."""
        path = self._path("chapters", index, "requests", n)
        return self._transport.fetch(messages.WholeExchange, "GET", path)

    def close(self) -> None:
        """End the observation."""
        self._transport.delete(self._path())

    def _path(self, *parts: Any) -> str:
        return path_of("observations", self.id, *parts)
