"""The findings of one rule, merged by group and limited in number."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from hosting_emulator.conduct.findings import SEVERITIES, Finding

#: The maximum number of findings to keep for one rule. Further findings are only counted.
MOST_FINDINGS = 100
#: The maximum number of requests that a finding names. Further requests are only counted.
MOST_REQUESTS = 20


@dataclass(slots=True)
class RuleFindings:
    """The findings of one rule. `count` also includes the findings that exceed `MOST_FINDINGS`."""

    findings: list[Finding] = field(default_factory=list)
    count: int = 0
    _groups: dict[Hashable, Finding] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        """Store a finding, or merge it into the stored finding of the same group."""
        earlier = None
        if finding.group is not None:
            earlier = self._groups.get(finding.group)
        if earlier is not None:
            _merge(earlier, finding)
            return
        self.count += 1
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(finding)
            self._groups[finding.group] = finding

    def standing(self) -> RuleFindings:
        """Return a copy without the withdrawn findings."""
        standing = [finding for finding in self.findings if not finding.withdrawn]
        withdrawn_count = len(self.findings) - len(standing)
        return RuleFindings(standing, self.count - withdrawn_count)


def _merge(earlier: Finding, finding: Finding) -> None:
    """Merge a finding into an earlier finding of the same group.

    The earlier finding gets the other finding's requests, and the higher of the two severities.
    """
    new_requests = [n for n in finding.requests if n > earlier.last]
    earlier.last = max(earlier.last, *finding.requests)
    room = max(0, MOST_REQUESTS - len(earlier.requests))
    earlier.requests += new_requests[:room]
    earlier.more_requests += len(new_requests[room:])
    earlier.at = finding.at
    if SEVERITIES.index(finding.severity) > SEVERITIES.index(earlier.severity):
        room = MOST_REQUESTS - len(finding.requests)
        earlier.requests = sorted({*earlier.requests[:room], *finding.requests})
        earlier.severity = finding.severity
        earlier.message = finding.message
