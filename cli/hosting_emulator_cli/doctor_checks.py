"""What `doctor` looks at: each check judges facts of this machine by what stands in `doctor.toml`."""

from __future__ import annotations

import errno
import importlib.metadata
import ipaddress
import os
import platform
import re
import resource
import socket
import ssl
import threading
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple
from urllib.parse import urlsplit

import click

from hosting_emulator import DEFAULT_PORT, EXEC_CONDUCT_VARIABLE, EXEC_URL_VARIABLE, __version__
from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.sdk import ControlError, ControlRefused, EmulatorUnreachable, Info
from hosting_emulator.sdk.control import start_line
from hosting_emulator_cli.files import scenario_text
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.options import open_client, origin_of

if TYPE_CHECKING:
    from hosting_emulator.inspection import Inspection

_KINDS = tomllib.loads(Path(__file__).with_name("doctor.toml").read_text("utf-8"))
_PACKAGE = "hosting-emulator"
_DEFAULT_DIRECTORY = Path(".hosting-emulator")
_HERE = "127.0.0.1"
#: Variables that `start` does not read, but the other commands.
_OTHER_VARIABLES = (
    "HOSTING_EMULATOR_URL",
    "HOSTING_EMULATOR_WORLD",
    EXEC_URL_VARIABLE,
    EXEC_CONDUCT_VARIABLE,
)
#: It stands for all dev origins.
_DEV_NAME = "x.dev.localhost"
#: How long an emulator may take to answer, in real seconds. A slower resolver is as good as none.
_PATIENCE_S, _RESOLVER_S = 3.0, 5.0


class CheckFinding(NamedTuple):
    """One check's verdict. `seen` is one sentence; `advice` says what to do, if anything is."""

    check: str
    verdict: str
    seen: str
    advice: str | None = None


def finding(check: str, kind: str, **facts: object) -> CheckFinding:
    """Fill a kind of finding with its facts."""
    row = {name: text.format(**facts) for name, text in _KINDS[check][kind].items()}
    return CheckFinding(check, **row)


class EmulatorAnswer(NamedTuple):
    """What an address answered: no `version` is no emulator, no `info` one that wants its control token."""

    version: str | None
    info: Info | None
    why: str = ""
    silent: bool = False


def examine(
    start: click.Command,
    *,
    url: str,
    named: bool,
    control_token: str | None,
    port: int | None,
    tls_port: int | None,
    data_dir: Path | None,
) -> list[CheckFinding]:
    """Make every check, whatever becomes of the others. Raises BadParameter: `url` is no address.

    What is None is what the running emulator uses, else what `start` would. `named`: somebody chose
    `url`, on the command line or in the environment.
    """
    settings, kept = check_settings(start)
    running = ask(url, control_token)
    used = running.info and running.info.data_dir
    path = data_dir or (Path(used) if used and Path(used).is_dir() else kept)
    uses = bool(used) and Path(str(used)).resolve() == path.resolve()
    its_port = running.info.tls_port if running.info and uses else None
    checks: dict[str, Callable[[], Iterable[CheckFinding]]] = {
        "versions": check_versions,
        "settings": lambda: settings,
        "emulator": lambda: [check_emulator(url, running, named=named)],
        "port": lambda: check_ports(url, port, tls_port, running),
        "data": lambda: check_data(path, answers=uses),
        "certificates": lambda: check_certificates(path / "tls", its_port),
        "localhost": lambda: [check_name("localhost", "localhost", _resolve_in_time)],
        "dev origins": lambda: [check_name("dev origins", _DEV_NAME, _resolve_in_time)],
        "open files": lambda: [check_open_files(resource.getrlimit(resource.RLIMIT_NOFILE)[1])],
        "clock": lambda: [check_clock(datetime.now(UTC))],
        "proxies": lambda: [check_proxies(os.environ)],
    }
    findings: list[CheckFinding] = []
    for name, check in checks.items():
        try:
            findings += check()
        except Exception as error:
            why = str(error) or type(error).__name__
            findings.append(CheckFinding(name, "note", f"This could not be checked: {why}."))
    return findings


# --- Versions ------------------------------------------------------------------------------------

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9.]+)\s*$")


