"""The report of a failed test about its worlds: in the terminal, from workers, in JUnit XML."""

from __future__ import annotations

import re
from xml.etree import ElementTree

import pytest

from tests.plugin.conftest import Suite

FAILING = """
import pytest
from calling import apply_domains, ask

def test_fails(hosting_emulator):
    hosting_emulator.fault("abort", code="rate_limited", call="list_deployments", times=2)
    apply_domains(hosting_emulator)
    ask(hosting_emulator, "deployments", user="reader")
    assert False, "to see the report"
"""
#: The report of `FAILING`, between the title and the end of its section.
TOLD = """
world    world-1 at http://127.0.0.1:PORT/worlds/world-1, commit 4
clock    frozen, 2026-01-01T00:00:00.000Z; 2 events to come, the next at 2026-01-01T00:00:02.000Z
2 requests
  #1  PUT  apply_project_domains  owner   202
  #2  GET  list_deployments       reader  429 rate_limited  — fault-1 (abort, before_commit) acted, hit 1
1 operation not ended
  01KDVDNA000000004MQC4BY7TH  apply_project_domains of shop is queued
    next, at 2026-01-01T00:00:02.000Z: it changes from queued to running
1 fault armed
  fault-1  abort code=rate_limited  before the commit call=list_deployments times=2  \
considered 2, seen 1, hits 1
""".strip()
TITLE = " hosting emulator ".center(80, "-")


def stories(output: str) -> list[str]:
    """Return the text of each section with this title, with the port replaced."""
    parts = re.sub(r":\d+/worlds", ":PORT/worlds", output).split(f"{TITLE}\n")[1:]
    return [re.split(r"\n(?:-+ |===|___)", part)[0].strip("\n") for part in parts]


@pytest.mark.parametrize("workers", [0, 2])
def test_the_report_of_a_failed_test_is_in_the_terminal_and_in_junit(suite: Suite, workers: int):
    """The terminal and JUnit XML each have it once, both from a worker and from this process."""
    suite.write(test_it=FAILING)

    shared = suite.workers(workers) if workers else ()
    result = suite.run(*shared, "--junitxml=junit.xml", "-rA")

    result.assert_outcomes(failed=1)
    assert stories(result.stdout.str()) == [TOLD]
    failure = ElementTree.parse(suite.path / "junit.xml").find(".//failure")
    assert failure is not None
    assert stories(failure.text or "") == [TOLD]


@pytest.mark.parametrize("workers", [0, 2])
def test_only_the_terminal_report_has_colors(suite: Suite, workers: int):
    suite.write(test_it=FAILING)

    shared = suite.workers(workers) if workers else ()
    result = suite.run(*shared, "--color=yes", "--junitxml=junit.xml", "--show-capture=no")

    output = result.stdout.str()
    assert output.count(TITLE) == 1
    assert "\x1b[33m  #2  GET  list_deployments       reader  429" in output
    xml = (suite.path / "junit.xml").read_text(encoding="utf-8")
    assert "list_deployments       reader  429" in xml
    assert "\x1b" not in xml
    assert "#x1B" not in xml.partition(TITLE)[2]


@pytest.mark.parametrize("style", ["short", "native", "no"])
def test_the_report_appears_with_each_style_of_traceback(suite: Suite, style: str):
    suite.write(test_it=FAILING)

    result = suite.run(f"--tb={style}", "--junitxml=junit.xml")

    assert len(stories(result.stdout.str())) == (0 if style == "no" else 1)
    assert "fault-1 (abort" in (suite.path / "junit.xml").read_text(encoding="utf-8")


def test_each_failure_of_a_test_is_reported_once(suite: Suite):
    suite.write(
        test_it="""
        import pytest
        from calling import apply_domains, ask

        @pytest.fixture
        def fails_before(hosting_emulator):
            assert ask(hosting_emulator, "deployments") == 0

        @pytest.fixture
        def fails_after(hosting_emulator):
            yield
            assert ask(hosting_emulator, "deployments") == 0

        def test_setup(fails_before):
            pass

        def test_teardown(fails_after):
            pass

        def test_without_traceback(hosting_emulator):
            ask(hosting_emulator, "deployments")
            pytest.fail("plainly", pytrace=False)

        def test_by_name(request):
            ask(request.getfixturevalue("hosting_emulator"), "deployments")
            assert False

        @pytest.mark.xfail(strict=True)
        def test_strictly(hosting_emulator):
            ask(hosting_emulator, "deployments")
        """
    )
    result = suite.run("--junitxml=junit.xml")

    result.assert_outcomes(passed=1, failed=3, errors=2)
    reports = stories(result.stdout.str())
    assert len(reports) == 5
    assert all("#1  GET  list_deployments  owner  200" in story for story in reports)


