"""Control of the request log: the last exchanges, those that are meant of them, and one whole."""

from __future__ import annotations

import difflib
import re
from contextlib import suppress
from urllib.parse import parse_qs

from aiohttp import web

from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.engine.pipeline import REDEEM_TICKET
from hosting_emulator.engine.request_log import NO_CALL, NOBODY, Entry, RequestFilter, entry_view
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.people import find
from hosting_emulator.world.tables import PEOPLE, PROJECTS

FILTERS = ("call", "status", "who", "project", "since", "until", "text", "after")
_STATUS = re.compile(r"0|[1-5]([0-9]{2}|xx)", re.IGNORECASE)
_CALLS = (*ALL_CALLS, REDEEM_TICKET)


async def list_requests(context: Context, world: str) -> web.Response:
    """GET …/requests?limit=50, newest first, and how many there have been.

    Filters: `call` (or `none`), `status` (404 or 4xx), `who` and `project` (alias or id; `nobody`),
    `since` and `until` (world time, or so long before now; until not included), `text` and `after`
    (a number). `trail=false` leaves the trails out.
    """
    engine = context.engine(world)
    limit = read_limit(context, "limit", 50)
    view = Explanations(engine.log).item if read_choice(context, "trail", "true") else entry_view
    found = find_entries(engine, read_filter(context, engine), limit)
    items = [view(engine.world, entry) for entry in found]
    return answers.json({"total": engine.log.count, "items": items})


async def show_request(context: Context, world: str, n: str) -> web.Response:
    """GET …/requests/{n}: one exchange with headers, bodies and trail, secrets cut out."""
    engine = context.engine(world)
    return answers.json(Explanations(engine.log).whole(engine.world, find_entry(engine, n)))


def find_entry(engine: Engine, n: str) -> Entry:
    """Return the exchange of a number, as a path gives it. Raises ControlRefused 404."""
    entry = engine.log.find(int(n)) if n.isascii() and n.isdigit() and len(n) < 16 else None
    if entry is None:
        raise ControlRefused(
            404,
            "No such request",
            f"the log has no request {n[:40]!r}: it keeps the last {len(engine.log)} of "
            f"{engine.log.count}",
        )
    return entry


def find_entries(engine: Engine, chosen: RequestFilter, limit: int) -> list[Entry]:
    """Return the last `limit` exchanges that are meant, newest first."""
    if chosen == RequestFilter():
        return engine.log.newest(limit)
    return [entry for entry in engine.log.newest(len(engine.log)) if chosen.fits(entry)][:limit]


def read_filter(context: Context, engine: Engine) -> RequestFilter:
    """Return which exchanges the query means. Raises ControlRefused 400 or 404, naming the filter."""
    given = {name: value for name, value in _given(context).items() if name in FILTERS and value}
    world = engine.world
    who, about = given.get("who"), given.get("project")
    status = given.get("status", "")
    if status and not _STATUS.fullmatch(status):
        said = f"{status[:40]!r} is no status: write one like 404, or a class like 4xx"
        raise ControlRefused(400, "Bad status", said)
    whole_class = status.lower().endswith("xx")
    return RequestFilter(
        call=_known_call(given.get("call")),
        status=int(status) if status and not whole_class else None,
        status_class=int(status[0]) if whole_class else None,
        who=who if who in (None, NOBODY) else find(world, PEOPLE, who).id,
        project=None if about is None else find(world, PROJECTS, about).id,
        since_ms=_moment(engine, "since", given.get("since")),
        until_ms=_moment(engine, "until", given.get("until")),
        text=given.get("text"),
        after=_number("after", given.get("after")),
    )


def read_limit(context: Context, name: str, default: int) -> int:
    """Return a number from 1 to 1000 of the query. Raises ControlRefused 400."""
    given = _given(context).get(name, str(default))
    if not given.isascii() or not given.isdigit() or not 1 <= int(given[:9]) <= 1000:
        raise ControlRefused(400, f"Bad {name}", f"{name} is a number from 1 to 1000")
    return int(given)


def read_choice(context: Context, name: str, default: str = "false") -> bool:
    """Return a yes or no of the query. Raises ControlRefused 400."""
    given = _given(context).get(name, default)
    if given not in ("true", "false"):
        raise ControlRefused(400, f"Bad {name}", f"{name} is true or false")
    return given == "true"


def _given(context: Context) -> dict[str, str]:
    query = parse_qs(context.query, keep_blank_values=True)
    return {name: values[-1] for name, values in query.items()}


def _known_call(call: str | None) -> str | None:
    if call in (None, NO_CALL, *_CALLS):
        return call
    near = difflib.get_close_matches(str(call), _CALLS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"there are {', '.join(_CALLS)} and {NO_CALL}"
    raise ControlRefused(400, "Bad call", f"no call is named {str(call)[:80]!r}; {hint}")


def _moment(engine: Engine, name: str, text: str | None) -> int | None:
    if text is None:
        return None
    with suppress(ValueError):
        return engine.run_due() - parse_duration_ms(text)
    try:
        return parse_timestamp(text)
    except ValueError as error:
        said = f"{error}; or so long ago, like 90s or 5m"
        raise ControlRefused(400, f"Bad {name}", said) from None


def _number(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise ControlRefused(400, f"Bad {name}", f"{name} is the number of a request")
    return int(text)
