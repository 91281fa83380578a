"""`env` and `token`: what a client needs to talk to a world, and to be somebody in it."""

from __future__ import annotations

from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.parameters import WHOLE_SECONDS
from hosting_emulator_cli.variables import SHELLS, export_lines, no_project, world_variables


@click.command()
@opt.choice("--shell", *SHELLS)
@opt.as_option
@opt.option("--organization ORG")
@opt.option("--project named PROJECT")
@prints(lambda found: export_lines(found, click.get_current_context().params["shell"]))
@opt.with_world
def env(
    world: opt.HostingEmulator,
    principal: str | None,
    organization: str | None,
    named: str | None,
    **_: Any,
) -> dict[str, str]:
    """Print the environment variables a client needs."""
    token = world.mint_token(principal, organization=organization)["access_token"]
    found = world_variables(world, token, named)
    if "HOSTING_PROJECT_ID" not in found:
        raise no_project(world.summary)
    return found


@click.command()
@opt.as_option
@opt.option("--organization ORG")
@opt.flag("--api-client")
@opt.flag("--api-key")
@opt.option("--permission permissions NAME", multiple=True)
@opt.option("--expires-in expires_in_s DURATION", type=WHOLE_SECONDS)
@prints(lambda made: made.get("value") or made["access_token"])
@opt.with_world
def token(
    world: opt.HostingEmulator,
    principal: str | None,
    organization: str | None,
    api_client: bool,
    api_key: bool,
    permissions: tuple[str, ...],
    expires_in_s: int | None,
) -> Any:
    """Print an access token."""
    if api_key and (api_client or expires_in_s is not None):
        raise click.UsageError("--api-key: leave out --api-client and --expires-in")
    if permissions and not api_key:
        raise click.UsageError("--permission needs --api-key")
    if api_key:
        return world.create_api_key(
            principal, organization=organization, permissions=permissions or None
        )
    return world.mint_token(
        principal,
        organization=organization,
        interactive=not api_client,
        expires_in_seconds=expires_in_s,
    )
