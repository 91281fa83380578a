"""The command line of `contract check`: options, exit codes and output."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree as Xml

import pytest
from click.testing import Result

from hosting_emulator.sdk import HostingEmulator
from hosting_emulator_cli.main import Failure
from tests.lab.contract_check.check_run import advance_instead_of_waiting, options
from tests.lab.contract_check.deviations import DEVIATIONS
from tests.lab.contract_check.mutations import refuse
from tests.lab.contract_check.tampering_proxy import Exchange, Tampering, wrong_server
from tests.lab.contract_check.test_deviations import Spoils

Check = Callable[..., Result]


@pytest.fixture
def check(run, hosting_emulator: HostingEmulator, monkeypatch: pytest.MonkeyPatch) -> Check:
    """Run `contract check` with the environment that it has inside `exec`.

    Where the command would wait, the clock of the world is advanced instead.
    """
    advance_instead_of_waiting(monkeypatch, hosting_emulator)
    monkeypatch.setenv("HOSTING_BASE_URL", hosting_emulator.base_url)
    monkeypatch.setenv("HOSTING_TOKEN", hosting_emulator.token())
    monkeypatch.setenv("HOSTING_PROJECT_ID", hosting_emulator.project)
    monkeypatch.setenv("HOSTING_ORGANIZATION_ID", hosting_emulator.organization)
    return lambda *words: run("contract", "check", *words)


#: The JUnit file of a check that passed, as soon as a test needed it.
_JUNIT_OF_A_PASS: list[str] = []


@pytest.fixture
def junit_of_a_pass(check: Check, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The JUnit file of a check that passed. Only the first test runs the check, which takes long."""
    if not _JUNIT_OF_A_PASS:
        file = tmp_path_factory.mktemp("pass") / "junit.xml"
        assert check("--junit", str(file)).exit_code == 0
        _JUNIT_OF_A_PASS.append(file.read_text())
    return _JUNIT_OF_A_PASS[0]


def one_line(result: Result) -> str:
    """Expect exit code 2 and one line on stderr, and return it."""
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.count("\n") == 1
    return result.stderr


def test_contract_check_passes_on_the_emulator_without_changing_it(check: Check):
    result = check()

    assert result.exit_code == 0, result.stdout
    lines = result.stdout.splitlines()
    assert "  holds      All bodies are JSON." in lines
    assert "             it changes the project: permit it with --allow keys" in lines
    assert "  unseen     No provider credentials are ever exposed." in lines
    assert result.stdout.endswith("no difference from this emulator was observed.\n")
    assert re.match(r"\d+ sentences: ", result.stderr)
    assert " 0 differ, " in result.stderr


def test_contract_check_refuses_a_server_without_json(
    check: Check, hosting_emulator: HostingEmulator
):
    with wrong_server(hosting_emulator.base_url, Spoils("HTML")) as url:
        message = one_line(check("--base-url", url))

    assert "No response there is JSON: is this the API?" in message
    assert message.rstrip().endswith("200, text/html)")


def test_contract_check_prints_sections_in_the_order_of_the_contract(check: Check):
    lines = check().stdout.splitlines()

    titles = [line for line in lines if line in ("Operation", "Endpoints", "Errors", "Versioning")]
    assert titles == ["Operation", "Endpoints", "Errors", "Versioning"]


def test_contract_check_prints_the_whole_report_as_json(check: Check):
    result = check("--json", "--allow", "keys,tickets", "--allow", "keys")

    report = json.loads(result.stdout)
    assert report["allowed"] == ["keys", "tickets"]
    assert report["summary"]["differs"] == 0
    assert len(report["created"]) == 2
    assert {"key", "section", "sentence", "verdict", "seen"} == report["sentences"][0].keys()
    assert report["causes"] == []
    assert result.stderr == ""


def test_contract_check_prints_observed_assumptions_as_scenario_yaml(
    check: Check, run, hosting_emulator: HostingEmulator, tmp_path: Path
):
    values = {"limit_parameter": "size", "missing_environment": "prod", "timestamp_form": "offset"}
    hosting_emulator.set_assumptions(values)
    path = tmp_path / "observed.yaml"

    result = check("--write-scenario", str(path))

    text = path.read_text(encoding="utf-8")
    block = text[text.index("assumptions:") :]
    assert block in result.stdout + "\n"
    assert block.splitlines() == [
        "assumptions:",
        '  limit_parameter: "size"',
        '  missing_environment: "prod"',
        '  timestamp_form: "offset"',
    ]
    assert result.stderr.endswith(
        "A scenario with the assumptions that differ from the emulator's defaults was written to "
        f"{path}.\n"
    )
    assert run("scenario", "check", str(path)).exit_code == 0


def test_the_scenario_of_an_unchanged_emulator_is_valid(check: Check, run, tmp_path: Path):
    path = tmp_path / "observed.yaml"

    check("--write-scenario", str(path))

    assert run("scenario", "check", str(path)).exit_code == 0


