"""What a terminal shows, by rich. It is loaded only there: what is piped is plain text or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from rich.console import Group, RenderableType
from rich.highlighter import JSONHighlighter
from rich.padding import Padding
from rich.panel import Panel
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from hosting_emulator_cli.commands.requests import body_parts, cells_of, target
from hosting_emulator_cli.output import printable

if TYPE_CHECKING:
    from hosting_emulator.sdk import ExchangeSummary, Message, WholeExchange, Why

#: From so many columns of a terminal on there is room for columns of our own: call, project, who.
WIDE = 110
_COLUMNS = (27, 6, 9)
_INDENT = 6
_BODY_STYLES = {"binary": "dim italic", "cut": "yellow italic"}
_STEP_STYLES = {"refusal": "red", "fault": "magenta", "due": "cyan", "commit": "green"}
_STATE_STYLES = {"succeeded": "green", "failed": "red", "cancelled": "yellow", "queued": "cyan"}


def line_view(exchange: ExchangeSummary, projects: Mapping[str, str], room: int) -> RenderableType:
    """Show an exchange in a line, from WIDE on in columns, and below it why it was answered so."""
    head, why = _head(exchange, projects, room)
    return Group(head, Padding(Text(why, "dim"), (0, 0, 0, _INDENT), expand=False)) if why else head


def _head(exchange: ExchangeSummary, projects: Mapping[str, str], room: int) -> tuple[Text, str]:
    """Return an exchange's line, and why it was answered so."""
    cells, status = cells_of(exchange, projects), exchange.status
    style = "yellow" if status >= 400 else "cyan" if status >= 300 else "green"
    if exchange.lost or status == 0 or status >= 500:
        style = "bold red"
    for call, project, user_width in (_COLUMNS, (0, 0, 0)) if room >= WIDE else [(0, 0, 0)]:
        head = Text.assemble(
            (f"{cells.number:>5} ", "dim"),
            (f"{cells.at[11:23]}  ", "dim"),
            (f"{cells.status} ", style),
            f"{cells.method[:7]:<5}",
            (f"{cells.asked:<{call}}", "bold"),
            f"  {cells.about:<{project}}" if cells.about or project else "",
            (f"  {cells.user or 'nobody':<{user_width}}", "blue"),
            (f"  {cells.took}", "dim"),
            (f"  {cells.response}" if cells.response else "", style),
            overflow="fold",
        )
        if head.cell_len <= room:
            break
    return head, cells.why


def whole_view(exchange: WholeExchange, projects: Mapping[str, str], room: int) -> RenderableType:
    """Show a whole exchange: its line, its explanation, and both sides with headers and bodies."""
    steps = Table.grid(padding=(0, 2))
    steps.add_column(justify="right", no_wrap=True)
    before = ""
    for step in exchange.trail:
        name = step.step
        style = _STEP_STYLES.get(name, "")
        shown = Text(name if name != before else "", style or "dim")
        steps.add_row(shown, Text(printable(step.text), style))
        before = name
    return Group(
        _head(exchange, projects, min(room, WIDE - 1))[0],
        Padding(steps, (1, 0), expand=False),
        *_message(target(exchange), exchange.request),
        *_message(f"{exchange.status or 'no response'}", exchange.response),
    )


def _message(title: str, message: Message) -> Iterator[RenderableType]:
    yield Rule(Text(title, "bold"), align="left", style="dim")
    headers = Text()
    for name, value in message.headers:
        headers.append(f"{printable(name)}: ", "dim")
        headers.append(f"{printable(value)}\n")
    yield headers
    for kind, text in body_parts(message):
        shown = Text(text, _BODY_STYLES.get(kind, ""), overflow="fold")
        yield JSONHighlighter()(shown) if kind == "json" else shown
    if message.body_bytes:
        yield Text()


def why_panel(found: Why) -> Panel:
    """Show why an operation stands where it does, what comes next and what would move it."""
    phase = f" ({found.phase})" if found.state == "running" else ""
    state = _STATE_STYLES.get(found.state, "bold blue")
    following = found.next
    facts = _grid(
        ("state", found.state + phase, state),
        ("next", f"{following.at}  {following.event}" if following else None, ""),
        ("waits for", found.waits_for, ""),
        ("held by", found.held_by, "yellow"),
        ("now", found.at, "dim"),
    )
    parts: list[RenderableType] = [facts, Text(""), *map(Text, found.sentences)]
    if found.commands:
        parts += [Text(""), *(Text(f"$ {line}", "bold green") for line in found.commands)]
    return Panel(
        Group(*parts),
        title=Text(f" {found.kind} of {found.project} ", "bold"),
        subtitle=Text(f" {found.operation} ", "dim"),
        title_align="left",
        subtitle_align="right",
        border_style="dim",
        padding=(1, 2),
        width=100,
        expand=False,
    )


def process_panel(pairs: Iterable[tuple[str, object]]) -> Panel:
    """Show the running process and its addresses."""
    facts = ((label, value, "cyan" if "://" in str(value) else "") for label, value in pairs)
    return Panel(
        _grid(*facts),
        title=Text(" hosting-emulator ", "bold"),
        title_align="left",
        border_style="green",
        padding=(1, 2),
        expand=False,
    )


def _grid(*rows: tuple[str, object, str]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    for label, value, style in rows:
        if value:
            grid.add_row(label, Text(str(value), style))
    return grid
