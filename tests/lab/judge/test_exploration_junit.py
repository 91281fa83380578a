"""The JUnit report of an exploration: a suite for each request and a case for each point."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from hosting_emulator_lab.judge.exploration_junit import junit_text
from tests.lab.judge.samples import (
    KEY,
    result,
    sample_exploration,
)


def test_the_junit_report_is_valid_xml_for_any_output():
    output = ("\x00\x1b]<\ud800",)
    failed = result(f"{KEY}/timeout/after_commit", verdict="failed", output=output)

    assert Xml.fromstring(junit_text(sample_exploration(failed))) is not None
