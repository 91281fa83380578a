"""Listening: server-sent events from the control API, over a connection of their own.

It must not read meaning into what it is told.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Self
from urllib.parse import urlsplit

from hosting_emulator.sdk.errors import EmulatorUnreachable, UnexpectedAnswer
from hosting_emulator.sdk.observed import WorldEvent
from hosting_emulator.sdk.responses import Answer

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

#: The emulator shows every 15 s that it is there; after so many real seconds of silence it is not.
_SILENCE_S = 45.0
_KIND = "text/event-stream"


class Listening:
    """The events of a world, one after the other, as they happen.

    Iterating waits for the next. It ends when the world is deleted, and raises EmulatorUnreachable
    when the emulator stops. `close` it, or use it as a context manager.
    """

    def __init__(self, address: str, connection: HTTPConnection, response: HTTPResponse) -> None:
        self._address = address
        self._connection = connection
        self._response = response

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Listen no longer."""
        self._response.close()
        self._connection.close()

    def __iter__(self) -> Iterator[WorldEvent]:
        fields: dict[str, str] = {}
        for line in self._lines():
            name, _, value = line.partition(":")
            if line:
                fields[name] = value.removeprefix(" ")
            else:
                if "data" in fields:
                    yield self._event(fields)
                fields = {}

    def _lines(self) -> Iterator[str]:
        from http.client import HTTPException

        try:
            while line := self._response.readline():
                yield line.decode().rstrip("\r\n")
        except (OSError, HTTPException) as error:
            raise EmulatorUnreachable(self._address, "it stopped telling events") from error

    def _event(self, fields: Mapping[str, str]) -> WorldEvent:
        try:
            data = json.loads(fields["data"])
            return WorldEvent(int(fields.get("id", "0")), fields.get("event", "message"), data)
        except ValueError as error:
            raise UnexpectedAnswer(self._address, "its events are no JSON") from error


def open_stream(address: str, target: str, headers: Mapping[str, str]) -> Listening | Answer:
    """Ask for a stream of events; whatever else is answered is returned whole.

    Raises EmulatorUnreachable and UnexpectedAnswer. `address` is the control URL.
    """
    from http.client import HTTPConnection, HTTPException, HTTPSConnection

    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=_SILENCE_S)
    try:
        connection.request("GET", target, headers={**headers, "Accept": _KIND})
        response = connection.getresponse()
        content_type = response.headers.get_content_type()
        if response.status == 200 and content_type == _KIND:
            return Listening(address, connection, response)
        answer = Answer(response.status, content_type, response.read())
    except HTTPException as error:
        connection.close()
        raise UnexpectedAnswer(address, "it does not speak HTTP") from error
    except OSError as error:
        connection.close()
        reason = (error.strerror or str(error)).lower()
        raise EmulatorUnreachable(address, reason) from error
    connection.close()
    return answer
