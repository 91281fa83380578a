"""The checks that `doctor` performs. Each check examines this machine and returns findings."""

from __future__ import annotations

import importlib.metadata
import ipaddress
import os
import platform
import re
import resource
import socket
import ssl
import threading
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from hosting_emulator import __version__
from hosting_emulator.running_emulators import is_registry_refused
from hosting_emulator.sdk.discovery import running_text
from hosting_emulator.sdk.errors import start_command
from hosting_emulator.sdk.text import count_text
from hosting_emulator.variables import unknown_variable_text, unknown_variables
from hosting_emulator_cli.doctor_emulator import PATIENCE_S, EmulatorProbe, Target, find_target
from hosting_emulator_cli.doctor_findings import CheckFinding, finding
from hosting_emulator_cli.doctor_ports import DEFAULT_DIRECTORY, StartSettings, check_ports
from hosting_emulator_cli.parameter_sources import origin_of
from hosting_emulator_cli.settings_command import start_errors_named

if TYPE_CHECKING:
    from hosting_emulator.inspection import Inspection

_PACKAGE = "hosting-emulator"
_HERE = "127.0.0.1"
#: An example of a dev origin's host name.
_DEV_NAME = "x.dev.localhost"
#: How long to wait for the resolver, in real seconds.
_RESOLVER_S = 5.0


def examine(
    start: click.Command,
    *,
    url: str | None,
    control_token: str | None,
    port: int | None,
    tls_port: int | None,
    data_dir: Path | None,
) -> list[CheckFinding]:
    """Run all checks, even if one fails. Raises BadParameter if `url` is not an address.

    By default, this function checks the emulator of this folder, and its port and its data directory
    or, if these are unknown, those that `start` would use. It also checks the TLS port that `start`
    would use, if any. `port` and `tls_port` replace the ports of `start`.
    """
    settings, start_settings = check_settings(
        start, port=port, tls_port=tls_port, data_dir=data_dir
    )
    if tls_port is not None:
        start_settings = replace(start_settings, tls_port=tls_port)
    target = find_target(url, control_token)
    probe = target.probe
    served_directory = None
    if not target.is_default:  # at the default address, it may be the emulator of another folder
        served_directory = _directory_of(probe)
    path = data_dir or served_directory or target.data_dir or start_settings.data_dir
    is_used = probe.data_dir is not None and Path(probe.data_dir).resolve() == path.resolve()
    served_port = None
    if is_used and probe.info is not None:
        served_port = probe.info.tls_port
    checks: dict[str, Callable[[], Iterable[CheckFinding]]] = {
        "versions": check_versions,
        "settings": lambda: settings,
        "emulator": lambda: [_check_target(target)],
        "port": lambda: check_ports(target, port, start_settings),
        "data": lambda: check_data(path, is_reached=is_used),
        "certificates": lambda: check_certificates(path / "tls", served_port),
        "localhost": lambda: [check_name("localhost", "localhost", _resolve_in_time)],
        "dev origins": lambda: [check_name("dev origins", _DEV_NAME, _resolve_in_time)],
        "open files": lambda: [check_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1])],
        "clock": lambda: [check_clock(datetime.now(UTC))],
        "proxies": lambda: [check_proxies(os.environ)],
        "registry": lambda: [check_registry()],
    }
    findings: list[CheckFinding] = []
    for name, check in checks.items():
        try:
            findings += check()
        except Exception as error:
            why = str(error) or type(error).__name__
            findings.append(CheckFinding(name, "note", f"The check could not run: {why}."))
    return findings


def _directory_of(probe: EmulatorProbe) -> Path | None:
    """Return the emulator's data directory, or None if the directory is not on this machine."""
    if probe.data_dir and Path(probe.data_dir).is_dir():
        return Path(probe.data_dir)
    return None


# --- Versions ------------------------------------------------------------------------------------

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9.]+)\s*$")


def check_versions() -> Iterator[CheckFinding]:
    """Check that Python and the dependencies meet the package's requirements.

    The dependencies of extras are not checked.
    """
    try:
        package = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        yield finding("versions", "not_installed")
        return
    version = platform.python_version()
    least = (package.metadata["Requires-Python"] or ">=3.11").removeprefix(">=").strip()
    kind = "ok"
    if _release(version) < _release(least):
        kind = "old"
    yield finding("python", kind, version=version, least=least)
    matches = [_REQUIREMENT.match(requirement) for requirement in package.requires or []]
    requirements = [match.groups() for match in matches if match is not None]
    old = []
    for name, least in requirements:
        version = ""
        state = "is not installed"
        with suppress(importlib.metadata.PackageNotFoundError):
            version = importlib.metadata.version(name)
            state = f"is {version}"
        if _release(version) < _release(least):
            old.append(finding("dependencies", "old", name=name, state=state, least=least))
    yield from old or [finding("dependencies", "ok", count=len(requirements))]