def test_contract_check_prints_its_report_when_a_file_cannot_be_written(
    check: Check, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    def full(path: Path, _: str) -> None:
        raise Failure(f"cannot write {path}: No space left on device")

    monkeypatch.setattr("hosting_emulator_cli.commands.contract.write_whole", full)

    result = check("--junit", str(tmp_path / "report.xml"))

    assert result.exit_code == 2
    assert re.search(r"^\d+ sentences: ", result.stderr, re.MULTILINE)
    assert result.stderr.endswith("No space left on device\n")
    assert "All bodies are JSON." in result.stdout


def test_contract_check_exits_1_with_a_difference(
    check: Check, hosting_emulator: HostingEmulator, tmp_path: Path
):
    planted = next(deviation for deviation in DEVIATIONS if deviation.name == "three scopes")
    path = tmp_path / "report.xml"

    with wrong_server(hosting_emulator.base_url, planted.make(options(hosting_emulator))) as url:
        result = check("--base-url", url, "--junit", str(path))

    assert result.exit_code == 1
    message = (
        "GET /v1/projects/{project_id}/edge-dns: 200: scopes: out of bounds: "
        "the array has 3 entries"
    )
    assert f"             {message}" in result.stdout.splitlines()
    assert " 2 differ, " in result.stderr
    assert result.stdout.split("1 cause of 2 differences:\n")[1].splitlines() == [
        "",
        "  1. scopes: out of bounds: the array has 3 entries",
        "     Seen in 4 responses, such as:",
        f"       {message}",
        "     Violates 2 sentences:",
        "       | scopes | array of enum dns.write, zone.read | at most 2 entries; empty when"
        " status is not_authorized; closed set |",
        "       | DNS authorization scopes | at most 2 |",
    ]
    root = Xml.fromstring(path.read_text(encoding="utf-8"))
    failed = root.findall("testsuite/testcase/failure/..")
    assert [case.attrib["name"].partition(":")[0] for case in failed] == [
        "dns.scopes",
        "limit.scopes",
    ]
    assert [(case.findtext("failure") or "").splitlines()[-1] for case in failed] == [
        f"Cause 1 of 1: scopes: out of bounds: the array has 3 entries (it also breaks {key})"
        for key in ("limit.scopes", "dns.scopes")
    ]
    (suite,) = [deviation for deviation in root if deviation.attrib["name"] == "DnsAuthorization"]
    assert suite.attrib["failures"] == "1"
    assert len(suite) == int(suite.attrib["tests"])
    assert len(suite.findall("testcase/skipped")) == int(suite.attrib["skipped"]) == 2


def test_contract_check_prints_no_secret(check: Check, hosting_emulator: HostingEmulator):
    result = check("--allow", "keys,tickets", "--json")

    assert hosting_emulator.token() not in result.output
    assert "phk_" not in result.stdout.replace('"phk_"', "")
    assert "ticket=" not in result.stdout.replace("ticket=<ticket>", "")


# --- What keeps it from checking ------------------------------------------------------------------


def test_contract_check_refuses_an_address_where_nothing_listens(check: Check):
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{free_socket.getsockname()[1]}"

    message = one_line(check("--base-url", url))

    assert message == f"Error: {url} cannot be reached: connection refused\n"


def test_contract_check_refuses_an_unknown_host_name(check: Check, monkeypatch: pytest.MonkeyPatch):
    def unknown(*_: object, **__: object) -> None:
        raise socket.gaierror(-2, "Name or service not known")

    monkeypatch.setattr(socket, "getaddrinfo", unknown)

    message = one_line(check("--base-url", "https://staging.invalid"))

    assert message == (
        "Error: https://staging.invalid cannot be reached: its name cannot be resolved\n"
    )


def test_contract_check_refuses_https_to_an_http_server(
    check: Check, hosting_emulator: HostingEmulator
):
    url = hosting_emulator.base_url.replace("http:", "https:")

    assert "cannot be reached: it does not speak TLS" in one_line(check("--base-url", url))


def test_contract_check_refuses_an_invalid_token(check: Check):
    assert one_line(check("--token", "nobody")).endswith("refuses the token of --token (401)\n")


def test_contract_check_refuses_an_unknown_project(check: Check):
    message = one_line(check("--project", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"))

    assert message.endswith("with this token (404): is --project right?\n")


def _answers_everything_with(status: int, code: str | None) -> Tampering:
    class Answers(Tampering):
        def after(self, exchange: Exchange) -> None:
            if code is None:
                exchange.status = status
                exchange.json = {"detail": "No"}
            else:
                refuse(exchange, status, code)

    return Answers()


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (503, "service_unavailable"),
        (413, "payload_too_large"),
        (429, "rate_limited"),
        (500, "service_unavailable"),
        (404, None),
        (404, "resource_not_found"),
        (400, "invalid_request"),
        (500, None),
    ],
)
def test_contract_check_gives_no_verdict_if_no_request_succeeds(
    check: Check,
    hosting_emulator: HostingEmulator,
    junit_of_a_pass: str,
    tmp_path: Path,
    status: int,
    code: str | None,
):
    file = tmp_path / "junit.xml"
    file.write_text(junit_of_a_pass)
    assert Xml.parse(file).getroot().attrib["errors"] == "0"

    with wrong_server(hosting_emulator.base_url, _answers_everything_with(status, code)) as url:
        result = check("--base-url", url, "--junit", str(file), "--patience", "0s")

    assert result.exit_code == 2
    assert "Error: " in result.stderr
    assert int(Xml.parse(file).getroot().attrib["errors"]) == 1


def test_the_json_report_of_contract_check_says_that_nothing_was_checked(
    check: Check, hosting_emulator: HostingEmulator
):
    server = _answers_everything_with(503, "service_unavailable")
    with wrong_server(hosting_emulator.base_url, server) as url:
        result = check("--base-url", url, "--json", "--patience", "0s")

    assert result.exit_code == 2
    report = json.loads(result.stdout)
    assert "503 service_unavailable" in report["unchecked"]


def test_a_refused_contract_check_replaces_an_earlier_report(check: Check, tmp_path: Path):
    file = tmp_path / "junit.xml"
    check("--junit", str(file))

    assert check("--token", "nobody", "--junit", str(file)).exit_code == 2

    root = Xml.parse(file).getroot()
    assert root.attrib["errors"] == "1"
    assert len(root.findall(".//testcase")) == 1
