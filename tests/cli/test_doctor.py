"""`doctor` finds problems and gives advice. Where possible, the tests cause real problems."""

from __future__ import annotations

import importlib.metadata
import json
import os
import re
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from hosting_emulator import __version__
from hosting_emulator_cli import doctor_checks, doctor_findings
from hosting_emulator_cli.commands.doctor import _findings_text
from hosting_emulator_cli.doctor_emulator import EmulatorProbe, Target
from hosting_emulator_cli.doctor_findings import FINDINGS, CheckFinding
from hosting_emulator_cli.doctor_ports import PortChecks, StartSettings
from tests.support.control_samples import HEALTH, INFO
from tests.support.data_directories import registered_emulator, running_in
from tests.support.emulator_in_thread import emulator_in_thread
from tests.support.fake_control import ANOTHER_SERVER, FakeControl, refusal
from tests.support.ports import free_ports
from tests.support.worlds_on_disk import lose_last_commit, make_changes, world_folder

RUNNING = {**INFO, "version": __version__, "pid": 7, "data_dir": None}


def findings_of(result, check: str) -> list[dict]:
    return [
        finding for finding in json.loads(result.stdout)["findings"] if finding["check"] == check
    ]


@pytest.fixture(autouse=True)
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)


@pytest.fixture
def port():
    """A port on which another program listens that does not respond like an emulator."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        yield server.getsockname()[1]


@pytest.fixture
def free_port() -> int:
    return next(free_ports())


def ports_here() -> PortChecks:
    """Return checks of ports for a folder without an emulator and without settings."""
    silence = EmulatorProbe(None, None, "connection refused", is_silent=True)
    return PortChecks(Target("http://127.0.0.1:4620", silence, is_default=True), StartSettings())


# --- The whole command ---------------------------------------------------------------------------


def test_doctor_exits_0_without_a_problem(run, tmp_path: Path, free_port: int):
    result = run("doctor", "--data-dir", str(tmp_path / "none"), "--port", str(free_port))

    assert result.exit_code == 0, result.stdout
    assert "problem" not in result.stdout
    assert f"Port {free_port} is free." in result.stdout
    assert not (tmp_path / "none").exists()


def test_doctor_names_the_world_of_which_commits_are_missing(run, tmp_path: Path):
    with world_folder(tmp_path / "worlds" / "shop-world") as stored_world:
        make_changes(stored_world.api)
        lose_last_commit(stored_world)

    result = run("doctor", "--data-dir", str(tmp_path), "--port", "0")

    assert " World shop-world: commit " in result.stdout


def test_doctor_exits_1_with_a_problem_and_gives_advice(run, tmp_path: Path, monkeypatch):
    monkeypatch.setenv("HTTP_PROXY", "http://user:hush@proxy:3128")

    result = run("doctor", "--data-dir", str(tmp_path), "--port", "0")

    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    at = next(i for i, line in enumerate(lines) if line.startswith("problem  proxies"))
    assert "-> Run `export NO_PROXY=localhost,127.0.0.1,::1" in lines[at + 1]
    assert lines[-1].startswith("1 problem")
    assert "hush" not in result.stdout


@pytest.mark.parametrize(
    ("verdicts", "last_line"),
    [
        ("", "No problems."),
        ("problem", "1 problem."),
        ("note note", "2 notes."),
        ("note problem problem", "2 problems, 1 note."),
    ],
)
def test_the_last_line_of_doctor_counts_problems_and_notes(verdicts: str, last_line: str):
    findings = [
        {"check": "ports", "verdict": verdict, "seen": "It is so.", "advice": None}
        for verdict in ["ok", *verdicts.split()]
    ]

    assert _findings_text({"findings": findings}).splitlines()[-1] == last_line


def test_doctor_prints_every_finding_as_json(run, tmp_path: Path):
    result = run("doctor", "--json", "--data-dir", str(tmp_path / "none"), "--port", "0")

    report = json.loads(result.stdout)
    assert report["ok"] is True
    assert {row["check"] for row in report["findings"]} >= {
        "python",
        "dependencies",
        "emulator",
        "port",
        "data",
        "certificates",
        "localhost",
        "dev origins",
        "open files",
        "clock",
        "proxies",
    }
    assert all(set(row) == {"check", "verdict", "seen", "advice"} for row in report["findings"])
    assert all(row["advice"] for row in report["findings"] if row["verdict"] == "problem")
    assert [row for row in report["findings"] if "could not run" in row["seen"]] == []


def test_each_finding_and_each_advice_of_doctor_is_a_sentence():
    rows = [row for rows in FINDINGS.values() for row in rows.values()]
    texts = [text for row in rows for text in (row.message, row.advice) if text is not None]

    wrong = [text for text in texts if not re.fullmatch(r"[A-Z`{].*[.}]", text)]

    assert wrong == []


@pytest.mark.parametrize(
    ("function", "checks"),
    [
        ("check_versions", ["versions"]),
        ("_check_target", ["emulator"]),
        ("check_ports", ["port"]),
        ("check_data", ["data"]),
        ("check_certificates", ["certificates"]),
        ("check_name", ["localhost", "dev origins"]),
        ("check_open_files", ["open files"]),
        ("check_clock", ["clock"]),
        ("check_proxies", ["proxies"]),
        ("check_registry", ["registry"]),
    ],
)
def test_a_check_of_doctor_that_crashes_does_not_stop_the_others(
    run, tmp_path: Path, monkeypatch, function: str, checks: list[str]
):
    def broken(*_: object, **__: object) -> list[CheckFinding]:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(doctor_checks, function, broken)

    result = run("doctor", "--json", "--data-dir", str(tmp_path / "none"), "--port", "0")

    for check in checks:
        (finding,) = findings_of(result, check)
        assert finding["seen"] == "The check could not run: no such luck."
    assert findings_of(result, "localhost")


# --- Versions ------------------------------------------------------------------------------------


def test_doctor_notes_that_the_package_is_not_installed(monkeypatch: pytest.MonkeyPatch):
    def fail(name: str) -> None:
        raise importlib.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(importlib.metadata, "distribution", fail)

    [finding] = doctor_checks.check_versions()

    assert finding == doctor_findings.finding("versions", "not_installed")


def test_doctor_accepts_this_installation():
    assert {finding.verdict for finding in doctor_checks.check_versions()} == {"ok"}


# --- The emulator and its port -------------------------------------------------------------------


def test_doctor_finds_the_running_emulator(run, control: FakeControl, tmp_path: Path):
    control.on("GET /health", {**HEALTH, "version": __version__})
    control.on("GET /info", RUNNING)

    result = run("doctor", "--json", "--url", control.url, "--data-dir", str(tmp_path / "none"))

    (emulator,) = findings_of(result, "emulator")
    (port,) = findings_of(result, "port")
    assert emulator["seen"] == f"Version {__version__} is running at {control.url} (process 7)."
    assert (port["verdict"], result.exit_code) == ("ok", 0)
    assert port["seen"].startswith("An emulator")


def test_doctor_reports_an_emulator_of_another_version(run, control: FakeControl):
    control.on("GET /health", {**HEALTH, "version": "0.0.1"})
    control.on("GET /info", {**RUNNING, "version": "0.0.1", "data_dir": "/elsewhere"})

    result = run("doctor", "--json", "--url", control.url)

    (emulator,) = findings_of(result, "emulator")
    (port,) = findings_of(result, "port")
    assert (result.exit_code, emulator["verdict"]) == (1, "problem")
    assert emulator["seen"].startswith("Version 0.0.1 is running at ")
    assert port["seen"].startswith("An emulator (version 0.0.1) is already using port ")
    assert port["seen"].endswith(" and keeps its state in /elsewhere.")


def test_doctor_notes_an_emulator_that_requires_a_token(run, control: FakeControl):
    control.on("GET /health", {**HEALTH, "version": __version__})
    control.on("GET /info", refusal(401, "Control token required"))

    (finding,) = findings_of(run("doctor", "--json", "--url", control.url), "emulator")

    assert finding["verdict"] == "note"
    assert "HOSTING_EMULATOR_CONTROL_TOKEN" in finding["advice"]


def test_doctor_reports_another_server_at_the_address(run, control: FakeControl):
    control.on("GET /health", ANOTHER_SERVER)

    result = run("doctor", "--json", "--url", control.url)

    (finding,) = findings_of(result, "emulator")
    (port,) = findings_of(result, "port")
    assert finding["verdict"] == port["verdict"] == "problem"
    assert f"{control.url}/_emulator" in finding["seen"]
    assert "is using port" in port["seen"]


def test_doctor_sends_no_control_token_to_an_address_that_only_a_folder_names(
    run, control: FakeControl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    folder = Path.cwd() / ".hosting-emulator"
    control.on("GET /info", {**RUNNING, "data_dir": str(folder)})
    control.on("GET /health", HEALTH)
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("HOSTING_EMULATOR_CONTROL_TOKEN", "secret")

    with running_in(folder, control.url):
        run("doctor", "--json", "--port", "0")

    assert len(control.requests) > 1
    assert not [request for request in control.requests if "X-Control-Token" in request.headers]


def test_doctor_reports_a_port_that_another_program_uses(port: int):
    finding = ports_here().check("tls port", port)

    assert finding.verdict == "problem"
    assert f"is using port {port}." in finding.seen
    assert f"`lsof -i :{port}`" in str(finding.advice)
    assert "`start --tls-port 0`" in str(finding.advice)


def test_doctor_checks_the_port_that_start_would_use(run, port: int):
    Path("hosting-emulator.yaml").write_text(f"port: {port}\n")
    Path(".hosting-emulator").mkdir()

    result = run("doctor", "--json")

    [finding] = findings_of(result, "port")
    assert finding["verdict"] == "problem"
    assert f"is using port {port}." in finding["seen"]


def test_doctor_checks_the_tls_port_that_start_would_use(
    run, port: int, free_port: int, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("HOSTING_EMULATOR_TLS_PORT", str(port))

    result = run("doctor", "--json", "--port", str(free_port))

    [finding] = findings_of(result, "tls port")
    assert (finding["verdict"], result.exit_code) == ("problem", 1)
    assert f"is using port {port}." in finding["seen"]


def test_doctor_checks_ports_at_the_host_that_start_would_use(run):
    with socket.create_server(("127.0.0.2", 0)) as server:
        port = server.getsockname()[1]
        Path("hosting-emulator.yaml").write_text(f"host: 127.0.0.2\nport: {port}\n")
        result = run("doctor", "--json")

    [finding] = findings_of(result, "port")
    assert finding["verdict"] == "problem"
    assert f"is using port {port}." in finding["seen"]


@pytest.mark.parametrize("host", ["203.0.113.7", "no-such-host.invalid"])
def test_doctor_reports_a_host_that_is_not_this_machine(run, host: str, free_port: int):
    Path("hosting-emulator.yaml").write_text(f"host: {host}\n")

    result = run("doctor", "--json", "--port", str(free_port))

    [finding] = findings_of(result, "port")
    assert finding["verdict"] == "problem"
    assert finding["seen"].startswith(f"Cannot listen on {host} port {free_port}: ")
    assert "--host" in finding["advice"]


def test_doctor_reports_an_emulator_of_another_folder_on_the_port_of_start(
    run, control: FakeControl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    port = urlsplit(control.url).port
    Path("hosting-emulator.yaml").write_text(f"port: {port}\n")
    control.on("GET /health", {**HEALTH, "version": __version__})
    control.on("GET /info", {**RUNNING, "data_dir": str(tmp_path / "shop/state")})

    (tmp_path / "shop/state").mkdir(parents=True)
    with registered_emulator(tmp_path / "shop/state", control.url):
        result = run("doctor", "--json")

    [finding] = findings_of(result, "port")
    assert (finding["verdict"], result.exit_code) == ("problem", 1)
    assert f"started in {tmp_path}/shop is using port {port}" in finding["seen"]
    assert f"`hosting-emulator stop --url {control.url}`" in finding["advice"]
    assert "`start --port 0`" in finding["advice"]
    [data] = findings_of(result, "data")
    assert data["seen"].startswith(".hosting-emulator does not exist yet.")


def test_doctor_notes_an_emulator_of_another_machine_or_user_on_the_port_of_start(
    run, control: FakeControl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    port = urlsplit(control.url).port
    Path("hosting-emulator.yaml").write_text(f"port: {port}\n")
    control.on("GET /health", {**HEALTH, "version": __version__})
    control.on("GET /info", {**RUNNING, "data_dir": "/data"})

    result = run("doctor", "--json")

    [finding] = findings_of(result, "port")
    assert finding["verdict"] == "note"
    assert "Commands in this folder use it, but `start` would fail." in finding["seen"]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux shows the program")
def test_doctor_recognizes_the_tls_port_of_an_emulator_of_another_folder(
    run, port: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free_port: int
):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    monkeypatch.setenv("HOSTING_EMULATOR_TLS_PORT", str(port))
    url = "http://127.0.0.1:1"

    with registered_emulator(tmp_path / "shop/state", url, pid=os.getpid()):
        result = run("doctor", "--json", "--port", str(free_port))

    [finding] = findings_of(result, "tls port")
    assert f"started in {tmp_path}/shop is using port {port}" in finding["seen"]
    assert f"`hosting-emulator stop --url {url}`" in finding["advice"]
    assert "`start --tls-port 0`" in finding["advice"]


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="only Linux shows the program")
def test_doctor_names_the_program_that_uses_a_port(port: int):
    finding = ports_here().check("port", port)

    assert finding.seen.endswith(f"(process {os.getpid()}) is using port {port}.")


def test_doctor_lists_the_running_emulators_of_this_user(tmp_path: Path, monkeypatch):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    idle = doctor_checks.check_registry()
    with registered_emulator(tmp_path / "shop/state", "http://127.0.0.1:4711"):
        running = doctor_checks.check_registry()

    assert idle.seen == "No emulator of this user is running."
    assert running.seen == f"Running now: http://127.0.0.1:4711 ({tmp_path}/shop/state)."
    assert {idle.verdict, running.verdict} == {"ok"}


def test_doctor_notes_that_no_folder_can_list_the_running_emulators(tmp_path: Path, monkeypatch):
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    (tmp_path / f"hosting-emulator-{os.geteuid()}").touch()

    finding = doctor_checks.check_registry()

    assert finding.verdict == "note"
    assert "XDG_RUNTIME_DIR" in str(finding.advice)


# --- The machine ---------------------------------------------------------------------------------


NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def data_directory(tmp_path: Path) -> Path:
    """A data directory with one world and a certificate authority, as an emulator leaves it."""
    path = tmp_path / "state"

    with emulator_in_thread(tls_port=0, data_dir=path):
        return path


def first_finding(path: Path) -> CheckFinding:
    return next(iter(doctor_checks.check_data(path, is_reached=False)))


# --- The data directory --------------------------------------------------------------------------


def test_doctor_does_not_change_an_intact_data_directory(data_directory: Path):
    def picture() -> dict[Path, tuple[int, int, bytes]]:
        files = [path for path in data_directory.rglob("*") if path.is_file()]
        return {p: (p.stat().st_mtime_ns, p.stat().st_mode, p.read_bytes()) for p in files}

    before = picture()

    finding = first_finding(data_directory)

    assert finding.verdict == "ok"
    assert f"{data_directory} is intact and not in use. It contains 1 world." in finding.seen
    assert picture() == before


@pytest.mark.parametrize("name", ["snapshot.json", "journal.ndjson"])
def test_doctor_finds_a_flipped_byte_in_a_data_directory(data_directory: Path, name: str):
    path = data_directory / "worlds" / "default" / name
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(bytes(data))

    finding = first_finding(data_directory)

    assert finding.verdict == "problem"
    assert str(path) in finding.seen
    assert "from a copy" in str(finding.advice)


def test_doctor_does_not_capitalize_a_relative_path(
    data_directory: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(data_directory.parent)
    (data_directory / "worlds" / "default" / "snapshot.json").write_bytes(b"{")

    finding = first_finding(Path(data_directory.name))

    assert finding.verdict == "problem"
    assert f"{data_directory.name[0].upper()}{data_directory.name[1:]}/" not in finding.seen
    assert f"{data_directory.name}/worlds/default" in finding.seen


def test_doctor_notes_a_torn_last_line_of_a_journal(data_directory: Path):
    with (data_directory / "worlds" / "default" / "journal.ndjson").open("ab") as journal:
        journal.write(b"deadbeef {")

    assert first_finding(data_directory).verdict == "note"


def test_doctor_does_not_read_a_data_directory_in_use(tmp_path: Path, run):
    path = tmp_path / "state"

    with emulator_in_thread(data_dir=path) as emulator:
        (path / "worlds" / "default" / "snapshot.json").write_text("in the making")
        unreached = first_finding(path)
        result = run("doctor", "--json", "--url", emulator.base_url)

    assert unreached.verdict == "note"
    assert "is in use by an emulator that did not respond" in unreached.seen
    assert "lsof" in str(unreached.advice)
    # doctor checks the directory of the running emulator.
    (reached,) = findings_of(result, "data")
    assert reached["verdict"] == "ok"
    assert reached["seen"].startswith(f"The running emulator is using {path}")


def test_doctor_reports_a_data_directory_that_is_a_file(tmp_path: Path):
    path = tmp_path / "file"
    path.touch()

    (finding,) = doctor_checks.check_data(path, is_reached=False)

    assert (finding.verdict, finding.seen) == ("problem", f"{path} is a file, not a directory.")


def test_doctor_names_the_folder_in_which_no_data_directory_can_be_created(
    tmp_path: Path, monkeypatch
):
    monkeypatch.setattr(os, "access", lambda path, mode: path != tmp_path)

    (finding,) = doctor_checks.check_data(tmp_path / "a" / "b", is_reached=False)

    assert finding.seen == f"You cannot write to {tmp_path}."


def test_doctor_reports_secrets_that_other_users_can_read(data_directory: Path):
    snapshot = data_directory / "worlds" / "default" / "snapshot.json"
    snapshot.chmod(0o644)
    *_, hidden = doctor_checks.check_data(data_directory, is_reached=False)
    assert hidden.verdict == "ok"  # The folders above are closed to other users.

    for folder in (
        data_directory,
        data_directory / "worlds",
        data_directory / "worlds" / "default",
    ):
        folder.chmod(0o755)

    *_, finding = doctor_checks.check_data(data_directory, is_reached=False)
    assert finding.verdict == "problem"
    assert finding.seen == f"Other users of this machine can read {snapshot}."
    assert str(finding.advice).startswith(f"Run `chmod -R go= {data_directory}`")


def test_doctor_counts_further_secrets_that_other_users_can_read(data_directory: Path):
    folder = data_directory / "worlds" / "default"
    for path in (data_directory, data_directory / "worlds", folder):
        path.chmod(0o755)
    for name in ("snapshot.json", "journal.ndjson", "world.json"):
        (folder / name).chmod(0o644)

    *_, finding = doctor_checks.check_data(data_directory, is_reached=False)

    assert finding.seen.startswith(f"Other users of this machine can read {folder}/")
    assert finding.seen.endswith(" and 2 more.")


def test_doctor_ignores_a_file_that_disappears_meanwhile(
    data_directory: Path, monkeypatch: pytest.MonkeyPatch
):
    for path in (data_directory, data_directory / "worlds"):
        path.chmod(0o755)
    walk: list[Any] = [
        (str(data_directory), [], []),
        (str(data_directory / "worlds"), [], ["gone.json"]),
    ]
    monkeypatch.setattr(os, "walk", lambda path: walk)

    *_, finding = doctor_checks.check_data(data_directory, is_reached=False)

    assert finding.verdict == "ok"


def test_doctor_reports_a_link_to_a_missing_data_directory(tmp_path: Path):
    path = tmp_path / "data"
    path.symlink_to("missing")

    [finding] = doctor_checks.check_data(path, is_reached=False)

    assert finding == doctor_findings.finding("data", "link", path=path)
    assert finding.verdict == "problem"


def test_doctor_reports_a_world_whose_files_cannot_be_read(data_directory: Path):
    snapshot = data_directory / "worlds" / "default" / "snapshot.json"
    snapshot.unlink()
    snapshot.mkdir()

    finding = first_finding(data_directory)

    assert finding.verdict == "problem"
    assert finding.seen == f"{data_directory}/worlds/default cannot be read: Is a directory."
    assert finding.advice == "Restore the folder from a copy, or move it away."


def test_doctor_reports_a_data_directory_that_other_users_can_write(tmp_path: Path):
    tmp_path.chmod(0o777)

    *_, finding = doctor_checks.check_data(tmp_path, is_reached=False)

    assert (finding.verdict, finding.advice) == ("problem", f"Run `chmod go-w {tmp_path}`.")


# --- Certificates --------------------------------------------------------------------------------


def test_doctor_accepts_a_stored_certificate_authority(data_directory: Path):
    finding = doctor_checks.check_authority(data_directory / "tls", datetime.now(UTC))

    assert finding.verdict == "ok"


def test_doctor_reports_an_authority_key_that_other_users_can_read(data_directory: Path):
    for path in (data_directory, data_directory / "tls"):
        path.chmod(0o755)
    (data_directory / "tls" / "ca.key").chmod(0o644)

    finding = doctor_checks.check_authority(data_directory / "tls", NOW)

    assert "can read" in finding.seen
    assert f"`chmod 600 {data_directory / 'tls' / 'ca.key'}`" in str(finding.advice)


def test_doctor_verifies_the_certificates_of_a_running_emulator(
    tmp_path: Path, run, data_directory: Path
):
    with emulator_in_thread(tls_port=0, data_dir=tmp_path / "own") as emulator:
        result = run("doctor", "--json", "--url", emulator.base_url)
        port = int(str(emulator.ready.tls_url).rpartition(":")[2])
        refused = doctor_checks.check_served(data_directory / "tls" / "ca.pem", port)

    served = findings_of(result, "certificates")[1]
    assert served["verdict"] == "ok"
    assert "presents valid certificates for localhost and x.dev.localhost" in served["seen"]
    assert refused.verdict == "problem"
    assert "cannot be verified with" in refused.seen
