"""The emulator that commands in this folder would use, for `doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from hosting_emulator.sdk import ControlError, ControlRefused, EmulatorUnreachable, Info
from hosting_emulator.sdk.discovery import find_emulator, look_around
from hosting_emulator.sdk.errors import EmulatorNotFound
from hosting_emulator_cli.connection import DEFAULT_URL, open_client

#: How long to wait for a response from an emulator, in real seconds.
PATIENCE_S = 3.0


@dataclass(frozen=True)
class EmulatorProbe:
    """The response of the program at an address to a query for its version and details.

    `version` is None if no emulator responded. `info` is also None if the emulator refused the
    request, for example because of a missing control token. If `info` is None, `reason` says why.
    `is_silent` means that no program responded.
    """

    version: str | None
    info: Info | None = None
    reason: str = ""
    is_silent: bool = False

    @property
    def data_dir(self) -> str | None:
        """The emulator's data directory, or None if the directory is unknown."""
        if self.info is None:
            return None
        return self.info.data_dir


@dataclass(frozen=True)
class Target:
    """The emulator that commands would use, and its response to a query.

    `is_url_chosen` means that the user chose the address, and `is_default` that neither the user nor
    a record of an emulator says that the emulator of this folder is there. If the search in this
    folder found no address, `not_found` is the error. `data_dir` is the data directory that the
    search found.
    """

    url: str
    probe: EmulatorProbe
    is_url_chosen: bool = False
    is_default: bool = False
    not_found: EmulatorNotFound | None = None
    data_dir: Path | None = None


def find_target(url: str | None, control_token: str | None) -> Target:
    """Return the emulator that commands would use. Raises BadParameter if `url` is not an address."""
    if url is not None:
        return Target(url, ask(url, control_token), is_url_chosen=True)
    data_dir = None
    try:
        data_dir = look_around().data_dir
        address = find_emulator(control_token, timeout_s=PATIENCE_S)
    except EmulatorNotFound as error:
        silence = EmulatorProbe(None, reason=error.reason, is_silent=True)
        return Target(DEFAULT_URL, silence, is_default=True, not_found=error, data_dir=data_dir)
    token = control_token
    if not address.is_trusted:
        token = None
    return Target(
        address.url, ask(address.url, token), is_default=address.is_default, data_dir=data_dir
    )


def ask(url: str, control_token: str | None = None) -> EmulatorProbe:
    """Ask the program at a base URL for its version and details."""
    version = None
    with open_client(url, control_token, timeout_s=PATIENCE_S) as client:
        try:
            version = str(client.health().version)
            return EmulatorProbe(version, client.info())
        except EmulatorUnreachable as error:
            return EmulatorProbe(None, reason=error.reason, is_silent=version is None)
        except ControlRefused as error:
            return EmulatorProbe(version, reason=str(error))
        except (ControlError, LookupError, TypeError) as error:
            return EmulatorProbe(None, reason=str(error))
