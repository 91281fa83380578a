"""An exploration as JUnit XML: a suite for each request, a case for each point that was run."""

from __future__ import annotations

import re
from xml.etree import ElementTree as Xml

from hosting_emulator.explore.judging import MEANINGS, Result
from hosting_emulator.explore.points import Point
from hosting_emulator.explore.report import Exploration

#: What XML cannot hold, not even escaped.
_UNWRITABLE = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit(exploration: Exploration) -> str:
    """Write an exploration as one XML document, ending in a newline."""
    suites = []
    for request in exploration.plan.requests:
        results = [r for r in exploration.results if r.point.request == request.name]
        left = [p for p in exploration.not_run if p.request == request.name]
        if results or left:
            suites.append(_suite(request.name, results, left, exploration))
    sums = {
        name: sum(int(suite.attrib[name]) for suite in suites)
        for name in ("tests", "failures", "skipped")
    }
    root = _node("testsuites", name=f"hosting-emulator explore {exploration.subject}", **sums)
    root.extend(suites)
    Xml.indent(root)
    text = Xml.tostring(root, encoding="unicode")
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{text}\n'


def _suite(
    name: str, results: list[Result], left: list[Point], exploration: Exploration
) -> Xml.Element:
    suite = _node(
        "testsuite",
        name=name,
        tests=len(results) + len(left),
        failures=sum(not result.fine for result in results),
        skipped=len(left) + sum(result.verdict == "not reached" for result in results),
        errors=0,
        time=f"{sum(result.duration_s for result in results):.3f}",
    )
    suite.extend(_case(result, exploration) for result in results)
    for point in left:
        case = _node("testcase", classname=point.request, name=_name(point), time="0")
        case.append(_node("skipped", message=f"not run: {exploration.cut}"))
        suite.append(case)
    return suite


def _case(result: Result, exploration: Exploration) -> Xml.Element:
    point = result.point
    seconds = f"{result.duration_s:.3f}"
    case = _node("testcase", classname=point.request, name=_name(point), time=seconds)
    if result.verdict == "not reached":
        case.append(_node("skipped", message=MEANINGS["not reached"]))
    elif not result.fine:
        why = "; ".join(result.says) or MEANINGS[result.verdict]
        failure = _node("failure", type=result.verdict, message=f"{result.verdict}: {why}")
        again = f"again: {exploration.repeat(point)}"
        failure.text = _written("\n".join([*result.output, *result.conduct, again]))
        case.append(failure)
    return case


def _name(point: Point) -> str:
    return f"{point.fault} {point.phase}"


def _node(tag: str, /, **attributes: object) -> Xml.Element:
    return Xml.Element(tag, {name: _written(value) for name, value in attributes.items()})


def _written(value: object) -> str:
    return _UNWRITABLE.sub("\ufffd", str(value))