def check_versions() -> Iterator[CheckFinding]:
    """Hold Python and the dependencies, but for extras, against what the installed package asks for."""
    try:
        known = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        yield finding("versions", "not_installed")
        return
    version = platform.python_version()
    least = (known.metadata["Requires-Python"] or ">=3.11").removeprefix(">=").strip()
    kind = "ok" if _release(version) >= _release(least) else "old"
    yield finding("python", kind, version=version, least=least)
    needed = [match.groups() for match in map(_REQUIREMENT.match, known.requires or []) if match]
    old = []
    for name, least in needed:
        version, state = "", "is not installed"
        with suppress(importlib.metadata.PackageNotFoundError):
            version = importlib.metadata.version(name)
            state = f"is {version}"
        if _release(version) < _release(least):
            old.append(finding("dependencies", "old", name=name, state=state, least=least))
    yield from old or [finding("dependencies", "ok", count=len(needed))]


def _release(version: str) -> list[int]:
    """Return a version's numbers, to be compared; `rc1` does not count."""
    plain = re.sub(r"[^\d.].*", "", version)
    return [*map(int, filter(None, plain.split("."))), 0, 0, 0][:4]


# --- What `start` is told -------------------------------------------------------------------------


def check_settings(start: click.Command) -> tuple[list[CheckFinding], Path]:
    """Say where each setting of `start` comes from that is not as by default; and where it keeps state."""
    try:
        ctx = start.make_context("start", [])
    except click.ClickException as error:
        return [finding("settings", "wrong", why=error.format_message())], _DEFAULT_DIRECTORY
    found = []
    for param in start.params:
        name, option = str(param.name), max(param.opts, key=len)
        if (origin := origin_of(ctx, param)) is None:
            continue
        value = "(hidden)" if name == "control_token" else ctx.params[name]
        if isinstance(value, tuple):
            value = " ".join("=".join(v) if isinstance(v, tuple) else str(v) for v in value)
        found.append(finding("settings", "given", option=option, value=value, origin=origin))
    known = [*(str(param.envvar) for param in start.params), *_OTHER_VARIABLES]
    for name in os.environ:
        if name.startswith("HOSTING_EMULATOR_") and name not in known:
            found.append(finding("settings", "unknown", name=name, hint=nearest(name, known)))
    try:
        if (scenario := ctx.params["scenario"]) is not None:
            scenario_text(scenario)
    except Failure as error:
        found.append(finding("settings", "wrong", why=error.format_message()))
    return found or [finding("settings", "default")], ctx.params["data_dir"] or _DEFAULT_DIRECTORY


# --- The emulator and its ports ------------------------------------------------------------------


def ask(url: str, control_token: str | None = None) -> EmulatorAnswer:
    """Ask whoever answers at a base URL who they are."""
    version = None
    with open_client(url, control_token, timeout_s=_PATIENCE_S) as client:
        try:
            version = str(client.health().version)
            return EmulatorAnswer(version, client.info())
        except EmulatorUnreachable as error:
            return EmulatorAnswer(None, None, error.reason, silent=version is None)
        except ControlRefused as error:
            return EmulatorAnswer(version, None, str(error))
        except (ControlError, LookupError, TypeError) as error:
            return EmulatorAnswer(None, None, str(error))


def check_emulator(url: str, running: EmulatorAnswer, *, named: bool) -> CheckFinding:
    """Judge the emulator that commands would talk to."""
    version, info, why, silent = running
    if version is None:
        kind = ("silent" if silent else "other") if named else "none"
        why = why if silent else _capitalized(why)
    else:
        kind = "version" if version != __version__ else "closed" if info is None else "ok"
    pid, start = info and info.pid, start_line(url)
    facts = {"url": url, "version": version, "ours": __version__, "why": why}
    return finding("emulator", kind, pid=pid, start=start, **facts)


def check_ports(
    url: str, port: int | None, tls_port: int | None, running: EmulatorAnswer
) -> Iterator[CheckFinding]:
    """Judge the ports that `start` would take."""
    parts = urlsplit(url)
    at = parts.port if parts.hostname in (_HERE, "localhost", "::1") else None
    port = (at or DEFAULT_PORT) if port is None else port
    if port == 0:
        yield finding("port", "any")
    else:
        yield check_port("port", port, running if at == port else None)
    if tls_port:
        its = running.info is not None and running.info.tls_port == tls_port
        yield check_port("tls port", tls_port, running if its else None)


