"""How a world's summary is shown, wherever worlds are listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hosting_emulator_cli.output import table

if TYPE_CHECKING:
    from hosting_emulator.client import Clock, World

_HEADERS = (
    *("WORLD", "CLOCK", "NOW", "PROJECTS", "DEPLOYMENTS", "OPERATIONS", "TICKETS", "KEYS"),
    *("COMMIT", "KEPT", "BASE URL"),
)


def world_table(worlds: Sequence[World]) -> str:
    """Lay out worlds, one in a line."""
    return table(_HEADERS, map(_row, worlds))


def clock_words(clock: Clock) -> str:
    """Write a clock's mode, with its rate where it has one: `frozen`, `scaled:60`."""
    return f"scaled:{clock['rate']:g}" if clock["mode"] == "scaled" else clock["mode"]


def _row(world: World) -> list[object]:
    counts = world["counts"]
    return [
        world["name"],
        clock_words(world["clock"]),
        world["clock"]["now"],
        counts["projects"],
        counts["deployments"],
        counts["operations"],
        counts["tickets"],
        counts["api_keys"],
        world["commit"],
        not world["ephemeral"],
        world["base_url"],
    ]
