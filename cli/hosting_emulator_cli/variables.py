"""What a client needs to know of a world, as environment variables: `env` prints, `exec` sets them."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING

from hosting_emulator_cli.groups import Failure

if TYPE_CHECKING:
    from hosting_emulator.sdk import Info, Named, WorldSummary

#: The default world's fullest project, by alias: `start` names it too.
SHOWCASE = "shop"


def world_variables(
    info: Info, world: WorldSummary, token: str, project: Named | None
) -> dict[str, str]:
    """Return a world's variables by name; without a project or organization, without theirs."""
    organization = organization_of(token) or (project and project["organization_id"])
    found = {
        "HOSTING_BASE_URL": world["base_url"],
        "HOSTING_DEV_BASE_URL": _dev_base_url(info, world),
        "HOSTING_TOKEN": token,
        "HOSTING_ORGANIZATION_ID": organization,
        "HOSTING_PROJECT_ID": project and project["id"],
        "HOSTING_EMULATOR_URL": info["control_url"].removesuffix("/_emulator"),
        "HOSTING_EMULATOR_WORLD": world["name"],
    }
    return {name: value for name, value in found.items() if value}


def named_project(world: WorldSummary, wanted: str) -> Named:
    """Find a project by alias, handle or id. Raises Failure, naming those there are."""
    for project in world.projects:
        if wanted in (project["id"], project["alias"], project["handle"]):
            return project
    raise no_project(world, wanted)


def first_project(world: WorldSummary, organization: str | None) -> Named | None:
    """Return the project to show: the showcase, or the first of an organization, or any."""
    projects = world.projects
    own = [p for p in projects if p["organization_id"] == organization] or projects
    return next((p for p in own if p["alias"] == SHOWCASE), own[0] if own else None)


def no_project(world: WorldSummary, wanted: str = "yet") -> Failure:
    """Say that a world has no such project."""
    known = ", ".join(project["handle"] for project in world["projects"]) or "none"
    return Failure(f"world {world['name']} has no project {wanted}; its projects are: {known}")


def organization_of(token: str) -> str | None:
    """The organization an access token names, None if it names none."""
    try:
        payload = token.split(".")[1]
        organization = json.loads(urlsafe_b64decode(f"{payload}==")).get("org_id")
    except (IndexError, ValueError, AttributeError):
        return None
    return organization if isinstance(organization, str) else None


def _dev_base_url(info: Info, world: WorldSummary) -> str:
    """The development server's name for this world: the same path below the other address."""
    path = world.base_url.removeprefix(info.base_url)
    return info.dev_base_url + path if path != world.base_url else world.base_url
