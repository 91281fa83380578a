"""Replay: a request of the log is sent again, as the person it was sent by."""

from __future__ import annotations

from functools import partial

import msgspec
from aiohttp import web

from hosting_emulator.calls.request import PlainHeaders
from hosting_emulator.conduct.watch import OWN
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.explanations import Explanations
from hosting_emulator.engine.identity import issuer_path
from hosting_emulator.engine.pipeline import REDEEM_TICKET
from hosting_emulator.engine.request_log import Entry
from hosting_emulator.server import answers
from hosting_emulator.server.control.context import Context, ControlRefused
from hosting_emulator.server.control.requests import find_entry
from hosting_emulator.server.public import carry_out
from hosting_emulator.world.tables import PEOPLE

Headers = list[tuple[bytes, bytes]]


class Replay(msgspec.Struct, forbid_unknown_fields=True):
    """Body of `POST …/requests/{n}/replay`."""

    same_key: bool = False


async def replay_request(context: Context, world: str, n: str) -> web.Response:
    """POST …/requests/{n}/replay: the exchange that it came to, whole.

    The request is put to the world as it now is, with a new access token of the same person and
    organization (an API key is sent as it was), and with a new Idempotency-Key unless `same_key`.
    A fault that delays does so; one that breaks a connection is noted, for there is none.
    """
    engine = context.engine(world)
    asked = await context.read(Replay)
    entry = find_entry(engine, n)
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
    exchange = engine.exchange(_sent_again(context, engine, entry, asked.same_key))
    await carry_out(exchange, context.request)
    made = engine.log.newest(1)[0]
    return answers.json(Explanations(engine.log).whole(engine.world, made))


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
    assumptions = engine.world.assumptions
    return engine.identity.mint(
        person,
        principal.organization_id,
        issuer=context.base_url + issuer_path(engine.world.name),
        audience=assumptions.token_audience,
        now_ms=engine.run_due(),
        lifetime_s=max(1, parse_duration_ms(assumptions.token_lifetime) // 1000),
        interactive=principal.interactive,
    )


def _put(headers: Headers, name: bytes, value: str) -> Headers:
    """Put a value in place of a header's; a header that was not sent is not added."""
    return [
        (known, value.encode() if known.lower() == name.lower() else found)
        for known, found in headers
    ]