def check_port(check: str, port: int, answered: EmulatorAnswer | None) -> CheckFinding:
    """Judge a port of this machine by listening on it; `answered` is who speaks there, if known."""
    kind, facts = "free", {"port": port, "option": f"--{check.replace(' ', '-')}"}
    try:
        socket.create_server((_HERE, port)).close()
    except OSError as error:
        kind, facts["why"] = "refused", os.strerror(error.errno or 0).lower()
        if error.errno == errno.EADDRINUSE:
            answered = answered or ask(f"http://{_HERE}:{port}")
            kind = "taken" if answered.version is None else "ours"
            folder = answered.info and answered.info.data_dir
            facts["version"] = answered.version or ""
            facts["kept"] = f" and keeps its state in {folder}" if folder else ""
    return finding("port", kind, **facts)._replace(check=check)


# --- The data directory --------------------------------------------------------------------------


def check_data(path: Path, *, answers: bool) -> Iterator[CheckFinding]:
    """Judge the data directory and what is in it. `answers`: the emulator that has it was reached."""
    there = path.exists()
    above = next(found for found in (path.absolute(), *path.absolute().parents) if found.exists())
    if path.is_symlink() and not there:
        yield finding("data", "link", path=path)
    elif there and not path.is_dir():
        yield finding("data", "file", path=path)
    elif not os.access(above, os.W_OK | os.X_OK):
        yield finding("data", "unwritable", path=path if there else above)
    elif not there:
        yield finding("data", "none", path=path)
    else:
        from hosting_emulator.inspection import inspect  # the emulator's machinery

        found = inspect(path)
        yield from _judge_worlds(path, found, answers=answers)
        yield _judge_secrets(path, found)


def _judge_worlds(path: Path, found: Inspection, *, answers: bool) -> Iterator[CheckFinding]:
    count = f"{len(found.worlds)} {'world' if len(found.worlds) == 1 else 'worlds'}"
    if found.held:
        yield finding("data", "in_use" if answers else "held", path=path, count=count)
        return
    for words in found.refused:
        seen, _, advice = words.rpartition("; ")  # the store says what to do last
        if not seen:
            seen, advice = words, "restore the folder from a copy, or move it away"
        yield finding("data", "damaged", seen=_sentence(seen), advice=_sentence(advice))
    for words in found.notices:
        yield finding("data", "notice", seen=_sentence(words))
    if not found.refused and not found.notices:
        yield finding("data", "ok", path=path, count=count)


def _sentence(text: str) -> str:
    return f"{_capitalized(text).rstrip('.')}."


def _capitalized(text: str) -> str:
    """Begin a sentence with a capital letter, unless its first word is a path, a file or an address."""
    first = text.split(maxsplit=1)[0].rstrip(".,:;") if text.strip() else ""
    if any(mark in first for mark in "/\\."):
        return text
    return f"{text[:1].upper()}{text[1:]}"


def _judge_secrets(path: Path, found: Inspection) -> CheckFinding:
    """Judge who else on this machine may read or change what is kept."""
    mode, exposed = path.stat().st_mode, found.exposed
    if mode & 0o022:
        return finding("secrets", "writable", path=path, mode=f"{mode & 0o777:o}")
    if not exposed:
        return finding("secrets", "ok")
    more = f" and {len(exposed) - 1} more" if len(exposed) > 1 else ""
    return finding("secrets", "readable", path=path, file=exposed[0], more=more)


# --- Certificates --------------------------------------------------------------------------------

#: With less than this left, the next start makes another authority.
_LEFT = timedelta(days=30)


def check_certificates(folder: Path, port: int | None) -> Iterator[CheckFinding]:
    """Judge the authority that is kept, and what the emulator that uses it presents at its TLS port."""
    yield check_authority(folder, datetime.now(UTC))
    if port and (folder / "ca.pem").exists():
        yield check_served(folder / "ca.pem", port)


