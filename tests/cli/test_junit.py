"""JUnit XML for build servers: Jenkins refuses elements that its schema does not name."""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from hosting_emulator import junit

#: Jenkins' junit-10.xsd: the attributes of each element that the emulator writes.
KNOWN = {
    "testsuites": {"name", "time", "tests", "failures", "errors"},
    "testsuite": {"name", "time", "tests", "failures", "errors", "skipped"},
    "testcase": {"name", "classname", "time"},
    "failure": {"type", "message"},
    "error": {"type", "message"},
    "skipped": {"type", "message"},
    "system-out": set[str](),
}


def test_a_junit_report_contains_only_what_the_schema_of_jenkins_names():
    outcomes = [None, *(junit.element(tag, "text") for tag in ("failure", "error", "skipped"))]
    cases = [junit.case("of", f"case {n}", outcome, time=1) for n, outcome in enumerate(outcomes)]

    root = Xml.fromstring(junit.report("all", [junit.suite("one", cases, time=3)]))

    for element in root.iter():
        assert set(element.attrib) <= KNOWN[element.tag], element.tag
    suite = root[0]
    assert {name: suite.get(name) for name in ("tests", "failures", "errors", "skipped")} == {
        "tests": "4",
        "failures": "1",
        "errors": "1",
        "skipped": "1",
    }
    assert (root.get("tests"), root.get("failures"), root.get("errors")) == ("4", "1", "1")
