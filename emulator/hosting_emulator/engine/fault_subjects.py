"""The properties of a request against which the rules of faults and outcomes are matched."""

from __future__ import annotations

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.faults.matching import FaultSubject


def fault_subject(engine: Engine, ctx: ExchangeContext) -> FaultSubject:
    """Return the properties of a request against which the rules of faults and outcomes are matched."""
    project, organization = ctx.about(engine.world)
    return FaultSubject(
        call=str(ctx.call),
        project=project,
        organization=organization,
        principal=ctx.principal.user_id,
        method=ctx.method,
        path=ctx.path,
        headers=ctx.headers.getall,
        query=ctx.query,
        body=ctx.body,
        credentials=ctx.credentials,
        replayed=ctx.replayed,
        has_body=ctx.announces_body or bool(ctx.body),
        connection=_connection_word(ctx),
    )


def _connection_word(ctx: ExchangeContext) -> str | None:
    """Return `new` or `reused` for a request's connection, or None if it has no connection."""
    if ctx.is_connection_reused is None:
        return None
    return "reused" if ctx.is_connection_reused else "new"