def _release(version: str) -> list[int]:
    """Return a version as a list of comparable numbers, without a suffix such as `rc1`."""
    plain = re.sub(r"[^\d.].*", "", version)
    return [*map(int, filter(None, plain.split("."))), 0, 0, 0][:4]


# --- The settings of `start` ----------------------------------------------------------------------


def check_settings(
    start: click.Command, **replacements: Any
) -> tuple[list[CheckFinding], StartSettings]:
    """Return findings about the settings that `start` would use, and some of these settings.

    The defaults are returned if `start` could not read the settings. `replacements` are values that
    replace fields of `Settings` in the checks that `start` makes before it listens. A value of None
    replaces nothing.
    """
    try:
        ctx = start.make_context("start", [])
    except click.ClickException as error:
        refusal = finding("settings", "wrong", why=error.format_message())
        return [refusal], StartSettings()
    findings = []
    for param in start.params:
        origin = origin_of(ctx, param)
        if origin is not None:
            option = max(param.opts, key=len)
            words = _words(param, ctx.params[str(param.name)])
            setting = " ".join([option, *words])
            findings.append(finding("settings", "given", setting=setting, origin=origin))
    for name in unknown_variables(os.environ):
        why = _capitalized(unknown_variable_text(name))
        findings.append(finding("settings", "unknown", why=why))
    refusal_text = _start_refusal(ctx, replacements)
    if refusal_text is not None:
        findings.append(finding("settings", "wrong", why=refusal_text))
    settings = StartSettings(
        ctx.params["data_dir"] or DEFAULT_DIRECTORY,
        ctx.params["host"],
        ctx.params["port"],
        ctx.params["tls_port"],
    )
    return findings or [finding("settings", "default")], settings


def _start_refusal(ctx: click.Context, replacements: Mapping[str, Any]) -> str | None:
    """Return the message with which `start` would refuse its settings, or None if it would accept them.

    `ctx` contains the options of `start`.
    """
    # Imported here because only this check needs the whole emulator.
    from hosting_emulator import bootstrap
    from hosting_emulator_cli.commands.start import emulator_settings

    chosen = {name: value for name, value in replacements.items() if value is not None}
    try:
        with ctx.scope(cleanup=False), start_errors_named():
            settings = emulator_settings(**ctx.params)
            bootstrap.check_settings(replace(settings, **chosen))
    except click.ClickException as error:
        return error.format_message()
    return None


def _words(param: click.Parameter, value: object) -> list[str]:
    """Return the words that follow an option to set it to a value.

    No word follows a flag that is set. A flag that is not set has the word `false`, as in a
    settings file.
    """
    if param.name == "control_token":
        return ["(hidden)"]
    if value is True:
        return []
    if value is False:
        return ["false"]
    if not isinstance(value, tuple):
        return [str(value)]
    words = []
    for item in value:
        word = str(item)
        if isinstance(item, tuple):
            word = "=".join(item)
        words.append(word)
    return words


# --- The emulator --------------------------------------------------------------------------------


def _check_target(target: Target) -> CheckFinding:
    if target.not_found is None:
        return check_emulator(target.url, target.probe, is_url_chosen=target.is_url_chosen)
    why = _capitalized(target.not_found.reason)
    return finding("emulator", "lost", why=why, advice=_capitalized(target.not_found.advice))


def check_emulator(url: str, probe: EmulatorProbe, *, is_url_chosen: bool) -> CheckFinding:
    """Check the emulator that commands would use."""
    pid = None
    if probe.info is not None:
        pid = probe.info.pid
    reason = probe.reason
    if probe.version is None and not probe.is_silent:
        reason = _capitalized(reason)
    return finding(
        "emulator",
        _emulator_kind(probe, is_url_chosen=is_url_chosen),
        url=url,
        version=probe.version,
        ours=__version__,
        why=reason,
        pid=pid,
        start=start_command(url),
    )


def _emulator_kind(probe: EmulatorProbe, *, is_url_chosen: bool) -> str:
    if probe.version is None:
        if not is_url_chosen:
            return "none"
        if probe.is_silent:
            return "silent"
        return "other"
    if probe.version != __version__:
        return "version"
    if probe.info is None:
        return "closed"
    return "ok"


