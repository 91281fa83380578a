"""Control of the request log: the last exchanges, one of them whole, and a world's story in short."""

from __future__ import annotations

from urllib.parse import parse_qs

from aiohttp import web

from hosting_emulator.engine.request_log import entry_view, exchange_view
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused


async def list_requests(context: Context, world: str) -> web.Response:
    """GET …/requests?limit=50, newest first, and how many there have been."""
    engine = context.engine(world)
    limit = read_limit(context, "limit", 50)
    items = [entry_view(engine.world, entry) for entry in engine.log.newest(limit)]
    return answers.json({"total": engine.log.count, "items": items})


async def show_request(context: Context, world: str, n: str) -> web.Response:
    """GET …/requests/{n}: one exchange with headers and bodies, secrets cut out."""
    engine = context.engine(world)
    entry = engine.log.find(int(n)) if n.isascii() and n.isdigit() and len(n) < 16 else None
    if entry is None:
        raise ControlRefused(
            404,
            "No such request",
            f"the log has no request {n[:40]!r}: it keeps the last {len(engine.log)} of "
            f"{engine.log.count}",
        )
    return answers.json(exchange_view(engine.world, entry))


def read_limit(context: Context, name: str, default: int) -> int:
    """Return a number from 1 to 1000 of the query. Raises ControlRefused 400."""
    given = parse_qs(context.query, keep_blank_values=True).get(name, [str(default)])[-1]
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= 1000:
        raise ControlRefused(400, f"Bad {name}", f"{name} is a number from 1 to 1000")
    return int(given)
