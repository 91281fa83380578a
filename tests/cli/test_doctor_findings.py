"""What `doctor` says about each state of a machine that its checks tell apart, as complete text.

`doctor_findings.txt` is the golden file. `make record` renews it after an intended change.
"""

from __future__ import annotations

import errno
import importlib.metadata
import os
import platform
import resource
import socket
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from textwrap import indent
from types import SimpleNamespace
from typing import Any

import pytest
import trustme

from hosting_emulator import __version__
from hosting_emulator.port_holders import Program
from hosting_emulator_cli import doctor_checks, doctor_ports
from hosting_emulator_cli.commands.doctor import _findings_text
from hosting_emulator_cli.doctor_emulator import EmulatorProbe, Target
from hosting_emulator_cli.doctor_findings import CheckFinding, finding
from hosting_emulator_cli.doctor_ports import StartSettings
from tests.support.data_directories import record_of

GOLDEN = Path(__file__).with_name("doctor_findings.txt")
#: A state of the machine in words, and the findings about it.
State = tuple[str, Iterable[CheckFinding]]
URL = "http://127.0.0.1:4620"
DATA = Path("/state")


def test_doctor_says_this_about_each_state_of_a_machine(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    text = "\n".join(
        [
            *lines_of("Versions", version_states(monkeypatch)),
            *lines_of("Emulator", emulator_states()),
            *lines_of("Ports", port_states(monkeypatch)),
            *lines_of("Data directory", data_states(tmp_path)),
            *lines_of("Certificate authority", authority_states(tmp_path)),
            *lines_of("Names", name_states()),
            *lines_of("Open files", open_file_states()),
            *lines_of("Clock", clock_states()),
            *lines_of("Proxies", proxy_states()),
            *lines_of("Registry", [("no folder can contain it", [finding("registry", "none")])]),
        ]
    )

    if os.environ.get("RENEW_GOLDEN_FILES"):
        GOLDEN.write_text(text, "utf-8")
    assert text == GOLDEN.read_text("utf-8"), "run `make record` if the change is intended"


def lines_of(title: str, states: Iterable[State]) -> Iterator[str]:
    yield f"=== {title}"
    yield ""
    for state, findings in states:
        rows = [asdict(each) for each in findings]
        yield f"{state}:"
        yield indent(with_color_names(_findings_text({"findings": rows})), "  ")
        yield ""


def with_color_names(text: str) -> str:
    """Replace the color codes in a text with names."""
    for code, name in (("32", "<green>"), ("33", "<yellow>"), ("31", "<red>"), ("0", "</>")):
        text = text.replace(f"\x1b[{code}m", name)
    return text


# --- Versions and the emulator --------------------------------------------------------------------


def version_states(monkeypatch: pytest.MonkeyPatch) -> Iterator[State]:
    requires = ["aiohttp>=3.11", "pyjwt[crypto]>=2.9", "click>=8.2", "pytest>=8; extra == 'pytest'"]
    distribution = SimpleNamespace(metadata={"Requires-Python": ">=3.11"}, requires=requires)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: distribution)
    current = {"aiohttp": "3.11", "pyjwt": "2.10rc1", "click": "8.2.0"}
    old = {"aiohttp": "3.9.5", "click": "8.10"}
    for python, installed in (
        ("3.11.0", current),
        ("3.14.0rc1", current),
        ("4", current),
        ("3.10.14", old),
    ):

        def version(name: str, installed: dict[str, str] = installed) -> str:
            if name not in installed:
                raise importlib.metadata.PackageNotFoundError(name)
            return installed[name]

        monkeypatch.setattr(platform, "python_version", lambda python=python: python)
        monkeypatch.setattr(importlib.metadata, "version", version)
        packages = ", ".join(f"{name} {number}" for name, number in installed.items())
        yield f"Python {python} with {packages}", list(doctor_checks.check_versions())

    distribution.metadata = {"Requires-Python": None}
    distribution.requires = None
    yield "Python 3.10.14, and the package states no requirements", doctor_checks.check_versions()


