"""How the client of a world behaved, by the emulator's rules: to read and to assert on."""

from __future__ import annotations

from collections.abc import Collection

from hosting_emulator import messages
from hosting_emulator.sdk.conduct_text import conduct_text, headline, of_severity
from hosting_emulator.sdk.world_handle import WorldHandle


class WorldConduct(WorldHandle):
    """What the client of a world did that the real service would not accept, by the emulator's rules.

    `skip_rules` are ids of rules that do not count; one that does not exist is a ControlRefused.
    """

    def read(
        self, *, skip_rules: Collection[str] = (), final: bool = False
    ) -> messages.ConductReport:
        """Read what was found by now, of any severity; with `final` as for `findings`."""
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
        """Return what was found, in order; if `final`, also operations that were not followed."""
        return of_severity(self.read(skip_rules=skip_rules, final=final), at_least).findings

    def report(
        self,
        *,
        skip_rules: Collection[str] = (),
        at_least: messages.Severity = "note",
        final: bool = True,
    ) -> str:
        """Tell what was found: each rule with its requests, why it matters and what to do instead."""
        return conduct_text(of_severity(self.read(skip_rules=skip_rules, final=final), at_least))

    def assert_clean(
        self,
        *,
        skip_rules: Collection[str] = (),
        at_least: messages.Severity = "warning",
        final: bool = True,
    ) -> None:
        """Assert that nothing was found of `at_least` this severity. The AssertionError tells all."""
        __tracebackhide__ = True  # pytest then shows the test's own line
        report = of_severity(self.read(skip_rules=skip_rules, final=final), at_least)
        if report.findings:
            raise AssertionError(f"{headline(report.findings)}\n\n{conduct_text(report)}")
