"""The connection of a request, and the order of events across all connections of the process."""

from __future__ import annotations

from math import inf


class Connection:
    """A client's connection.

    A position is a number from a sequence (`http.protocol.next_position`) that all connections of
    the process share. Positions order connection events and the arrivals and departures of requests.
    Position 0 means that the event has not happened.
    """

    __slots__ = ("began", "closed_by_client", "ended")

    def __init__(self, began: int = 0) -> None:
        self.began = began
        self.ended = 0
        #: The position at which the client closed its side or the connection was lost.
        self.closed_by_client = 0

    def follows(self, other: Connection) -> bool:
        """Return whether this connection began after another one had ended."""
        return 0 < other.ended < self.began


#: The connection of requests that did not arrive over a socket.
NO_CONNECTION = Connection()


class Passage:
    """A request's way through its connection: the positions of its arrival and departure.

    The departure is the position at which the last byte of the response was handed to the
    connection. It is 0 if that has not happened yet, or if a fault cut the response off.
    """

    __slots__ = ("_connection", "arrival", "arrived_s", "departure")

    def __init__(self, connection: Connection, arrival: int, arrived_s: float = 0.0) -> None:
        self._connection = connection
        self.arrival = arrival
        #: The time of the arrival in seconds, by the event loop's clock.
        self.arrived_s = arrived_s
        self.departure = 0

    @property
    def is_abandoned(self) -> bool:
        """Whether the client closed the connection before the whole response had been sent."""
        closed = self._connection.closed_by_client
        return closed > 0 and (self.departure == 0 or closed < self.departure)

    def end(self, lost: str | None) -> float:
        """Return the position at which the client stopped waiting, or infinity while it is waiting.

        If a fault lost the response (`lost`), the client may wait until it closes the connection.
        """
        closed = self._connection.closed_by_client or inf
        if lost is not None:
            return closed
        return min(self.departure or inf, closed)
