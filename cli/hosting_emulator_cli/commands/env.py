"""`env` and `token`: what a client needs to talk to a world, and to be somebody in it."""

from __future__ import annotations

from typing import Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.parameters import WHOLE_SECONDS
from hosting_emulator_cli.variables import SHELLS, export_lines, no_project, world_variables


@click.command()
@opt.choice("--shell", "Whose way of writing to use.", *SHELLS)
@opt.as_option
@opt.option(
    "--organization ORG",
    "The organization the token speaks for, by alias or id; else the person's own.",
)
@opt.option(
    "--project named PROJECT",
    "The project to name, by alias, handle or id; else the organization's first.",
)
@prints(lambda found: export_lines(found, click.get_current_context().params["shell"]))
@opt.with_world
def env(
    world: opt.HostingEmulator,
    principal: str,
    organization: str | None,
    named: str | None,
    **_: Any,
) -> dict[str, str]:
    """Print what a client needs, as variables.

    That is a world's addresses, a fresh token, and an organization and project to use.

    HOSTING_BASE_URL and HOSTING_DEV_BASE_URL are the contract's two servers; both lead to the same
    world. HOSTING_EMULATOR_URL and HOSTING_EMULATOR_WORLD are what this command line reads.

    Examples:
      eval "$(hosting-emulator env)"
      hosting-emulator env --shell fish | source
      hosting-emulator env --shell powershell | Invoke-Expression
      hosting-emulator env --shell dotenv > .env
    """
    token = world.mint_token(principal, organization=organization)["access_token"]
    found = world_variables(world, token, named)
    if "HOSTING_PROJECT_ID" not in found:
        raise no_project(world.summary)
    return found


@click.command()
@opt.as_option
@opt.option(
    "--organization ORG", "The organization it speaks for, by alias or id; else the person's own."
)
@opt.flag("--api-client", "A token without a login session, as a program has (not interactive).")
@opt.flag(
    "--api-key", "Make an API key instead, as the person's programs have, and print its value."
)
@opt.option(
    "--permission permissions NAME",
    "With --api-key: what the key may do; repeatable. Else all that the organization grants.",
    multiple=True,
)
@opt.option(
    "--expires-in expires_in_s DURATION",
    "How long it lives, in the world's time, in whole seconds such as 90s or 1h; else 1h.",
    type=WHOLE_SECONDS,
)
@prints(lambda made: made.get("value") or made["access_token"])
@opt.with_world
def token(
    world: opt.HostingEmulator,
    principal: str,
    organization: str | None,
    api_client: bool,
    api_key: bool,
    permissions: tuple[str, ...],
    expires_in_s: int | None,
) -> Any:
    """Print an access token.

    Only the token is printed, ready for a header; --json prints its expiry too.

    Examples:
      hosting-emulator token
      hosting-emulator token --as reader --expires-in 5m
      hosting-emulator token --api-key --permission dns.read
      curl -H "Authorization: Bearer $(hosting-emulator token)" …
    """
    if api_key and (api_client or expires_in_s is not None):
        raise click.UsageError("--api-key: leave out --api-client and --expires-in")
    if permissions and not api_key:
        raise click.UsageError("--permission belongs to --api-key: give that as well")
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
