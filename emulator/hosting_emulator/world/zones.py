"""Hostnames: where a project's development, production and mail hosts are, derived by the server."""

from __future__ import annotations

from typing import NamedTuple

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.world.records import Project

#: The world whose hosts stand directly in the zones; other worlds put their name before them.
DEFAULT_WORLD = "default"


class Hostnames(NamedTuple):
    """The exact hostnames of one project."""

    development: str
    production: str
    mail: str


def zone_of(world_name: str, zone: str) -> str:
    """Return a zone as one world sees it, so that no two worlds share a host."""
    return zone if world_name == DEFAULT_WORLD else f"{world_name}.{zone}"


def hostnames(world_name: str, assumptions: Assumptions, project: Project) -> Hostnames:
    """Derive a project's hostnames."""
    return Hostnames(
        development=f"{project.dev_label}.{zone_of(world_name, assumptions.dev_zone)}",
        production=f"{project.handle}.{zone_of(world_name, assumptions.production_zone)}",
        mail=f"{project.handle}.{zone_of(world_name, assumptions.mail_zone)}",
    )
