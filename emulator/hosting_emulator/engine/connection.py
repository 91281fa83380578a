"""The connection on which a request arrived, and the order of events across all connections of the
process.
"""

from __future__ import annotations

from math import inf


class Connection:
    """A client's connection.

    A position is a number from a sequence (`http.protocol.next_position`) that all connections of
    the process share. Positions show in which order connections began and ended, requests arrived
    and responses departed. Position 0 means that the event has not happened.
    """

    __slots__ = ("began", "closed_by_client", "ended")

    def __init__(self, began: int = 0) -> None:
        self.began = began
        self.ended = 0
        #: The position at which the client closed its side, or the connection was lost.
        self.closed_by_client = 0

    def follows(self, other: Connection) -> bool:
        """Return whether this connection began after the `other` connection had ended."""
        return 0 < other.ended < self.began


#: Stands for the connection of a request that did not arrive over a socket.
NO_CONNECTION = Connection()


class Passage:
    """The positions at which a request arrived and its response departed (see `Connection`).

    The departure is the position at which the last byte of the response was handed to the
    connection. The departure is 0 until then, and stays 0 if a fault cuts the response off.
    """

    __slots__ = ("_connection", "arrival", "arrived_s", "departure")

    def __init__(self, connection: Connection, arrival: int, arrived_s: float = 0.0) -> None:
        self._connection = connection
        self.arrival = arrival
        #: The time of arrival, in seconds, according to the event loop's clock.
        self.arrived_s = arrived_s
        self.departure = 0

    @property
    def is_abandoned(self) -> bool:
        """Whether the client closed the connection before the whole response had been sent."""
        closed = self._connection.closed_by_client
        return closed > 0 and (self.departure == 0 or closed < self.departure)

    def end(self, lost: str | None) -> float:
        """Return the position at which the client stopped waiting, or infinity if it is still waiting.

        `lost` is the kind of fault that caused the response to be lost, or None. A client whose
        response was lost keeps waiting until it closes the connection.
        """
        closed = self._connection.closed_by_client or inf
        if lost is not None:
            return closed
        return min(self.departure or inf, closed)
