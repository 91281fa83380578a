"""Exchanges of a request log, with the members that a test chooses."""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from hosting_emulator.engine.connection import Connection, Passage
from hosting_emulator.engine.exchange import Entry
from tests.support.in_process import InProcess


def logged_exchange(api: InProcess, **members: Any) -> Entry:
    """Return the latest exchange of a world's log, with other values of these members."""
    (entry,) = api.engine.log.newest(1)
    return replace(entry, **members)


def connection_between(began: int, ended: int = 0) -> Connection:
    """Return a connection that began and ended at these positions. With 0, it has not ended."""
    connection = Connection(began)
    connection.ended = ended
    return connection


def passage_between(arrival: int, departure: int = 0, closed: int = 0) -> Passage:
    """Return the passage of a request that arrived, and whose response departed, at these positions.

    The client closed its connection at the position `closed`, unless this is 0.
    """
    connection = Connection(arrival)
    connection.closed_by_client = closed
    passage = Passage(connection, arrival)
    passage.departure = departure
    return passage
