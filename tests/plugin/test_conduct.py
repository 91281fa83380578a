"""Conduct is reported or fails the test, depending on the option or the ini value."""

from __future__ import annotations

import re

import pytest

from tests.plugin.conftest import Suite

TESTS = """
from calling import apply_domains, ask


def test_careless(hosting_emulator):
    assert ask(hosting_emulator, "domains", "PUT") == 400


def test_careful(hosting_emulator):
    assert ask(hosting_emulator, "edge-dns") == 200
    assert apply_domains(hosting_emulator) == 202
"""


@pytest.fixture
def suite(suite: Suite) -> Suite:
    suite.write(test_it=TESTS)
    return suite


def output_before_summary(result: pytest.RunResult) -> str:
    """Return the output before the summary, which repeats whole messages on a CI machine."""
    return result.stdout.str().partition("short test summary info")[0]


def test_mistakes_of_a_client_are_ignored_by_default(suite: Suite):
    assert "conduct" not in suite.passes().stdout.str()


@pytest.mark.parametrize("setting", ["ini", "option", "xdist"])
def test_conduct_fails_a_test_that_passes(suite: Suite, setting: str):
    if setting == "ini":
        suite.ini("hosting_emulator_conduct = error")
        result = suite.run()
    else:
        more_options = suite.workers(1) if setting == "xdist" else ()
        result = suite.run("--hosting-emulator-conduct=error", *more_options)

    result.assert_outcomes(passed=2, errors=1)
    result.stdout.fnmatch_lines(
        [
            "*ERROR at teardown of test_careless*",
            "conduct: 1 finding (1 error) in 1 request",
            "error: A mutation without an Idempotency-Key ?missing-idempotency-key?",
            "    #1: apply_project_domains was sent without an Idempotency-Key.",
            "    instead  Create one key per *",
        ]
    )
    # Once: the report of the world, which comes with every failure, does not repeat it.
    assert output_before_summary(result).count("was sent without an Idempotency-Key.") == 1
    assert "conducting.py" not in result.stdout.str()


def test_the_summary_names_the_broken_rules_first(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask

        def test_teardown(hosting_emulator):
            ask(hosting_emulator, "domains", "PUT")
            ask(hosting_emulator, "edge-dns?verbose=1")

        def test_assertion(hosting_emulator):
            ask(hosting_emulator, "domains", "PUT")
            hosting_emulator.conduct.assert_clean()
        """
    )

    result = suite.run("--hosting-emulator-conduct=error")

    result.stdout.fnmatch_lines(
        [
            "FAILED test_it.py::test_assertion - *conduct: missing-*",
            "ERROR test_it.py::test_teardown - *conduct: missing-*",
        ]
    )


def test_rules_of_conduct_can_be_left_out(suite: Suite):
    suite.ini(
        "hosting_emulator_conduct = error",
        "hosting_emulator_skip_rule = missing-idempotency-key unread-field",
    )

    suite.passes()


def test_an_unknown_rule_of_conduct_is_refused_at_once(suite: Suite):
    result = suite.run("--hosting-emulator-skip-rule=missing-idempotency-keys")

    assert result.ret == pytest.ExitCode.USAGE_ERROR
    option = "--hosting-emulator-skip-rule=missing-idempotency-keys"
    result.stderr.fnmatch_lines([f"*{option}: * missing-idempotency-key[?]"])


@pytest.mark.parametrize("more_options", [(), ("-p", "xdist.plugin", "-n", "2")])
def test_conduct_is_reported_at_the_end(suite: Suite, more_options: tuple[str, ...]):
    result = suite.run("--hosting-emulator-conduct=report", *more_options)

    assert result.ret == 0
    text = result.stdout.str()
    section = text[text.index("hosting emulator: conduct") :]
    assert "test_it.py::test_careless: 1 finding (1 error)\n" in section
    assert "test_it.py::test_careful: 1 finding (1 note)\n" in section
    assert "    note operation-not-followed #2: " in section
    assert section.count("    instead  ") == 2


def test_the_report_of_a_failed_test_names_its_findings_of_conduct(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask

        def test_it(hosting_emulator):
            assert ask(hosting_emulator, "domains", "PUT") == 202
        """
    )

    for arguments in ((), ("--hosting-emulator-conduct=error",)):
        result = suite.run(*arguments)

        result.assert_outcomes(failed=1)  # and not for its client as well
        result.stdout.fnmatch_lines(
            [
                "*hosting emulator*",
                "conduct: 1 finding (1 error)",
                "    error missing-idempotency-key #1: apply_project_domains was sent without an *",
            ]
        )


def test_conduct_is_judged_in_every_world_of_a_test(suite: Suite):
    suite.write(
        test_it="""
        from calling import ask
        from pytest_hosting_emulator import world_fixture

        shop = world_fixture("module")

        def test_more(hosting_emulator_worlds):
            for _ in range(2):
                ask(hosting_emulator_worlds(), "domains", "PUT")

        def test_shared(shop):
            ask(shop, "domains", "PUT")

        def test_shared_too(shop):
            ask(shop, "edge-dns")
        """
    )

    result = suite.run("--hosting-emulator-conduct=error")

    result.assert_outcomes(passed=3, errors=2)
    text = output_before_summary(result)
    assert len(re.findall("^hosting_emulator_worlds: conduct: 1 finding", text, re.M)) == 2
    assert "ERROR at teardown of test_shared_too" in text
    assert "shop: conduct: 1 finding (1 error) in 2 requests" in text


def test_a_test_can_assert_the_conduct_of_its_client(suite: Suite):
    suite.write(
        test_it="""
        import pytest
        from calling import apply_domains, ask

        def test_it(hosting_emulator):
            conduct = hosting_emulator.conduct
            assert apply_domains(hosting_emulator) == 202
            conduct.assert_clean()
            (note,) = conduct.findings()
            assert (note.rule, note.severity, note.requests) == ("operation-not-followed", "note", [1])
            assert conduct.findings(final=False) == []

            ask(hosting_emulator, "edge-dns?verbose=1")
            with pytest.raises(AssertionError, match="unread-field"):
                conduct.assert_clean()
            assert "instead" in conduct.report()
        """
    )

    suite.passes()
