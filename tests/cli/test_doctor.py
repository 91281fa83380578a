"""`doctor` sees what is broken and says what to do. What can be broken for real is broken for real."""

from __future__ import annotations

import errno
import importlib.metadata
import json
import os
import platform
import resource
import socket
from collections.abc import Callable, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import SimpleNamespace

import pytest

from hosting_emulator import __version__
from hosting_emulator_cli import doctor_checks
from hosting_emulator_cli.doctor_checks import CheckFinding, EmulatorAnswer
from tests.support.control_samples import HEALTH, INFO
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.fake_control import ANOTHER_SERVER, FakeControl, refusal
from tests.support.ports import free_ports

RUNNING = {**INFO, "version": __version__, "pid": 7, "data_dir": None}


def findings_of(result, check: str) -> list[dict]:
    return [found for found in json.loads(result.stdout)["findings"] if found["check"] == check]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def port():
    """A port on which another program listens, and says nothing that an emulator would."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def free_port() -> int:
    return next(free_ports())


# --- The whole command ---------------------------------------------------------------------------


def test_doctor_exits_0_without_a_problem(run, tmp_path: Path, free_port: int):
    result = run("doctor", "--data-dir", str(tmp_path / "none"), "--port", str(free_port))

    assert result.exit_code == 0, result.stdout
    assert "problem" not in result.stdout
    assert f"{free_port} is free." in result.stdout
    assert not (tmp_path / "none").exists()


def test_doctor_exits_1_with_a_problem_and_gives_advice(run, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://user:hush@proxy:3128")

    result = run("doctor", "--data-dir", str(tmp_path), "--port", "0")

    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("problem  proxies"))
    assert "-> `export NO_PROXY=localhost,127.0.0.1,::1" in lines[at + 1]
    assert lines[-1].startswith("1 problem")
    assert "hush" not in result.stdout


def test_doctor_prints_every_finding_as_json(run, tmp_path: Path):
    result = run("doctor", "--json", "--data-dir", str(tmp_path / "none"), "--port", "0")

    found = json.loads(result.stdout)
    assert found["ok"] is True
    assert {each["check"] for each in found["findings"]} >= {
        *("python", "dependencies", "emulator", "port", "data", "certificates"),
        *("localhost", "dev origins", "open files", "clock", "proxies"),
    }
    assert all(set(each) == {"check", "verdict", "seen", "advice"} for each in found["findings"])
    assert all(each["advice"] for each in found["findings"] if each["verdict"] == "problem")


def test_a_check_of_doctor_that_crashes_does_not_stop_the_others(run, tmp_path: Path, monkeypatch):
    def broken() -> list[CheckFinding]:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(doctor_checks, "check_versions", broken)

    result = run("doctor", "--json", "--data-dir", str(tmp_path / "none"), "--port", "0")

    (found,) = findings_of(result, "versions")
    assert found["seen"] == "This could not be checked: no such luck."
    assert findings_of(result, "localhost")


# --- Versions ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("version", "verdict"),
    [("3.10.14", "problem"), ("3.11.0", "ok"), ("3.14.0rc1", "ok"), ("4.0", "ok")],
)
def test_doctor_compares_python_with_the_minimum_version(
    version: str, verdict: str, monkeypatch: pytest.MonkeyPatch
):
    asked = SimpleNamespace(metadata={"Requires-Python": ">=3.11"}, requires=[])
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: asked)
    monkeypatch.setattr(platform, "python_version", lambda: version)

    assert next(doctor_checks.check_versions()).verdict == verdict


def test_doctor_names_missing_and_old_dependencies(monkeypatch: pytest.MonkeyPatch):
    wanted = ["aiohttp>=3.11", "pyjwt[crypto]>=2.9", "click>=8.2", "pytest>=8; extra == 'pytest'"]
    installed = {"aiohttp": "3.9.5", "click": "8.10"}

    def version(name: str) -> str:
        if name not in installed:
            raise importlib.metadata.PackageNotFoundError(name)
        return installed[name]

    asked = SimpleNamespace(metadata={"Requires-Python": ">=3.11"}, requires=wanted)
    monkeypatch.setattr(importlib.metadata, "distribution", lambda name: asked)
    monkeypatch.setattr(importlib.metadata, "version", version)

    _, old, missing = doctor_checks.check_versions()

    assert old.seen == "aiohttp is 3.9.5; 3.11 or newer is needed."
    assert missing.seen == "pyjwt is not installed; 2.9 or newer is needed."


def test_doctor_accepts_this_installation():
    assert {finding.verdict for finding in doctor_checks.check_versions()} == {"ok"}


# --- The emulator and its port -------------------------------------------------------------------


def test_doctor_finds_the_running_emulator(run, control: FakeControl, tmp_path: Path):
    control.on("GET /health", {**HEALTH, "version": __version__})
    control.on("GET /info", RUNNING)

    result = run("doctor", "--json", "--url", control.url, "--data-dir", str(tmp_path / "none"))

    (emulator,), (taken,) = findings_of(result, "emulator"), findings_of(result, "port")
    assert emulator["seen"] == f"Version {__version__} runs at {control.url} (process 7)."
    assert (taken["verdict"], result.exit_code) == ("ok", 0)
    assert taken["seen"].startswith("An emulator")


def test_doctor_reports_an_emulator_of_another_version(run, control: FakeControl):
    control.on("GET /health", {**HEALTH, "version": "0.0.1"})
    control.on("GET /info", {**RUNNING, "version": "0.0.1", "data_dir": "/elsewhere"})

    result = run("doctor", "--json", "--url", control.url)

    (emulator,), (taken,) = findings_of(result, "emulator"), findings_of(result, "port")
    assert (result.exit_code, emulator["verdict"]) == (1, "problem")
    assert emulator["seen"].startswith("Version 0.0.1 runs at ")
    assert taken["seen"].startswith("An emulator, version 0.0.1, runs on ")
    assert taken["seen"].endswith(" and keeps its state in /elsewhere.")


def test_doctor_notes_an_emulator_that_requires_a_token(run, control: FakeControl):
    control.on("GET /health", {**HEALTH, "version": __version__})
    control.on("GET /info", refusal(401, "Control token required"))

    (said,) = findings_of(run("doctor", "--json", "--url", control.url), "emulator")

    assert said["verdict"] == "note"
    assert "HOSTING_EMULATOR_CONTROL_TOKEN" in said["advice"]


def test_doctor_reports_another_server_at_the_address(run, control: FakeControl):
    control.on("GET /health", ANOTHER_SERVER)

    result = run("doctor", "--json", "--url", control.url)

    (said,), (taken,) = findings_of(result, "emulator"), findings_of(result, "port")
    assert said["verdict"] == taken["verdict"] == "problem"
    assert f"{control.url}/_emulator" in said["seen"]
    assert "which is not an emulator" in taken["seen"]


def test_a_missing_emulator_is_a_problem_only_at_a_chosen_address():
    nobody = EmulatorAnswer(None, None, "connection refused", silent=True)

    chosen = doctor_checks.check_emulator("http://here", nobody, named=True)
    default = doctor_checks.check_emulator("http://here", nobody, named=False)

    assert chosen.verdict == "problem"
    assert chosen.seen == "Nothing responds at http://here: connection refused."
    assert default.verdict == "note"


def test_doctor_reports_a_port_that_another_program_uses(port: int):
    nobody = EmulatorAnswer(None, None, "it says nothing")

    found = doctor_checks.check_port("tls port", port, nobody)

    assert found.verdict == "problem"
    assert found.seen == f"{port} is used by another program, which is not an emulator."
    assert f"`lsof -i :{port}`" in str(found.advice)
    assert "`start --tls-port 0`" in str(found.advice)


def test_doctor_reports_a_port_that_needs_permission(monkeypatch: pytest.MonkeyPatch):
    def refuse(probe: socket.socket, address: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied")

    monkeypatch.setattr(socket.socket, "bind", refuse)

    found = doctor_checks.check_port("port", 80, None)

    assert found.seen == "Cannot listen on 80: permission denied."


# --- The machine ---------------------------------------------------------------------------------


def answering(*addresses: str) -> Callable[[str], Sequence[str]]:
    return lambda name: addresses


def failing(name: str) -> list[str]:
    raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")


@pytest.mark.parametrize(
    ("resolve", "verdict"),
    [
        (answering("127.0.0.1", "::1"), "ok"),
        (answering("::1"), "note"),
        (answering("10.0.0.1"), "problem"),
        (failing, "problem"),
    ],
)
def test_doctor_reports_a_localhost_that_is_another_machine(
    resolve: Callable[[str], Sequence[str]], verdict: str
):
    assert doctor_checks.check_name("localhost", "localhost", resolve).verdict == verdict


@pytest.mark.parametrize(
    ("resolve", "verdict", "advice"),
    [
        (answering("127.0.0.1"), "ok", "None"),
        (answering("203.0.113.9"), "problem", "RFC 6761"),
        (failing, "note", "/etc/hosts"),
    ],
)
def test_doctor_reports_dev_origins_that_are_another_machine(
    resolve: Callable[[str], Sequence[str]], verdict: str, advice: str
):
    found = doctor_checks.check_name("dev origins", "x.dev.localhost", resolve)

    assert found.verdict == verdict
    assert advice in str(found.advice)


@pytest.mark.parametrize(
    ("most", "verdict"),
    [(resource.RLIM_INFINITY, "ok"), (65536, "ok"), (1024, "note"), (64, "problem")],
)
def test_doctor_checks_the_limit_of_open_files(most: int, verdict: str):
    assert doctor_checks.check_open_files(most).verdict == verdict


@pytest.mark.parametrize(
    ("year", "verdict"), [(1970, "problem"), (2024, "problem"), (2025, "ok"), (2101, "problem")]
)
def test_doctor_reports_a_wrong_machine_clock(year: int, verdict: str):
    assert doctor_checks.check_clock(datetime(year, 6, 1, tzinfo=UTC)).verdict == verdict


@pytest.mark.parametrize(
    ("environ", "verdict"),
    [
        ({}, "ok"),
        ({"HTTP_PROXY": ""}, "ok"),
        ({"http_proxy": "http://p"}, "problem"),
        ({"ALL_PROXY": "http://p", "NO_PROXY": "localhost"}, "problem"),
        ({"HTTP_PROXY": "http://p", "NO_PROXY": "localhost, 127.0.0.1"}, "ok"),
        ({"HTTP_PROXY": "http://p", "no_proxy": ".localhost,127.0.0.0/8"}, "ok"),
        ({"HTTPS_PROXY": "http://p", "NO_PROXY": "*"}, "ok"),
    ],
)
def test_doctor_reports_a_proxy_for_this_machine(environ: dict[str, str], verdict: str):
    assert doctor_checks.check_proxies(environ).verdict == verdict


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A data directory with one world and an authority, as an emulator left it."""
    path = tmp_path / "state"

    with emulator_in_thread(tls_port=0, data_dir=path):
        return path


