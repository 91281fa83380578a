"""Implements `env`, which prints the environment variables that a client needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.client_variables import no_project_failure, world_variables
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.shell_syntax import SHELLS, export_lines

if TYPE_CHECKING:
    from hosting_emulator.sdk import HostingEmulator


def _env_text(variables: dict[str, str]) -> str:
    return export_lines(variables, click.get_current_context().params["shell"])


@click.command(
    cls=HelpCommand,
    epilog=examples(
        """
        eval "$(hosting-emulator env)"
        hosting-emulator env --shell fish | source
        hosting-emulator env --shell powershell | Invoke-Expression
        hosting-emulator env --shell dotenv > .env
        """
    ),
)
@opt.choice(
    "--shell",
    choices=tuple(SHELLS),
    help="Shell whose syntax the output uses, or `dotenv` for a .env file.",
)
@opt.user_option
@opt.organization_option
@opt.option(
    "--project",
    "project_name",
    metavar="PROJECT",
    help=(
        "The project, by alias, handle or id, whose id to print as HOSTING_PROJECT_ID. Default: the "
        "first project of the organization, or of the world if the organization has none."
    ),
)
@prints(_env_text)
@opt.with_world
def env(
    world: HostingEmulator,
    user: str | None,
    organization: str | None,
    project_name: str | None,
    shell: str,  # used by `_env_text`
) -> dict[str, str]:
    """Print the environment variables that a client needs.

    The variables contain the addresses of a world, a new token, and the ids of an organization and
    a project, so the world must have a project. HOSTING_ORGANIZATION_ID is the token's organization
    or, if the token has none, the project's. HOSTING_TLS_URL and HOSTING_CA_FILE are printed
    only if the emulator has a TLS port and runs on this machine.

    HOSTING_BASE_URL and HOSTING_DEV_BASE_URL stand for the two servers that the contract names.
    Both lead to the same world. HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD are for
    `hosting-emulator` commands in the same shell.
    """
    token = world.mint_token(user, organization=organization).access_token
    variables = world_variables(world, token, project_name)
    if "HOSTING_PROJECT_ID" not in variables:
        raise no_project_failure(world.summary)
    return variables
