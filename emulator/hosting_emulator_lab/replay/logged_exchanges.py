"""Reads exchanges of the emulator's own request log, with headers and bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hosting_emulator.contract.calls import REDEEM_TICKET
from hosting_emulator.contract.conversion import convert
from hosting_emulator_lab.replay.entry_errors import reading_entry
from hosting_emulator_lab.replay.moments import moment_ms
from hosting_emulator_lab.replay.recording import (
    INCOMPLETE_BODY,
    MISSING_BODY,
    RecordedExchange,
    Recording,
    RecordRefused,
)


def read_exchanges(items: Sequence[Any]) -> Recording:
    """Read exchanges in any order.

    Raises RecordRefused if one of them has no headers and bodies, or if there are none.
    """
    exchanges = []
    for index, item in enumerate(items):
        with reading_entry(f"[{index}]"):
            if "request" not in item or "response" not in item:
                raise RecordRefused(
                    f"request {item['n']} has no headers and bodies: write the record with "
                    "`hosting-emulator requests har`, or with `requests list --json --whole`"
                )
            # Skip second deliveries, because a fault made them. In a replay, the same fault makes
            # them again.
            if item.get("call") != REDEEM_TICKET and not item.get("second_delivery_of"):
                exchanges.append(_read_exchange(item, _delivered_exchange(item, items)))
    if not exchanges:
        raise RecordRefused("it contains no request")
    in_order = sorted(exchanges, key=lambda exchange: exchange.n)
    return Recording(tuple(in_order), from_emulator=True)


def _delivered_exchange(item: Mapping[str, Any], items: Sequence[Any]) -> Mapping[str, Any]:
    """Return the exchange whose response the client received.

    If the response to the first delivery of a request was discarded, this is the second delivery.
    """
    if item.get("discarded"):
        for other in items:
            if other.get("second_delivery_of") == item["n"] and "response" in other:
                return other  # type: ignore[no-any-return]
    return item


def _read_exchange(item: Mapping[str, Any], delivered: Mapping[str, Any]) -> RecordedExchange:
    request = item["request"]
    target = item["path"]
    if item["query"]:
        target = f"{target}?{item['query']}"
    body = None
    if request["body_bytes"]:
        body = (request["body"] or "").encode()
    missing_part = None
    if _is_incomplete(request):
        missing_part = INCOMPLETE_BODY if request["body"] else MISSING_BODY
    exchange = {
        "n": item["n"],
        "at_ms": moment_ms(item["at"]),
        "method": item["method"],
        "target": target,
        "headers": request["headers"],
        "body": body,
        "sender": _sender_of(item),
        "response": _response_of(delivered),
        "missing_part": missing_part,
        "call": item.get("call"),
    }
    return convert(exchange, RecordedExchange)


def _sender_of(item: Mapping[str, Any]) -> dict[str, Any] | None:
    """Return the sender of a request, or None if it was not authenticated.

    The log does not show whether a session was interactive, so the sender gets an interactive
    session.
    """
    user = item["user_id"]
    alias = item["user"]
    if not user:
        return None
    return {"user": user, "alias": alias, "interactive": True}


def _response_of(delivered: Mapping[str, Any]) -> dict[str, Any] | None:
    response = delivered["response"]
    text = None
    if not _is_incomplete(response):
        text = response["body"]
    if delivered["lost"] is not None or not delivered["status"]:
        return None
    return {"status": delivered["status"], "headers": response["headers"], "text": text}


def _is_incomplete(message: Mapping[str, Any]) -> bool:
    return message["body"] is None or bool(message["body_cut"])
