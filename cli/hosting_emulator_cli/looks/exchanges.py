"""Exchanges of the request log as a terminal shows them: one in a line, or one whole."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.highlighter import JSONHighlighter
from rich.padding import Padding
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hosting_emulator.sdk import exchange_cells
from hosting_emulator_cli.exchanges import cut_words
from hosting_emulator_cli.looks.terminal import printable, printable_json, printable_lines

if TYPE_CHECKING:
    from hosting_emulator.sdk import Exchange, Message, WholeExchange

#: From so many columns of a terminal on there is room for columns of our own: call, project, who.
WIDE = 110
_COLUMNS = (27, 6, 9)
_INDENT = 6
#: A call's name or a path is never cut to less than this.
_SHORTEST = 12
_STEP_STYLES = {"refusal": "red", "fault": "magenta", "due": "cyan", "commit": "green"}


def status_style(exchange: Exchange) -> str:
    """Return how an answer's status is coloured: green, cyan, yellow, or red for what broke."""
    status = exchange["status"]
    if exchange["lost"] or status == 0 or status >= 500:
        return "bold red"
    if status >= 400:
        return "yellow"
    return "cyan" if status >= 300 else "green"


def line(exchange: Exchange, projects: Mapping[str, str], room: int) -> RenderableType:
    """Show an exchange in a line, and below it, dimmed, why it was answered so.

    With a `room` of WIDE columns or more, lines stand below each other in columns; with less, how
    long it took is left out first, and then the call's name or the path is cut.
    """
    head, why = _head(exchange, projects, room), printable(exchange_cells(exchange, projects).why)
    return Group(head, Padding(Text(why, "dim"), (0, 0, 0, _INDENT), expand=False)) if why else head


def _head(exchange: Exchange, projects: Mapping[str, str], room: int) -> Text:
    if room >= WIDE:
        head = _words(exchange, projects, _COLUMNS, took=True)
        if head.cell_len <= room:
            return head
    head = _words(exchange, projects, (0, 0, 0), took=True)
    if head.cell_len > room:
        head = _words(exchange, projects, (0, 0, 0), took=False)
    if head.cell_len > room:
        asked = printable(exchange["call"] or exchange["path"])
        most = max(_SHORTEST, len(asked) - (head.cell_len - room))
        head = _words(exchange, projects, (0, 0, 0), took=False, most=most)
    return head


def _words(
    exchange: Exchange,
    projects: Mapping[str, str],
    columns: tuple[int, int, int],
    *,
    took: bool,
    most: int | None = None,
) -> Text:
    """Write an exchange's line; `most` is how much of its call or path is shown."""
    call, project, who = columns
    cells = exchange_cells(exchange, projects)
    about, asked = printable(cells.about), printable(cells.asked)
    if most is not None and len(asked) > most:
        asked = f"{asked[: most - 1]}…"
    head = Text(overflow="fold")
    head.append(f"{cells.number:>5} ", "dim")
    head.append(f"{cells.at[11:23]}  ", "dim")
    head.append(f"{cells.status} ", status_style(exchange))
    head.append(f"{cells.method[:7]:<5}")
    head.append(f"{asked:<{call}}", "bold")
    head.append(f"  {about:<{project}}" if about or project else "")
    head.append(f"  {printable(cells.who or 'nobody'):<{who}}", "blue")
    head.append(f"  {cells.took}" if took else "", "dim")
    head.append(f"  {printable(cells.answer)}" if cells.answer else "", status_style(exchange))
    return head


def whole(exchange: WholeExchange, projects: Mapping[str, str], room: int) -> RenderableType:
    """Show a whole exchange: its line, its trail, and both sides with headers and bodies."""
    shown = exchange["path"] + (f"?{exchange['query']}" if exchange["query"] else "")
    return Group(
        _head(exchange, projects, min(room, WIDE - 1)),
        Padding(_trail(exchange), (1, 0), expand=False),
        *_message(f"{exchange['method']} {shown}", exchange["request"]),
        *_message(f"{exchange['status'] or 'no answer'}", exchange["answer"]),
    )


def _trail(exchange: WholeExchange) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(justify="right", no_wrap=True)
    table.add_column()
    before = ""
    for step in exchange.get("trail", []):
        name = step["step"]
        style = _STEP_STYLES.get(name, "")
        shown = Text(name if name != before else "", style or "dim")
        table.add_row(shown, Text(printable(step["says"]), style))
        before = name
    return table


def _message(title: str, message: Message) -> Iterator[RenderableType]:
    yield Rule(Text(printable(title), "bold"), align="left", style="dim")
    headers = Text()
    for name, value in message["headers"]:
        headers.append(f"{printable(name)}: ", "dim")
        headers.append(f"{printable(value)}\n")
    yield headers
    if message["body_bytes"]:
        yield _body(message)
        if message["body_cut"] and message["body"] is not None:
            yield Text(cut_words(message), "yellow italic")
        yield Text()


def _body(message: Message) -> RenderableType:
    body = message["body"]
    if body is None:
        return Text(f"{message['body_bytes']} bytes that are no text", "dim italic")
    try:
        document = json.loads(body)
    except ValueError:  # no JSON, or not all of it
        return Text(printable_lines(body))
    return JSONHighlighter()(Text(printable_json(document), overflow="fold"))
