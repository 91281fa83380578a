"""`explore` passes only what it observed: its exit code, text and reports agree."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from tests.lab.judge.test_explore import run, sh

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")

CURL = (
    "curl -sS --max-time 5 -H 'Content-Type: application/json' "
    '-H "Authorization: Bearer $HOSTING_TOKEN"'
)
PROJECT = "$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID"
KEYS = "$HOSTING_BASE_URL/v1/organizations/$HOSTING_ORGANIZATION_ID/user-api-keys"
READ = f'{CURL} -f -o /dev/null "{PROJECT}/edge-dns"'
MAKE_KEY = f"""{CURL} -f -X POST -H "Idempotency-Key: $$-key" -d '{{"name": "ci"}}' "{KEYS}" """


class Reports:
    """The reports of one exploration."""

    def __init__(self, folder: Path) -> None:
        self.files = {kind: folder / f"report.{kind}" for kind in ("junit", "html")}

    @property
    def options(self) -> list[str]:
        """The options that ask for the reports."""
        return [word for kind, path in self.files.items() for word in (f"--{kind}", str(path))]

    def exit_codes(self) -> dict[str, int]:
        """Return the exit code that each report stands for."""
        junit = Xml.parse(self.files["junit"]).getroot().attrib
        html = self.files["html"].read_text(encoding="utf-8")
        heading = html.partition("<h1>")[2].partition("</h1>")[0]
        return {
            "junit": _exit_code(int(junit["failures"]) > 0, int(junit["errors"]) > 0),
            "html": _exit_code("did not" in heading, "not judged" in heading),
        }


def _exit_code(is_failed: bool, is_undecided: bool) -> int:
    if is_failed:
        return 1
    return 2 if is_undecided else 0


@pytest.fixture
def reports(tmp_path: Path) -> Reports:
    return Reports(tmp_path)


def check_every_report(
    code: int, reports: Reports, *arguments: str, **options: Any
) -> dict[str, Any]:
    """Explore, check that all reports stand for this exit code, and return the JSON report."""
    process = run("--json", "-j", "2", *reports.options, *arguments, **options)

    assert process.returncode == code, process.stderr
    document: dict[str, Any] = json.loads(process.stdout)
    assert document["exit_code"] == code
    assert reports.exit_codes() == {"junit": code, "html": code}
    return document


def test_every_report_passes_for_a_client_that_survives(reports: Reports):
    retry = f"{READ} || {READ}"

    document = check_every_report(0, reports, "--faults", "connection_reset", *sh(retry))

    assert document["summary"] == {"survived": 1}


def test_an_exploration_whose_faults_hit_no_request_does_not_pass(reports: Reports, tmp_path: Path):
    # Only the two clean runs send the request.
    script = f"echo >>runs; [ $(wc -l <runs) -gt 2 ] || {READ}"

    document = check_every_report(
        2, reports, "--faults", "connection_reset", "-j", "1", *sh(script), cwd=tmp_path
    )

    assert document["summary"] == {"not reached": 1}


def test_a_single_point_that_is_not_reached_does_not_pass(tmp_path: Path):
    script = f"echo >>runs; [ $(wc -l <runs) -gt 2 ] || {READ}"
    point = ("--point", "get_dns_authorization#1/connection_reset/before_commit")

    assert run(*point, *sh(script), cwd=tmp_path).returncode == 2


def test_a_budget_too_small_for_any_run_does_not_pass(reports: Reports):
    document = check_every_report(2, reports, "--budget", "1ms", "--faults", "timeout", *sh(READ))

    assert document["points"] == []


def test_faults_that_apply_to_no_request_do_not_pass(reports: Reports):
    check_every_report(2, reports, "--faults", "stick", *sh(READ))


def test_every_report_fails_for_a_conduct_error_in_the_clean_run(reports: Reports):
    without_a_key = f'{CURL} -o /dev/null -X PUT "{PROJECT}/domains"'
    script = f"{without_a_key}; {READ} || {READ}"

    arguments = ("--faults", "connection_reset", "--call", "get_dns_authorization")
    document = check_every_report(1, reports, *arguments, *sh(script))

    assert any("missing-idempotency-key" in finding for finding in document["clean"]["conduct"])
    assert run(*arguments, "--conduct", "off", *sh(script)).returncode == 0


def test_an_exploration_without_a_verdict_deletes_earlier_reports(reports: Reports):
    for path in reports.files.values():
        path.write_text("all is well", encoding="utf-8")

    process = run(*reports.options, *sh("exit 3"))

    assert process.returncode == 2
    assert [path.name for path in reports.files.values() if path.exists()] == []


def test_a_client_that_reads_its_key_from_a_file_is_not_missing_a_value(tmp_path: Path):
    script = f"[ -s key ] || {MAKE_KEY} >key || exit 1; {READ} || {READ}"

    process = run("--json", "--faults", "connection_reset", "-j", "1", *sh(script), cwd=tmp_path)

    verdicts = {point["point"]: point["verdict"] for point in json.loads(process.stdout)["points"]}
    assert verdicts["create_user_api_key#1/connection_reset/after_commit"] == "not reached"
    assert verdicts["get_dns_authorization#1/connection_reset/before_commit"] == "survived"
    assert process.returncode == 0


@pytest.mark.parametrize("words", ["the value is stored", "secret saved after a replay", "revoked"])
def test_the_words_a_client_prints_do_not_turn_a_lost_value_into_survival(
    words: str, reports: Reports
):
    script = f"{MAKE_KEY} -o /dev/null || {{ {MAKE_KEY} -o /dev/null; echo {words}; }}; echo done"

    document = check_every_report(2, reports, "--faults", "value_lost", *sh(script))

    assert document["summary"] == {"unclear": 1}


def test_a_client_that_ignores_a_lost_value_silently_is_a_blind_success(reports: Reports):
    script = f"{MAKE_KEY} -o /dev/null || {MAKE_KEY} -o /dev/null; echo done"

    document = check_every_report(
        1, reports, "--faults", "value_lost", *sh(f"{{ {script}; }} 2>/dev/null")
    )

    assert document["summary"] == {"blind success": 1}
