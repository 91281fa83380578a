"""`token`: an access token for anybody of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.options import as_option, examples, json_option, with_world
from hosting_emulator_cli.output import put, put_json
from hosting_emulator_cli.values import duration_whole_s, read_with

if TYPE_CHECKING:
    from hosting_emulator.client import ControlClient


@click.command(
    epilog=examples(
        "hosting-emulator token",
        "hosting-emulator token --as reader --expires-in 5m",
        'curl -H "Authorization: Bearer $(hosting-emulator token)" …',
    )
)
@as_option
@click.option(
    "--organization",
    metavar="ORG",
    help="The organization it speaks for, by alias or id; else the person's own.",
)
@click.option(
    "--api-client",
    is_flag=True,
    help="A token without a login session, as a program has (not interactive).",
)
@click.option(
    "--expires-in",
    "expires_in_seconds",
    callback=read_with(duration_whole_s),
    metavar="DURATION",
    help="How long it lives, in the world's time, in whole seconds such as 90s or 1h; else 1h.",
)
@json_option
@with_world
def token(
    client: ControlClient,
    world: str,
    principal: str,
    organization: str | None,
    api_client: bool,
    expires_in_seconds: int | None,
    as_json: bool,
) -> None:
    """Print an access token.

    Only the token is printed, ready for a header; --json prints its expiry too.
    """
    answer = client.token(
        principal,
        world=world,
        organization=organization,
        interactive=not api_client,
        expires_in_seconds=expires_in_seconds,
    )
    if as_json:
        put_json(answer)
    else:
        put(answer["access_token"])
