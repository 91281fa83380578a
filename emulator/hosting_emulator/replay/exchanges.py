"""Reading whole exchanges of our own request log, as the control API and `--json` show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hosting_emulator.replay.moments import moment_ms
from hosting_emulator.replay.parts import (
    NOT_KEPT,
    REDEEM,
    At,
    a_number,
    a_text,
    maybe_text,
    why_not_sent,
)
from hosting_emulator.replay.record import (
    Answered,
    Headers,
    Record,
    Recorded,
    RecordRefused,
    Who,
)


def read_exchanges(items: Sequence[Any]) -> Record:
    """Read exchanges in any order. Raises RecordRefused."""
    found = []
    for place, item in enumerate(items):
        with At(f"[{place}]"):
            if "request" not in item or "answer" not in item:
                raise RecordRefused(
                    f"request {item['n']} is there without headers and bodies: write the record "
                    "with `hosting-emulator requests har`, or with `requests list --json --whole`"
                )
            if item.get("call") != REDEEM:
                found.append(_exchange(item))
    if not found:
        raise RecordRefused("there is no request in it")
    return Record(tuple(sorted(found, key=lambda one: one.n)), own=True)


def _exchange(item: Mapping[str, Any]) -> Recorded:
    asked, answer = item["request"], item["answer"]
    target = a_text(item["path"]) + (f"?{item['query']}" if item["query"] else "")
    headers = _pairs(asked["headers"])
    text = a_text(asked["body"] or "")
    cut = _is_cut(asked)
    lost = item["lost"] is not None or not item["status"]
    return Recorded(
        n=a_number(item["n"]),
        at_ms=moment_ms(item["at"]),
        method=a_text(item["method"]),
        target=target,
        headers=headers,
        body=text.encode() if asked["body_bytes"] else None,
        who=_who_of_exchange(item),
        credential=any(name.lower() == "authorization" for name, _ in headers),
        answer=None
        if lost
        else Answered(
            a_number(item["status"]),
            _pairs(answer["headers"]),
            None if _is_cut(answer) else maybe_text(answer["body"]),
        ),
        unsendable=NOT_KEPT
        if cut
        else why_not_sent(item["method"], target, headers, text.encode()),
        call=maybe_text(item.get("call")),
    )


def _is_cut(message: Mapping[str, Any]) -> bool:
    return message["body"] is None or bool(message["body_cut"])


def _pairs(headers: Sequence[Sequence[str]]) -> Headers:
    return tuple((a_text(name), a_text(value)) for name, value in headers)


def _who_of_exchange(item: Mapping[str, Any]) -> Who | None:
    if item["principal"] is None:
        return None
    return Who(a_text(item["principal"]), maybe_text(item["who"]), None, True, None, None)
