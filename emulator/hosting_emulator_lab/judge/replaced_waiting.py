"""Findings that a test suite may show only because its tests replace the waiting.

The tests of a client often pass a function that does not wait. The client then polls or retries without
any pause, although it would wait in production.
"""

from __future__ import annotations

import re

from msgspec import structs

from hosting_emulator.messages import ConductFinding

#: What is added to the message of such a finding.
REPLACED_WAITING = (
    "There was no pause, and the command is a test suite, which may have replaced the waiting."
)
_RULES_ABOUT_WAITING = ("polled-too-early", "retried-too-soon")
#: Matches a pause of less than a tenth of a second in the message of a finding.
_NO_PAUSE = re.compile(r"\b(?:after|within) 0\.0[0-9] s\b")


def with_replaced_waiting(finding: ConductFinding, *, is_suite: bool) -> ConductFinding:
    """Return a finding about a command, as a note if a test suite may have replaced the waiting.

    `is_suite` says whether the command is a test suite.
    """
    has_no_pause = finding.rule in _RULES_ABOUT_WAITING and _NO_PAUSE.search(finding.message)
    if not has_no_pause or not is_suite:
        return finding
    return structs.replace(
        finding, severity="note", message=f"{finding.message} {REPLACED_WAITING}"
    )
