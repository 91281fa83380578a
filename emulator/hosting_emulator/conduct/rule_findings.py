"""The findings for one rule, merged by group and limited in number."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from hosting_emulator.conduct.findings import SEVERITIES, Finding

#: The maximum number of findings stored for one rule. Further findings are only counted.
MOST_FINDINGS = 100
#: The maximum number of requests listed in a finding. Further requests are only counted.
MOST_REQUESTS = 20


@dataclass(slots=True)
class RuleFindings:
    """The findings for one rule. `count` includes findings beyond `MOST_FINDINGS`, which are not
    stored.
    """

    findings: list[Finding] = field(default_factory=list)
    count: int = 0
    _groups: dict[Hashable, Finding] = field(default_factory=dict)

    def add(self, finding: Finding) -> None:
        """Store a finding, or merge it with the stored finding that has the same group."""
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
    """Merge a finding into an earlier finding with the same group.

    The requests of both are combined, and the higher of the two severities applies.
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
