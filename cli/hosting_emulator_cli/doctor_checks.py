"""What `doctor` looks at: each check finds out facts of this machine and judges them."""

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
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Literal, NamedTuple
from urllib.parse import urlsplit

from cryptography.hazmat.primitives.serialization import load_pem_private_key
from cryptography.x509 import load_pem_x509_certificate

from hosting_emulator import __version__
from hosting_emulator.bootstrap.inspecting import Inspected, inspect
from hosting_emulator.sdk import ControlError, ControlRefused, EmulatorUnreachable, Info
from hosting_emulator.settings import DEFAULT_PORT
from hosting_emulator_cli.options import open_client

_PACKAGE = "hosting-emulator"
_DEFAULT_DIRECTORY = Path(".hosting-emulator")
_HERE = "127.0.0.1"
#: How long an emulator may take to answer, in real seconds. A slower resolver is as good as none.
_PATIENCE_S, _RESOLVER_S = 3.0, 5.0


@dataclass(frozen=True, slots=True)
class CheckFinding:
    """One check's verdict. `seen` is one sentence; `advice` says what to do, if anything is.

    A `note` works, but somebody may stumble over it; a `problem` does not work, or is not safe.
    """

    check: str
    verdict: Literal["ok", "note", "problem"]
    seen: str
    advice: str | None = None


class Subject(NamedTuple):
    """What is to be looked at; None: what the running emulator uses, else what `start` would.

    `named`: somebody chose `url`, on the command line or in the environment.
    """

    url: str
    named: bool
    control_token: str | None
    port: int | None
    tls_port: int | None
    data_dir: Path | None


