"""`env`: what a client needs to know to talk to a world, as environment variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.exports import SHELLS, export_lines
from hosting_emulator_cli.options import as_option, examples, json_option, with_world
from hosting_emulator_cli.output import put, put_json
from hosting_emulator_cli.variables import (
    first_project,
    named_project,
    no_project,
    organization_of,
    world_variables,
)

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient


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
    if wanted is None:
        project = first_project(summary, organization_of(token))
    else:
        project = named_project(summary, wanted)
    if project is None:
        raise no_project(summary)
    variables = world_variables(info, summary, token, project)
    if as_json:
        put_json(variables)
    else:
        put(export_lines(variables, shell))
