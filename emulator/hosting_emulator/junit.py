"""JUnit XML, which build servers show: a report of suites of cases, all counts added up here."""

from __future__ import annotations

import re
from collections.abc import Sequence
from xml.etree import ElementTree as Xml

#: What XML cannot hold, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
#: What suites count, and by which element in a case.
_COUNTS = {"failures": "failure", "errors": "error", "skipped": "skipped"}


def element(tag: str, text: str | None = None, /, **attributes: object) -> Xml.Element:
    """Make an element; what XML cannot hold is replaced."""
    made = Xml.Element(tag, {name: _writable(value) for name, value in attributes.items()})
    made.text = None if text is None else _writable(text)
    return made


def case(
    classname: str, name: str, outcome: Xml.Element | None = None, /, **attributes: object
) -> Xml.Element:
    """Make a case; `outcome` is its `failure`, `error`, `skipped` or `system-out`, if it has one."""
    made = element("testcase", classname=classname, name=name, **attributes)
    made.extend([] if outcome is None else [outcome])
    return made


def suite(name: str, cases: Sequence[Xml.Element], **attributes: object) -> Xml.Element:
    """Make a suite of cases."""
    counts = {
        count: sum(case.find(tag) is not None for case in cases) for count, tag in _COUNTS.items()
    }
    if not counts["skipped"]:
        del counts["skipped"]
    made = element("testsuite", name=name, tests=len(cases), **counts, **attributes)
    made.extend(cases)
    return made


def report(name: str, suites: Sequence[Xml.Element]) -> str:
    """Write a report as one document, ending in a newline."""
    # Jenkins' schema knows no count of what was skipped here, and refuses what it does not know.
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