def check_authority(folder: Path, now: datetime) -> CheckFinding:
    """Judge the authority in a data directory's folder `tls`. Raises OSError."""
    path, key = folder / "ca.pem", folder / "ca.key"
    missing = [file for file in (path, key) if not file.exists()]
    if len(missing) == 2:
        return finding("certificates", "none")
    if missing:
        return finding("certificates", "useless", why=f"{missing[0]} is missing")
    entered = all(above.stat().st_mode & 0o011 for above in (folder, folder.absolute().parent))
    if key.stat().st_mode & 0o077 and entered:
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
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > ends:
        return finding("certificates", "useless", why=f"{path} expired on {ends.date()}")
    kind = "early" if now < begins else "soon" if ends - now < _LEFT else "ok"
    return finding("certificates", kind, path=path, begins=begins.date(), ends=ends.date())


def check_served(ca_file: Path, port: int) -> CheckFinding:
    """Judge what the emulator's TLS port presents, to a client that trusts the file."""
    context, names = ssl.create_default_context(cafile=str(ca_file)), ("localhost", _DEV_NAME)
    for name in names:
        try:
            with (
                socket.create_connection((_HERE, port), _PATIENCE_S) as plain,
                context.wrap_socket(plain, server_hostname=name),
            ):
                pass
        except (OSError, ValueError) as error:
            why = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error
            return finding("certificates", "refused", port=port, name=name, path=ca_file, why=why)
    return finding("certificates", "served", port=port, names=" and ".join(names))


# --- The machine ---------------------------------------------------------------------------------

_FEW_FILES, _ENOUGH_FILES = 256, 4096
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")


def _resolve_in_time(name: str) -> list[str]:
    """Resolve a name; a resolver that hangs is left behind. Raises OSError."""
    answer: list[str] | OSError = TimeoutError(f"no response in {_RESOLVER_S:.0f} seconds")

    def resolve() -> None:
        nonlocal answer
        try:
            found = socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)
            answer = list(dict.fromkeys(str(address[0]) for *_, address in found))
        except OSError as error:
            answer = error

    resolving = threading.Thread(target=resolve, daemon=True)
    resolving.start()
    resolving.join(_RESOLVER_S)
    if isinstance(answer, OSError):
        raise answer
    return answer


def check_name(check: str, name: str, resolve: Callable[[str], Collection[str]]) -> CheckFinding:
    """Judge whether a name leads here: `localhost`, or one of those of dev origins."""
    try:
        found = resolve(name)
    except OSError as error:
        return finding(check, "unknown", name=name, why=error.strerror or error)
    kind = "only_ipv6" if check == "localhost" and _HERE not in found else "ok"
    if not all(ipaddress.ip_address(each.partition("%")[0]).is_loopback for each in found):
        kind = "elsewhere"
    return finding(check, kind, name=name, addresses=", ".join(found))


def check_open_files(most: int) -> CheckFinding:
    """Judge the most files a process may open here, its hard limit."""
    if most == resource.RLIM_INFINITY:
        return finding("open files", "ok", most="any number of")
    kind = "few" if most < _FEW_FILES else "some" if most < _ENOUGH_FILES else "ok"
    return finding("open files", kind, most=f"{most:,}")


def check_clock(now: datetime) -> CheckFinding:
    """Judge this machine's clock, which worlds with a real clock follow."""
    if 2025 <= now.year < 2100:
        return finding("clock", "ok", now=f"{now:%Y-%m-%d %H:%M}")
    return finding("clock", "wrong", now=now.date())


def check_proxies(environ: Mapping[str, str]) -> CheckFinding:
    """Judge whether proxies named in the environment would be sent what is meant for this machine."""
    named = [name for base in _PROXIES for name in (base, base.lower()) if environ.get(name)]
    if not named:
        return finding("proxies", "none")
    spared = ",".join(environ.get(name, "") for name in ("NO_PROXY", "no_proxy"))
    entries = [part.strip().lower().lstrip(".") for part in spared.split(",")]
    spares_address = {"*", _HERE} & {*entries}
    for entry in entries:
        with suppress(ValueError):
            if ipaddress.ip_address(_HERE) in ipaddress.ip_network(entry):
                spares_address.add(entry)
    fine = spares_address and {"*", "localhost"} & {*entries}
    return finding("proxies", "ok" if fine else "wrong", names=", ".join(named))
