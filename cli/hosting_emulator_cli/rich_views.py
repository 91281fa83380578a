"""Views for terminals, drawn with rich.

This module is loaded only if the output is a terminal. Other output is plain text or JSON.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.highlighter import JSONHighlighter
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hosting_emulator_cli.exchange_text import body_parts, printable_cells, request_target
from hosting_emulator_cli.printable import printable

if TYPE_CHECKING:
    from hosting_emulator.sdk import ExchangeSummary, Message, WholeExchange, Why
    from hosting_emulator.sdk.exchange_text import ExchangeCells

#: On a terminal of at least this width, the call, project and user are aligned in columns.
WIDE = 110
#: The indentation, in characters, of the reason below a line.
_INDENT = 6
_BODY_STYLES = {"binary": "dim italic", "cut": "yellow italic"}
_STEP_STYLES = {"refusal": "red", "fault": "magenta", "due": "cyan", "commit": "green"}
_STATE_STYLES = {"succeeded": "green", "failed": "red", "cancelled": "yellow", "queued": "cyan"}


@dataclass(frozen=True)
class _ColumnWidths:
    """The minimum column widths in characters. A column of width 0 is as wide as its text."""

    call: int = 0
    project: int = 0
    user: int = 0


_NO_COLUMNS = _ColumnWidths()
_WIDE_COLUMNS = _ColumnWidths(call=27, project=6, user=9)


def line_view(exchange: ExchangeSummary, aliases: Mapping[str, str], room: int) -> RenderableType:
    """Return a view of an exchange: one line, and the reason for the response below the line.

    `room` is the width of the terminal. The line has columns if `room` is at least WIDE and the
    columns fit.
    """
    cells = printable_cells(exchange, aliases)
    line = _exchange_line(exchange, cells, room)
    if not cells.why:
        return line
    reason = Padding(Text(cells.why, "dim"), (0, 0, 0, _INDENT), expand=False)
    return Group(line, reason)


def _exchange_line(exchange: ExchangeSummary, cells: ExchangeCells, room: int) -> Text:
    """Return the line for an exchange, aligned in columns if the columns fit into `room`."""
    if room >= WIDE:
        line = _line_in_columns(exchange, cells, _WIDE_COLUMNS)
        if line.cell_len <= room:
            return line
    return _line_in_columns(exchange, cells, _NO_COLUMNS)


def _line_in_columns(
    exchange: ExchangeSummary, cells: ExchangeCells, widths: _ColumnWidths
) -> Text:
    style = _status_style(exchange)
    line = Text(overflow="fold")
    line.append(f"{cells.number:>5} ", "dim")
    line.append(f"{cells.at[11:23]}  ", "dim")
    line.append(f"{cells.status} ", style)
    line.append(f"{cells.method[:7]:<4} ")
    line.append(f"{cells.target:<{widths.call}}", "bold")
    if cells.about or widths.project:
        line.append(f"  {cells.about:<{widths.project}}")
    line.append(f"  {cells.user or 'nobody':<{widths.user}}", "blue")
    line.append(f"  {cells.took}", "dim")
    if cells.response:
        line.append(f"  {cells.response}", style)
    return line


def _status_style(exchange: ExchangeSummary) -> str:
    status = exchange.status
    if exchange.lost or status == 0 or status >= 500:
        return "bold red"
    if status >= 400:
        return "yellow"
    if status >= 300:
        return "cyan"
    return "green"


def whole_view(exchange: WholeExchange, aliases: Mapping[str, str], room: int) -> RenderableType:
    """Return a view of an exchange in full: its line, its explanation, its request and its
    response.
    """
    steps = Table.grid(padding=(0, 2))
    steps.add_column(justify="right", no_wrap=True)
    previous_name = ""
    for step in exchange.trail:
        style = _STEP_STYLES.get(step.step, "")
        name = Text("", style or "dim")
        if step.step != previous_name:
            name.append(step.step)
        steps.add_row(name, Text(printable(step.text), style))
        previous_name = step.step
    cells = printable_cells(exchange, aliases)
    return Group(
        _exchange_line(exchange, cells, min(room, WIDE - 1)),
        Padding(steps, (1, 0), expand=False),
        *_message(request_target(exchange), exchange.request),
        *_message(f"{exchange.status or 'no response'}", exchange.response),
    )


def _message(title: str, message: Message) -> Iterator[RenderableType]:
    yield Rule(Text(title, "bold"), align="left", style="dim")
    headers = Text()
    for name, value in message.headers:
        headers.append(f"{printable(name)}: ", "dim")
        headers.append(f"{printable(value)}\n")
    yield headers
    for part in body_parts(message):
        text = Text(part.text, _BODY_STYLES.get(part.kind, ""), overflow="fold")
        if part.kind == "json":
            text = JSONHighlighter()(text)
        yield text
    if message.body_bytes:
        yield Text()


def why_panel(why: Why) -> Panel:
    """Return a panel that explains an operation's state and names its next event and commands."""
    state: str = why.state
    if state == "running":
        state += f" ({why.phase})"
    next_event = None
    if why.next is not None:
        next_event = f"{why.next.at}  {why.next.event}"
    facts = _grid(
        ("state", state, _STATE_STYLES.get(why.state, "bold blue")),
        ("next", next_event, ""),
        ("waits for", why.waits_for, ""),
        ("held by", why.held_by, "yellow"),
        ("now", why.at, "dim"),
    )
    parts: list[RenderableType] = [facts, Text(""), *map(Text, why.sentences)]
    if why.commands:
        parts.append(Text(""))
        parts += [Text(f"$ {line}", "bold green") for line in why.commands]
    return Panel(
        Group(*parts),
        title=Text(f" {why.kind} of {why.project} ", "bold"),
        subtitle=Text(f" {why.operation} ", "dim"),
        title_align="left",
        subtitle_align="right",
        border_style="dim",
        padding=(1, 2),
        width=100,
        expand=False,
    )


def process_panel(pairs: Iterable[tuple[str, object]]) -> Panel:
    """Return a panel with labels and values, such as the addresses of the running process."""
    facts = []
    for label, value in pairs:
        style = ""
        if "://" in str(value):
            style = "cyan"
        facts.append((label, value, style))
    return Panel(
        _grid(*facts),
        title=Text(" hosting-emulator ", "bold"),
        title_align="left",
        border_style="green",
        padding=(1, 2),
        expand=False,
    )


def _grid(*rows: tuple[str, object, str]) -> Table:
    """Lay out rows that consist of a label, a value and the value's style.

    Rows with an empty value are omitted.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    for label, value, style in rows:
        if value:
            grid.add_row(label, Text(str(value), style))
    return grid
