"""Renaming: the same world under another name, as if it had been built so.

Hosts carry the world's name, so the addresses of past deployments follow it.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from hosting_emulator.world.tables import DEPLOYMENTS, PROJECTS
from hosting_emulator.world.value import World, apply
from hosting_emulator.world.zones import hostnames


def renamed(world: World, name: str) -> World:
    """Return a world under another name; its commits are counted as before."""
    if name == world.name:
        return world
    urls = {
        f"https://{_host(world, world.name, project)}": f"https://{_host(world, name, project)}"
        for _, project in world.rows(PROJECTS)
    }
    moved = {
        key: replace(deployment, url=urls[deployment.url])
        for key, deployment in world.rows(DEPLOYMENTS)
        if deployment.url in urls
    }
    writes = {DEPLOYMENTS.name: moved}
    return replace(
        apply(world, writes, commit=world.commit, at_ms=world.at_ms),
        name=name,
    )


def _host(world: World, name: str, project: Any) -> str:
    return hostnames(name, world.assumptions, project).production
