"""Exchanges of the request log as plain text: for pipes, files and people without a terminal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING

from hosting_emulator_cli.looks.terminal import printable, printable_json, printable_lines
from hosting_emulator_cli.output import table

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient, Exchange, Message, WholeExchange

_HEADERS = ("N", "AT", "STATUS", "METHOD", "CALL", "PROJECT", "WHO", "MS", "ANSWER", "WHY")


def project_aliases(client: ControlClient, world: str) -> dict[str, str]:
    """Return the aliases of a world's projects by id."""
    return {project["id"]: project["alias"] for project in client.world(world)["projects"]}


def cut_words(message: Message) -> str:
    """Say that what is shown of a body is a part of it."""
    return f"… only its beginning was kept: it has {message['body_bytes']} bytes."


def exchange_table(exchanges: Iterable[Exchange], projects: Mapping[str, str]) -> str:
    """Lay out exchanges, one in a line."""
    return table(_HEADERS, (_row(exchange, projects) for exchange in exchanges))


def exchange_line(exchange: Exchange, projects: Mapping[str, str]) -> str:
    """Write one exchange in a line that does not know of others, with its reason."""
    from hosting_emulator.sdk import exchange_cells

    cells = exchange_cells(exchange, projects)
    return printable("  ".join(cell for cell in cells._replace(who=cells.who or "-") if cell))


def whole_text(exchange: WholeExchange, projects: Mapping[str, str]) -> str:
    """Write a whole exchange: its line, its trail, and both sides with headers and bodies."""
    from hosting_emulator.sdk import Exchange

    trail = exchange.get("trail", [])
    width = max((len(step["step"]) for step in trail), default=0)
    shown = exchange["path"] + (f"?{exchange['query']}" if exchange["query"] else "")
    return "\n".join(
        [
            exchange_line(Exchange({**exchange, "why": (), "trail": ()}), projects),
            "",
            *(f"  {step['step']:<{width}}  {printable(step['says'])}" for step in trail),
            "",
            printable(f"{exchange['method']} {shown}"),
            *_message(exchange["request"]),
            "",
            str(exchange["status"] or "no answer"),
            *_message(exchange["answer"]),
        ]
    )


def _row(exchange: Exchange, projects: Mapping[str, str]) -> list[object]:
    from hosting_emulator.sdk import exchange_cells

    cells = exchange_cells(exchange, projects)
    return [
        exchange["n"],
        cells.at,
        exchange["status"] or cells.status,
        cells.method,
        printable(cells.asked),
        printable(cells.about) or None,
        exchange["who"],
        round(exchange["duration_us"] / 1000, 2),
        cells.answer or None,
        printable(cells.why) or None,
    ]


def _message(message: Message) -> Iterator[str]:
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
