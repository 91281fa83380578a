"""Options of the commands that run an emulator themselves: where it listens, how its world begins."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from hosting_emulator_cli.options import assume_option
from hosting_emulator_cli.values import WholeNumber, clock_mode, read_with, timestamp

F = TypeVar("F", bound=Callable[..., Any])

_PORT = WholeNumber(0, 65535)


def address_options(*, port: int) -> Callable[[F], F]:
    """Add `--host`, `--port` and `--tls-port`, named as their settings; `port` is the default."""

    def add(command: F) -> F:
        return _host_option(_port_option(port)(_tls_port_option(command)))

    return add


_host_option = click.option(
    "--host",
    default="127.0.0.1",
    show_default=True,
    metavar="ADDRESS",
    help="Listen here. Anything but loopback lets others on the network in.",
)


def _port_option(default: int) -> Callable[[F], F]:
    return click.option(
        "--port",
        type=_PORT,
        default=default,
        show_default=bool(default),
        metavar="PORT",
        help=f"Listen on this TCP port; {'0 takes' if default else 'else'} a free one.",
    )


_tls_port_option = click.option(
    "--tls-port",
    type=_PORT,
    metavar="PORT",
    help="Serve the dev origins over HTTPS on this TCP port, by a local certificate authority; "
    "0 takes a free one. Off unless given.",
)


def log_options(command: F) -> F:
    """Add `--log-format` and `--log-requests`, named as their settings."""
    return _log_format_option(_log_requests_option(command))


_log_format_option = click.option(
    "--log-format",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    envvar="HOSTING_EMULATOR_LOG_FORMAT",
    show_envvar=True,
    help="How stderr is written: for people, or one JSON object a line.",
)
_log_requests_option = click.option(
    "--log-requests",
    is_flag=True,
    envvar="HOSTING_EMULATOR_LOG_REQUESTS",
    show_envvar=True,
    help="Write a line to stderr for each exchange: what was asked, what was answered and why.",
)


def world_options(command: F) -> F:
    """Add how a new state begins: `--scenario`, `--from`, `--seed`, `--clock`, `--at`, `--assume`.

    They arrive named as their settings, but for `assume`, a dict.
    """
    options = (_scenario_option, _from_option, _seed_option, _clock_option, _at_option)
    command = assume_option(command)
    for option in reversed(options):
        command = option(command)
    return command


_scenario_option = click.option(
    "--scenario",
    metavar="NAME|FILE",
    help="Begin with this scenario's world: one of `scenario list`, or a YAML file. --clock and "
    "--assume are laid over its own.",
)
_from_option = click.option(
    "--from",
    "state",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="Begin with the world that this file holds, as `world export` wrote it, or as it was kept "
    "when a test failed.",
)
_seed_option = click.option(
    "--seed",
    default="hosting-emulator",
    show_default=True,
    metavar="TEXT",
    help="What ids, words and secrets of a new state are drawn from.",
)
_clock_option = click.option(
    "--clock",
    callback=read_with(clock_mode),
    metavar="MODE",
    help="The clock of a new state: real, frozen, skip (polling moves time), or scaled:RATE "
    "(world seconds per real second); else real. `clock` changes that of a kept one.",
)
_at_option = click.option(
    "--at",
    callback=read_with(timestamp),
    metavar="TIMESTAMP",
    help="World time a new state starts at (RFC 3339), such as 2030-01-31T09:30:00Z; else now.",
)


def check_seed(ctx: click.Context) -> None:
    """Refuse `--seed` beside `--from`: the world in the file has its own. Raises UsageError."""
    given = ctx.get_parameter_source("seed") is ParameterSource.COMMANDLINE
    if given and ctx.params["state"] is not None:
        raise click.UsageError("--seed has no place beside --from, whose state says it all")
