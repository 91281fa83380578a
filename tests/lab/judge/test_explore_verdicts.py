"""The exit code and all reports of `explore` agree, and only what was proven passes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as Xml

import pytest

from tests.lab.judge.explore_process import run_explore, shell_script, verdicts_by_point

pytestmark = pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")

CURL = (
    "curl -sS --max-time 5 -H 'Content-Type: application/json' "
    '-H "Authorization: Bearer $HOSTING_TOKEN"'
)
PROJECT = "$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID"
API_KEYS = "$HOSTING_BASE_URL/v1/organizations/$HOSTING_ORGANIZATION_ID/user-api-keys"
READ = f'{CURL} -f -o /dev/null "{PROJECT}/edge-dns"'
#: A script that sends a request only in the first two runs, which are the clean runs.
READ_IN_CLEAN_RUNS = f"echo >>runs; [ $(wc -l <runs) -gt 2 ] || {READ}"
CREATE_KEY = (
    f"""{CURL} -f -X POST -H "Idempotency-Key: $$-key" -d '{{"name": "ci"}}' "{API_KEYS}" """
)


class ReportFiles:
    """The JUnit report and the HTML report of one exploration."""

    def __init__(self, folder: Path) -> None:
        self.files = {kind: folder / f"report.{kind}" for kind in ("junit", "html")}

    @property
    def options(self) -> list[str]:
        """The options of `explore` that write the reports."""
        return [f"--{kind}={path}" for kind, path in self.files.items()]

    def exit_codes(self) -> dict[str, int]:
        """Return the exit code that each report expresses."""
        junit = Xml.parse(self.files["junit"]).getroot().attrib
        html = self.files["html"].read_text(encoding="utf-8")
        heading = html.partition("<h1>")[2].partition("</h1>")[0]
        return {
            "junit": _exit_code(junit["failures"] != "0", junit["errors"] != "0"),
            "html": _exit_code("did not" in heading, "not judged" in heading),
        }


def _exit_code(is_failed: bool, is_undecided: bool) -> int:
    if is_failed:
        return 1
    if is_undecided:
        return 2
    return 0


@pytest.fixture
def report_files(tmp_path: Path) -> ReportFiles:
    """The reports of an exploration, which are not written yet."""
    return ReportFiles(tmp_path)


def check_every_report(
    exit_code: int, report_files: ReportFiles, *arguments: str, **options: Any
) -> dict[str, Any]:
    """Explore, check that all reports express this exit code, and return the JSON report."""
    process = run_explore("--json", "-j", "2", *report_files.options, *arguments, **options)

    assert process.returncode == exit_code, process.stderr
    document: dict[str, Any] = json.loads(process.stdout)
    assert document["exit_code"] == exit_code
    assert report_files.exit_codes() == {"junit": exit_code, "html": exit_code}
    return document


def test_every_report_passes_for_a_client_that_survives(report_files: ReportFiles):
    retry = f"{READ} || {READ}"

    document = check_every_report(
        0, report_files, "--faults", "connection_reset", *shell_script(retry)
    )

    assert document["summary"] == {"survived": 1}


def test_an_exploration_whose_faults_hit_no_request_does_not_pass(
    report_files: ReportFiles, tmp_path: Path
):
    document = check_every_report(
        2,
        report_files,
        "--faults",
        "connection_reset",
        "-j",
        "1",
        *shell_script(READ_IN_CLEAN_RUNS),
        cwd=tmp_path,
    )

    assert document["summary"] == {"not reached": 1}


def test_a_single_point_that_is_not_reached_does_not_pass(tmp_path: Path):
    point = ("--trial", "get_dns_authorization#1/connection_reset/before_commit")

    assert run_explore(*point, *shell_script(READ_IN_CLEAN_RUNS), cwd=tmp_path).returncode == 2


def test_a_budget_too_small_for_any_run_does_not_pass(report_files: ReportFiles):
    document = check_every_report(
        2, report_files, "--budget", "1ms", "--faults", "timeout", *shell_script(READ)
    )

    assert document["points"] == []


def test_faults_that_apply_to_no_request_do_not_pass(report_files: ReportFiles):
    check_every_report(2, report_files, "--faults", "stick", *shell_script(READ))


def test_every_report_fails_for_a_conduct_error_in_the_clean_run(report_files: ReportFiles):
    refused_request = f'{CURL} -o /dev/null -X PUT "{PROJECT}/domains"'
    script = f"{refused_request}; {READ} || {READ}"

    arguments = ("--faults", "connection_reset", "--call", "get_dns_authorization")
    document = check_every_report(1, report_files, *arguments, *shell_script(script))

    assert any("missing-idempotency-key" in finding for finding in document["clean"]["conduct"])
    assert run_explore(*arguments, "--conduct", "off", *shell_script(script)).returncode == 0


def test_an_exploration_without_a_verdict_deletes_earlier_reports(report_files: ReportFiles):
    for path in report_files.files.values():
        path.write_text("an earlier report", encoding="utf-8")

    process = run_explore(*report_files.options, *shell_script("exit 3"))

    assert process.returncode == 2
    assert [path.name for path in report_files.files.values() if path.exists()] == []


def test_a_client_that_reads_its_key_from_a_file_is_not_missing_a_value(tmp_path: Path):
    script = f"[ -s key ] || {CREATE_KEY} >key || exit 1; {READ} || {READ}"

    process = run_explore(
        "--json", "--faults", "connection_reset", "-j", "1", *shell_script(script), cwd=tmp_path
    )

    verdicts = verdicts_by_point(json.loads(process.stdout))
    assert verdicts["create_user_api_key#1/connection_reset/after_commit"] == "not reached"
    assert verdicts["get_dns_authorization#1/connection_reset/before_commit"] == "survived"
    assert process.returncode == 0


def test_the_words_that_a_client_prints_do_not_turn_a_lost_value_into_survival(
    report_files: ReportFiles,
):
    words = "secret saved after a replay"
    script = (
        f"{CREATE_KEY} -o /dev/null || {{ {CREATE_KEY} -o /dev/null; echo {words}; }}; echo done"
    )

    document = check_every_report(2, report_files, "--faults", "value_lost", *shell_script(script))

    assert document["summary"] == {"unclear": 1}


def test_a_client_that_ignores_a_lost_value_silently_is_a_blind_success(report_files: ReportFiles):
    script = f"{CREATE_KEY} -o /dev/null || {CREATE_KEY} -o /dev/null; echo done"

    document = check_every_report(
        1, report_files, "--faults", "value_lost", *shell_script(f"{{ {script}; }} 2>/dev/null")
    )

    assert document["summary"] == {"blind success": 1}
