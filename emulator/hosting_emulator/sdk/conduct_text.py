"""Conduct as text: for assertions, failed tests and terminals alike.

It is written from the control API's document alone, wherever that has travelled.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, TypeVar

from hosting_emulator.sdk.wording import counted

_F = TypeVar("_F", bound=Mapping[str, Any])
_Paint = Callable[[str, str], str]
_WORST = ("error", "warning", "note")
_CODES = {"error": "31", "warning": "33", "note": "2", "bold": "1"}
_WIDTH = 100
#: More findings of one rule than these say the same.
_OF_A_RULE = 10
_NUMBERS = 6


def conduct_text(report: Mapping[str, Any], *, color: bool = False) -> str:
    """Write a conduct report: by rule, the worst first, each with requests, why and instead."""
    paint = _painted if color else _plain
    findings = worst_first(report.get("findings") or ())
    lines = [_head(report, findings, paint)]
    for rule in dict.fromkeys(found["rule"] for found in findings):
        of_rule = [found for found in findings if found["rule"] == rule]
        lines += ["", *_rule(of_rule, int((report.get("counts") or {}).get(rule, 0)), paint)]
    remarks = list(report.get("remarks") or ())
    return "\n".join([*lines, *([""] if findings and remarks else []), *map(_wrapped, remarks)])


def finding_lines(findings: Sequence[Mapping[str, Any]]) -> list[str]:
    """Write findings in short, the worst first: severity, rule, requests, what was done."""
    lines: list[str] = []
    for found in worst_first(findings)[:_OF_A_RULE]:
        told = f"{found['severity']} {found['rule']} {request_numbers(found)}: {found['says']}"
        lines += _part("", told)
    left = len(findings) - _OF_A_RULE
    return [*lines, f"    … and {left:,} more"] if left > 0 else lines


def rule_lines(findings: Iterable[Mapping[str, Any]]) -> list[str]:
    """Write what each rule advises; of each the first finding tells."""
    of_rules = {found["rule"]: found for found in findings}
    lines: list[str] = []
    for rule, found in of_rules.items():
        lines += [f"{rule}: {found['title']}", *_part("instead", str(found["instead"]))]
    return lines


def worst_first(findings: Sequence[_F]) -> list[_F]:
    """Return findings by severity; those of one severity stay in their order."""
    return sorted(findings, key=lambda found: _WORST.index(found["severity"]))


def request_numbers(found: Mapping[str, Any]) -> str:
    """Name the requests of a finding: `#3, #5 and 12 more`."""
    numbers = ", ".join(f"#{n}" for n in found["requests"][:_NUMBERS])
    more = max(0, len(found["requests"]) - _NUMBERS) + (found.get("more_requests") or 0)
    return f"{numbers} and {more:,} more" if more else numbers


def headline(findings: Sequence[Mapping[str, Any]]) -> str:
    """Name the rules that were broken, the worst first, in the line that summaries show."""
    return f"conduct: {', '.join(dict.fromkeys(f['rule'] for f in worst_first(findings)))}"


def quotes(findings: Sequence[Mapping[str, Any]]) -> str:
    """Quote what findings of one rule rest upon, each sentence once, with its place."""
    each = dict.fromkeys(f"“{found['because']}” ({found['place']})" for found in findings)
    return " ".join(each)


def summary(findings: Sequence[Mapping[str, Any]]) -> str:
    """Count findings by severity: `3 findings (1 error, 2 warnings)`."""
    parts = []
    for severity in _WORST:
        count = sum(found["severity"] == severity for found in findings)
        if count:
            parts.append(counted(count, severity))
    return f"{counted(len(findings), 'finding')} ({', '.join(parts)})"


def _head(report: Mapping[str, Any], findings: Sequence[Any], paint: _Paint) -> str:
    judged = counted(int(report.get("judged") or 0), "request")
    if not findings:
        return paint("bold", f"conduct: nothing was found in {judged}")
    return paint("bold", f"conduct: {summary(findings)} in {judged}")


def _rule(findings: Sequence[Mapping[str, Any]], count: int, paint: _Paint) -> list[str]:
    first = findings[0]
    lines = [f"{paint(first['severity'], first['severity'])}: {first['title']} [{first['rule']}]"]
    for found in findings[:_OF_A_RULE]:
        lines += _part("", f"{request_numbers(found)}: {found['says']}")
    left = max(count, len(findings)) - min(len(findings), _OF_A_RULE)
    if left > 0:
        lines += _part("", f"… and {left:,} more")
    return [
        *lines,
        *_part("why", f"{first['matters']} {quotes(findings[:_OF_A_RULE])}"),
        *_part("instead", str(first["instead"])),
    ]


def _part(label: str, text: str) -> list[str]:
    indent = 4 if not label else 13
    head = f"    {label:<9}" if label else " " * 4
    wrapped = wrap(text, _WIDTH - indent, break_long_words=False, break_on_hyphens=False) or [""]
    return [head + wrapped[0], *(" " * indent + line for line in wrapped[1:])]


def _wrapped(text: str) -> str:
    return "\n".join(wrap(text, _WIDTH, break_long_words=False, break_on_hyphens=False))


def _plain(_: str, text: str) -> str:
    return text


def _painted(style: str, text: str) -> str:
    return f"\x1b[{_CODES[style]}m{text}\x1b[0m"