def emulator_states() -> Iterator[State]:
    info: Any = SimpleNamespace(pid=7, data_dir=None, tls_port=None)
    ours = __version__
    silent = EmulatorProbe(None, reason="connection refused", is_silent=True)
    other = EmulatorProbe(None, reason="the server at http://x is no emulator")
    named = EmulatorProbe(None, reason="http://x/health is no emulator's")
    closed = EmulatorProbe(ours, reason="control token required")
    for state, probe, is_url_chosen in (
        ("it runs at the default address", EmulatorProbe(ours, info), False),
        ("it runs at the chosen address", EmulatorProbe(ours, info), True),
        ("it has another version", EmulatorProbe("0.0.1", info), True),
        ("it requires a token", closed, True),
        ("no response at the default address", silent, False),
        ("no response at the chosen address", silent, True),
        ("another server at the default address", other, False),
        ("another server at the chosen address", other, True),
        ("another server, described by its address", named, True),
    ):
        found = doctor_checks.check_emulator(URL, probe, is_url_chosen=is_url_chosen)
        yield state, [replace(found, seen=found.seen.replace(ours, "OURS"))]


def port_states(monkeypatch: pytest.MonkeyPatch) -> Iterator[State]:
    info: Any = SimpleNamespace(pid=7, data_dir="/state", tls_port=4443)
    ours = EmulatorProbe("1.0", info)
    other = EmulatorProbe(None, reason="it says nothing")
    asked: list[str] = []
    responses = {"http://127.0.0.1:4702": ours}

    def ask(url: str) -> EmulatorProbe:
        asked.append(url)
        return responses.get(url, other)

    def refuse(error: OSError) -> Callable[..., Any]:
        def create_server(address: tuple[str, int], *, family: int) -> Any:
            raise error

        return create_server

    def check(
        url: str,
        port: int | None,
        tls_port: int | None,
        probe: EmulatorProbe,
        *,
        is_default: bool = False,
        start_port: int = 4620,
    ) -> Iterable[CheckFinding]:
        settings = StartSettings(port=start_port, tls_port=tls_port)
        return doctor_ports.check_ports(Target(url, probe, is_default=is_default), port, settings)

    monkeypatch.setattr(doctor_ports, "ask", ask)
    monkeypatch.setattr(doctor_ports, "emulator_at", lambda port: None)
    free: Any = SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(socket, "create_server", lambda address, *, family: free)
    yield "any port", check(URL, 0, None, other)
    yield "a chosen port that is free, and a TLS port", check(URL, 4700, 4443, other)
    yield "the port of the address", check(URL, None, 0, other, start_port=4701)
    yield "an address without a port", check("http://localhost", None, None, other)
    yield "an address elsewhere", check("http://far.example:80", None, None, other, start_port=4701)
    yield "the default address", check(URL, None, None, other, is_default=True, start_port=0)
    monkeypatch.setattr(socket, "create_server", refuse(OSError(errno.EACCES, "Permission denied")))
    yield "a port that needs permission", check(URL, 80, None, other)
    monkeypatch.setattr(socket, "create_server", refuse(OSError(errno.EADDRNOTAVAIL, "No address")))
    yield "a host that is another machine", check(URL, 4700, None, other)
    monkeypatch.setattr(
        socket, "create_server", refuse(OSError(errno.EADDRINUSE, "Address already in use"))
    )
    yield "ports of the emulator", check(URL, None, 4443, ours)
    monkeypatch.setattr(doctor_ports, "program_at", lambda port: None)
    yield "ports of a program without a name", list(check(URL, 4700, 4444, ours))
    monkeypatch.setattr(doctor_ports, "program_at", lambda port: Program("nginx", 12))
    yield "the port of a program with a name", check(URL, None, None, other)
    yield (
        "an emulator in a container, which commands use",
        check(URL, 4620, None, ours, is_default=True),
    )
    yield (
        "an emulator in a container, which commands do not use",
        list(check(URL, 4702, None, other)),
    )
    record = record_of(Path("/shop/state"), "http://127.0.0.1:4701")
    monkeypatch.setattr(doctor_ports, "emulator_at", lambda port: record)
    yield "ports of another folder's emulator", list(check(URL, 4701, 4444, other))
    monkeypatch.setattr(doctor_ports, "emulator_at", lambda port: replace(record, url=URL))
    yield "a TLS port that the emulator does not name", check(URL, 0, 4444, ours)
    assert asked == [
        "http://127.0.0.1:4700",
        "http://127.0.0.1:4444",
        "http://127.0.0.1:4702",
        "http://127.0.0.1:4701",
        "http://127.0.0.1:4444",
    ]


