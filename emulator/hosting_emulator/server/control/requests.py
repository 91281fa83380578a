"""Control of the request log: the last exchanges, those that are meant of them, one whole, or again."""

from __future__ import annotations

import difflib
import re
from contextlib import suppress
from functools import partial
from typing import Any

from hosting_emulator.calls.request import PlainHeaders
from hosting_emulator.conduct.watch import OWN
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.engine.pipeline import REDEEM_TICKET
from hosting_emulator.engine.request_log import NO_CALL, NOBODY, Entry, RequestFilter, entry_view
from hosting_emulator.server.control.context import Body, Context, ControlRefused, find
from hosting_emulator.server.public import carry_out
from hosting_emulator.world.tables import PEOPLE, PROJECTS

_STATUS = re.compile(r"0|[1-5]([0-9]{2}|xx)", re.IGNORECASE)
_CALLS = (*ALL_CALLS, REDEEM_TICKET)
Headers = list[tuple[bytes, bytes]]


def list_requests(context: Context, engine: Engine) -> dict[str, Any]:
    """GET …/requests?limit=50, newest first, and how many there have been.

    Filters: `call` (or `none`), `status` (404 or 4xx), `who` and `project` (alias or id; `nobody`),
    `since` and `until` (world time, or so long before now; until not included), `text` and `after`
    (a number). `trail=false` leaves the trails out.
    """
    limit = context.limit("limit", 50)
    view = Explanations(engine.log).item if context.choice("trail", True) else entry_view
    entries = find_entries(engine, read_filter(context, engine), limit)
    items = [view(engine.world, entry) for entry in entries]
    return {"total": engine.log.count, "items": items}


def show_request(engine: Engine, n: str) -> dict[str, Any]:
    """GET …/requests/{n}: one exchange with headers, bodies and trail, secrets cut out."""
    return Explanations(engine.log).whole(engine.world, _find_entry(engine, n))


def _find_entry(engine: Engine, n: str) -> Entry:
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
    given = {name: value for name, value in context.given.items() if value}
    world = engine.world
    who, about = given.get("who"), given.get("project")
    status = given.get("status", "")
    if status and not _STATUS.fullmatch(status):
        message = f"{status[:40]!r} is no status: write one like 404, or a class like 4xx"
        raise ControlRefused(400, "Bad status", message)
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
        message = f"{error}; or so long ago, like 90s or 5m"
        raise ControlRefused(400, f"Bad {name}", message) from None


def _number(name: str, text: str | None) -> int | None:
    if text is None:
        return None
    if not text.isascii() or not text.isdigit() or len(text) > 15:
        raise ControlRefused(400, f"Bad {name}", f"{name} is the number of a request")
    return int(text)


# --- sent again ----------------------------------------------------------------------------------


class Replay(Body):
    """Body of `POST …/requests/{n}/replay`."""

    same_key: bool = False


async def replay_request(context: Context, engine: Engine, n: str, body: Replay) -> dict[str, Any]:
    """POST …/requests/{n}/replay: the exchange that it came to, whole.

    The request is put to the world as it now is, with a new access token of the same person and
    organization (an API key is sent as it was), and with a new Idempotency-Key unless `same_key`.
    A fault that delays does so; one that breaks a connection is noted, for there is none.
    """
    entry = _find_entry(engine, n)
    if entry.body_bytes != len(entry.body):
        raise ControlRefused(
            409,
            "Not kept whole",
            f"of the body of request {entry.n} only the first {len(entry.body)} of "
            f"{entry.body_bytes} bytes were kept",
        )
    if entry.call == REDEEM_TICKET:
        raise ControlRefused(
            409, "Not replayed", f"request {entry.n} redeemed a ticket, which is good only once"
        )
    exchange = engine.exchange(_sent_again(context, engine, entry, body.same_key))
    await carry_out(exchange, context.request)
    made = engine.log.newest(1)[0]
    return Explanations(engine.log).whole(engine.world, made)


def _sent_again(context: Context, engine: Engine, entry: Entry, same_key: bool) -> ExchangeContext:
    headers = [*entry.headers, (OWN, b"replay")]
    token = _token(context, engine, entry)
    if token is not None:
        headers = _put(headers, b"Authorization", f"Bearer {token}")
    if not same_key:
        # A key is only remembered with a commit, so the number of the last one makes it a new one.
        headers = _put(headers, b"Idempotency-Key", f"replay-of-{entry.n}-at-{engine.world.commit}")
    sent = [(name.decode(), value.decode("utf-8", "surrogateescape")) for name, value in headers]
    return ExchangeContext(
        method=entry.method,
        path=entry.path,
        query=entry.query,
        docs_url=partial(context.site.docs_url, context.request),
        headers=PlainHeaders(sent),
        body=entry.body,
        dev_port=context.site.tls_port,
        raw_headers=headers,
    )


def _token(context: Context, engine: Engine, entry: Entry) -> str | None:
    """Mint the access token that the request's own has become; None: it had none, or has a key."""
    principal = entry.principal
    if principal is None or principal.api_key_id is not None:
        return None
    person = engine.world.get(PEOPLE, principal.person_id)
    if person is None:
        return None
    organization_id, interactive = principal.organization_id, principal.interactive
    engine.run_due()
    return engine.mint(person, organization_id, context.base_url, interactive=interactive)


def _put(headers: Headers, name: bytes, value: str) -> Headers:
    """Put a value in place of a header's; a header that was not sent is not added."""
    return [
        (known, value.encode() if known.lower() == name.lower() else found)
        for known, found in headers
    ]