def check_registry() -> CheckFinding:
    """Check the registry of this user's running emulators."""
    if is_registry_refused():
        return finding("registry", "none")
    return finding("registry", "ok", running=_capitalized(running_text()))


# --- The data directory --------------------------------------------------------------------------


def check_data(path: Path, *, is_reached: bool) -> Iterator[CheckFinding]:
    """Check a data directory and its content.

    `is_reached` means that the emulator that uses the data directory has responded.
    """
    exists = path.exists()
    writable_path = path
    if not exists:
        # Check the closest existing parent, because `start` would create the directory in it.
        writable_path = next(parent for parent in path.absolute().parents if parent.exists())
    if path.is_symlink() and not exists:
        yield finding("data", "link", path=path)
    elif exists and not path.is_dir():
        yield finding("data", "file", path=path)
    elif not os.access(writable_path, os.W_OK | os.X_OK):
        yield finding("data", "unwritable", path=writable_path)
    elif not exists:
        yield finding("data", "none", path=path)
    else:
        # Import `inspect` lazily: it loads the storage modules, which no other check needs.
        from hosting_emulator.inspection import inspect

        inspection = inspect(path)
        yield from _judge_worlds(path, inspection, is_reached=is_reached)
        yield _judge_secrets(path, inspection)


def _judge_worlds(
    path: Path, inspection: Inspection, *, is_reached: bool
) -> Iterator[CheckFinding]:
    count = count_text(len(inspection.worlds), "world")
    if inspection.held:
        kind = "held"
        if is_reached:
            kind = "in_use"
        yield finding("data", kind, path=path, count=count)
        return
    for refusal in inspection.refused:
        message, _, advice = refusal.rpartition("; ")  # the advice follows the last semicolon
        if not message:
            message = refusal
            advice = "restore the folder from a copy, or move it away"
        yield finding("data", "damaged", seen=_sentence(message), advice=_sentence(advice))
    for notice in inspection.notices:
        yield finding("data", "notice", seen=_sentence(notice))
    if not inspection.refused and not inspection.notices:
        yield finding("data", "ok", path=path, count=count)


def _sentence(text: str) -> str:
    return f"{_capitalized(text).rstrip('.')}."


def _capitalized(text: str) -> str:
    """Capitalize a text, unless its first word is a path, file name or address."""
    words = text.split(maxsplit=1)
    if words and any(mark in words[0].rstrip(".,:;") for mark in "/\\."):
        return text
    return f"{text[:1].upper()}{text[1:]}"


def _judge_secrets(path: Path, inspection: Inspection) -> CheckFinding:
    """Check whether other users of this machine can read or change the stored state."""
    mode = path.stat().st_mode
    exposed = inspection.exposed
    if mode & 0o022:
        return finding("secrets", "writable", path=path, mode=f"{mode & 0o777:o}")
    if not exposed:
        return finding("secrets", "ok")
    more = ""
    if len(exposed) > 1:
        more = f" and {len(exposed) - 1} more"
    return finding("secrets", "readable", path=path, file=exposed[0], more=more)


# --- Certificates --------------------------------------------------------------------------------

#: `start --tls-port` replaces an authority that expires within this time.
_RENEWED_BEFORE = timedelta(days=30)


def check_certificates(folder: Path, port: int | None) -> Iterator[CheckFinding]:
    """Check the stored certificate authority, and the certificates that the emulator presents.

    `port` is the TLS port of the emulator that uses `folder`, or None if there is no such port.
    """
    yield check_authority(folder, datetime.now(UTC))
    if port and (folder / "ca.pem").exists():
        yield check_served(folder / "ca.pem", port)


def check_authority(folder: Path, now: datetime) -> CheckFinding:
    """Check the certificate authority in `folder`, which is the `tls` folder of a data directory.

    Raises OSError if a file cannot be read.
    """
    path = folder / "ca.pem"
    key = folder / "ca.key"
    missing = [file for file in (path, key) if not file.exists()]
    if len(missing) == 2:
        return finding("certificates", "none")
    if missing:
        return finding("certificates", "useless", why=f"{missing[0]} is missing")
    folders = (folder, folder.absolute().parent)
    can_be_entered = all(folder.stat().st_mode & 0o011 for folder in folders)
    if key.stat().st_mode & 0o077 and can_be_entered:
        return finding("certificates", "readable", key=key, folder=folder)
    from cryptography.hazmat.primitives.serialization import load_pem_private_key
    from cryptography.x509 import load_pem_x509_certificate

    try:
        certificate = load_pem_x509_certificate(path.read_bytes())
        private = load_pem_private_key(key.read_bytes(), None)
    except (ValueError, TypeError):
        return finding("certificates", "useless", why=f"{path} or its key is damaged")
    if private.public_key() != certificate.public_key():
        return finding("certificates", "useless", why=f"{key} is not the key of {path}")
    begins = certificate.not_valid_before_utc
    ends = certificate.not_valid_after_utc
    if now > ends:
        return finding("certificates", "useless", why=f"{path} expired on {ends.date()}")
    kind = "ok"
    if now < begins:
        kind = "early"
    elif ends - now < _RENEWED_BEFORE:
        kind = "soon"
    return finding("certificates", kind, path=path, begins=begins.date(), ends=ends.date())