def examine(subject: Subject) -> list[CheckFinding]:
    """Make every check, whatever becomes of the others. Raises BadParameter: `url` is no address."""
    running = _ask(subject.url, subject.control_token)
    used = running.info and running.info["data_dir"]
    path = subject.data_dir or (Path(used) if used and Path(used).is_dir() else _DEFAULT_DIRECTORY)
    uses = bool(used) and Path(str(used)).resolve() == path.resolve()
    checks: dict[str, Callable[[], Iterable[CheckFinding]]] = {
        "versions": check_versions,
        "emulator": lambda: [check_emulator(subject, running)],
        "port": lambda: check_ports(subject, running),
        "data": lambda: check_state(path, answers=uses),
        "certificates": lambda: check_certificates(path / "tls", running if uses else None),
        "machine": check_machine,
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
    """Hold Python and the dependencies against what the installed package asks for."""
    try:
        known = importlib.metadata.distribution(_PACKAGE)
    except importlib.metadata.PackageNotFoundError:
        seen = "It runs from its source, without having been installed."
        yield CheckFinding("versions", "note", seen)
        return
    yield check_python(platform.python_version(), known.metadata["Requires-Python"] or ">=3.11")
    yield from check_dependencies(known.requires or [], _installed)


def _installed(name: str) -> str | None:
    with suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(name)
    return None


def check_python(version: str, required: str) -> CheckFinding:
    """Hold Python's version against what the package asks for, such as `>=3.11`."""
    least = required.removeprefix(">=").strip()
    if _release(version) >= _release(least):
        return CheckFinding("python", "ok", f"Python {version}; {least} or newer is needed.")
    return CheckFinding(
        "python",
        "problem",
        f"This is Python {version}; the emulator needs {least} or newer.",
        f"Make an environment with a newer Python and install into that: `python{least} -m venv`.",
    )


def check_dependencies(
    requirements: Iterable[str], installed: Callable[[str], str | None]
) -> Iterator[CheckFinding]:
    """Hold each dependency against its least version; what belongs to an extra does not count."""
    advice = (
        "Install again: `pip install --upgrade hosting-emulator`, or `make install` in a checkout."
    )
    needed = [match.groups() for match in map(_REQUIREMENT.match, requirements) if match]
    fine = 0
    for name, least in needed:
        version = installed(name)
        if version is not None and _release(version) >= _release(least):
            fine += 1
            continue
        state = "is not installed" if version is None else f"is {version}"
        seen = f"{name} {state}; {least} or newer is needed."
        yield CheckFinding("dependencies", "problem", seen, advice)
    if fine == len(needed):
        yield CheckFinding("dependencies", "ok", f"All {fine} are there and new enough.")


def _release(version: str) -> list[int]:
    """Return a version's numbers, to be compared; zeros at the end and `rc1` do not count."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    found = [int(number) for number in numbers.group().split(".")] if numbers else []
    while found and not found[-1]:
        found.pop()
    return found


# --- The emulator and its ports ------------------------------------------------------------------


class Answered(NamedTuple):
    """What an address answered: `version` None is no emulator, and `why` says what it was instead.

    With `silent`, nothing answered at all. `info` None beside a version: the emulator keeps the rest
    to those who have its control token.
    """

    version: str | None
    info: Info | None
    why: str = ""
    silent: bool = False


def _ask(url: str, control_token: str | None) -> Answered:
    """Ask whoever answers at a base URL who they are."""
    with open_client(url, control_token, timeout_s=_PATIENCE_S) as client:
        version = None
        try:
            version = str(client.health()["version"])
            return Answered(version, client.info())
        except EmulatorUnreachable as error:
            return Answered(None, None, error.reason, silent=version is None)
        except ControlRefused as error:
            return Answered(version, None, str(error))
        except (ControlError, LookupError, TypeError) as error:
            return Answered(None, None, str(error))


def check_emulator(subject: Subject, running: Answered) -> CheckFinding:
    """Judge the emulator that commands would talk to."""
    url, (version, info, why, silent) = subject.url, running
    if version is None and not subject.named:
        advice = "`hosting-emulator start` starts one."
        return CheckFinding("emulator", "note", f"None answers at {url}.", advice)
    if version is None:
        return CheckFinding(
            "emulator",
            "problem",
            f"Nothing answers at {url}: {why}." if silent else f"W{why[1:]}.",
            "Start it (`hosting-emulator start`), or say where it is: --url, or "
            "HOSTING_EMULATOR_URL, which is unset by `unset HOSTING_EMULATOR_URL`.",
        )
    if version != __version__:
        return CheckFinding(
            "emulator",
            "problem",
            f"Version {version} runs at {url}, but this command is {__version__}.",
            "Stop the emulator and start it again from this environment, or use its own command.",
        )
    if info is None:
        return CheckFinding(
            "emulator",
            "note",
            f"Version {version} runs at {url}, but says no more: {why}.",
            "Give the control token that `start` printed: --control-token, or "
            "HOSTING_EMULATOR_CONTROL_TOKEN.",
        )
    return CheckFinding(
        "emulator", "ok", f"Version {version} runs at {url} (process {info['pid']})."
    )


def check_ports(subject: Subject, running: Answered) -> Iterator[CheckFinding]:
    """Judge the ports that `start` would take."""
    parts = urlsplit(subject.url)
    here = parts.hostname in (_HERE, "localhost", "::1")
    port = subject.port
    if port is None:
        port = (parts.port if here else None) or DEFAULT_PORT
    if port == 0:
        yield CheckFinding("port", "ok", "A free one is taken.")
    else:
        error, answered = binding_error(port), running
        if error is not None and not (here and parts.port == port):
            answered = _ask(f"http://{_HERE}:{port}", subject.control_token)
        yield check_port("port", port, error, answered)
    if subject.tls_port:
        its = running.info is not None and running.info["tls_port"] == subject.tls_port
        error = binding_error(subject.tls_port)
        yield check_port("tls port", subject.tls_port, error, running if its else None)


def binding_error(port: int) -> OSError | None:
    """Try to listen on a port of this machine, as `start` would; None: one can."""
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((_HERE, port))
            probe.listen(1)
        except OSError as error:
            return error
    return None


def check_port(
    check: str, port: int, error: OSError | None, answered: Answered | None
) -> CheckFinding:
    """Judge a port that could not be listened on, for `error`; `answered` is who speaks there."""
    other = f"`start --{check.replace(' ', '-')} 0` takes a free one."
    if error is None:
        return CheckFinding(check, "ok", f"{port} is free.")
    if error.errno != errno.EADDRINUSE:
        seen = f"{port} cannot be listened on: {(error.strerror or str(error)).lower()}."
        return CheckFinding(check, "problem", seen, f"Choose another: {other}")
    if answered is not None and answered.version is not None:
        folder = answered.info and answered.info["data_dir"]
        kept = f" and keeps its state in {folder}" if folder else ""
        seen = f"{port} is an emulator's: version {answered.version} runs there{kept}."
        return CheckFinding(check, "ok", seen)
    return CheckFinding(
        check,
        "problem",
        f"{port} is taken by another program, which is no emulator.",
        f"Stop it (`lsof -i :{port}` names it), or take another port: {other}",
    )


# --- The data directory --------------------------------------------------------------------------

_ELSEWHERE = "give `start` another --data-dir, or --ephemeral"


def check_state(path: Path, *, answers: bool) -> Iterator[CheckFinding]:
    """Judge the data directory and what is in it. `answers`: the emulator that has it was reached."""
    there = path.exists()
    above = next(found for found in (path.absolute(), *path.absolute().parents) if found.exists())
    if path.is_symlink() and not there:
        seen = f"{path} is a link that leads nowhere."
        yield CheckFinding("data", "problem", seen, "Remove it.")
    elif there and not path.is_dir():
        seen = f"{path} is a file."
        yield CheckFinding("data", "problem", seen, f"Move it away, or {_ELSEWHERE}.")
    elif not os.access(above, os.W_OK | os.X_OK):
        seen = f"{path if there else above} cannot be written by this user."
        advice = f"Make it yours (`chown`, `chmod u+rwx`), or {_ELSEWHERE}."
        yield CheckFinding("data", "problem", seen, advice)
    elif not there:
        yield CheckFinding("data", "ok", f"{path} is not there yet; `start` makes it.")
    else:
        found = inspect(path)
        yield from check_worlds(path, found, answers=answers)
        yield check_secrets(path, found)


def check_worlds(path: Path, found: Inspected, *, answers: bool) -> Iterator[CheckFinding]:
    """Judge what a data directory holds."""
    count = f"{len(found.worlds)} {'world' if len(found.worlds) == 1 else 'worlds'}"
    if found.held and answers:
        seen = f"{path} is in use by the emulator that runs: {count}."
        yield CheckFinding("data", "ok", seen)
    elif found.held:
        yield CheckFinding(
            "data",
            "note",
            f"{path} is in use by a process, an emulator that was not reached: {count}, not read.",
            f"Say where it listens with --url, or stop it (`lsof {path / 'lock'}` names it).",
        )
    elif not found.refused and not found.notices:
        yield CheckFinding("data", "ok", f"{path} is sound and not in use: {count}.")
    for words in found.refused.values():
        seen, _, advice = words.rpartition("; ")  # the store says what to do last
        if not seen:
            seen, advice = words, "restore the folder from a copy, or move it away"
        yield CheckFinding("data", "problem", _sentence(seen), _sentence(advice))
    for words in found.notices:
        yield CheckFinding("data", "note", _sentence(words))


def check_secrets(path: Path, found: Inspected) -> CheckFinding:
    """Judge who else on this machine may read or change what is kept."""
    mode = path.stat().st_mode
    if mode & 0o022:
        seen = f"Others may write in {path} (mode {mode & 0o777:o})."
        return CheckFinding("secrets", "problem", seen, f"`chmod go-w {path}`")
    if found.exposed:
        more = len(found.exposed) - 1
        return CheckFinding(
            "secrets",
            "problem",
            f"Others on this machine may read {found.exposed[0]}{f' and {more} more' if more else ''}.",
            f"`chmod -R go= {path}`; if that changes nothing, this file system has no modes: {_ELSEWHERE}.",
        )
    return CheckFinding("secrets", "ok", "Only you can read what is kept.")


def _sentence(text: str) -> str:
    return f"{text[:1].upper()}{text[1:].rstrip('.')}." if text[:1] not in "/." else f"{text}."


# --- Certificates --------------------------------------------------------------------------------

#: Names that stand for all a running emulator must have certificates for.
_NAMES = ("localhost", "x.dev.localhost")
#: With less than this left, the next start makes another authority.
_LEFT = timedelta(days=30)
_RENEW = (
    "Start again with --tls-port, which makes another where this one is of no use, and trust the "
    "new one where your client looks."
)


def check_certificates(folder: Path, running: Answered | None) -> Iterator[CheckFinding]:
    """Judge the authority that is kept, and what the emulator that uses it presents."""
    yield check_authority(folder, datetime.now(UTC))
    port, ca_file = running and running.info and running.info["tls_port"], folder / "ca.pem"
    if port and ca_file.exists():
        yield check_served(ca_file, port)


def check_authority(folder: Path, now: datetime) -> CheckFinding:
    """Judge the authority in a data directory's folder `tls`. Raises OSError."""
    path, key = folder / "ca.pem", folder / "ca.key"
    missing = [file for file in (path, key) if not file.exists()]
    if len(missing) == 2:
        seen = "None are kept; `start --tls-port` makes an authority."
        return CheckFinding("certificates", "ok", seen)
    if missing:
        return CheckFinding("certificates", "problem", f"{missing[0]} is missing.", _RENEW)
    entered = all(above.stat().st_mode & 0o011 for above in (folder, folder.absolute().parent))
    if key.stat().st_mode & 0o077 and entered:
        return CheckFinding(
            "certificates",
            "problem",
            f"Others on this machine may read {key}, and pose as your dev origins with it.",
            f"`chmod 600 {key}`; if others may have read it, remove {folder}, start again with "
            "--tls-port, and no longer trust the old one.",
        )
    try:
        certificate = load_pem_x509_certificate(path.read_bytes())
        private = load_pem_private_key(key.read_bytes(), None)
    except (ValueError, TypeError):
        return CheckFinding("certificates", "problem", f"{path} or its key is damaged.", _RENEW)
    if private.public_key() != certificate.public_key():
        return CheckFinding("certificates", "problem", f"{key} is not the key of {path}.", _RENEW)
    begins, ends = certificate.not_valid_before_utc, certificate.not_valid_after_utc
    if now > ends:
        return CheckFinding(
            "certificates", "problem", f"{path} ran out on {ends:%Y-%m-%d}.", _RENEW
        )
    if now < begins:
        return CheckFinding(
            "certificates",
            "problem",
            f"{path} is valid from {begins:%Y-%m-%d} only, which is yet to come.",
            "Set this machine's clock, or remove the folder and start again with --tls-port.",
        )
    if ends - now < _LEFT:
        return CheckFinding("certificates", "note", f"{path} runs out on {ends:%Y-%m-%d}.", _RENEW)
    seen = f"The authority {path} is valid until {ends:%Y-%m-%d}."
    return CheckFinding("certificates", "ok", seen)


def check_served(ca_file: Path, port: int) -> CheckFinding:
    """Judge what the emulator's TLS port presents, to a client that trusts the file."""
    context = ssl.create_default_context(cafile=str(ca_file))
    for name in _NAMES:
        try:
            with (
                socket.create_connection((_HERE, port), _PATIENCE_S) as plain,
                context.wrap_socket(plain, server_hostname=name),
            ):
                pass
        except (OSError, ValueError) as error:
            why = error.verify_message if isinstance(error, ssl.SSLCertVerificationError) else error
            return CheckFinding(
                "certificates",
                "problem",
                f"What port {port} presents for {name} does not verify with {ca_file}: {why}.",
                "Restart the emulator; if clients still refuse it, trust this file anew.",
            )
    return CheckFinding(
        "certificates", "ok", f"Port {port} presents good ones for {' and '.join(_NAMES)}."
    )


# --- The machine ---------------------------------------------------------------------------------

_EPOCH = datetime(2025, 1, 1, tzinfo=UTC)
_FEW_FILES, _ENOUGH_FILES = 256, 4096
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")

Resolve = Callable[[str], Collection[str]]


def check_machine() -> Iterator[CheckFinding]:
    """Judge how names resolve here, what a process may open, what time it is, what proxies do."""
    yield check_localhost(_resolve_in_time)
    yield check_dev_names(_resolve_in_time)
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    yield check_open_files(None if most == resource.RLIM_INFINITY else most)
    yield check_clock(datetime.now(UTC))
    yield check_proxies(os.environ)


def _resolve_in_time(name: str) -> list[str]:
    """Resolve a name; a resolver that hangs is left behind. Raises OSError."""
    answers: list[list[str] | OSError] = []

    def resolve() -> None:
        try:
            found = socket.getaddrinfo(name, 80, type=socket.SOCK_STREAM)
            answers.append(list(dict.fromkeys(str(address[0]) for *_, address in found)))
        except OSError as error:
            answers.append(error)

    resolving = threading.Thread(target=resolve, daemon=True)
    resolving.start()
    resolving.join(_RESOLVER_S)
    answer = answers[0] if answers else TimeoutError(f"no answer in {_RESOLVER_S:.0f} seconds")
    if isinstance(answer, OSError):
        raise answer
    return answer


def check_localhost(resolve: Resolve) -> CheckFinding:
    """Judge whether `localhost` leads here."""
    line = "Add the line `127.0.0.1 localhost` to /etc/hosts."
    try:
        found = resolve("localhost")
    except OSError as error:
        seen = f"It does not resolve: {error.strerror or error}."
        return CheckFinding("localhost", "problem", seen, line)
    listed = ", ".join(found)
    if not all(map(_is_here, found)):
        seen = f"It resolves to {listed}: not this machine."
        return CheckFinding("localhost", "problem", seen, line)
    if _HERE in found:
        return CheckFinding("localhost", "ok", f"It resolves to {listed}.")
    return CheckFinding(
        "localhost",
        "note",
        f"It resolves to {listed} only, but `start` listens on 127.0.0.1.",
        "Use http://127.0.0.1:PORT, or `start --host ::1`.",
    )


def check_dev_names(resolve: Resolve) -> CheckFinding:
    """Judge whether the names of dev origins, `*.dev.localhost`, lead here."""
    name = _NAMES[1]
    try:
        found = resolve(name)
    except OSError:
        return CheckFinding(
            "dev origins",
            "note",
            f"{name} does not resolve: this machine's resolver knows no names under localhost.",
            "Browsers and curl know them by themselves. For other clients add a line such as "
            "`127.0.0.1 dev-olive-seal-harbor.dev.localhost` to /etc/hosts, or send requests to "
            "127.0.0.1 with the origin's name in the Host header.",
        )
    seen = f"{name} resolves to {', '.join(found)}"
    if all(map(_is_here, found)):
        return CheckFinding("dev origins", "ok", f"{seen}.")
    return CheckFinding(
        "dev origins",
        "problem",
        f"{seen}: a name server answers for other machines' names.",
        "Add each origin's name to /etc/hosts with 127.0.0.1, or use a name server that leaves "
        "localhost alone (RFC 6761).",
    )


def check_open_files(most: int | None) -> CheckFinding:
    """Judge the most files a process may open here, its hard limit; None is no limit."""
    if most is None or most >= _ENOUGH_FILES:
        shown = "any number of" if most is None else f"{most:,}"
        seen = f"A process may have {shown} files and connections open."
        return CheckFinding("open files", "ok", seen)
    return CheckFinding(
        "open files",
        "problem" if most < _FEW_FILES else "note",
        f"A process may have only {most:,} files and connections open.",
        "Have the system allow more: limits.conf, or `docker run --ulimit nofile=65536`.",
    )


def check_clock(now: datetime) -> CheckFinding:
    """Judge this machine's clock, which worlds with a real clock follow."""
    if _EPOCH <= now < _EPOCH.replace(year=2100):
        return CheckFinding("clock", "ok", f"It is {now:%Y-%m-%d %H:%M} UTC.")
    return CheckFinding(
        "clock",
        "problem",
        f"This machine says it is {now:%Y-%m-%d}, so tokens and certificates will not fit others'.",
        "Set the clock, or let the network do so (`timedatectl set-ntp true`); or give worlds a "
        "time of their own: `start --clock frozen --at 2030-01-31T09:30:00Z`.",
    )


def check_proxies(environ: Mapping[str, str]) -> CheckFinding:
    """Judge whether proxies named in the environment would be sent what is meant for this machine."""
    named = [name for base in _PROXIES for name in (base, base.lower()) if environ.get(name)]
    if not named:
        return CheckFinding("proxies", "ok", "The environment names none.")
    listed = ", ".join(named)
    spared = ",".join(environ.get(name, "") for name in ("NO_PROXY", "no_proxy"))
    if all(_is_spared(host, spared) for host in ("localhost", _HERE)):
        seen = f"{listed} is set, and NO_PROXY leaves this machine out."
        return CheckFinding("proxies", "ok", seen)
    return CheckFinding(
        "proxies",
        "problem",
        f"{listed} is set: many clients would send it what is meant for the emulator.",
        "`export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1`",
    )


def _is_spared(host: str, no_proxy: str) -> bool:
    for entry in (part.strip().lower().lstrip(".") for part in no_proxy.split(",")):
        if entry in ("*", host):
            return True
        with suppress(ValueError):
            if ipaddress.ip_address(host) in ipaddress.ip_network(entry):
                return True
    return False


def _is_here(address: str) -> bool:
    return ipaddress.ip_address(address.partition("%")[0]).is_loopback
