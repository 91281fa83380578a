"""`token`: print an access token or a user API key."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.main import examples
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.value_types import TextType, read_seconds

if TYPE_CHECKING:
    from hosting_emulator.messages import AccessToken, NewApiKey
    from hosting_emulator.sdk import HostingEmulator


def _read_whole_seconds(text: str) -> int:
    """Convert a duration to seconds.

    Raises ValueError if the duration is less than 1s or not a whole number of seconds.
    """
    duration_s = read_seconds(text)
    if duration_s < 1 or not duration_s.is_integer():
        raise ValueError(f"must be a whole number of seconds and at least 1s, not {text!r}")
    return int(duration_s)


def _secret_text(secret: AccessToken | NewApiKey) -> str:
    from hosting_emulator.messages import NewApiKey

    if isinstance(secret, NewApiKey):
        return secret.value
    return secret.access_token


@click.command(
    epilog=examples(
        """
        hosting-emulator token
        hosting-emulator token --user reader --expires-in 5m
        hosting-emulator token --api-key --permission dns.read
        curl -H "Authorization: Bearer $(hosting-emulator token)" …
        """
    )
)
@opt.user_option
@opt.organization_option
@opt.flag(
    "--without-session",
    help="Print a token that has no interactive login session, like the token of a program.",
)
@opt.flag(
    "--api-key",
    help="Create a user API key instead, and print the key's value.",
)
@opt.option(
    "--permission",
    "permissions",
    metavar="NAME",
    help=(
        "With --api-key, give the key this permission. Repeatable. Default: all permissions that "
        "the organization grants."
    ),
    multiple=True,
)
@opt.option(
    "--expires-in",
    "expires_in_seconds",
    metavar="DURATION",
    help="Lifetime of the token in world time, in whole seconds, such as 90s or 1h. Default: 1h.",
    type=TextType("duration", _read_whole_seconds),
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
    expires_in_seconds: int | None,
) -> AccessToken | NewApiKey:
    """Print an access token.

    Prints just the token, ready to use in an Authorization header. --json adds the token's expiry
    time.
    """
    if api_key and (without_session or expires_in_seconds is not None):
        raise click.UsageError("--api-key: leave out --without-session and --expires-in")
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
        expires_in_seconds=expires_in_seconds,
    )