def check_served(ca_file: Path, port: int) -> CheckFinding:
    """Verify the certificates that the TLS port serves, as a client that trusts `ca_file` would."""
    context = ssl.create_default_context(cafile=str(ca_file))
    names = ("localhost", _DEV_NAME)
    for name in names:
        try:
            with (
                socket.create_connection((_HERE, port), PATIENCE_S) as plain,
                context.wrap_socket(plain, server_hostname=name),
            ):
                pass
        except (OSError, ValueError) as error:
            reason = str(error)
            if isinstance(error, ssl.SSLCertVerificationError):
                reason = error.verify_message
            return finding(
                "certificates", "refused", port=port, name=name, path=ca_file, why=reason
            )
    return finding("certificates", "served", port=port, names=" and ".join(names))


# --- The machine ---------------------------------------------------------------------------------

_FEW_FILES = 256
_ENOUGH_FILES = 4096
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def _resolve_in_time(name: str) -> list[str]:
    """Return the IP addresses of a name. Raises OSError if the name does not resolve in time.

    If the resolver hangs, its thread keeps running.
    """
    result: list[str] | OSError = TimeoutError(f"no response in {_RESOLVER_S:.0f} seconds")

    def resolve() -> None:
        nonlocal result
        try:
            entries = socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)
            result = list(dict.fromkeys(str(address[0]) for *_, address in entries))
        except OSError as error:
            result = error

    resolver = threading.Thread(target=resolve, daemon=True)
    resolver.start()
    resolver.join(_RESOLVER_S)
    if isinstance(result, OSError):
        raise result
    return result


def check_name(check: str, name: str, resolve: Callable[[str], Collection[str]]) -> CheckFinding:
    """Check whether `localhost` or the name of a dev origin resolves to this machine."""
    try:
        addresses = resolve(name)
    except OSError as error:
        return finding(check, "unknown", name=name, why=error.strerror or error)
    kind = "ok"
    if not all(ipaddress.ip_address(text.partition("%")[0]).is_loopback for text in addresses):
        kind = "elsewhere"
    elif check == "localhost" and _HERE not in addresses:
        kind = "only_ipv6"
    return finding(check, kind, name=name, addresses=", ".join(addresses))


def check_open_files(most: int) -> CheckFinding:
    """Check the hard limit on the number of files that a process can open."""
    if most == resource.RLIM_INFINITY:
        return finding("open files", "ok", most="any number of")
    kind = "ok"
    if most < _FEW_FILES:
        kind = "few"
    elif most < _ENOUGH_FILES:
        kind = "some"
    return finding("open files", kind, most=f"{most:,}")


def check_clock(now: datetime) -> CheckFinding:
    """Check this machine's clock, which worlds with a real clock use."""
    if 2025 <= now.year < 2100:
        return finding("clock", "ok", now=f"{now:%Y-%m-%d %H:%M}")
    return finding("clock", "wrong", now=now.date())


def check_proxies(environ: Mapping[str, str]) -> CheckFinding:
    """Check whether clients would use a proxy for requests to this machine."""
    names = [name for base in _PROXIES for name in (base, base.lower()) if environ.get(name)]
    if not names:
        return finding("proxies", "none")
    exceptions = ",".join(environ.get(name, "") for name in ("NO_PROXY", "no_proxy"))
    entries = {part.strip().lower().lstrip(".") for part in exceptions.split(",")}
    excludes_name = bool({"*", "localhost"} & entries)
    excludes_address = any(_matches_address(entry) for entry in entries)
    kind = "wrong"
    if excludes_name and excludes_address:
        kind = "ok"
    return finding("proxies", kind, names=", ".join(names))


def _matches_address(entry: str) -> bool:
    """Return whether an entry in NO_PROXY matches 127.0.0.1."""
    if entry in ("*", _HERE):
        return True
    try:
        return ipaddress.ip_address(_HERE) in ipaddress.ip_network(entry)
    except ValueError:
        return False
