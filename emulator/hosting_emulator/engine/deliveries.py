"""Handles requests that a fault delivers twice. The log lists the second delivery as a separate
exchange.

The client receives the response to one of the deliveries, and the other response is discarded.
Faults on the call and on its response are applied only to the delivery whose response the client
receives. The second delivery does not count as a request by the client.
"""

from __future__ import annotations

from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.faults.decisions import Decision
from hosting_emulator.faults.kinds.deliver_twice import DeliverTwice


def prepare_second_delivery(ctx: ExchangeContext, decision: Decision) -> None:
    """Prepare the second delivery of a request if a fault delivers it twice.

    The request is copied before its steps run, because the log may truncate its body.
    """
    kind = decision.effect
    if not isinstance(kind, DeliverTwice):
        return
    fault = decision.acted[-1]
    ctx.acted += (fault,)
    second = ctx.copy_request()
    second.second_delivery_of = ctx.n
    ctx.second_delivery = second
    ctx.is_discarded = kind.response == "second"
    second.is_discarded = not ctx.is_discarded
    ctx.why += (
        f"{fault.id} ({fault.kind}) acted, hit {fault.hits}: the client receives the response to "
        f"the {kind.response} delivery",
    )
    second.why = (f"{fault.id} ({fault.kind}) sent this second delivery of request {ctx.n}",)
    if ctx.is_discarded:
        # The wait before a retry depends on the response that the client receives, so move the wait
        # key to the second delivery.
        second.wait_key = ctx.wait_key
        ctx.wait_key = ""


def refuse_second_delivery(ctx: ExchangeContext, refused: Refused) -> None:
    """Refuse the second delivery as well, without counting it against the rate limit."""
    second = ctx.second_delivery
    if isinstance(second, ExchangeContext):
        second.refused = refused
