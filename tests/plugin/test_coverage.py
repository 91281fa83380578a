"""The coverage of a run: what all its tests exercise of the contract."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from pytest_hosting_emulator import BackgroundEmulator
from pytest_hosting_emulator.coverage import CoverageReport
from tests.plugin.conftest import Suite

TESTS = """
import pytest
from pytest_hosting_emulator import world_fixture
from calling import apply_domains, ask

shop = world_fixture("module")


@pytest.mark.parametrize("number", range(3))
def test_own_world(hosting_emulator, number):
    assert apply_domains(hosting_emulator) == 202
    assert apply_domains(hosting_emulator) == 202


def test_shared_world(shop):
    assert ask(shop, "edge-dns", user="reader") == 200


def test_shared_world_again(shop):
    assert ask(shop, "deployments", user="nobody") == 401


def test_more_worlds(hosting_emulator_worlds):
    world = hosting_emulator_worlds()
    ask(world, "edge-dns")
    world.close()
"""
FILE = "--hosting-emulator-coverage=reports/coverage.json"


@pytest.fixture
def suite(suite: Suite) -> Suite:
    suite.write(test_it=TESTS.replace('"nobody"', '"reader", Authorization="Bearer none"'))
    return suite


def test_the_summary_says_what_all_worlds_of_a_run_exercised_and_what_is_missing(suite: Suite):
    result = suite.passes("--hosting-emulator-coverage")

    result.stdout.fnmatch_lines(
        [
            "*hosting emulator: coverage of the contract*",
            "calls  *2 of 8: apply_project_domains, get_dns_authorization; missing:*",
            "statuses  *200, 202, 401",
            "problem codes  *1 of 57: unauthenticated; also possible here:*",
            "operation ends  *none; missing: succeeded, failed, cancelled",
            "roles  *owner, reader; missing: maintainer, API key",
            "pages  *0 pages",
            "replays  *1 of 4 calls: apply_project_domains; missing:*",
        ]
    )


def test_the_file_merges_the_workers_and_on_request_several_runs(suite: Suite):
    path = suite.path / "reports" / "coverage.json"

    parallel = suite.passes(FILE, *suite.workers(2))

    parallel.stdout.fnmatch_lines(["calls  *2 of 8:*", "written to reports/coverage.json"])
    document = json.loads(path.read_text())
    domains = document["calls"]["apply_project_domains"]
    assert (domains["responses"], domains["replays"], domains["roles"]) == (6, 3, {"owner": 6})
    assert document["calls"]["get_dns_authorization"]["roles"] == {"reader": 1, "owner": 1}
    assert document["calls"]["list_deployments"]["codes"] == {"unauthenticated": 1}
    assert "list_deployments" in document["missing"]["calls"]

    suite.run(FILE, "--hosting-emulator-coverage-append", "-k", "own_world")
    assert json.loads(path.read_text())["calls"]["apply_project_domains"]["responses"] == 12


def test_only_the_worlds_of_the_run_count_in_an_emulator_that_runs_elsewhere(suite: Suite):
    suite.ini("hosting_emulator_coverage = coverage.json")
    suite.write(
        test_foreign="""
        from calling import ask

        def test_the_default_world(hosting_emulator, hosting_emulator_server):
            assert ask(hosting_emulator_server.control.world(), "edge-dns") == 200
        """
    )
    with BackgroundEmulator() as running:
        suite.passes(f"--hosting-emulator-url={running.base_url}")

    calls = json.loads((suite.path / "coverage.json").read_text())["calls"]
    assert calls["apply_project_domains"]["responses"] == 6
    assert calls["get_dns_authorization"]["responses"] == 2


def test_an_emulator_that_is_restarted_in_a_test_keeps_its_coverage(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask

        def test_first(hosting_emulator, hosting_emulator_server):
            assert ask(hosting_emulator, "edge-dns") == 200
            hosting_emulator_server.start()

        def test_second(hosting_emulator):
            assert ask(hosting_emulator, "edge-dns") == 200
        """
    )
    suite.passes(FILE)

    document = json.loads((suite.path / "reports" / "coverage.json").read_text())
    assert document["calls"]["get_dns_authorization"]["responses"] == 2


def test_the_summary_says_that_an_emulator_was_killed(suite: Suite):
    suite.write(
        test_it="""
        import os, signal

        def test_it(hosting_emulator, hosting_emulator_server):
            os.kill(hosting_emulator_server.control.info().pid, signal.SIGKILL)
        """
    )

    result = suite.run("--hosting-emulator-coverage", "--hosting-emulator-server=process")

    result.stdout.fnmatch_lines(["incomplete: *no emulator responds*"])


def test_wrong_files_are_refused_at_once_with_what_would_be_right(suite: Suite):
    (suite.path / "other.json").write_text("{}")

    swallowed = suite.run("--hosting-emulator-coverage", "test_it.py")
    other = suite.run(
        "--hosting-emulator-coverage=other.json", "--hosting-emulator-coverage-append"
    )

    assert (swallowed.ret, other.ret) == (pytest.ExitCode.USAGE_ERROR,) * 2
    swallowed.stderr.fnmatch_lines(["*write --hosting-emulator-coverage=FILE.json, or put *"])
    other.stderr.fnmatch_lines(["*other.json contains no coverage to add to*"])


def test_a_run_without_worlds_says_so(suite: Suite):
    suite.write(test_it="def test_it(): pass")

    suite.passes("--hosting-emulator-coverage").stdout.fnmatch_lines(
        ["no test received a response from an emulated call"]
    )


# --- The report of a run --------------------------------------------------------------------------


class Terminal:
    """The lines that a report prints."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def section(self, title: str) -> None:
        self.lines.append(title)

    def write_line(self, line: str) -> None:
        self.lines.append(line)


def notes(report: CoverageReport) -> list[str]:
    """Finish a run without requests, and return the notes of its summary."""
    list(report.pytest_sessionfinish())
    terminal: Any = Terminal()
    report.pytest_terminal_summary(terminal)
    _title, _no_response, *notes = terminal.lines
    return notes


def test_the_summary_says_that_the_coverage_of_a_crashed_worker_is_missing(tmp_path: Path):
    report = CoverageReport(tmp_path, None, appends=False)

    report.pytest_testnodedown(SimpleNamespace(workeroutput={}))
    report.pytest_testnodedown(SimpleNamespace())

    assert notes(report) == ["incomplete: a worker crashed, and its coverage is missing"]


def test_the_summary_says_why_the_file_was_not_written(tmp_path: Path):
    (tmp_path / "reports").write_text("a file in the way of a folder")
    report = CoverageReport(tmp_path, tmp_path / "reports" / "coverage.json", appends=False)

    (note,) = notes(report)
    assert note.startswith("not written to reports/coverage.json: ")


def test_a_file_that_does_not_exist_yet_can_be_appended_to(tmp_path: Path):
    report = CoverageReport(tmp_path, tmp_path / "coverage.json", appends=True)

    assert notes(report) == ["written to coverage.json"]
    assert json.loads((tmp_path / "coverage.json").read_text())["calls"] == {}
