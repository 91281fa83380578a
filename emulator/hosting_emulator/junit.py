"""Builds JUnit XML, which build servers can display: a report with suites of test cases and their counts."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

#: Matches characters that XML does not allow, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: A suite's counts: the name of each, with the element that marks the test cases to be counted.
_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def element(tag: str, text: str | None = None, /, **attributes: object) -> Xml.Element:
    """Create an XML element. Characters that XML does not allow are replaced."""
    new = Xml.Element(tag, {name: _writable(value) for name, value in attributes.items()})
    if text is not None:
        new.text = _writable(text)
    return new


def case(
    classname: str, name: str, outcome: Xml.Element | None = None, /, **attributes: object
) -> Xml.Element:
    """Create a test case.

    `outcome` is the test case's `failure`, `error`, `skipped` or `system-out` element, if it has
    one.
    """
    new = element("testcase", classname=classname, name=name, **attributes)
    if outcome is not None:
        new.append(outcome)
    return new


def suite(name: str, cases: Sequence[Xml.Element], **attributes: object) -> Xml.Element:
    """Create a suite that contains these test cases and their counts."""
    counts = {
        count: sum(case.find(tag) is not None for case in cases) for count, tag in _COUNTS.items()
    }
    if not counts["skipped"]:
        del counts["skipped"]
    new = element("testsuite", name=name, tests=len(cases), **counts, **attributes)
    new.extend(cases)
    return new


def report(name: str, suites: Sequence[Xml.Element]) -> str:
    """Return a report as an XML document that ends with a newline."""
    # Leave out the number of skipped cases, because Jenkins's schema does not allow this attribute
    # here.
    counts = {
        count: sum(int(suite.get(count, 0)) for suite in suites)
        for count in ("tests", "failures", "errors")
    }
    root = element("testsuites", name=name, **counts)
    root.extend(suites)
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _writable(value: object) -> str:
    return _UNWRITABLE.sub("\ufffd", str(value))
