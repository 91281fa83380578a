"""Reports of stories as JUnit XML, which build servers show: a suite a scenario, a case a step."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any
from xml.etree import ElementTree as Xml

from hosting_emulator_cli.reports import AnyReport, difference_lines

#: What XML cannot hold, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(reports: Iterable[AnyReport]) -> str:
    """Write reports as one XML document, ending in a newline."""
    suites = [_suite(report) for report in reports]
    root = node("testsuites", None, name="hosting-emulator scenarios", **_sums(suites))
    root.extend(suites)
    return document(root)


def document(root: Xml.Element) -> str:
    """Write an element as a whole document, ending in a newline."""
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(report: AnyReport) -> Xml.Element:
    if "error" in report:
        suite = node("testsuite", name=report["file"], tests=1, failures=0, errors=1)
        case = node("testcase", classname=report["file"], name="the scenario can be read")
        case.append(node("error", report["error"], message=report["error"]))
        suite.append(case)
        return suite
    steps = report["steps"]
    failures = sum(not step["passed"] for step in steps)
    name = report["scenario"]
    suite = node("testsuite", name=name, tests=len(steps), failures=failures, errors=0)
    suite.extend(_case(report, step) for step in steps)
    return suite


def _case(report: AnyReport, step: Mapping[str, Any]) -> Xml.Element:
    case = node(
        "testcase",
        classname=report["scenario"],
        name=f"{step['n']}. {step['title']}",
        file=report["file"],
        line=step["line"],
    )
    if not step["passed"]:
        diff = [line for found in step["differences"] for line in difference_lines(found)]
        case.append(node("failure", "\n".join(diff), message=step["said"] or "it differs"))
    return case


def _sums(suites: Iterable[Xml.Element]) -> dict[str, int]:
    found = list(suites)
    return {
        name: sum(int(suite.attrib[name]) for suite in found)
        for name in ("tests", "failures", "errors")
    }


def node(tag: str, text: str | None = None, /, **attributes: object) -> Xml.Element:
    """Make an element; what XML cannot hold is replaced."""
    element = Xml.Element(tag, {name: _written(value) for name, value in attributes.items()})
    element.text = None if text is None else _written(text)
    return element


def _written(value: object) -> str:
    return _UNWRITABLE.sub("\ufffd", str(value))
