"""The network: who has the ports, and whether the emulator that commands talk to is ours."""

from __future__ import annotations

import errno
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hosting_emulator_cli.doctor.finding import Finding, note, ok, problem

if TYPE_CHECKING:
    from hosting_emulator.sdk import Info

#: How long an emulator may take to answer, in real seconds.
PATIENCE_S = 3.0
HERE = "127.0.0.1"
_START = "`hosting-emulator start`"


@dataclass(frozen=True, slots=True)
class Answered:
    """What an address answered: `version` None is no emulator, and `why` says what it was instead.

    With `silent`, nothing answered at all. `info` None beside a version: the emulator keeps the rest
    to those who have its control token.
    """

    version: str | None
    info: Info | None
    why: str = ""
    silent: bool = False


def ask(url: str, control_token: str | None) -> Answered:
    """Ask whoever answers at a base URL who they are. Raises ValueError for no address."""
    from hosting_emulator.sdk import (
        ControlClient,
        ControlError,
        ControlRefused,
        EmulatorUnreachable,
    )

    address = url.rstrip("/").removesuffix("/_emulator")
    client = ControlClient(f"{address}/_emulator", token=control_token, timeout_s=PATIENCE_S)
    with client:
        try:
            version = client.health()["version"]
        except EmulatorUnreachable as error:
            return Answered(None, None, error.reason, silent=True)
        except (ControlError, LookupError, TypeError) as error:
            return Answered(None, None, str(error))
        try:
            return Answered(str(version), client.info())
        except ControlRefused as error:
            return Answered(str(version), None, str(error))
        except ControlError as error:
            return Answered(None, None, str(error))


def check_emulator(url: str, answered: Answered, ours: str, *, named: bool) -> Finding:
    """Judge the emulator that commands would talk to; `named`: somebody chose its address."""
    if answered.version is None:
        if not named:
            return note("emulator", f"None answers at {url}.", f"{_START} starts one.")
        silence = f"Nothing answers at {url}: {answered.why}."
        return problem(
            "emulator",
            silence if answered.silent else f"W{answered.why[1:]}.",
            f"Start it ({_START}), or say where it is: --url, or HOSTING_EMULATOR_URL, "
            "which is unset by `unset HOSTING_EMULATOR_URL`.",
        )
    if answered.version != ours:
        return problem(
            "emulator",
            f"Version {answered.version} runs at {url}, but this command is {ours}.",
            "Stop the emulator and start it again from this environment, or use its own command.",
        )
    if answered.info is None:
        return note(
            "emulator",
            f"Version {ours} runs at {url}, but says no more: {answered.why}.",
            "Give the control token that `start` printed: --control-token, or "
            "HOSTING_EMULATOR_CONTROL_TOKEN.",
        )
    return ok("emulator", f"Version {ours} runs at {url} (process {answered.info['pid']}).")


def binding_error(port: int) -> OSError | None:
    """Try to listen on a port of this machine, as `start` would; None: one can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HERE, port))
            probe.listen(1)
        except OSError as error:
            return error
    return None


def check_port(
    check: str,
    port: int,
    error: OSError | None,
    answered: Answered | None,
    owner: Callable[[int], str | None],
) -> Finding:
    """Judge a port that could not be listened on, for `error`; `answered` is who speaks there."""
    option = f"--{check.replace(' ', '-')}"
    if error is None:
        return ok(check, f"{port} is free.")
    if error.errno != errno.EADDRINUSE:
        return problem(
            check,
            f"{port} cannot be listened on: {(error.strerror or str(error)).lower()}.",
            f"Choose another: `start {option} 0` takes a free one.",
        )
    if answered is not None and answered.version is not None:
        info = answered.info
        kept = f" and keeps its state in {info['data_dir']}" if info and info["data_dir"] else ""
        return ok(check, f"{port} is an emulator's: version {answered.version} runs there{kept}.")
    who = owner(port)
    return problem(
        check,
        f"{port} is taken by {who or 'another program'}, which is no emulator.",
        f"Stop it{'' if who else f' (`lsof -i :{port}` names it)'}, or take another port: "
        f"`start {option} 0` takes a free one.",
    )
