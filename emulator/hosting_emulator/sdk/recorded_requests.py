"""The requests that reached a world, with their responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hosting_emulator import messages
from hosting_emulator.sdk.exchange_text import response_text

#: pytest shows the line of the test instead of the lines of this module.
__tracebackhide__ = True


class RecordedRequest(messages.Exchange, frozen=True, kw_only=True, dict=True):
    """A request that reached the world, and its response.

    Headers and bodies are redacted, and bodies are truncated to 16 KiB. Headers and bodies are
    fetched at first use. The fetch raises ControlRefused (404) if the log no longer contains the
    request.
    """

    _fetch_whole: Callable[[int], messages.WholeExchange]

    def __repr__(self) -> str:
        return f"<RecordedRequest #{self.n} {self.method} {self.path}: {response_text(self)}>"

    @property
    def body(self) -> Any:
        """The body of the request: parsed JSON, other text as a string, or None if there is no body."""
        return self._whole.request.content

    @property
    def headers(self) -> messages.HeaderValues:
        """The headers of the request."""
        return messages.HeaderValues(self._whole.request.headers)

    @property
    def response(self) -> Any:
        """The body of the response: parsed JSON, other text as a string, or None if there is no body."""
        return self._whole.response.content

    @property
    def response_headers(self) -> messages.HeaderValues:
        """The headers of the response."""
        return messages.HeaderValues(self._whole.response.headers)

    @cached_property
    def _whole(self) -> messages.WholeExchange:
        return self._fetch_whole(self.n)


@dataclass(frozen=True, slots=True)
class HeldRequests:
    """The requests in the log, oldest first.

    `dropped` is the number of older requests that were dropped because the log was full.
    `was_cleared` means that the log was cleared after `Requests.from_now` was called.
    """

    requests: Sequence[RecordedRequest]
    dropped: int
    was_cleared: bool
