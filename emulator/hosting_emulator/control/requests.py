"""Endpoints that list the exchanges in the request log and show a single exchange in full."""

from __future__ import annotations

from typing import Annotated

from aiohttp import web

from hosting_emulator.control.logged_requests import find_entries, require_entry
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.explanations.trail import Explanations
from hosting_emulator.engine.request_views import summary_members
from hosting_emulator.http import responses
from hosting_emulator.http.endpoint import Context
from hosting_emulator.http.query import Limit, Query
from hosting_emulator.messages import Exchange, RequestFilters, RequestPage, WholeExchange
from hosting_emulator.world.value import World


async def list_requests(
    context: Context,
    engine: Engine,
    filters: RequestFilters,
    limit: Limit = 50,
    trail: Annotated[
        bool, Query("Include each exchange's trail: the decisions that led to the response.")
    ] = True,
) -> web.StreamResponse:
    """List the latest matching exchanges, newest first, with the total number of exchanges.

    `call` is the id of a call, or `none` for requests that match no call. `status` is a status such
    as 404, or a class such as 4xx. `user` and `project` are each an alias or an id, and `user` can
    also be `nobody`. `since` and `before` (exclusive) are timestamps in world time, or durations
    before now. `after` selects the requests after the one with this number. Without `trail`, the
    response is shorter and faster.
    """
    view = Explanations(engine.log).item if trail else _exchange_without_trail
    entries = await find_entries(engine, filters, limit)
    items = (view(engine.world, entry) for entry in entries)
    page = RequestPage(total=engine.log.count, times_cleared=engine.log.cleared, items=[])
    return await responses.json_list(context.request, page, "items", items)


def _exchange_without_trail(world: World, entry: Entry) -> Exchange:
    return Exchange(**summary_members(world, entry))


def show_request(engine: Engine, n: str) -> WholeExchange:
    """Show one exchange with headers, bodies and trail.

    Tokens, API keys and tickets of the service are removed. The values of the headers Authorization,
    Cookie and Set-Cookie are removed, too.
    """
    return Explanations(engine.log).whole(engine.world, require_entry(engine, n))
