"""Exchanges of the request log, and what became of a recording sent again, as plain text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hosting_emulator_cli.output import (
    console,
    is_terminal,
    printable,
    printable_json,
    printable_lines,
    put,
    table,
)

if TYPE_CHECKING:
    from hosting_emulator.replay import Recording, Replayed, ReplayReport
    from hosting_emulator.sdk import Exchange, ExchangeCells, HostingEmulator, Message

_HEADERS = ("N", "AT", "STATUS", "METHOD", "CALL", "PROJECT", "WHO", "MS", "ANSWER", "WHY")


def project_aliases(world: HostingEmulator) -> dict[str, str]:
    """Return the aliases of a world's projects by id, as it now is."""
    return {project["id"]: project["alias"] for project in world.summary["projects"]}


def cells_of(exchange: Exchange, projects: Mapping[str, str]) -> ExchangeCells:
    """Write an exchange part by part, such that no part can steer a terminal."""
    from hosting_emulator.sdk import ExchangeCells, exchange_cells

    return ExchangeCells(*map(printable, exchange_cells(exchange, projects)))


def target(exchange: Exchange) -> str:
    """Write what stood in the request's first line: method, path and query."""
    query = f"?{exchange['query']}" if exchange["query"] else ""
    return printable(f"{exchange['method']} {exchange['path']}{query}")


def cut_words(message: Message) -> str:
    """Say that what is shown of a body is a part of it."""
    return f"… only its beginning was kept: it has {message['body_bytes']} bytes."


def exchange_table(exchanges: Iterable[Exchange], projects: Mapping[str, str]) -> str:
    """Lay out exchanges, one in a line."""
    rows = [
        (
            exchange.n,
            cells.at,
            exchange.status or cells.status,
            cells.method,
            cells.asked,
            cells.about or None,
            exchange.who,
            round(exchange.duration_us / 1000, 2),
            cells.answer or None,
            cells.why or None,
        )
        for exchange in exchanges
        for cells in [cells_of(exchange, projects)]
    ]
    return table(_HEADERS, rows)


def exchange_line(exchange: Exchange, projects: Mapping[str, str], *, why: bool = True) -> str:
    """Write one exchange in a line that does not know of others, with its reason."""
    cells = cells_of(exchange, projects)
    shown = cells._replace(who=cells.who or "-", why=cells.why if why else "")
    return "  ".join(cell for cell in shown if cell)


def show_whole(exchange: Exchange, projects: Mapping[str, str]) -> None:
    """Print a whole exchange, with colours on a terminal."""
    if not is_terminal():
        put(_whole_text(exchange, projects))
        return
    from hosting_emulator_cli.rich_views import whole_view

    out = console()
    out.print(whole_view(exchange, projects, out.width))


def _whole_text(exchange: Exchange, projects: Mapping[str, str]) -> str:
    """Write its line, its explanation, and both sides with headers and bodies."""
    steps = exchange.get("trail", [])
    width = max((len(step["step"]) for step in steps), default=0)
    return "\n".join(
        [
            exchange_line(exchange, projects, why=False),
            "",
            *(f"  {step['step']:<{width}}  {printable(step['says'])}" for step in steps),
            "",
            target(exchange),
            *_message_lines(exchange["request"]),
            "",
            str(exchange["status"] or "no answer"),
            *_message_lines(exchange["answer"]),
        ]
    )


def _message_lines(message: Message) -> Iterator[str]:
    yield from (printable(f"  {name}: {value}") for name, value in message["headers"])
    if not message["body_bytes"]:
        return
    yield ""
    body = message["body"]
    if body is None:
        yield f"  {message['body_bytes']} bytes that are no text"
        return
    with suppress(ValueError):  # no JSON, or not all of it: as it is
        body = printable_json(json.loads(body))
    yield from (f"  {line}" for line in printable_lines(body).splitlines())
    if message["body_cut"]:
        yield f"  {cut_words(message)}"


# --- A recording sent again ----------------------------------------------------------------------


def replay_text(report: ReplayReport, record: Recording) -> str:
    """Lay out a report: a line for each request, what differs below it, and the sum."""
    width = max((len(f"#{one.recorded.n}") for one in report.requests), default=0)
    lines = [line for one in report.requests for line in _replayed_lines(one, width)]
    lines += ["", *(f"Note: {sentence}." for sentence in report.notes)]
    if record.left_out:
        more = len(record.left_out) - 1
        rest = f" and {more} more" if more else ""
        lines.append(f"Note: left out, for it is no call: {record.left_out[0]}{rest}.")
    sent, differ = len(report.requests) - len(report.skipped), len(report.differing)
    skipped = f", {len(report.skipped)} skipped" if report.skipped else ""
    lines.append(
        f"{sent} requests sent to {report.world}: {sent - differ} same, {differ} differ{skipped}"
    )
    return "\n".join(map(printable, lines))


def _replayed_lines(one: Replayed, width: int) -> Iterator[str]:
    asked = f"{one.recorded.method} {one.recorded.target}"
    number = f"#{one.recorded.n}".ljust(width)
    if one.skipped is not None:
        yield f"{number}  skipped  {asked}: {one.skipped}"
        return
    word = "differs" if one.differences else "same"
    status = "---" if one.answer is None else one.answer.status
    yield f"{number}  {word:<7}  {status}  {asked}"
    for at, recorded, answered in one.differences:
        yield f"{'':{width}}    {at}: {_short(recorded)} then, {_short(answered)} now"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 100 else f"{text[:99]}…"
