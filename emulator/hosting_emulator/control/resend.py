"""The endpoint that resends a request from the request log."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from multidict import CIMultiDict

from hosting_emulator.contract.calls import REDEEM_TICKET
from hosting_emulator.control.logged_requests import require_entry
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry, ExchangeContext
from hosting_emulator.engine.explanations.trail import Explanations
from hosting_emulator.http.endpoint import Body, Context, ControlRefusal, Example
from hosting_emulator.http.exchanges import wait_for
from hosting_emulator.messages import WholeExchange
from hosting_emulator.world.tables import USERS


class Resend(Body):
    """The options for resending a request. If `same_key` is true, the request keeps its Idempotency-Key."""

    same_key: bool = False


async def resend_request(
    context: Context, engine: Engine, n: str, body: Annotated[Resend, Example({"same_key": True})]
) -> WholeExchange:
    """Resend a request from the log, and return the new exchange.

    The request is sent to the world in its current state. An access token is replaced with a new
    one for the same user and organization. An API key is sent unchanged. Unless `same_key` is true,
    an Idempotency-Key is replaced with a new one. Faults that delay the response take effect.
    Faults that break the connection are only recorded, because a resent request has no connection.
    """
    entry = require_entry(engine, n)
    _check_can_be_resent(entry)
    replaced_headers = {}
    token = _new_token(context, engine, entry)
    if token is not None:
        replaced_headers[b"authorization"] = f"Bearer {token}".encode()
    if not body.same_key:
        # Only commits store keys, so a key with the number of the latest commit cannot be in use.
        key = f"resend-of-{entry.n}-at-{engine.world.commit}"
        replaced_headers[b"idempotency-key"] = key.encode()
    # Replace only headers that the client sent, and do not add any.
    headers = [
        (name, replaced_headers.get(name.lower(), value)) for name, value in entry.raw_headers
    ]
    text_headers = [
        (name.decode(), value.decode("utf-8", "surrogateescape")) for name, value in headers
    ]
    exchange = ExchangeContext(
        method=entry.method,
        path=entry.path,
        query=entry.query,
        docs_url=partial(context.site.docs_url, context.request),
        headers=CIMultiDict(text_headers),
        body=entry.body,
        dev_port=context.site.tls_port,
        raw_headers=headers,
        from_emulator=True,
    )
    await run_exchange(engine, exchange, wait=partial(wait_for, context.request))
    # Return this exchange rather than the newest one, because other requests may have arrived
    # during a delay.
    return Explanations(engine.log).whole(engine.world, exchange)


def _check_can_be_resent(entry: Entry) -> None:
    """Raise ControlRefusal 409 if a request was not logged in full or redeems a ticket."""
    missing = ""
    if entry.headers_cut:
        missing = f"only the beginning of the headers of request {entry.n} was kept"
    elif entry.body_bytes and not entry.body:
        missing = f"the body of request {entry.n} was not kept"
    elif entry.body_bytes != len(entry.body):
        missing = (
            f"only the first {len(entry.body)} of {entry.body_bytes} bytes of the body of request "
            f"{entry.n} were kept"
        )
    if missing:
        raise ControlRefusal(409, "Not kept completely", missing)
    if entry.call == REDEEM_TICKET:
        message = f"request {entry.n} redeems a ticket, which works only once"
        raise ControlRefusal(409, "Not resent", message)


def _new_token(context: Context, engine: Engine, entry: Entry) -> str | None:
    """Return a new access token for the user who sent a request.

    Returns None if the request had no access token, or if the token's user no longer exists.
    """
    principal = entry.principal
    user = engine.world.get(USERS, principal.user_id)
    if principal.api_key_id is not None or user is None:
        return None
    engine.run_due()
    return engine.mint(
        user,
        principal.organization_id,
        context.base_url,
        interactive=principal.interactive,
    )
