"""Connects to the running emulator, and prints commands that reach it."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from hosting_emulator import DEFAULT_PORT
from hosting_emulator_cli.main import Failure, cli, failing
from hosting_emulator_cli.parameter_sources import source

if TYPE_CHECKING:
    from hosting_emulator.sdk import ControlClient
    from hosting_emulator.sdk.discovery import EmulatorAddress

DEFAULT_URL = f"http://127.0.0.1:{DEFAULT_PORT}"


@contextmanager
def connected(
    url: str | None, control_token: str | None, *, timeout_s: float = 30
) -> Iterator[ControlClient]:
    """Open a client for the emulator at `url`, or for the emulator of the working folder.

    The client's errors are raised as Failure.
    """
    from hosting_emulator.sdk import ControlError

    with failing(ControlError, ValueError):
        if url is not None:
            with (
                _address_explained(),
                open_client(url, control_token, timeout_s=timeout_s) as client,
            ):
                yield client
            return
        from hosting_emulator.sdk.discovery import find_emulator

        address = find_emulator(control_token, timeout_s=timeout_s)
        with _errors_explained(address, control_token):
            token = control_token
            if not address.is_trusted:
                token = None
            with open_client(address.url, token, timeout_s=timeout_s) as client:
                yield client


@contextmanager
def _address_explained() -> Iterator[None]:
    """If no emulator responds at the user's address, list the running emulators. Raises Failure.

    If a variable sets the address, the error names the variable, because the shell may have
    evaluated `env` for an emulator that has ended.
    """
    from hosting_emulator.sdk import EmulatorUnreachable, UnexpectedResponse
    from hosting_emulator.sdk.discovery import running_text

    try:
        yield
    except (EmulatorUnreachable, UnexpectedResponse) as error:
        if source("url") is not ParameterSource.ENVIRONMENT:
            raise Failure(f"{error}; {running_text()}") from error
        raise Failure(
            f"{error}; the variable HOSTING_EMULATOR_URL sets this address, and "
            "`unset HOSTING_EMULATOR_URL` lets commands find the emulator of this folder"
        ) from error


@contextmanager
def _errors_explained(address: EmulatorAddress, control_token: str | None) -> Iterator[None]:
    """Add advice to errors if the user did not specify the emulator's address. Raises Failure."""
    from hosting_emulator.sdk import ControlRefused, EmulatorUnreachable, UnexpectedResponse

    try:
        yield
    except (EmulatorUnreachable, UnexpectedResponse) as error:
        if not address.is_default:
            raise
        from hosting_emulator.sdk.discovery import running_text

        raise Failure(f"{error}; {running_text()}") from error
    except ControlRefused as error:
        if error.status != 401 or address.is_trusted or control_token is None:
            raise
        raise Failure(
            f"{error}. The control token is not sent to {address.url}, because this address is from a "
            f"file in this folder. To send the token, add --url {address.url}"
        ) from error


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


def command_here(words: str, url: str, world: str) -> str:
    """Return a command line that works in this folder and shell, for a world of an emulator.

    The line contains `--url` only if the command does not find the emulator without it. For the
    default world, it contains `--world` only if HOSTING_EMULATOR_WORLD is set.
    """
    from hosting_emulator.contract.shell import command_line
    from hosting_emulator.sdk.discovery import expected_url

    found_url = os.environ.get("HOSTING_EMULATOR_URL") or expected_url()
    if found_url != url:
        return typed_here(command_line(words, url, world))
    return _with_default_world(command_line(words, DEFAULT_URL, world))


def _with_default_world(line: str) -> str:
    """Add `--world default` to a command line that names no world, if HOSTING_EMULATOR_WORLD is set.

    A command that acts on the whole emulator, such as `stop`, has no option `--world`.
    """
    is_named = " --world " in line
    if is_named or not os.environ.get("HOSTING_EMULATOR_WORLD") or not _takes_world(line):
        return line
    return f"{line} --world default"


def _takes_world(line: str) -> bool:
    """Return whether the command in a command line has the option `--world`."""
    command: click.Command | None = cli
    for word in shlex.split(line)[1:]:
        if not isinstance(command, click.Group):
            break
        command = command.get_command(click.Context(command), word)
    return command is not None and any(param.name == "world" for param in command.params)


def typed_here(line: str) -> str:
    """Make a command line reach the default emulator and world, and return it.

    Adds `--world` or `--url` if necessary. The command line comes from the emulator, which does not
    know this shell's variables and folder.
    """
    line = _with_default_world(line)
    from hosting_emulator.sdk.discovery import expected_url

    shell_url = os.environ.get("HOSTING_EMULATOR_URL") or expected_url()
    if " --url " not in line and shell_url != DEFAULT_URL:
        line += f" --url {DEFAULT_URL}"
    return line
