"""Implements `token`, which prints an access token or a user API key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.value_types import TextType, read_seconds

if TYPE_CHECKING:
    from hosting_emulator.messages import AccessToken, NewApiKey
    from hosting_emulator.sdk import HostingEmulator


def _read_lifetime(text: str) -> str:
    """Check a duration, and return it unchanged.

    Raises ValueError if the duration is less than 1s or not a whole number of seconds.
    """
    duration_s = read_seconds(text)
    if duration_s < 1 or not duration_s.is_integer():
        raise ValueError(f"must be a whole number of seconds and at least 1s, not {text!r}")
    return text


def _secret_text(secret: AccessToken | NewApiKey) -> str:
    from hosting_emulator.messages import NewApiKey

    if isinstance(secret, NewApiKey):
        return secret.value
    return secret.access_token


@click.command(
    cls=HelpCommand,
    epilog=examples(
        """
        hosting-emulator token
        hosting-emulator token --user reader --lifetime 5m
        hosting-emulator token --api-key --permission dns.read
        curl -H "Authorization: Bearer $(hosting-emulator token)" …
        """
    ),
)
@opt.option(
    "--user", metavar="USER", help=opt.USER_HELP.replace("the token is", "the token or key is")
)
@opt.organization_option
@opt.flag(
    "--without-session",
    help=(
        "Print a token without an interactive login session, like the token that a program would "
        "use."
    ),
)
@opt.flag(
    "--api-key",
    help=(
        "Instead of a token, create a user API key and print its value. Cannot be used with "
        "--without-session or --lifetime."
    ),
)
@opt.option(
    "--permission",
    "permissions",
    metavar="NAME",
    help=(
        "With --api-key, a permission for the key. Repeatable. Default: all permissions that the "
        "organization has enabled."
    ),
    multiple=True,
)
@opt.option(
    "--lifetime",
    metavar="DURATION",
    help=(
        "How long the token is valid, in world time: a whole number of seconds from 1s to 3650d, "
        "such as 90s or 1h. Default: ten years. By contrast, a token that a user gets by signing in "
        "is valid for one hour, unless the assumption token_lifetime is changed."
    ),
    type=TextType("duration", _read_lifetime),
)
@prints(_secret_text)
@opt.with_world
def token(
    world: HostingEmulator,
    user: str | None,
    organization: str | None,
    without_session: bool,
    api_key: bool,
    permissions: tuple[str, ...],
    lifetime: str | None,
) -> AccessToken | NewApiKey:
    """Print an access token or, with --api-key, a new user API key.

    Prints only the token or key, for use in an Authorization header. --json also prints when it
    expires. A token stays valid if world time moves back, for example after a reset. The exception
    is the reset of a world that was imported without its original seed, because users and
    organizations then get new ids.
    """
    if api_key and (without_session or lifetime is not None):
        raise click.UsageError("--without-session and --lifetime cannot be used with --api-key")
    if permissions and not api_key:
        raise click.UsageError("--permission needs --api-key")
    if api_key:
        return world.create_api_key(
            user, organization=organization, permissions=permissions or None
        )
    return world.mint_token(
        user,
        organization=organization,
        interactive=not without_session,
        lifetime=lifetime,
    )
