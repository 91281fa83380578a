"""The connection to the running emulator: its address, a client, and commands to copy."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from hosting_emulator import DEFAULT_PORT
from hosting_emulator_cli.main import failing
from hosting_emulator_cli.parameter_sources import source

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient

DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"


def default_url() -> str:
    """Return the URL at which an emulator on this machine is expected.

    The SDK is imported only when a command needs the URL, so that `--help` stays fast.
    """
    from hosting_emulator.sdk.addresses import default_url

    return default_url()


@contextmanager
def connected(
    url: str, control_token: str | None, *, timeout_s: float = 30
) -> Iterator[ControlClient]:
    """Open a client for the emulator at `url`. An error in the client becomes a Failure."""
    from hosting_emulator.sdk import ControlError

    client = open_client(url, control_token, timeout_s=timeout_s)
    with client, failing(ControlError, ValueError):
        yield client


def open_client(url: str, control_token: str | None, *, timeout_s: float) -> ControlClient:
    """Return a client for the emulator at a base URL. Raises BadParameter for an invalid URL."""
    from hosting_emulator.sdk import ControlClient

    address = url.rstrip("/").removesuffix("/_emulator")
    try:
        return ControlClient(f"{address}/_emulator", token=control_token, timeout_s=timeout_s)
    except ValueError as error:
        message = f"{url!r} is not an address such as {DEFAULT_URL}"
        origins = {
            ParameterSource.DEFAULT: "the variable HOSTING_EMULATOR_PORT",
            ParameterSource.ENVIRONMENT: "the variable HOSTING_EMULATOR_URL",
        }
        hint = origins.get(source("url") or ParameterSource.COMMANDLINE, "--url")
        raise click.BadParameter(message, param_hint=hint) from error


def typed_here(line: str) -> str:
    """Add `--world` or `--url` to a command line if this shell's variables change the default.

    The command line comes from the emulator, which does not know this shell's variables.
    """
    if " --world " not in line and os.environ.get("HOSTING_EMULATOR_WORLD"):
        line += " --world default"
    shell_url = os.environ.get("HOSTING_EMULATOR_URL") or default_url()
    if " --url " not in line and shell_url != DEFAULT_URL:
        line += f" --url {DEFAULT_URL}"
    return line