def held(path: Path) -> CheckFinding:
    return next(iter(doctor_checks.check_data(path, answers=False)))


# --- The data directory --------------------------------------------------------------------------


def test_doctor_does_not_change_an_intact_data_directory(kept: Path):
    def picture() -> dict[Path, tuple[int, int, bytes]]:
        files = [path for path in kept.rglob("*") if path.is_file()]
        return {p: (p.stat().st_mtime_ns, p.stat().st_mode, p.read_bytes()) for p in files}

    before = picture()

    found = held(kept)

    assert found.verdict == "ok"
    assert f"{kept} is intact and not in use: 1 world." in found.seen
    assert picture() == before


@pytest.mark.parametrize("name", ["snapshot.json", "journal.ndjson"])
def test_doctor_finds_a_flipped_byte_in_a_data_directory(kept: Path, name: str):
    path = kept / "worlds" / "default" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))

    found = held(kept)

    assert found.verdict == "problem"
    assert str(path) in found.seen
    assert "from a copy" in str(found.advice)


def test_doctor_does_not_capitalize_a_relative_path(kept: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(kept.parent)
    (kept / "worlds" / "default" / "snapshot.json").write_bytes(b"{")

    found = held(Path(kept.name))

    assert found.verdict == "problem"
    assert f"{kept.name[0].upper()}{kept.name[1:]}/" not in found.seen
    assert f"{kept.name}/worlds/default" in found.seen


def test_doctor_notes_a_torn_last_line_of_a_journal(kept: Path):
    with (kept / "worlds" / "default" / "journal.ndjson").open("ab") as journal:
        journal.write(b"deadbeef {")

    assert held(kept).verdict == "note"


def test_doctor_does_not_read_a_data_directory_in_use(tmp_path: Path, run):
    path = tmp_path / "state"

    with emulator_in_thread(data_dir=path) as emulator:
        (path / "worlds" / "default" / "snapshot.json").write_text("in the making")
        unreached = held(path)
        result = run("doctor", "--json", "--url", emulator.base_url)

    assert unreached.verdict == "note"
    assert "is in use by an emulator that did not respond" in unreached.seen
    assert "lsof" in str(unreached.advice)
    # The running emulator's directory is the one that is looked at.
    (reached,) = findings_of(result, "data")
    assert reached["verdict"] == "ok"
    assert reached["seen"].startswith(f"{path} is in use by the running emulator")


def test_doctor_reports_a_data_directory_that_is_a_file(tmp_path: Path):
    path = tmp_path / "file"
    path.touch()

    (found,) = doctor_checks.check_data(path, answers=False)

    assert (found.verdict, found.seen) == ("problem", f"{path} is a file.")


def test_doctor_names_the_folder_in_which_no_data_directory_can_be_created(
    tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)

    (found,) = doctor_checks.check_data(tmp_path / "a" / "b", answers=False)

    assert found.seen == f"{tmp_path} cannot be written by this user."


def test_doctor_reports_secrets_that_other_users_can_read(kept: Path):
    snapshot = kept / "worlds" / "default" / "snapshot.json"
    snapshot.chmod(0o644)
    *_, hidden = doctor_checks.check_data(kept, answers=False)
    assert hidden.verdict == "ok"  # its folders let nobody in

    for folder in (kept, kept / "worlds", kept / "worlds" / "default"):
        folder.chmod(0o755)

    *_, found = doctor_checks.check_data(kept, answers=False)
    assert found.verdict == "problem"
    assert found.seen == f"Other users of this machine can read {snapshot}."
    assert str(found.advice).startswith(f"`chmod -R go= {kept}`")


def test_doctor_reports_a_data_directory_that_other_users_can_write(tmp_path: Path):
    tmp_path.chmod(0o777)

    *_, found = doctor_checks.check_data(tmp_path, answers=False)

    assert (found.verdict, found.advice) == ("problem", f"`chmod go-w {tmp_path}`")


# --- Certificates --------------------------------------------------------------------------------


def test_doctor_accepts_a_stored_certificate_authority(kept: Path):
    found = doctor_checks.check_authority(kept / "tls", datetime.now(UTC))

    assert found.verdict == "ok"


@pytest.mark.parametrize(
    ("days", "verdict", "seen"),
    [
        (3640, "note", "expires on"),
        (4000, "problem", "expired on"),
        (-10, "problem", "in the future"),
    ],
)
def test_doctor_reports_an_authority_outside_its_validity(
    kept: Path, days: int, verdict: str, seen: str
):
    now = datetime.now(UTC) + timedelta(days=days)

    found = doctor_checks.check_authority(kept / "tls", now)

    assert found.verdict == verdict
    assert seen in found.seen


def test_doctor_reports_an_authority_key_that_other_users_can_read(kept: Path):
    for path in (kept, kept / "tls"):
        path.chmod(0o755)
    (kept / "tls" / "ca.key").chmod(0o644)

    found = doctor_checks.check_authority(kept / "tls", NOW)

    assert "can read" in found.seen
    assert f"`chmod 600 {kept / 'tls' / 'ca.key'}`" in str(found.advice)


def break_by_damage(folder: Path) -> None:
    (folder / "ca.pem").write_text("-----BEGIN CERTIFICATE-----\nnonsense\n")


def break_by_loss(folder: Path) -> None:
    (folder / "ca.key").unlink()


def break_by_swap(folder: Path) -> None:
    import trustme

    (folder / "ca.key").write_bytes(trustme.CA().private_key_pem.bytes())


@pytest.mark.parametrize(
    ("broken", "seen"),
    [
        (break_by_damage, "is damaged"),
        (break_by_loss, "is missing"),
        (break_by_swap, "is not the key of"),
    ],
)
def test_doctor_reports_a_broken_certificate_authority(
    kept: Path, broken: Callable[[Path], None], seen: str
):
    broken(kept / "tls")

    found = doctor_checks.check_authority(kept / "tls", NOW)

    assert found.verdict == "problem"
    assert seen in found.seen


def test_doctor_verifies_the_certificates_of_a_running_emulator(tmp_path: Path, run, kept: Path):
    with emulator_in_thread(tls_port=0, data_dir=tmp_path / "own") as emulator:
        result = run("doctor", "--json", "--url", emulator.base_url)
        port = int(str(emulator.ready.tls_url).rpartition(":")[2])
        refused = doctor_checks.check_served(kept / "tls" / "ca.pem", port)

    served = findings_of(result, "certificates")[1]
    assert served["verdict"] == "ok"
    assert served["seen"].endswith("presents valid ones for localhost and x.dev.localhost.")
    assert refused.verdict == "problem"
    assert "does not verify with" in refused.seen
