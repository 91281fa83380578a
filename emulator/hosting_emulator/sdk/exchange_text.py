"""Formats exchanges as text for log lines and reports."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from hosting_emulator.messages import Exchange, ExchangeSummary, TrailStep, WholeExchange

_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{22}([0-9A-HJKMNP-TV-Z]{4})")


@dataclass(frozen=True, slots=True)
class ExchangeCells:
    """The cells in an exchange's line in the log. A cell without a value is an empty string."""

    number: str
    at: str
    status: str
    method: str
    target: str
    about: str
    user: str
    took: str
    response: str
    why: str


def exchange_cells(
    exchange: ExchangeSummary, projects: Mapping[str, str], trail: Sequence[TrailStep] = ()
) -> ExchangeCells:
    """Return the cells for an exchange. `projects` maps project ids to aliases.

    If missing access caused a 404, `why` is the explanation from the `trail`, if there is one.
    """
    why = "; ".join(exchange.why)
    scope = [step.text for step in trail if step.step == "scope"]
    if exchange.status == 404 and scope:
        why = scope[0]
    about = exchange.operation or ""
    if exchange.project:
        about = projects.get(exchange.project, exchange.project)
    return ExchangeCells(
        number=f"#{exchange.n}",
        at=exchange.at,
        status=str(exchange.status or "---"),
        method=exchange.method,
        target=exchange.call or exchange.path,
        about=about,
        user=exchange.user or "",
        took=f"{exchange.duration_us / 1000:.2f} ms",
        response=", ".join(_response_words(exchange, "lost: {}")),
        why=why,
    )


def trail_of(exchange: ExchangeSummary) -> Sequence[TrailStep]:
    """Return an exchange's trail, or an empty sequence if it has none."""
    if isinstance(exchange, Exchange | WholeExchange):
        return exchange.trail or ()
    return ()


def exchange_row(exchange: ExchangeSummary) -> list[str]:
    """Return the cells for a short line: number, request, user and response.

    Only the last four characters of each id in the path are shown.
    """
    target = exchange.call or _ULID.sub(r"…\1", exchange.path)
    return [
        f"  #{exchange.n}",
        f"{exchange.method:<4} {target}",
        exchange.user or "-",
        response_text(exchange),
    ]


@dataclass(frozen=True, slots=True)
class FoldedRow:
    """One line for consecutive requests whose lines would differ only in their numbers.

    `first` is the index of the first of these requests, and `count` is how many there are.
    """

    cells: list[str]
    first: int
    count: int


def fold_rows(rows: Sequence[list[str]]) -> list[FoldedRow]:
    """Fold consecutive rows that differ only in their first cell, which ends with the request
    number.

    The first cell of a folded row contains the first and last number, as in `#1-#300`. The fourth
    cell, the response, ends with the number of requests, as in `200 ×300`.
    """
    folded: list[FoldedRow] = []
    start = 0
    for index in range(1, len(rows) + 1):
        if index < len(rows) and _without_number(rows[index]) == _without_number(rows[start]):
            continue
        cells = list(rows[start])
        count = index - start
        if count > 1:
            _, last_number = rows[index - 1][0].split("#")
            cells[0] = f"{cells[0]}-#{last_number}"
            cells[3] = f"{cells[3]} ×{count:,}"
        folded.append(FoldedRow(cells, start, count))
        start = index
    return folded


def _without_number(row: Sequence[str]) -> list[str]:
    mark, _ = row[0].split("#")
    return [mark, *row[1:]]


def response_text(exchange: ExchangeSummary) -> str:
    """Describe a response, for example `409 idempotency_key_reused` or `lost (timeout)`."""
    words = _response_words(exchange, "lost ({})")
    if exchange.status:
        words.insert(0, str(exchange.status))
    return " ".join(words) or "no response"


def _response_words(exchange: ExchangeSummary, lost: str) -> list[str]:
    words = []
    if exchange.code:
        words.append(exchange.code)
    if exchange.replayed:
        words.append("replayed")
    if exchange.lost:
        words.append(lost.format(exchange.lost))
    if exchange.stale_at:
        words.append("stale")
    if exchange.second_delivery_of:
        words.append(f"second delivery of #{exchange.second_delivery_of}")
    if exchange.discarded:
        words.append("discarded")
    if exchange.in_progress:
        words.append("in progress")
    return words
