"""Finds the emulator that belongs to the working folder.

Commands and the SDK use this module if they are not given an address. It looks for the following,
in this order:

1. the ready file specified by HOSTING_EMULATOR_READY_FILE, if it exists;
2. the only running emulator that was started nearer to the working folder than the data directory
   is, for example with --ephemeral;
3. the emulator that uses the data directory. If it is not set in HOSTING_EMULATOR_DATA_DIR, it
   belongs to the nearest folder, searching upward from the working folder, that has a settings file
   or a `.hosting-emulator` folder. It is the directory set in the settings file, and by default
   `.hosting-emulator`;
4. the only running emulator that was started in the folder of the data directory or, without a data
   directory, in the working folder or in the nearest parent folder;
5. the default address, but only if there is no data directory.

The address in a data directory is only a hint, because the directory may be old, a copy, or part of
a checkout. It is used only if it is on this machine, if a process keeps the directory locked, and
if the emulator at this address reports the same directory and instance as the record. The control
token is sent to it only if the user's registry confirms the address.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from hosting_emulator import DEFAULT_PORT
from hosting_emulator.running_emulators import (
    ADDRESS_FILE,
    LOCK_FILE,
    AddressRefused,
    EmulatorRecord,
    is_locked,
    path_bytes,
    read_record,
    registered_emulators,
)
from hosting_emulator.sdk.errors import EmulatorNotFound, EmulatorUnreachable, UnexpectedResponse
from hosting_emulator.settings_file import read_settings_file
from hosting_emulator.variables import read_variable

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

#: The data directory that `start` uses without `--data-dir`.
_DATA_DIR = ".hosting-emulator"
#: How long an emulator may take to report its instance, in real seconds.
_PATIENCE_S = 10.0
_ADVICE = "pass its address with --url or HOSTING_EMULATOR_URL"
_TOKEN_ADVICE = "pass the token with --control-token or HOSTING_EMULATOR_CONTROL_TOKEN"


@dataclass(frozen=True, slots=True)
class EmulatorAddress:
    """An emulator's address.

    `is_trusted` means that the control token may be sent to this address. `is_default` means that
    no other address was specified, so there may be no emulator running here.
    """

    url: str
    is_trusted: bool = True
    is_default: bool = False


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What the working folder, its parent folders and the environment say about the emulator.

    `data_dir` is the emulator's data directory, or None if there is none. `folders` are the working
    folder and its parents, up to the folder in which `start` would use this data directory, or up
    to the root if there is no such folder. `port` is the port in the default address.
    `is_port_from_file` means that the port comes from a settings file.
    """

    data_dir: Path | None
    folders: Sequence[Path]
    port: str
    is_port_from_file: bool

    @property
    def default_url(self) -> str:
        """The address at which the emulator is expected if no other address is specified."""
        return f"http://127.0.0.1:{self.port}"


def find_emulator(token: str | None = None, *, timeout_s: float = _PATIENCE_S) -> EmulatorAddress:
    """Return the address of the emulator that belongs to the working folder.

    `token` is the control token. `timeout_s` is the maximum wait for a response, in real seconds.
    Raises EmulatorNotFound if there is a data directory but its emulator is not running or cannot
    be reached.
    """
    ready_url = _url_in_ready_file()
    if ready_url is not None:
        return EmulatorAddress(ready_url)
    surroundings = look_around()
    hint = _find_hint(surroundings)
    if hint is None:
        return _default_address(surroundings)
    return _checked_address(hint, token, timeout_s)


def expected_url() -> str | None:
    """Return the address that `find_emulator` would return, but without sending a request to the
    emulator.

    Returns None if `find_emulator` would raise EmulatorNotFound.
    """
    ready_url = _url_in_ready_file()
    if ready_url is not None:
        return ready_url
    try:
        surroundings = look_around()
        hint = _find_hint(surroundings)
    except EmulatorNotFound:
        return None
    if hint is None:
        return surroundings.default_url
    return hint.record.url


def running_text() -> str:
    """Return a clause that lists this user's running emulators."""
    descriptions = []
    for record in registered_emulators():
        state = f"in memory, started in {record.folder}"
        if record.data_dir is not None:
            state = record.data_dir
        descriptions.append(f"{record.url} ({state})")
    if not descriptions:
        return "no emulator of this user is running"
    return f"running now: {', '.join(descriptions)}"


def _url_in_ready_file() -> str | None:
    # Ignore errors: the ready file may be missing or may have been written by another program.
    with suppress(OSError, ValueError, TypeError, KeyError):
        content = Path(os.environ["HOSTING_EMULATOR_READY_FILE"]).read_bytes()
        return str(json.loads(content)["local_url"])
    return None


def _default_address(surroundings: Surroundings) -> EmulatorAddress:
    url = surroundings.default_url
    is_trusted = True
    if surroundings.is_port_from_file:
        # The settings file may be part of a checkout, so trust its port only if an emulator of this
        # user is registered there.
        is_trusted = any(record.url == url for record in registered_emulators())
    return EmulatorAddress(url, is_trusted, is_default=True)


