"""Checks the ports on which `start` would listen, for `doctor`."""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import urlsplit

from hosting_emulator import DEFAULT_PORT
from hosting_emulator.port_holders import emulator_at, program_at
from hosting_emulator.running_emulators import EmulatorRecord
from hosting_emulator.start_checks import listening_error
from hosting_emulator_cli.doctor_emulator import EmulatorProbe, Target, ask
from hosting_emulator_cli.doctor_findings import CheckFinding, finding

#: The default data directory of `start`.
DEFAULT_DIRECTORY = Path(".hosting-emulator")
_HERE = "127.0.0.1"


@dataclass(frozen=True)
class StartSettings:
    """The data directory and the addresses that `start` would use in this folder.

    `host` is an IP address or a name, or empty for all addresses of this machine. A port of 0 is any
    free port. `tls_port` is None if `start` would not serve HTTPS.
    """

    data_dir: Path = DEFAULT_DIRECTORY
    host: str = _HERE
    port: int = DEFAULT_PORT
    tls_port: int | None = None


def check_ports(
    target: Target, port: int | None, settings: StartSettings
) -> Iterator[CheckFinding]:
    """Check the addresses at which `start` would listen.

    If `port` is None, this function checks the port of the target or, if no emulator is known to be
    there or it is on another machine, the port in `settings`.
    """
    parts = urlsplit(target.url)
    target_port = None
    if parts.hostname in (_HERE, "localhost", "::1", settings.host):
        target_port = parts.port
    if port is None:
        port = settings.port
        if target_port is not None and not target.is_default:
            port = target_port
    ports = PortChecks(target, settings)
    if port == 0:
        yield finding("port", "any")
    else:
        yield ports.check("port", port, is_target=port == target_port)
    if settings.tls_port:
        info = target.probe.info
        is_target = info is not None and info.tls_port == settings.tls_port
        yield ports.check("tls port", settings.tls_port, is_target=is_target)


@dataclass(frozen=True)
class PortChecks:
    """Checks ports on which `start` would listen with these settings.

    `target` is the emulator that commands in this folder use.
    """

    target: Target
    settings: StartSettings

    def check(self, check: str, port: int, *, is_target: bool = False) -> CheckFinding:
        """Check a port by trying to listen on it.

        `is_target` means that the target is expected to use this port.
        """
        host = self.settings.host
        facts: dict[str, object] = {"port": port, "host": host or "any address"}
        facts["option"] = f"--{check.replace(' ', '-')}"
        error = listening_error(host, port)
        if error is None:
            return replace(finding("port", "free", **facts), check=check)
        if error.errno == errno.EADDRINUSE:
            return replace(self._holder(port, facts, is_target=is_target), check=check)
        kind = "refused"
        reason = os.strerror(error.errno or 0)
        if isinstance(error, socket.gaierror):
            kind = "no_host"
            reason = error.strerror or str(error)
        elif error.errno == errno.EADDRNOTAVAIL:
            kind = "no_host"
        return replace(finding("port", kind, **facts, why=reason.lower()), check=check)

    def _holder(self, port: int, facts: dict[str, object], *, is_target: bool) -> CheckFinding:
        """Return a finding about the program that is using a port."""
        record = emulator_at(port)
        probe = self.target.probe
        if not is_target and (record is None or record.url != self.target.url):
            probe = ask(f"http://{_url_host(self.settings.host)}:{port}")
        if is_target and probe.version is not None and not self.target.is_default:
            return finding("port", "ours", **facts, **_emulator_facts(probe))
        if record is not None:
            kind = "elsewhere"
            if self._is_ours(record):
                kind = "ours"
            facts |= {"folder": record.folder, "url": record.url}
            return finding("port", kind, **facts, **_emulator_facts(probe))
        if probe.version is None:
            return finding("port", "taken", **facts, program=_program_text(port))
        kind = "unlisted"
        if is_target:
            kind = "shared"
        return finding("port", kind, **facts, **_emulator_facts(probe))

    def _is_ours(self, record: EmulatorRecord) -> bool:
        """Return whether a record describes the emulator of this folder.

        This is the emulator that commands found, or that uses the data directory of `start`.
        """
        if record.url == self.target.url and not self.target.is_default:
            return True
        if record.data_dir is None:
            return False
        return Path(record.data_dir).resolve() == self.settings.data_dir.resolve()


def _emulator_facts(probe: EmulatorProbe) -> dict[str, str]:
    storage = ""
    if probe.data_dir:
        storage = f" and keeps its state in {probe.data_dir}"
    return {"version": probe.version or "unknown", "storage": storage}


def _url_host(host: str) -> str:
    """Return the host for the URL of a program that listens on `host`."""
    if host in ("", "0.0.0.0", "::"):
        return _HERE
    if ":" in host:
        return f"[{host}]"
    return host


def _program_text(port: int) -> str:
    """Return the name and process id of the program that is using a port, if known."""
    program = program_at(port)
    if program is None:
        return "A program that is not an emulator"
    return f"{program.name} (process {program.pid})"
