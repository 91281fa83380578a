"""Conduct as JUnit XML, which build servers show: a suite for the world, a case for each rule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as Xml

from hosting_emulator.sdk import of_severity, quotes, request_numbers
from hosting_emulator_cli.junit import document, node


def conduct_junit(
    report: Any, rules: Sequence[Mapping[str, Any]], world: str, severity: str
) -> str:
    """Write a report as one XML document; findings below a severity fail no case, but are told."""
    failing = of_severity(report, severity)["findings"]
    cases = [
        _case(rule, report["findings"], failing)
        for rule in rules
        if rule["id"] not in report["rules_off"]
    ]
    failures = sum(case.find("failure") is not None for case in cases)
    suite = node("testsuite", name=world, tests=len(cases), failures=failures, errors=0)
    suite.extend(cases)
    root = node(
        "testsuites",
        name="hosting-emulator conduct",
        tests=len(cases),
        failures=failures,
        errors=0,
    )
    root.append(suite)
    return document(root)


def _case(
    rule: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], failing: Sequence[Any]
) -> Xml.Element:
    case = node("testcase", classname="conduct", name=f"{rule['id']}: {rule['title']}")
    of_rule = [found for found in findings if found["rule"] == rule["id"]]
    bad = [found for found in of_rule if found in failing]
    if bad:
        case.append(node("failure", _told(rule, bad), message=bad[0]["says"]))
    elif of_rule:
        case.append(node("system-out", _told(rule, of_rule)))
    return case


def _told(rule: Mapping[str, Any], findings: Sequence[Mapping[str, Any]]) -> str:
    lines = [f"{request_numbers(found)}: {found['says']}" for found in findings]
    why = f"{rule['matters']} {quotes(findings)}"
    return "\n".join([*lines, f"Why: {why}", f"Instead: {rule['instead']}"])
