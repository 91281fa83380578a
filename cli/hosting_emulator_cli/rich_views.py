"""What a terminal shows, by rich: exchanges of the request log, an operation, the emulator.

It is loaded where there is a terminal. What is piped never comes here: it is plain text or JSON.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.highlighter import JSONHighlighter
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hosting_emulator_cli.commands.requests import cells_of, cut_words, target
from hosting_emulator_cli.output import printable, printable_json, printable_lines

if TYPE_CHECKING:
    from hosting_emulator.sdk import Exchange, Message, Why
    from hosting_emulator.sdk.text import ExchangeCells

#: From so many columns of a terminal on there is room for columns of our own: call, project, who.
WIDE = 110
_COLUMNS = (27, 6, 9)
_INDENT = 6
_STEP_STYLES = {"refusal": "red", "fault": "magenta", "due": "cyan", "commit": "green"}
_STATE_STYLES = {"succeeded": "green", "failed": "red", "cancelled": "yellow", "queued": "cyan"}


# --- Exchanges -----------------------------------------------------------------------------------


def line_view(exchange: Exchange, projects: Mapping[str, str], room: int) -> RenderableType:
    """Show an exchange in a line, and below it, dimmed, why it was answered so.

    With a `room` of WIDE columns or more, lines stand below each other in columns; what is longer
    than the room is wrapped between words.
    """
    cells = cells_of(exchange, projects)
    head = _head(cells, _status_style(exchange), room)
    why = Padding(Text(cells.why, "dim"), (0, 0, 0, _INDENT), expand=False)
    return Group(head, why) if cells.why else head


def _head(cells: ExchangeCells, style: str, room: int) -> Text:
    head = _words(cells, style, _COLUMNS)
    return head if WIDE <= room >= head.cell_len else _words(cells, style, (0, 0, 0))


def _words(cells: ExchangeCells, style: str, columns: tuple[int, int, int]) -> Text:
    call, project, who = columns
    head = Text(overflow="fold")
    head.append(f"{cells.number:>5} ", "dim")
    head.append(f"{cells.at[11:23]}  ", "dim")
    head.append(f"{cells.status} ", style)
    head.append(f"{cells.method[:7]:<5}")
    head.append(f"{cells.asked:<{call}}", "bold")
    head.append(f"  {cells.about:<{project}}" if cells.about or project else "")
    head.append(f"  {cells.who or 'nobody':<{who}}", "blue")
    head.append(f"  {cells.took}", "dim")
    head.append(f"  {cells.answer}" if cells.answer else "", style)
    return head


def _status_style(exchange: Exchange) -> str:
    status = exchange["status"]
    if exchange["lost"] or status == 0 or status >= 500:
        return "bold red"
    if status >= 400:
        return "yellow"
    return "cyan" if status >= 300 else "green"


def whole_view(exchange: Exchange, projects: Mapping[str, str], room: int) -> RenderableType:
    """Show a whole exchange: its line, its explanation, and both sides with headers and bodies."""
    steps = Table.grid(padding=(0, 2))
    steps.add_column(justify="right", no_wrap=True)
    steps.add_column()
    before = ""
    for step in exchange.get("trail", []):
        name = step["step"]
        style = _STEP_STYLES.get(name, "")
        shown = Text(name if name != before else "", style or "dim")
        steps.add_row(shown, Text(printable(step["says"]), style))
        before = name
    return Group(
        _head(cells_of(exchange, projects), _status_style(exchange), min(room, WIDE - 1)),
        Padding(steps, (1, 0), expand=False),
        *_message(target(exchange), exchange["request"]),
        *_message(f"{exchange['status'] or 'no response'}", exchange["answer"]),
    )


def _message(title: str, message: Message) -> Iterator[RenderableType]:
    yield Rule(Text(title, "bold"), align="left", style="dim")
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
        return Text(f"{message['body_bytes']} bytes of binary data", "dim italic")
    try:
        document = json.loads(body)
    except ValueError:  # no JSON, or not all of it
        return Text(printable_lines(body))
    return JSONHighlighter()(Text(printable_json(document), overflow="fold"))


# --- Panels --------------------------------------------------------------------------------------


def why_panel(found: Why) -> Panel:
    """Show why an operation stands where it does, what comes next and what would move it."""
    state = Text(found["state"], _STATE_STYLES.get(found["state"], "bold blue"))
    if found["state"] == "running":
        state.append(f" ({found['phase']})")
    following = found["next"]
    facts = _grid(
        {
            "state": state,
            "next": Text(f"{following['at']}  {following['what']}") if following else None,
            "waits for": Text(found["waits_for"]) if found["waits_for"] else None,
            "held by": Text(found["held_by"], "yellow") if found["held_by"] else None,
            "now": Text(found["at"], "dim"),
        }
    )
    parts: list[RenderableType] = [facts, Text(""), *map(Text, found["says"])]
    if found["commands"]:
        parts += [Text(""), *(Text(f"$ {line}", "bold green") for line in found["commands"])]
    return Panel(
        Group(*parts),
        title=Text(f" {found['kind']} of {found['project']} ", "bold"),
        subtitle=Text(f" {found['operation']} ", "dim"),
        title_align="left",
        subtitle_align="right",
        border_style="dim",
        padding=(1, 2),
        width=100,
        expand=False,
    )


def process_panel(pairs: Sequence[tuple[str, object]]) -> Panel:
    """Show the running process and its addresses."""
    facts = {
        label: Text(str(value), "cyan" if "://" in str(value) else "")
        for label, value in pairs
        if value is not None
    }
    return Panel(
        _grid(facts),
        title=Text(" hosting-emulator ", "bold"),
        title_align="left",
        border_style="green",
        padding=(1, 2),
        expand=False,
    )


def _grid(rows: Mapping[str, Text | None]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for label, value in rows.items():
        if value is not None:
            grid.add_row(label, value)
    return grid
