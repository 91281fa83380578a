"""`env`: what a client needs to know to talk to a world, as environment variables."""

from __future__ import annotations

import json
from base64 import urlsafe_b64decode
from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.exports import SHELLS, export_lines
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.options import as_option, examples, json_option, with_world
from hosting_emulator_cli.output import put, put_json

if TYPE_CHECKING:
    from hosting_emulator.client import ControlClient, Info, Project, World

#: The default world's fullest project, by alias: `start` names it too.
SHOWCASE = "shop"


@click.command(
    epilog=examples(
        'eval "$(hosting-emulator env)"',
        "hosting-emulator env --shell fish | source",
        "hosting-emulator env --shell powershell | Invoke-Expression",
        "hosting-emulator env --shell dotenv > .env",
    )
)
@click.option(
    "--shell",
    type=click.Choice(SHELLS),
    default="sh",
    show_default=True,
    help="Whose way of writing to use.",
)
@as_option
@click.option(
    "--organization",
    metavar="ORG",
    help="The organization the token speaks for, by alias or id; else the person's own.",
)
@click.option(
    "--project",
    "wanted",
    metavar="PROJECT",
    help="The project to name, by alias, handle or id; else the organization's first.",
)
@json_option
@with_world
def env(
    client: ControlClient,
    world: str,
    shell: str,
    principal: str,
    organization: str | None,
    wanted: str | None,
    as_json: bool,
) -> None:
    """Print what a client needs, as variables.

    That is a world's addresses, a fresh token, and an organization and project to use.

    HOSTING_BASE_URL and HOSTING_DEV_BASE_URL are the contract's two servers; both lead to the same
    world. HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD are what this command line reads.
    """
    info, summary = client.info(), client.world(world)
    token = client.token(principal, world=world, organization=organization)["access_token"]
    spoken_for = _organization_of(token)
    project = _project(summary, wanted, spoken_for)
    variables = {
        "HOSTING_BASE_URL": summary["base_url"],
        "HOSTING_DEV_BASE_URL": _dev_base_url(info, summary),
        "HOSTING_TOKEN": token,
        "HOSTING_ORGANIZATION_ID": spoken_for or project["organization_id"],
        "HOSTING_PROJECT_ID": project["id"],
        "HOSTING_EMULATOR_URL": info["control_url"].removesuffix("/_emulator"),
        "HOSTING_EMULATOR_WORLD": world,
    }
    if as_json:
        put_json(variables)
    else:
        put(export_lines(variables, shell))


def _organization_of(token: str) -> str | None:
    """The organization an access token names, None if it names none."""
    try:
        payload = token.split(".")[1]
        organization = json.loads(urlsafe_b64decode(f"{payload}==")).get("org_id")
    except (IndexError, ValueError, AttributeError):
        return None
    return organization if isinstance(organization, str) else None


def _project(world: World, wanted: str | None, organization: str | None) -> Project:
    projects = world["projects"]
    for project in projects:
        if wanted in (project["id"], project["alias"], project["handle"]):
            return project
    if wanted is None and projects:
        own = [p for p in projects if p["organization_id"] == organization] or projects
        return next((p for p in own if p["alias"] == SHOWCASE), own[0])
    known = ", ".join(project["handle"] for project in projects) or "none"
    raise Failure(
        f"world {world['name']} has no project {wanted or 'yet'}; its projects are: {known}"
    )


def _dev_base_url(info: Info, world: World) -> str:
    """The development server's name for this world: the same path below the other address."""
    path = world["base_url"].removeprefix(info["base_url"])
    return info["dev_base_url"] + path if path != world["base_url"] else world["base_url"]
