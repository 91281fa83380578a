"""Reads the findings about a client's conduct in a world and asserts that there are none."""

from __future__ import annotations

from collections.abc import Collection

from hosting_emulator import messages
from hosting_emulator.sdk.conduct_text import conduct_text, headline, of_severity
from hosting_emulator.sdk.world_handle import WorldHandle

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True


class WorldConduct(WorldHandle):
    """The findings about a client's conduct in a world, based on the emulator's rules.

    `skip_rules` are the ids of rules to skip. An unknown id raises ControlRefused.
    """

    def read(
        self, *, skip_rules: Collection[str] = (), final: bool = False
    ) -> messages.ConductReport:
        """Return all current findings, of any severity. `final` has the same meaning as in `findings`."""
        rules = skip_rules if isinstance(skip_rules, str) else ",".join(skip_rules)
        query = {"skip_rules": rules or None, "final": "true" if final else None}
        return self._fetch(messages.ConductReport, "GET", "conduct", **query)

    def findings(
        self,
        *,
        skip_rules: Collection[str] = (),
        at_least: messages.Severity = "note",
        final: bool = True,
    ) -> list[messages.ConductFinding]:
        """Return the findings of severity `at_least` or higher, in the emulator's order.

        With `final`, the client is assumed to have finished, so that, for example, an operation
        that it did not poll to the end is also a finding.
        """
        return of_severity(self.read(skip_rules=skip_rules, final=final), at_least).findings

    def report(
        self,
        *,
        skip_rules: Collection[str] = (),
        at_least: messages.Severity = "note",
        final: bool = True,
    ) -> str:
        """Return the findings as text: each broken rule with the requests, the reason and the remedy."""
        return conduct_text(of_severity(self.read(skip_rules=skip_rules, final=final), at_least))

    def assert_clean(
        self,
        *,
        skip_rules: Collection[str] = (),
        at_least: messages.Severity = "warning",
        final: bool = True,
    ) -> None:
        """Assert that there are no findings of severity `at_least` or higher.

        The AssertionError lists the findings.
        """
        report = of_severity(self.read(skip_rules=skip_rules, final=final), at_least)
        if report.findings:
            raise AssertionError(f"{headline(report.findings)}\n\n{conduct_text(report)}")
