"""A world's events as they occur, over a separate connection."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import AbstractContextManager
from http.client import HTTPConnection, HTTPException, HTTPResponse

from hosting_emulator import messages
from hosting_emulator.contract.conversion import decode_json
from hosting_emulator.sdk.errors import EmulatorUnreachable, UnexpectedResponse

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True


class EventStream(AbstractContextManager["EventStream", None]):
    """A world's events as they occur. Iteration blocks until the next event.

    Call `close` when done, or use a `with` statement. The stream ends when the world is deleted or
    the emulator stops. If the connection is lost, EmulatorUnreachable is raised.
    """

    def __init__(self, address: str, connection: HTTPConnection, response: HTTPResponse) -> None:
        self._address = address
        self._connection = connection
        self._response = response

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the connection. This ends the stream."""
        self._response.close()
        self._connection.close()

    def __iter__(self) -> Iterator[messages.WorldEvent]:
        fields: dict[str, str] = {}
        for line in self._lines():
            if line:
                name, _, value = line.partition(":")
                fields[name] = value.removeprefix(" ")
                continue
            # An empty line ends an event. Skip events without data, because they only show that the
            # emulator is still alive.
            event = fields
            fields = {}
            if "data" in event:
                yield self._read(event)

    def _lines(self) -> Iterator[str]:
        """Yield lines until the stream ends. Raises EmulatorUnreachable if the connection is lost."""
        while True:
            try:
                line = self._response.readline()
            except (OSError, HTTPException) as error:
                raise EmulatorUnreachable(self._address, "it stopped sending events") from error
            if not line:
                return
            yield line.decode().rstrip("\r\n")

    def _read(self, fields: dict[str, str]) -> messages.WorldEvent:
        """Parse an event from its fields. Raises UnexpectedResponse if the event is invalid."""
        try:
            data = decode_json(fields["data"].encode(), messages.JsonObject)
            id_ = int(fields.get("id", "0"))
        except ValueError as error:
            raise UnexpectedResponse(self._address, "its events are not JSON") from error
        return messages.WorldEvent(id=id_, kind=fields.get("event", "message"), data=data)
