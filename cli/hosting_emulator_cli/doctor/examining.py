"""Examining: gets the facts of this machine and hands them to the checks, one after the other."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import resource
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

from hosting_emulator import __version__
from hosting_emulator_cli.doctor import certificates, machine, network, processes, state, versions
from hosting_emulator_cli.doctor.finding import Finding, note, ok

#: A resolver that takes longer is as good as none.
_RESOLVER_S = 5.0
_PACKAGE = "hosting-emulator"
_DEFAULT_PORT = 4620
_DEFAULT_DIRECTORY = Path(".hosting-emulator")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What is to be looked at; None: what the running emulator uses, else what `start` would.

    `named`: somebody chose `url`, on the command line or in the environment.
    """

    url: str
    named: bool
    control_token: str | None
    port: int | None
    tls_port: int | None
    data_dir: Path | None


def examine(wanted: Wanted) -> list[Finding]:
    """Make every check, whatever becomes of the others. Raises ValueError: `url` is no address."""
    running = network.ask(wanted.url, wanted.control_token)
    path = _directory(wanted, running)
    checks: dict[str, Callable[[], Iterator[Finding]]] = {
        "versions": _versions,
        "emulator": lambda: _emulator(wanted, running),
        "port": lambda: _ports(wanted, running),
        "data": lambda: _state(path, running),
        "certificates": lambda: _certificates(path, running),
        "machine": _machine,
    }
    return [finding for name, check in checks.items() for finding in _safely(name, check)]


def _safely(name: str, check: Callable[[], Iterator[Finding]]) -> Iterator[Finding]:
    """Make a check; one that cannot be made says so, and the others go on."""
    try:
        yield from check()
    except Exception as error:
        yield note(name, f"This could not be checked: {str(error) or type(error).__name__}.")


def _directory(wanted: Wanted, running: network.Answered) -> Path:
    if wanted.data_dir is not None:
        return wanted.data_dir
    used = running.info and running.info["data_dir"]
    return Path(used) if used and Path(used).is_dir() else _DEFAULT_DIRECTORY


def _versions() -> Iterator[Finding]:
    try:
        known = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        yield note("versions", "It runs from its source, without having been installed.")
        return
    python = known.metadata["Requires-Python"] or ">=3.11"
    yield versions.check_python(platform.python_version(), python)
    yield from versions.check_dependencies(known.requires or [], _installed)


def _installed(name: str) -> str | None:
    with suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name)
    return None


def _emulator(wanted: Wanted, running: network.Answered) -> Iterator[Finding]:
    yield network.check_emulator(wanted.url, running, __version__, named=wanted.named)


def _ports(wanted: Wanted, running: network.Answered) -> Iterator[Finding]:
    parts = urlsplit(wanted.url)
    here = parts.hostname in ("127.0.0.1", "localhost", "::1")
    port = wanted.port
    if port is None:
        port = (parts.port if here else None) or _DEFAULT_PORT
    if port == 0:
        yield ok("port", "A free one is taken.")
    else:
        error = network.binding_error(port)
        asked = None
        if error is not None:
            same = here and parts.port == port
            url = f"http://{network.HERE}:{port}"
            asked = running if same else network.ask(url, wanted.control_token)
        yield network.check_port("port", port, error, asked, processes.owner_of_port)
    if wanted.tls_port:
        error = network.binding_error(wanted.tls_port)
        its = running.info is not None and running.info["tls_port"] == wanted.tls_port
        asked = running if its else None
        yield network.check_port("tls port", wanted.tls_port, error, asked, processes.owner_of_port)


def _state(path: Path, running: network.Answered) -> Iterator[Finding]:
    finding = state.check_place(path, writable=state.can_write(state.nearest(path)))
    if finding is not None:
        yield finding
    else:
        from hosting_emulator.bootstrap.inspection import LOCK, inspect

        found = inspect(path)
        holder = processes.owner_of_file(path / LOCK) if found.held else None
        yield from state.check_worlds(path, found, holder, answers=_uses(running, path))
        yield state.check_secrets(path, found, path.stat().st_mode)
    place = state.nearest(path)
    files = os.statvfs(place)
    free_files = files.f_favail if files.f_files else None
    yield state.check_space(place, shutil.disk_usage(place).free, free_files)


def _certificates(path: Path, running: network.Answered) -> Iterator[Finding]:
    folder = path / "tls"
    yield from certificates.check_authority(folder, datetime.now(UTC))
    info, ca_file = running.info, folder / "ca.pem"
    if info is not None and info["tls_port"] and _uses(running, path) and ca_file.exists():
        yield from certificates.check_served(
            ca_file, info["tls_port"], certificates.NAMES, certificates.shake_hands
        )


def _uses(running: network.Answered, path: Path) -> bool:
    """Tell whether the running emulator keeps its state in this directory."""
    used = running.info and running.info["data_dir"]
    return bool(used) and Path(str(used)).resolve() == path.resolve()


def _machine() -> Iterator[Finding]:
    yield machine.check_localhost(_resolved_in_time)
    yield machine.check_dev_names(_resolved_in_time)
    yield machine.check_ipv6(machine.ipv6_error())
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    yield machine.check_open_files(None if most == resource.RLIM_INFINITY else most)
    yield machine.check_clock(datetime.now(UTC))
    yield machine.check_proxies(os.environ)


def _resolved_in_time(name: str) -> list[str]:
    """Resolve a name; a resolver that hangs is left behind. Raises OSError."""
    answers: list[list[str] | OSError] = []

    def ask() -> None:
        try:
            answers.append(machine.resolve(name))
        except OSError as error:
            answers.append(error)

    asking = threading.Thread(target=ask, daemon=True)
    asking.start()
    asking.join(_RESOLVER_S)
    answer = answers[0] if answers else TimeoutError(f"no answer in {_RESOLVER_S:.0f} seconds")
    if isinstance(answer, OSError):
        raise answer
    return answer
