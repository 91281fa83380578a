"""Panels: an operation's why, and the running emulator, as a terminal shows them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich import box
from rich.console import Group, RenderableType
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from hosting_emulator_cli.worlds import clock_words

if TYPE_CHECKING:
    from hosting_emulator.sdk import Why, WorldSummary

_STATE_STYLES = {"succeeded": "green", "failed": "red", "cancelled": "yellow", "queued": "cyan"}
_COLUMNS = ("world", "clock", "now", "pending", "projects", "operations", "commit", "kept")
_COUNTS = ("projects", "operations", "commit")
_ROOMY = 100
_CLOCK_STYLES = {"frozen": "cyan", "scaled": "magenta", "skip": "yellow"}


def why_panel(found: Why) -> Panel:
    """Show why an operation stands where it does, what comes next and what would move it."""
    state = Text(found["state"], _STATE_STYLES.get(found["state"], "bold blue"))
    if found["state"] == "running":
        state.append(f" ({found['phase']})")
    following = found["next"]
    facts = _grid(
        [
            ("state", state),
            ("next", Text(f"{following['at']}  {following['what']}") if following else None),
            ("waits for", Text(found["waits_for"]) if found["waits_for"] else None),
            ("held by", Text(found["held_by"], "yellow") if found["held_by"] else None),
            ("now", Text(found["at"], "dim")),
        ]
    )
    parts: list[RenderableType] = [facts, Text("")]
    parts += [Text(sentence) for sentence in found["says"]]
    if found["commands"]:
        parts += [Text(""), *(Text(f"$ {line}", "bold green") for line in found["commands"])]
    title = Text(f" {found['kind']} of {found['project']} ", "bold")
    return Panel(
        Group(*parts),
        title=title,
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
    rows = [
        (label, Text(str(value), "cyan" if "://" in str(value) else ""))
        for label, value in pairs
        if value is not None
    ]
    return Panel(
        _grid(rows),
        title=Text(" hosting-emulator ", "bold"),
        title_align="left",
        border_style="green",
        padding=(1, 2),
        expand=False,
    )


def world_table(worlds: Sequence[WorldSummary], room: int) -> Table:
    """Show worlds: their clocks, what is in them, and whether they are kept.

    In a `room` of less than _ROOMY columns the counts are left out, so that names and words are not cut.
    """
    table = Table(box=box.SIMPLE_HEAD, header_style="dim", pad_edge=False)
    shown = [column for column in _COLUMNS if room >= _ROOMY or column not in _COUNTS]
    for header in shown:
        number = header in _COUNTS or header == "pending"
        table.add_column(header, justify="right" if number else "left", overflow="fold")
    for world in worlds:
        cells = _cells(world)
        table.add_row(*(cells[column] for column in shown))
    return table


def _cells(world: WorldSummary) -> dict[str, Text]:
    clock, counts = world["clock"], world["counts"]
    return {
        "world": Text(world["name"], "bold"),
        "clock": Text(clock_words(clock), _CLOCK_STYLES.get(clock["mode"], "green")),
        "now": Text(clock["now"][:19].replace("T", " ")),
        "pending": Text(str(clock["pending"]), "" if clock["pending"] else "dim"),
        "projects": Text(str(counts["projects"])),
        "operations": Text(str(counts["operations"])),
        "commit": Text(str(world["commit"])),
        "kept": Text("in memory", "dim") if world["ephemeral"] else Text("on disk"),
    }


def _grid(rows: Sequence[tuple[str, Text | None]]) -> Table:
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column()
    for label, value in rows:
        if value is not None:
            grid.add_row(label, value)
    return grid
