"""Implements `stop`, which stops running emulators and waits until they have exited."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator_cli import options as opt
from hosting_emulator_cli.connection import connected
from hosting_emulator_cli.help_text import HelpCommand
from hosting_emulator_cli.main import Failure, examples
from hosting_emulator_cli.output import prints
from hosting_emulator_cli.parameter_sources import is_typed
from hosting_emulator_cli.value_types import TextType, read_limit

if TYPE_CHECKING:
    from hosting_emulator.messages import Info
    from hosting_emulator.sdk import ControlClient

#: Real seconds between two checks of whether an emulator has exited.
_POLL_S = 0.05
#: The longest time that an emulator may take to accept the request, in real seconds.
_PATIENCE_S = 10.0


def _stopped_text(stopped: Sequence[dict[str, Any]]) -> str:
    if not stopped:
        return "You have no running emulators."
    lines = []
    for emulator in stopped:
        state = "its state was in memory"
        if emulator["data_dir"] is not None:
            state = f"its state is stored in {emulator['data_dir']}"
        lines.append(f"Stopped the emulator at {emulator['url']}; {state}.")
    return "\n".join(lines)


@click.command(
    cls=HelpCommand,
    epilog=examples(
        """
        hosting-emulator stop
        hosting-emulator stop --url http://127.0.0.1:4700
        hosting-emulator stop --all
        """
    ),
)
@opt.flag(
    "--all",
    "is_for_all",
    help=(
        "Stop all running emulators that this user has started with `start`. Cannot be used with "
        "--url."
    ),
)
@opt.option(
    "--timeout",
    "timeout_s",
    metavar="DURATION",
    help="How long to wait for each emulator to exit, in real time, such as 500ms, 30s or 2m.",
    type=TextType("duration", read_limit),
    default="30s",
)
@prints(words=_stopped_text)
@opt.url_options
def stop(
    is_for_all: bool, timeout_s: float, url: str | None, control_token: str | None
) -> list[dict[str, Any]]:
    """Stop a running emulator, and wait until it has exited.

    Without --url and --all, the command stops the emulator that other commands use (see `wait
    --help`). As after Ctrl-C, an emulator with a data directory stores its worlds before it exits.
    --json prints the address, the
    process ID and the data directory of each emulator that was stopped. An emulator that a test run
    or `exec` started cannot be stopped separately: it exits together with that program.
    """
    if is_for_all:
        if is_typed("url"):
            raise click.UsageError("use either --all or --url, not both")
        return _stop_all(control_token, timeout_s)
    if url is None:
        url, control_token = _emulator_of_folder(control_token)
    return [_stop_emulator(url, control_token, timeout_s)]


def _emulator_of_folder(control_token: str | None) -> tuple[str, str | None]:
    """Return the address of this folder's emulator, and the control token if it may be sent there.

    Raises Failure if no emulator is running.
    """
    from hosting_emulator.sdk import EmulatorNotFound
    from hosting_emulator.sdk.discovery import find_emulator

    try:
        address = find_emulator(control_token)
    except EmulatorNotFound as error:
        raise _nothing_stopped(error.reason) from error
    if address.is_default:
        _require_response(address.url)
    if not address.is_trusted:
        return address.url, None
    return address.url, control_token


def _require_response(url: str) -> None:
    """Raise Failure if nothing responds at the default address."""
    from hosting_emulator.sdk import ControlError, EmulatorUnreachable
    from hosting_emulator_cli.connection import open_client

    with open_client(url, None, timeout_s=_PATIENCE_S) as client:
        try:
            client.health()
        except EmulatorUnreachable as error:
            raise _nothing_stopped(f"no emulator responds at {url} ({error.reason})") from error
        except ControlError as error:
            raise _nothing_stopped(str(error)) from error


def _nothing_stopped(reason: str) -> Failure:
    from hosting_emulator.running_emulators import registered_emulators
    from hosting_emulator.sdk.discovery import running_text

    advice = ""
    if registered_emulators():
        advice = "; select one with --url, or all with --all"
    return Failure(f"nothing was stopped: {reason}; {running_text()}{advice}")


def _stop_all(control_token: str | None, timeout_s: float) -> list[dict[str, Any]]:
    """Stop all registered emulators. Raises Failure at the end if one did not stop."""
    from hosting_emulator.running_emulators import registered_emulators

    stopped = []
    failures = []
    for record in registered_emulators():
        try:
            stopped.append(_stop_emulator(record.url, control_token, timeout_s, record.instance))
        except Failure as failure:
            failures.append(f"process {record.pid}: {failure.message}")
    if failures:
        raise Failure(f"stopped {len(stopped)}, but not all emulators: {'; '.join(failures)}")
    return stopped


def _stop_emulator(
    url: str, control_token: str | None, timeout_s: float, instance: str | None = None
) -> dict[str, Any]:
    """Stop the emulator at `url`, wait until it has exited, and return a description of it.

    If `instance` is given, only this emulator is stopped. Raises Failure.
    """
    with connected(url, control_token, timeout_s=_PATIENCE_S) as client:
        info = client.info()
        if instance not in (None, info.instance):
            raise Failure(f"another emulator is running at {url}")
        with _watch(client, info) as is_running:
            client.stop()
            end = time.monotonic() + timeout_s
            while is_running():
                if time.monotonic() > end:
                    raise Failure(
                        f"the emulator at {url} (process {info.pid}) has not exited within "
                        f"{timeout_s:g} s; it may still be storing its worlds"
                    )
                time.sleep(_POLL_S)
    return {"url": url, "pid": info.pid, "data_dir": info.data_dir}


@contextmanager
def _watch(client: ControlClient, info: Info) -> Iterator[Callable[[], bool]]:
    """Yield a function that returns whether an emulator is still running.

    This user's emulators keep their records locked until their processes exit. Any other emulator,
    for example in a container, counts as running as long as it responds.
    """
    from hosting_emulator.running_emulators import (
        is_descriptor_locked,
        open_registered_record,
    )

    descriptor = open_registered_record(info.instance)
    if descriptor is None:
        yield lambda: _responds(client)
        return
    try:
        yield lambda: is_descriptor_locked(descriptor)
    finally:
        os.close(descriptor)


def _responds(client: ControlClient) -> bool:
    from hosting_emulator.sdk import ControlError

    with suppress(ControlError):
        client.health()
        return True
    return False
