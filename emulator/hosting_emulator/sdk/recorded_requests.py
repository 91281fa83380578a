"""The requests that reached a world, with their responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from hosting_emulator import messages
from hosting_emulator.sdk.exchange_text import response_text

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True


class RecordedRequest(messages.ExchangeSummary, frozen=True, kw_only=True, dict=True):
    """A request that reached the world, and its response.

    Headers and bodies are redacted, and bodies are truncated to 16 KiB. They are fetched when first
    used. This raises ControlRefused (404) if the request is no longer in the log.
    `requests.whole(n)` returns the request with its trail.
    """

    _fetch_whole: Callable[[int], messages.WholeExchange]

    def __repr__(self) -> str:
        return f"<RecordedRequest #{self.n} {self.method} {self.path}: {response_text(self)}>"

    @property
    def body(self) -> Any:
        """The request body: parsed JSON, any other text as a string, or None if there is no body."""
        return self._whole.request.content

    @property
    def headers(self) -> messages.HeaderValues:
        """The request headers."""
        return messages.HeaderValues(self._whole.request.headers)

    @property
    def response(self) -> Any:
        """The response body: parsed JSON, any other text as a string, or None if there is no body."""
        return self._whole.response.content

    @property
    def response_headers(self) -> messages.HeaderValues:
        """The response headers."""
        return messages.HeaderValues(self._whole.response.headers)

    @cached_property
    def _whole(self) -> messages.WholeExchange:
        return self._fetch_whole(self.n)


@dataclass(frozen=True, slots=True)
class HeldRequests:
    """The requests in the log, oldest first.

    `dropped` is how many older requests were dropped because the log was full. `was_cleared` means
    that the log has been cleared since `Requests.from_now` was called.
    """

    requests: Sequence[RecordedRequest]
    dropped: int
    was_cleared: bool
