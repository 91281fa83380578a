"""Finds exchanges in a world's request log."""

from __future__ import annotations

from hosting_emulator.control.request_filters import REQUEST_NUMBER, read_filter
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.request_views import RequestFilter
from hosting_emulator.http.endpoint import require
from hosting_emulator.http.time_slices import LongJob
from hosting_emulator.messages import RequestFilters


def require_entry(engine: Engine, number: str) -> Entry:
    """Return the logged exchange with this number.

    Raises ControlRefusal 404 if the log has no such exchange.

    `number` comes from the request's path, so it can be any string.
    """
    entry = None
    if REQUEST_NUMBER.fullmatch(number):
        entry = engine.log.find(int(number))
    count = len(engine.log)
    contents = "it is empty"
    if count:
        contents = f"it contains the last {count} of {engine.log.count} requests"
    detail = f"the log has no request {number[:40]!r}: {contents}"
    return require(entry, "No such request", detail)


async def find_entries(engine: Engine, filters: RequestFilters, limit: int) -> list[Entry]:
    """Return the latest matching exchanges, newest first, but at most `limit` of them.

    Other requests can be handled during the search. Raises ControlRefusal for an invalid filter.
    """
    request_filter = read_filter(engine, filters)
    if request_filter == RequestFilter():
        return engine.log.newest(limit)
    matches: list[Entry] = []
    async with LongJob() as job:
        for entry in engine.log.newest(len(engine.log)):
            await job.pause()
            if request_filter.matches(entry):
                matches.append(entry)
                if len(matches) == limit:
                    break
    return matches