# --- The surroundings ----------------------------------------------------------------------------


def look_around() -> Surroundings:
    """Return what the working folder, its parent folders and the environment say about the
    emulator.

    Raises EmulatorNotFound if a settings file cannot be read.
    """
    working_folder = _working_folder()
    folders, settings = _folders_of(working_folder)
    port = read_variable("HOSTING_EMULATOR_PORT") or ""
    is_port_from_file = False
    if not port:
        port = _port_in(settings)
        is_port_from_file = bool(port)
    if port in ("", "0"):
        port = str(DEFAULT_PORT)
    path = folders[-1] / str(settings.get("data-dir") or _DATA_DIR)
    variable = os.environ.get("HOSTING_EMULATOR_DATA_DIR")
    if variable:
        folders = [working_folder]
        path = working_folder / variable
    is_ephemeral = settings.get("ephemeral") is True or _is_flag_set("HOSTING_EMULATOR_EPHEMERAL")
    data_dir = None
    if not is_ephemeral and _is_folder(path):
        data_dir = path
    return Surroundings(data_dir, folders, port, is_port_from_file)


def _working_folder() -> Path:
    try:
        return Path.cwd()
    except FileNotFoundError:  # the folder was deleted
        return Path("/")


def _folders_of(working_folder: Path) -> tuple[Sequence[Path], Mapping[str, Any]]:
    """Return the working folder and its parent folders, and the settings that apply there.

    The last folder is the nearest one with a settings file or a data directory, or else the root.
    """
    folders = []
    for folder in (working_folder, *working_folder.parents):
        folders.append(folder)
        settings = _settings_in(folder)
        data_dir = folder / _DATA_DIR
        has_state = _is_folder(data_dir) and not _may_be_planted(data_dir)
        if settings or has_state:
            return folders, settings
    return folders, {}


def _settings_in(folder: Path) -> Mapping[str, Any]:
    """Return the values in a folder's settings file, unchecked. Raises EmulatorNotFound."""
    try:
        file = read_settings_file(folder)
    except OSError:  # a parent folder that this user cannot search
        return {}
    except ValueError as error:
        reason = f"the settings file in {folder} cannot be read: {error}"
        advice = "correct the file, or choose an emulator with --url or HOSTING_EMULATOR_URL"
        raise EmulatorNotFound(reason, advice) from None
    if not file.values or _may_be_planted(folder / file.name.partition(" ")[0]):
        return {}
    return file.values


def _is_folder(path: Path) -> bool:
    try:
        return path.is_dir()
    except OSError:  # in a parent folder that this user cannot search
        return False


def _may_be_planted(path: Path) -> bool:
    """Return whether a file or folder belongs to another user and is in a place where anybody can
    create files.
    """
    try:
        owner = path.lstat().st_uid
        is_parent_open = bool(path.parent.stat().st_mode & 0o002)
    except OSError:
        return True
    return owner != os.geteuid() and is_parent_open


def _port_in(settings: Mapping[str, Any]) -> str:
    """Return the port set in a settings file, or an empty string if the file sets no valid port."""
    try:
        return str(int(settings["port"]))
    except (KeyError, ValueError, TypeError):
        return ""


def _is_flag_set(variable: str) -> bool:
    """Return whether an environment variable turns a flag on. Accepts the same values as options do."""
    return os.environ.get(variable, "").strip().lower() in ("1", "true", "t", "yes", "y", "on")


# --- The emulator --------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Hint:
    """The record of the emulator to use.

    `data_dir` is the data directory in which the record was found, or None if it is only in the
    registry. `is_registered` means that the same record is in the registry.
    """

    record: EmulatorRecord
    data_dir: Path | None
    is_registered: bool


def _find_hint(surroundings: Surroundings) -> _Hint | None:
    """Return the record of the emulator to use, or None to use the default address.

    Raises EmulatorNotFound.
    """
    registered_records = registered_emulators()
    data_dir = surroundings.data_dir
    if data_dir is not None:
        for folder in surroundings.folders[:-1]:
            nearer_records = _started_in(folder, registered_records)
            if len(nearer_records) == 1:
                return _Hint(nearer_records[0], None, is_registered=True)
    if data_dir is not None and _is_in_use(data_dir):
        record = _record_in(data_dir)
        is_registered = record in registered_records
        if not is_registered and not _is_on_this_machine(record.url):
            raise _unusable(data_dir, f"its address {record.url} is not a loopback address")
        return _Hint(record, data_dir, is_registered)
    started_record = _started_here(surroundings, registered_records)
    if started_record is not None:
        return _Hint(started_record, None, is_registered=True)
    if data_dir is None:
        return None
    raise EmulatorNotFound(
        f"the emulator of {data_dir} is not running",
        f"start it with {_start_command(surroundings)}, or choose another emulator with --url",
        running_text(),
    )