# --- Files ----------------------------------------------------------------------------------------


def data_states(folder: Path) -> Iterator[State]:
    def judged(inspection: Any, *, is_reached: bool = False) -> list[CheckFinding]:
        return list(doctor_checks._judge_worlds(DATA, inspection, is_reached=is_reached))

    def secrets(mode: int, *exposed: str) -> list[CheckFinding]:
        path: Any = StatedPath(mode)
        inspection = inspected(exposed=[Path(name) for name in exposed])
        return [doctor_checks._judge_secrets(path, inspection)]

    two_worlds = ["default", "checkout"]
    refused = ["the snapshot is damaged; restore it from a copy", "/state/a cannot be read"]
    yield "intact", judged(inspected(worlds=two_worlds))
    yield (
        "in use by the emulator",
        judged(inspected(held=True, worlds=two_worlds[:1]), is_reached=True),
    )
    yield "in use by an emulator that does not respond", judged(inspected(held=True))
    yield "two damaged worlds", judged(inspected(worlds=two_worlds, refused=refused))
    yield "a torn line", judged(inspected(worlds=two_worlds, notices=["a line is torn."]))
    missing = without_folder(
        next(doctor_checks.check_data(folder / "none", is_reached=False)), folder
    )
    yield "a missing directory", [missing]
    yield "private files", secrets(0o40700)
    yield "a directory that its group can write", secrets(0o40720, "/state/a")
    yield "a directory that others can write", secrets(0o40702)
    yield "a file that others can read", secrets(0o40755, "/state/a")
    yield "three files that others can read", secrets(0o40755, "/state/a", "/state/b", "/state/c")


def inspected(**fields: Any) -> Any:
    """Return the state of a data directory, which by default contains nothing."""
    values: dict[str, Any] = {"held": False, "worlds": [], "refused": [], "notices": []}
    return SimpleNamespace(**{**values, "exposed": [], **fields})


class StatedPath:
    """A path with this mode."""

    def __init__(self, mode: int) -> None:
        self._mode = mode

    def stat(self) -> Any:
        return SimpleNamespace(st_mode=self._mode)

    def __str__(self) -> str:
        return str(DATA)


def authority_states(folder: Path) -> Iterator[State]:
    begins = datetime(2026, 1, 1, tzinfo=UTC)
    ends = datetime(2036, 1, 1, tzinfo=UTC)

    def checked(now: datetime) -> list[CheckFinding]:
        return [without_folder(doctor_checks.check_authority(folder, now), folder)]

    authority = authority_between(begins, ends)
    folder.chmod(0o700)
    yield "no file", checked(begins)
    (folder / "ca.key").write_bytes(authority.key)
    (folder / "ca.key").chmod(0o600)
    yield "only a key", checked(begins)
    (folder / "ca.pem").write_bytes(authority.certificate)
    second = timedelta(seconds=1)
    yield "a second before it begins", checked(begins - second)
    yield "when it begins", checked(begins)
    yield "30 days before its end", checked(ends - timedelta(days=30))
    yield "a second later", checked(ends - timedelta(days=30) + second)
    yield "at its end", checked(ends)
    yield "a second after its end", checked(ends + second)
    (folder / "ca.key").write_bytes(trustme.CA().private_key_pem.bytes())
    yield "another key", checked(begins)
    (folder / "ca.key").write_bytes(b"nonsense")
    yield "a key that is no key", checked(begins)
    (folder / "ca.pem").write_bytes(b"nonsense")
    yield "a certificate that is no certificate", checked(begins)
    (folder / "ca.key").unlink()
    yield "only a certificate", checked(begins)


