"""The page of variation points."""

from __future__ import annotations

from hosting_emulator.messages import VariationPoint
from hosting_emulator.variation.points import list_points
from reference.markdown import codes, join, prose, sentence

INTRODUCTION = """\
With `--vary SEED`, responses differ wherever the contract leaves a choice. These are the points at
which they differ, each with the sentence that leaves the choice. A client that depends on one of
them relies on something that the contract does not promise."""


def render() -> str:
    """Return the page without its title."""
    return join(INTRODUCTION, *(_section(point) for point in list_points()))


def _section(point: VariationPoint) -> str:
    facts = f"A choice lasts for {point.lasts_for}."
    if point.assumptions:
        links = [f"[`{name}`](assumptions.md#{name})" for name in point.assumptions]
        facts += f" It varies {', '.join(links)}."
    if point.calls:
        facts += f" Calls: {codes(point.calls)}."
    return join(
        f"## {point.id}",
        prose(sentence(point.about)),
        facts,
        f"The contract: “{prose(point.sentence)}”",
    )
