"""Formats worlds as a table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from hosting_emulator_cli.tables import columns

if TYPE_CHECKING:
    from hosting_emulator.sdk import WorldSummary


def _clock_text(world: WorldSummary) -> str:
    clock = world.clock
    if clock.mode == "scaled":
        return f"scaled:{clock.rate:g}"
    return str(clock.mode)


def _is_kept(world: WorldSummary) -> bool:
    return not world.ephemeral


_world_columns = columns(
    ("WORLD", "name"),
    ("CLOCK", _clock_text),
    "clock.now",
    "counts.projects",
    "counts.deployments",
    "counts.operations",
    "counts.tickets",
    ("KEYS", "counts.api_keys"),
    "commit",
    ("KEPT", _is_kept),
    "base_url",
)


def world_table(worlds: Sequence[WorldSummary]) -> str:
    """Format worlds as a table, followed by a line for each world whose responses vary."""
    lines = [_world_columns(worlds)]
    for world in worlds:
        variation = world.variation
        if variation is not None:
            lines.append(f"World {world.name}: {variation_text(variation.seed, variation.only)}.")
    return "\n".join(lines)


def variation_text(seed: str, points: Sequence[str] | None) -> str:
    """Describe a variation, such as `varied by seed 5, at page-size only`.

    Without `points`, responses vary at all points, and the text contains only the seed.
    """
    text = f"varied by seed {seed}"
    if points:
        text += f", at {', '.join(points)} only"
    return text