def _started_here(
    surroundings: Surroundings, registered_records: Sequence[EmulatorRecord]
) -> EmulatorRecord | None:
    """Return the record of the only emulator that was started in the working folder or in the
    nearest parent folder.

    This emulator may store nothing or use a different data directory. Raises EmulatorNotFound if
    several emulators were started in the same folder.
    """
    for folder in surroundings.folders:
        records = _started_in(folder, registered_records)
        if len(records) == 1:
            return records[0]
        if records:
            reason = f"several emulators were started in {folder}"
            raise EmulatorNotFound(reason, "choose one of them with --url", running_text())
    return None


def _started_in(
    folder: Path, registered_records: Sequence[EmulatorRecord]
) -> Sequence[EmulatorRecord]:
    """Return the records of the emulators that were started in a folder."""
    return [
        record for record in registered_records if path_bytes(record.folder) == os.fsencode(folder)
    ]


def _is_in_use(data_dir: Path) -> bool:
    """Return whether a process keeps a data directory locked. Raises EmulatorNotFound."""
    try:
        return is_locked(data_dir / LOCK_FILE)
    except OSError as error:
        reason = f"it cannot be read ({(error.strerror or '').lower()})"
        raise _unusable(data_dir, reason) from None


def _record_in(data_dir: Path) -> EmulatorRecord:
    """Return the record in a data directory that is in use. Raises EmulatorNotFound."""
    try:
        record = read_record(data_dir / ADDRESS_FILE)
    except AddressRefused as refused:
        raise _unusable(data_dir, str(refused)) from None
    if record is None:
        raise _unusable(data_dir, "it has not published its address; it may still be starting")
    return record


def _checked_address(hint: _Hint, token: str | None, timeout_s: float) -> EmulatorAddress:
    """Return the address in a record if the emulator that the record describes responds there.

    Raises EmulatorNotFound.
    """
    record = hint.record
    folder = hint.data_dir or Path(record.folder)
    if not hint.is_registered:
        token = None
    info = _reported_info(hint, token, timeout_s)
    if isinstance(info, _Obstacle):
        raise _unusable(folder, info.reason, info.advice)
    if info.get("instance") != record.instance:
        raise _unusable(folder, f"another emulator is running at {record.url}")
    if hint.data_dir is not None and not _uses_folder(info.get("data_dir"), hint.data_dir):
        raise _unusable(folder, f"the emulator at {record.url} uses another data directory")
    return EmulatorAddress(record.url, is_trusted=hint.is_registered)


def _unusable(folder: Path, reason: str, advice: str = _ADVICE) -> EmulatorNotFound:
    """Return an error about a data directory whose emulator may be running but cannot be used."""
    message = f"commands cannot use the emulator of {folder}: {reason}"
    return EmulatorNotFound(message, advice, running_text())


def _start_command(surroundings: Surroundings) -> str:
    command = "`hosting-emulator start`"
    if len(surroundings.folders) == 1:
        return command
    return f"{command} in {surroundings.folders[-1]}"


def _is_on_this_machine(url: str) -> bool:
    """Return whether a URL consists of `http`, a loopback address and a port."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        port = parts.port
        is_local = host == "localhost" or ip_address(host).is_loopback
    except ValueError:
        return False
    if ":" in host:
        host = f"[{host}]"
    return is_local and url == f"http://{host}:{port}"


def _uses_folder(reported: object, data_dir: Path) -> bool:
    """Return whether the path that an emulator reports is this data directory."""
    if not isinstance(reported, str):
        return False
    try:
        return data_dir.samefile(os.fsdecode(path_bytes(reported)))
    except (OSError, ValueError):
        return False


@dataclass(frozen=True, slots=True)
class _Obstacle:
    """A clause that says why an emulator reports nothing about itself, and what to do."""

    reason: str
    advice: str = _ADVICE


def _reported_info(
    hint: _Hint, token: str | None, timeout_s: float
) -> Mapping[str, Any] | _Obstacle:
    """Return what the emulator at a record's address reports about itself, or why it reports
    nothing.
    """
    # Imported here because importing http.client takes 30 ms.
    from hosting_emulator.sdk.control_connection import ControlConnection

    headers = {"Accept": "application/json"}
    if token:
        headers["X-Control-Token"] = token
    url = hint.record.url
    connection = ControlConnection(url, timeout_s)
    try:
        response = connection.exchange("GET", "/_emulator/info", None, headers)
        document = json.loads(response.body)
    except EmulatorUnreachable as error:
        return _Obstacle(f"nothing responds at {url} ({error.reason})")
    except (UnexpectedResponse, ValueError):
        return _Obstacle(f"the program at {url} is not an emulator")
    finally:
        connection.close()
    if response.status == 401:
        # The token is not sent to an emulator that is not registered, unless the user passes its
        # address.
        advice = _TOKEN_ADVICE if hint.is_registered else _ADVICE
        required_token = "another control token" if token else "the control token"
        return _Obstacle(f"the emulator at {url} requires {required_token}", advice)
    if response.status != 200 or not isinstance(document, Mapping):
        return _Obstacle(f"the program at {url} is not an emulator")
    return document
