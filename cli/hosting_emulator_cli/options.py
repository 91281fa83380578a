"""Options that commands have in common: where the emulator is, which world, what is assumed.

It must not import the client, or anything else of the emulator, before a command runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.values import named_values

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient

DEFAULT_URL = "http://127.0.0.1:4620"

F = TypeVar("F", bound=Callable[..., Any])


def examples(*lines: str) -> str:
    """Write an epilog of example lines that Click leaves as they are."""
    return "\n".join(["\b", "Examples:", *(f"  {line}" for line in lines)])


url_option = click.option(
    "--url",
    envvar="HOSTING_EMULATOR_URL",
    default=DEFAULT_URL,
    show_default=True,
    show_envvar=True,
    metavar="URL",
    help="Where the running emulator is.",
)
world_option = click.option(
    "--world",
    envvar="HOSTING_EMULATOR_WORLD",
    default="default",
    show_default=True,
    show_envvar=True,
    metavar="NAME",
    help="The world meant.",
)
control_token_option = click.option(
    "--control-token",
    envvar="HOSTING_EMULATOR_CONTROL_TOKEN",
    show_envvar=True,
    metavar="TEXT",
    help="The control API's token, if the emulator asks for one.",
)
as_option = click.option(
    "--as",
    "principal",
    default="owner",
    show_default=True,
    metavar="WHO",
    help="Whose token: an alias such as owner, member, reader or outsider, or a person's id.",
)
output_option = click.option(
    "--output",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Write to this file, whole or not at all, instead of stdout.",
)
json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def with_client(command: F) -> F:
    """Give a command `client`, a handle on the running emulator, and the options to find it."""

    @functools.wraps(command)
    def call(*args: Any, url: str, control_token: str | None, **rest: Any) -> Any:
        with connected(url, control_token) as client:
            return command(*args, client=client, **rest)

    return url_option(control_token_option(call))  # type: ignore[return-value]


def maybe_client(command: F) -> F:
    """Add the options to find an emulator to a command that works without one."""
    return url_option(control_token_option(command))


def with_world(command: F) -> F:
    """Give a command `client` and `world`, the name of the world meant."""
    return world_option(with_client(command))


@contextmanager
def connected(
    url: str, control_token: str | None, *, timeout_s: float = 30
) -> Iterator[ControlClient]:
    """Open a handle on the emulator at `url`; what goes wrong with it becomes a Failure."""
    from hosting_emulator.sdk import ControlClient, ControlError

    address = url.rstrip("/").removesuffix("/_emulator")
    try:
        client = ControlClient(f"{address}/_emulator", token=control_token, timeout_s=timeout_s)
    except ValueError as error:
        message = f"{url!r} is not an address: write it like {DEFAULT_URL}"
        raise click.BadParameter(message, param_hint="--url") from error
    with client:
        try:
            yield client
        except ControlError as error:
            raise Failure(str(error)) from error


def asked_if_named(
    ctx: click.Context, url: str, control_token: str | None, ask: Callable[[ControlClient], Any]
) -> Any:
    """What the running emulator answers, if the command line names one; else None."""
    # The environment does not count: it names an emulator for all commands, running or not.
    named = (ctx.get_parameter_source(option) for option in ("url", "world"))
    if ParameterSource.COMMANDLINE not in named:
        return None
    with connected(url, control_token) as client:
        return ask(client)


def assume_option(command: F) -> F:
    """Add `--assume NAME=VALUE`, which arrives as a dict `assume`."""
    return click.option(
        "--assume",
        multiple=True,
        metavar="NAME=VALUE",
        callback=named_values,
        help="Set an assumption; repeatable. `hosting-emulator contract assumptions` lists them.",
    )(command)