def without_folder(found: CheckFinding, folder: Path) -> CheckFinding:
    """Return a finding whose texts do not depend on the place of a folder."""
    advice = found.advice
    if advice is not None:
        advice = advice.replace(str(folder), "FOLDER")
    return replace(found, seen=found.seen.replace(str(folder), "FOLDER"), advice=advice)


def authority_between(begins: datetime, ends: datetime) -> Any:
    """Return the key and the certificate of an authority that is valid between two times."""
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.serialization import (
        Encoding,
        NoEncryption,
        PrivateFormat,
    )

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(1)
        .not_valid_before(begins)
        .not_valid_after(ends)
        .sign(key, hashes.SHA256())
    )
    return SimpleNamespace(
        key=key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()),
        certificate=certificate.public_bytes(Encoding.PEM),
    )


# --- The machine ----------------------------------------------------------------------------------


def answering(addresses: Sequence[str]) -> Callable[[str], Sequence[str]]:
    """Return a resolver that knows only these addresses."""
    return lambda name: addresses


def name_states() -> Iterator[State]:
    def fail(name: str) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    def hang(name: str) -> Sequence[str]:
        raise TimeoutError("no response in 5 seconds")

    for check, name in (("localhost", "localhost"), ("dev origins", "x.dev.localhost")):
        for addresses in (
            ["127.0.0.1", "::1"],
            ["::1"],
            ["fe80::1%eth0"],
            ["127.0.0.1", "203.0.113.9"],
        ):
            found = doctor_checks.check_name(check, name, answering(addresses))
            yield f"{name} is {' and '.join(addresses)}", [found]
        yield f"{name} is unknown", [doctor_checks.check_name(check, name, fail)]
        yield f"the resolver hangs for {name}", [doctor_checks.check_name(check, name, hang)]


def open_file_states() -> Iterator[State]:
    yield "no limit", [doctor_checks.check_open_files(resource.RLIM_INFINITY)]
    for most in (4096, 4095, 256, 255):
        yield f"limit {most}", [doctor_checks.check_open_files(most)]


def clock_states() -> Iterator[State]:
    for now in (
        datetime(1970, 1, 1, tzinfo=UTC),
        datetime(2024, 12, 31, 23, 59, tzinfo=UTC),
        datetime(2025, 1, 1, tzinfo=UTC),
        datetime(2099, 12, 31, 23, 59, tzinfo=UTC),
        datetime(2100, 1, 1, tzinfo=UTC),
    ):
        yield f"{now}", [doctor_checks.check_clock(now)]


def proxy_states() -> Iterator[State]:
    for line in (
        "",
        "HTTP_PROXY=",
        "http_proxy=http://p ALL_PROXY=http://p https_proxy=http://p",
        "ALL_PROXY=http://p NO_PROXY=localhost",
        "ALL_PROXY=http://p NO_PROXY=127.0.0.1,example.com",
        "HTTPS_PROXY=http://p NO_PROXY=*",
        "HTTP_PROXY=http://p NO_PROXY=LOCALHOST,,127.0.0.1",
        "HTTP_PROXY=http://p NO_PROXY=localhost no_proxy=127.0.0.0/8",
        "all_proxy=http://p no_proxy=.localhost,10.0.0.0/8",
    ):
        environ = dict(word.split("=", 1) for word in line.split())
        yield line or "no variable", [doctor_checks.check_proxies(environ)]
