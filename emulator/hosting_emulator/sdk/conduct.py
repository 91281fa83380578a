"""How a world's client behaved: to read, and to assert on."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from hosting_emulator.sdk.conduct_text import conduct_text, headline, worst_first
from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.observed import ConductFinding, ConductReport

Severity = Literal["note", "warning", "error"]
_SEVERITIES = ("note", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """A rule that the client broke; `str()` is what it did.

    `requests` are numbers of the request log (`requests` of the handle has them), oldest first. `at`
    is world time. `because` is the sentence that the rule is from, `place` where it stands, `matters`
    what happens to who breaks it, and `instead` what to do.
    """

    rule: str
    severity: Severity
    title: str
    says: str
    requests: tuple[int, ...]
    at: str
    because: str
    place: str
    matters: str
    instead: str

    def __str__(self) -> str:
        return self.says


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
    ) -> list[Finding]:
        """Return what was found, of `at_least` this severity, in the order of the requests.

        `final` takes the client to be done: an operation that it did not follow counts then.
        """
        report = self._read(off, at_least, final=final)
        return [_finding(told) for told in report["findings"]]

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
        if report["findings"]:
            raise AssertionError(f"{headline(report['findings'])}\n\n{conduct_text(report)}")

    def _read(self, off: Collection[str], at_least: str, *, final: bool) -> ConductReport:
        if isinstance(off, str):
            off = (off,)
        return of_severity(self._control.conduct(self._world, off=off, final=final), at_least)


def of_severity(report: ConductReport, at_least: str) -> ConductReport:
    """Return a report with only what is at least so severe. ValueError for no severity."""
    if at_least not in _SEVERITIES:
        raise ValueError(f"at_least is note, warning or error: not {at_least!r}")
    wanted = _SEVERITIES[_SEVERITIES.index(at_least) :]
    return {
        **report,
        "findings": [told for told in report["findings"] if told["severity"] in wanted],
    }


def worst(findings: Sequence[ConductFinding]) -> str | None:
    """Return the worst severity among findings; None: there are none."""
    ranked = worst_first(findings)
    return ranked[0]["severity"] if ranked else None


def _finding(told: ConductFinding) -> Finding:
    fields: dict[str, Any] = {
        name: value for name, value in told.items() if name in Finding.__dataclass_fields__
    }
    return Finding(**{**fields, "requests": tuple(told["requests"])})
