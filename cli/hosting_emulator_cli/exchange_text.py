"""Formats exchanges from the request log as text, on one line or in full.

Text from a client is escaped, so that it cannot control the terminal. `rich_views` draws the same
exchanges in color.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Literal

from hosting_emulator_cli import output as out
from hosting_emulator_cli.printable import printable, printable_json, printable_lines
from hosting_emulator_cli.tables import table

if TYPE_CHECKING:
    from hosting_emulator.sdk import ExchangeSummary, HostingEmulator, Message, WholeExchange
    from hosting_emulator.sdk.exchange_text import ExchangeCells

_HEADERS = ("N", "AT", "STATUS", "METHOD", "CALL", "PROJECT", "USER", "MS", "RESPONSE", "WHY")


@dataclass(frozen=True)
class BodyPart:
    """Part of a body's text: content, or a remark that the body is truncated or binary."""

    kind: Literal["json", "text", "binary", "cut"]
    text: str


def project_aliases(world: HostingEmulator) -> dict[str, str]:
    """Return the aliases of a world's current projects, keyed by project id."""
    return {project.id: project.alias for project in world.summary.projects}


def printable_cells(exchange: ExchangeSummary, aliases: Mapping[str, str]) -> ExchangeCells:
    """Return the table cells for an exchange as printable text. `aliases` maps project ids to
    aliases.
    """
    from hosting_emulator.sdk.exchange_text import ExchangeCells, exchange_cells, trail_of

    cells = exchange_cells(exchange, aliases, trail_of(exchange))
    texts = {name: printable(text) for name, text in asdict(cells).items()}
    return ExchangeCells(**texts)


def request_target(exchange: ExchangeSummary) -> str:
    """Return a request's method, path and query as printable text."""
    target = f"{exchange.method} {exchange.path}"
    if exchange.query:
        target += f"?{exchange.query}"
    return printable(target)


def body_parts(message: Message) -> Iterator[BodyPart]:
    """Yield the content of a body and, if the content is truncated, a remark."""
    if not message.body_bytes:
        return
    from hosting_emulator.sdk.text import count_text

    if message.body_cut and not message.body:
        yield BodyPart("cut", "The body was not kept.")
        return
    if message.body is None:
        yield BodyPart("binary", f"{count_text(message.body_bytes, 'byte')} of binary data")
        return
    try:
        yield BodyPart("json", printable_json(json.loads(message.body)))
    except ValueError:  # the body is not JSON, or is truncated
        yield BodyPart("text", printable_lines(message.body))
    if message.body_cut:
        yield BodyPart(
            "cut", f"… truncated: the body has {count_text(message.body_bytes, 'byte')}."
        )


def exchange_line(
    exchange: ExchangeSummary, aliases: Mapping[str, str], *, has_reason: bool = True
) -> str:
    """Format an exchange as one line that is not aligned with the lines of other exchanges.

    `has_reason` determines whether the line includes the reason for the response.
    """
    cells = printable_cells(exchange, aliases)
    cells = replace(cells, user=cells.user or "-")
    if not has_reason:
        cells = replace(cells, why="")
    return "  ".join(text for text in asdict(cells).values() if text)


def exchange_table(exchanges: Iterable[ExchangeSummary], aliases: Mapping[str, str]) -> str:
    """Format exchanges as a table with a row for each exchange."""
    rows: list[list[object]] = []
    for exchange in exchanges:
        cells = printable_cells(exchange, aliases)
        row = (
            exchange.n,
            cells.at,
            exchange.status or cells.status,
            cells.method,
            cells.target,
            cells.about,
            cells.user,
            round(exchange.duration_us / 1000, 2),
            cells.response,
            cells.why,
        )
        # Replace empty cells with None, because `table` shows None as `-`.
        rows.append([None if cell == "" else cell for cell in row])
    return table(_HEADERS, rows)


def put_exchanges(exchanges: Iterable[ExchangeSummary], aliases: Mapping[str, str]) -> None:
    """Print exchanges in color on a terminal."""
    from hosting_emulator_cli.rich_views import line_view

    screen = out.console()
    for exchange in exchanges:
        screen.print(line_view(exchange, aliases, screen.width))


def put_whole(world: HostingEmulator, exchange: WholeExchange, as_json: bool) -> None:
    """Print an exchange in full: its explanation, its request and its response."""
    if as_json:
        out.put_json(exchange)
        return
    aliases = project_aliases(world)
    if not out.is_terminal():
        out.put("\n".join(_whole_lines(exchange, aliases)))
        return
    from hosting_emulator_cli.rich_views import whole_view

    screen = out.console()
    screen.print(whole_view(exchange, aliases, screen.width))


def _whole_lines(exchange: WholeExchange, aliases: Mapping[str, str]) -> Iterator[str]:
    yield exchange_line(exchange, aliases, has_reason=False)
    yield ""
    width = max((len(step.step) for step in exchange.trail), default=0)
    for step in exchange.trail:
        yield f"  {step.step:<{width}}  {printable(step.text)}"
    yield ""
    yield request_target(exchange)
    yield from _message_lines(exchange.request)
    yield ""
    yield str(exchange.status or "no response")
    yield from _message_lines(exchange.response)


def _message_lines(message: Message) -> Iterator[str]:
    for name, value in message.headers:
        yield printable(f"  {name}: {value}")
    if message.body_bytes:
        yield ""
    for part in body_parts(message):
        for line in part.text.splitlines():
            yield f"  {line}"
