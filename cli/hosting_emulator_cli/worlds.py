"""How a world's summary is shown, wherever worlds are listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hosting_emulator_cli.output import table

if TYPE_CHECKING:
    from hosting_emulator.sdk import ClockState, CommitEntry, WorldSummary

_HEADERS = (
    *("WORLD", "CLOCK", "NOW", "PROJECTS", "DEPLOYMENTS", "OPERATIONS", "TICKETS", "KEYS"),
    *("COMMIT", "KEPT", "BASE URL"),
)


def world_table(worlds: Sequence[WorldSummary]) -> str:
    """Lay out worlds, one in a line; below them, which ones answer varied."""
    return "\n".join([table(_HEADERS, map(_row, worlds)), *varied_lines(worlds)])


def varied_lines(worlds: Sequence[WorldSummary]) -> list[str]:
    """Say of each world whose answers vary by which seed they do, and where."""
    found = ((world["name"], world.get("variation")) for world in worlds)
    return [
        f"World {name}: {varied_words(variation['seed'], variation['only'])}."
        for name, variation in found
        if variation is not None
    ]


def varied_words(seed: str, only: Sequence[str] | None) -> str:
    """Say by which seed answers vary, and where: `varied by seed 5, at page-size only`."""
    return f"varied by seed {seed}" + (f", at {', '.join(only)} only" if only else "")


def commit_table(commits: Sequence[CommitEntry]) -> str:
    """Lay out commits, one in a line."""
    rows = (
        [commit["commit"], commit["at"], ": ".join(filter(None, (commit["title"], commit["says"])))]
        for commit in commits
    )
    return table(("COMMIT", "AT", "WHAT"), rows)


def clock_words(clock: ClockState) -> str:
    """Write a clock's mode, with its rate where it has one: `frozen`, `scaled:60`."""
    return f"scaled:{clock['rate']:g}" if clock["mode"] == "scaled" else clock["mode"]


def _row(world: WorldSummary) -> list[object]:
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
