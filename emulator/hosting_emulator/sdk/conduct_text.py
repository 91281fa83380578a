"""Formats findings about a client's conduct as text for reports and assertions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from textwrap import wrap

from msgspec.structs import replace

from hosting_emulator.messages import ConductFinding, ConductReport
from hosting_emulator.sdk.text import count_text, paint, plain

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

_WORST = ("error", "warning", "note")
_SEVERITY_COLORS = {"error": "red", "warning": "yellow", "note": "dim"}
_TEXT_WIDTH = 100
#: The maximum number of findings to show for a rule. Further findings would only repeat the advice.
_OF_A_RULE = 10
_NUMBERS = 6
_wrapped = partial(wrap, break_long_words=False, break_on_hyphens=False)


def of_severity(report: ConductReport, at_least: str) -> ConductReport:
    """Return a copy of a conduct report with only the findings of severity `at_least` or higher.

    Raises ValueError if the severity is unknown.
    """
    if at_least not in _WORST:
        raise ValueError(f"at_least must be note, warning or error, not {at_least!r}")
    severe = _WORST[: _WORST.index(at_least) + 1]
    findings = [finding for finding in report.findings if finding.severity in severe]
    return replace(report, findings=findings)


def worst_first(findings: Iterable[ConductFinding]) -> list[ConductFinding]:
    """Return findings sorted by severity, highest first.

    Findings of the same severity keep their order.
    """
    return sorted(findings, key=lambda finding: _WORST.index(finding.severity))


def conduct_text(report: ConductReport, *, color: bool = False) -> str:
    """Format a conduct report as text.

    The findings are grouped by rule, most severe first. Each rule is shown with the requests that
    broke it, the reason and the remedy.
    """
    findings = worst_first(report.findings)
    what = summary(findings) if findings else "no findings"
    lines = [paint("bold", f"conduct: {what} in {count_text(report.judged, 'request')}")]
    for rule in dict.fromkeys(finding.rule for finding in findings):
        of_rule = [finding for finding in findings if finding.rule == rule]
        count = max(report.counts.get(rule, 0), len(of_rule))
        lines += ["", *_rule_text(of_rule, count)]
    if findings and report.remarks:
        lines.append("")
    for remark in report.remarks:
        lines += _wrapped(remark, _TEXT_WIDTH) or [""]
    text = "\n".join(lines)
    return text if color else plain(text)


def _rule_text(findings: Sequence[ConductFinding], count: int) -> list[str]:
    """Format the findings for one rule as lines of text.

    `count` is the rule's total number of findings.
    """
    first = findings[0]
    shown = findings[:_OF_A_RULE]
    severity = paint(_SEVERITY_COLORS[first.severity], first.severity)
    lines = [f"{severity}: {first.title} [{first.rule}]"]
    for finding in shown:
        lines += _part("", f"{request_numbers(finding)}: {finding.message}")
    left = count - len(shown)
    if left > 0:
        lines.append(f"    … and {left:,} more")
    lines += _part("why", f"{first.matters} {quotes(shown)}")
    return lines + _part("instead", first.instead)


def headline(findings: Iterable[ConductFinding]) -> str:
    """Return a line for a summary: the ids of the broken rules, most severe first."""
    rules = dict.fromkeys(finding.rule for finding in worst_first(findings))
    return f"conduct: {', '.join(rules)}"


def finding_lines(findings: Sequence[ConductFinding]) -> list[str]:
    """Format findings as lines with severity, rule, requests and message, most severe first.

    After 10 findings, a last line gives the number of remaining findings.
    """
    lines: list[str] = []
    for finding in worst_first(findings)[:_OF_A_RULE]:
        rule = f"{finding.severity} {finding.rule}"
        lines += _part("", f"{rule} {request_numbers(finding)}: {finding.message}")
    left = len(findings) - _OF_A_RULE
    return [*lines, f"    … and {left:,} more"] if left > 0 else lines


def rule_lines(findings: Iterable[ConductFinding]) -> list[str]:
    """Return the title and remedy of each broken rule, as given in its last finding."""
    lines: list[str] = []
    last_of_rule = {finding.rule: finding for finding in findings}
    for rule, finding in last_of_rule.items():
        lines += [f"{rule}: {finding.title}", *_part("instead", finding.instead)]
    return lines


def request_numbers(finding: ConductFinding) -> str:
    """Format the numbers of a finding's requests, for example `#3, #5 and 12 more`."""
    text = ", ".join(f"#{n}" for n in finding.requests[:_NUMBERS])
    more = max(0, len(finding.requests) - _NUMBERS) + finding.more_requests
    if more:
        text += f" and {more:,} more"
    if finding.chapter is not None:
        text += f" ({finding.chapter})"
    return text


def quotes(findings: Iterable[ConductFinding]) -> str:
    """Return the distinct quotations on which a rule's findings are based, with their sources."""
    return " ".join(dict.fromkeys(f"“{f.because}” ({f.place})" for f in findings))


def summary(findings: Sequence[ConductFinding]) -> str:
    """Format the number of findings by severity, for example `3 findings (1 error, 2 warnings)`."""
    counts = {kind: sum(f.severity == kind for f in findings) for kind in _WORST}
    parts = [count_text(count, kind) for kind, count in counts.items() if count]
    return f"{count_text(len(findings), 'finding')} ({', '.join(parts)})"


def _part(label: str, text: str) -> list[str]:
    indent = 13 if label else 4
    first, *rest = _wrapped(text, _TEXT_WIDTH - indent) or [""]
    head = f"    {label:<9}" if label else " " * 4
    return [head + first, *(" " * indent + line for line in rest)]
