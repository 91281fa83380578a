"""`token`: an access token for anybody of a world."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli.options import as_option, examples, json_option, with_world
from hosting_emulator_cli.output import put, put_json
from hosting_emulator_cli.values import duration_whole_s, read_with

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient


@click.command(
    epilog=examples(
        "hosting-emulator token",
        "hosting-emulator token --as reader --expires-in 5m",
        "hosting-emulator token --api-key --permission dns.read",
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
    "--api-key",
    is_flag=True,
    help="Make an API key instead, as the person's programs have, and print its value.",
)
@click.option(
    "--permission",
    "permissions",
    multiple=True,
    metavar="NAME",
    help="With --api-key: what the key may do; repeatable. Else all that the organization grants.",
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
    api_key: bool,
    permissions: tuple[str, ...],
    expires_in_seconds: int | None,
    as_json: bool,
) -> None:
    """Print an access token.

    Only the token is printed, ready for a header; --json prints its expiry too.
    """
    if api_key and (api_client or expires_in_seconds is not None):
        raise click.UsageError("--api-key: leave out --api-client and --expires-in")
    if permissions and not api_key:
        raise click.UsageError("--permission belongs to --api-key: give that as well")
    if api_key:
        made = client.create_api_key(
            principal,
            world=world,
            organization=organization,
            permissions=permissions or None,
        )
        if as_json:
            put_json(made)
        else:
            put(made["value"])
        return
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