@pytest.mark.skipif(pytest.version_tuple < (9, 0), reason="pytest has no subtests of its own")
def test_a_failed_subtest_is_reported_once(suite: Suite):
    """The failed part reports it, and the test of the part does not report it again."""
    suite.write(
        test_it="""
        from calling import ask

        def test_of_parts(subtests, hosting_emulator):
            with subtests.test("part"):
                ask(hosting_emulator, "deployments")
                assert False
        """
    )
    result = suite.run()

    result.assert_outcomes(failed=2)
    assert len(stories(result.stdout.str())) == 1


def test_a_test_that_did_not_fail_has_no_report(suite: Suite):
    suite.write(
        test_it="""
        import pytest

        def test_passes(hosting_emulator):
            pass

        @pytest.mark.xfail
        def test_as_expected(hosting_emulator):
            assert False

        def test_skips(hosting_emulator):
            pytest.skip("not here")

        def test_fails_without_a_world(hosting_emulator_server):
            assert False
        """
    )
    result = suite.run("-rA", "--junitxml=junit.xml")

    result.assert_outcomes(passed=1, xfailed=1, skipped=1, failed=1)
    assert stories(result.stdout.str()) == []
    assert "hosting emulator -" not in (suite.path / "junit.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("way", ["option", "ini"])
def test_the_report_can_be_switched_off(suite: Suite, way: str):
    suite.write(test_it=FAILING)
    suite.ini(*(["hosting_emulator_report = never"] if way == "ini" else []))

    result = suite.run(*(["--hosting-emulator-report=never"] if way == "option" else []))

    result.assert_outcomes(failed=1)
    assert stories(result.stdout.str()) == []


def test_the_report_names_shared_worlds(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask
        from pytest_hosting_emulator import world_fixture

        shop = world_fixture(scenario="stuck-operation")
        unused = world_fixture()

        def test_first(shop, unused):
            pass

        def test_second(hosting_emulator, shop):
            ask(shop, "edge-dns")
            assert False
        """
    )
    result = suite.run()

    result.assert_outcomes(passed=1, failed=1)
    result.stdout.fnmatch_lines(
        [
            "-* hosting emulator -*",
            "no requests",
            "-* hosting emulator: shop -*",
            "world *, scenario stuck-operation*",
            "*get_dns_authorization*200*",
        ]
    )
    assert "unused" not in result.stdout.str().partition("hosting emulator")[2]


def test_the_report_omits_some_of_many_worlds(suite: Suite):
    suite.write(
        test_it="""
        def test_it(hosting_emulator_worlds):
            for _ in range(7):
                hosting_emulator_worlds()
            assert False
        """
    )
    output = suite.run().stdout.str()

    assert output.count("- hosting emulator: hosting_emulator_worlds -") == 4
    assert "and 3 more worlds of this test" in output


def test_an_error_of_the_report_does_not_break_the_run(suite: Suite):
    """The test deleted a world and stopped an emulator."""
    suite.write(
        test_it="""
        def test_deletes(hosting_emulator):
            hosting_emulator.close()
            assert False

        def test_stops(hosting_emulator, hosting_emulator_server):
            hosting_emulator_server.stop()
            assert False

        def test_goes_on():
            pass
        """
    )
    result = suite.run()

    result.assert_outcomes(failed=2, passed=1)
    result.stdout.fnmatch_lines(
        [
            "*hosting emulator: world world-1, deleted*",
            "no report available: *http://127.0.0.1:*",
        ]
    )


def test_the_failure_report_of_a_test_names_faults_that_never_acted(suite: Suite) -> None:
    suite.write(
        test_it="""
        from calling import apply_domains

        def test_fails(hosting_emulator):
            hosting_emulator.fault("timeout", call="list_deployments")
            hosting_emulator.fault("timeout", call="read_database_compute", optional=True)
            apply_domains(hosting_emulator)
            assert False, "to see the report"
        """
    )

    output = suite.run().stdout.str()

    assert "fault-1 never acted" in output
    assert "fault-2 never acted" not in output
