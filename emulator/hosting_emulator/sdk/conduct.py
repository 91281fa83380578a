"""How a world's client behaved: to read, to assert on, and as text.

The text is written from the control API's document alone, wherever that has travelled.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from textwrap import wrap
from typing import Any, TypeVar

from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.records import ConductFinding, ConductReport, Severity
from hosting_emulator.sdk.text import count_text, paint

Document = Mapping[str, Any]
_F = TypeVar("_F", bound=Document)

_WORST = ("error", "warning", "note")
_SEVERITY_COLORS = {"error": "red", "warning": "yellow", "note": "dim"}
_WIDTH = 100
#: More findings of one rule than these say the same.
_OF_A_RULE = 10
_NUMBERS = 6


class WorldConduct:
    """What the client of a world did that the real service would not bear, by the emulator's rules.

    Every request is judged that the log held when it was first looked at here, and all that came
    since. `off` are ids of rules that do not count; one that does not exist is a ControlRefused.
    """

    def __init__(self, control: ControlClient, world: str) -> None:
        self._control = control
        self._world = world

    def __repr__(self) -> str:
        return f"<WorldConduct of {self._world!r}>"

    def findings(
        self, *, off: Collection[str] = (), at_least: Severity = "note", final: bool = True
    ) -> list[ConductFinding]:
        """Return what was found, of `at_least` this severity, in the order of the requests.

        `final` takes the client to be done: an operation that it did not follow counts then.
        """
        report = self._read(off, at_least, final=final)
        return [
            ConductFinding(found, requests=tuple(found["requests"])) for found in report.findings
        ]

    def report(
        self,
        *,
        off: Collection[str] = (),
        at_least: Severity = "note",
        final: bool = True,
        color: bool = False,
    ) -> str:
        """Tell what was found: each rule with its requests, why it matters and what to do instead."""
        return conduct_text(self._read(off, at_least, final=final), color=color)

    def assert_clean(
        self, *, off: Collection[str] = (), at_least: Severity = "warning", final: bool = True
    ) -> None:
        """Assert that nothing was found of `at_least` this severity. The AssertionError tells all."""
        __tracebackhide__ = True  # pytest then shows the test's own line
        report = self._read(off, at_least, final=final)
        if report.findings:
            raise AssertionError(f"{headline(report.findings)}\n\n{conduct_text(report)}")

    def _read(self, off: Collection[str], at_least: str, *, final: bool) -> ConductReport:
        if isinstance(off, str):
            off = (off,)
        return of_severity(self._control.conduct(self._world, off=off, final=final), at_least)


def of_severity(report: Document, at_least: str) -> ConductReport:
    """Return a conduct report with only what is at least so severe. ValueError for no severity."""
    if at_least not in _WORST:
        raise ValueError(f"at_least is note, warning or error: not {at_least!r}")
    severe = _WORST[: _WORST.index(at_least) + 1]
    findings = [found for found in report["findings"] if found["severity"] in severe]
    return ConductReport({**report, "findings": findings})


def worst_first(findings: Iterable[_F]) -> list[_F]:
    """Return findings by severity; those of one severity stay in their order."""
    return sorted(findings, key=lambda found: _WORST.index(found["severity"]))


def conduct_text(report: Document, *, color: bool = False) -> str:
    """Write a conduct report: by rule, the worst first, each with requests, why and instead."""
    findings, remarks = worst_first(report["findings"]), report["remarks"]
    what = summary(findings) if findings else "nothing was found"
    head = f"conduct: {what} in {count_text(report['judged'], 'request')}"
    lines = [paint("bold", head, color=color)]
    for rule in dict.fromkeys(found["rule"] for found in findings):
        of_rule = [found for found in findings if found["rule"] == rule]
        lines += ["", *_rule(of_rule, report["counts"].get(rule, 0), color)]
    if findings and remarks:
        lines.append("")
    return "\n".join([*lines, *("\n".join(_wrapped(remark, _WIDTH)) for remark in remarks)])


def _rule(findings: Sequence[Document], count: int, color: bool) -> list[str]:
    first, shown = findings[0], findings[:_OF_A_RULE]
    severity = paint(_SEVERITY_COLORS[first["severity"]], first["severity"], color=color)
    lines = [f"{severity}: {first['title']} [{first['rule']}]"]
    for found in shown:
        lines += _part("", f"{request_numbers(found)}: {found['says']}")
    left = max(count, len(findings)) - len(shown)
    if left > 0:
        lines += _part("", f"… and {left:,} more")
    why = _part("why", f"{first['matters']} {quotes(shown)}")
    return [*lines, *why, *_part("instead", first["instead"])]


def headline(findings: Iterable[Document]) -> str:
    """Name the rules that were broken, the worst first, in the line that summaries show."""
    return f"conduct: {', '.join(dict.fromkeys(f['rule'] for f in worst_first(findings)))}"


def finding_lines(findings: Sequence[Document]) -> list[str]:
    """Write findings in short, the worst first: severity, rule, requests, what was done."""
    lines: list[str] = []
    for found in worst_first(findings)[:_OF_A_RULE]:
        rule = f"{found['severity']} {found['rule']}"
        lines += _part("", f"{rule} {request_numbers(found)}: {found['says']}")
    left = len(findings) - _OF_A_RULE
    return [*lines, f"    … and {left:,} more"] if left > 0 else lines


def rule_lines(findings: Iterable[Document]) -> list[str]:
    """Write what each rule advises; of each the last finding tells."""
    lines: list[str] = []
    for rule, found in {found["rule"]: found for found in findings}.items():
        lines += [f"{rule}: {found['title']}", *_part("instead", found["instead"])]
    return lines


def request_numbers(found: Document) -> str:
    """Name the requests of a finding: `#3, #5 and 12 more`."""
    numbers = ", ".join(f"#{n}" for n in found["requests"][:_NUMBERS])
    more = max(0, len(found["requests"]) - _NUMBERS) + (found["more_requests"] or 0)
    return f"{numbers} and {more:,} more" if more else numbers


def quotes(findings: Iterable[Document]) -> str:
    """Quote what findings of one rule rest upon, each sentence once, with its place."""
    return " ".join(dict.fromkeys(f"“{f['because']}” ({f['place']})" for f in findings))


def summary(findings: Sequence[Document]) -> str:
    """Count findings by severity: `3 findings (1 error, 2 warnings)`."""
    counts = {kind: sum(found["severity"] == kind for found in findings) for kind in _WORST}
    parts = [count_text(count, kind) for kind, count in counts.items() if count]
    return f"{count_text(len(findings), 'finding')} ({', '.join(parts)})"


def _part(label: str, text: str) -> list[str]:
    indent = 13 if label else 4
    first, *rest = _wrapped(text, _WIDTH - indent) or [""]
    head = f"    {label:<9}" if label else " " * 4
    return [head + first, *(" " * indent + line for line in rest)]


def _wrapped(text: str, width: int) -> list[str]:
    return wrap(text, width, break_long_words=False, break_on_hyphens=False)
