"""The JUnit report of an exploration: a suite for each request and a case for each point."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from hosting_emulator_lab.judge.exploration_junit import junit_text
from tests.lab.judge.samples import (
    DOUBLED_REASON,
    KEY,
    REPEAT_COMMAND,
    mixed_exploration,
    result,
    sample_clean_run,
    sample_exploration,
    sample_observation,
)


def test_the_junit_report_has_a_case_for_each_point():
    root = Xml.fromstring(junit_text(mixed_exploration()))

    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (KEY, "4", "1")
    assert suite.get("skipped") == "2"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == f"doubled: {DOUBLED_REASON}"
    assert REPEAT_COMMAND in (failure.text or "")


def test_an_unclear_result_is_an_error_in_the_junit_report():
    unclear = result(f"{KEY}/timeout/after_commit", verdict="unclear", reasons=("read it",))

    root = Xml.fromstring(junit_text(sample_exploration(unclear)))

    error = root.find(f"testsuite[@name='{KEY}']/testcase/error")
    assert error is not None
    assert error.get("message") == "unclear: read it"


def test_the_junit_report_has_a_suite_for_failures_that_belong_to_no_point():
    findings = ("missing-idempotency-key: No key",)
    clean_run = sample_clean_run(sample_observation(conduct=findings, conduct_errors=findings))
    survived = result(f"{KEY}/timeout/after_commit")

    root = Xml.fromstring(junit_text(sample_exploration(survived, clean_run=clean_run)))

    failure = root.find("testsuite[@name='whole command']/testcase/failure")
    assert failure is not None
    assert failure.get("message") == "missing-idempotency-key: No key"


def test_an_exploration_that_proves_nothing_is_an_error_of_the_whole_command():
    unreached = result(f"{KEY}/timeout/after_commit", verdict="not reached", hit=False)
    survived = result(f"{KEY}/timeout/after_commit")

    messages = []
    for exploration in (sample_exploration(unreached), sample_exploration(survived)):
        case = Xml.fromstring(junit_text(exploration)).find(".//testcase[@name='judged']")
        assert case is not None
        messages += [error.get("message") for error in case]

    assert messages == ["No failure hit a request, so nothing is known about the command."]


def test_the_junit_report_is_valid_xml_for_any_output():
    output = ("\x00\x1b]<\ud800",)
    failed = result(f"{KEY}/timeout/after_commit", verdict="failed", output=output)

    assert Xml.fromstring(junit_text(sample_exploration(failed))) is not None
