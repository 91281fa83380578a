"""A test suite that polls or retries without any pause may have replaced the waiting."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from hosting_emulator.sdk import ConductFinding
from hosting_emulator_lab.judge.replaced_waiting import REPLACED_WAITING, with_replaced_waiting
from hosting_emulator_lab.judge.run_visit import RunVisit
from tests.lab.judge.test_causes import finding as sample_finding
from tests.support.http_world import HttpWorld


def findings_about_waiting(api: HttpWorld, pause: str) -> dict[str, ConductFinding]:
    """Return the findings about a client that waits this long in world time, by their rule."""
    visit = RunVisit()
    visit.scope = [api.emulator.name]
    visit.begin(api.emulator)
    operation = api.apply_domains().json["id"]
    for _ in range(4):
        api.emulator.clock.advance(pause)
        api.poll(operation)
    visit.end(api.emulator)
    return {finding.rule: finding for finding in visit.findings}


@pytest.mark.parametrize(("pause", "severity"), [("1ms", "note"), ("150ms", "warning")])
def test_early_polls_of_a_suite_are_a_note_only_without_a_pause(
    api: HttpWorld, pause: str, severity: str
) -> None:
    early = findings_about_waiting(api, pause)["polled-too-early"]

    assert early.severity == "warning"
    assert with_replaced_waiting(early, is_suite=True).severity == severity
    assert with_replaced_waiting(early, is_suite=True).message.endswith(REPLACED_WAITING) == (
        severity == "note"
    )


def test_a_command_that_is_no_suite_has_not_replaced_its_waiting() -> None:
    early = replace(
        sample_finding("retried-too-soon", "warning"), message="sent again after 0.00 s (#2)"
    )

    assert with_replaced_waiting(early, is_suite=False) == early
    assert with_replaced_waiting(early, is_suite=True).severity == "note"


def test_a_finding_that_is_not_about_waiting_stays_as_it_is() -> None:
    other = replace(sample_finding("key-outlives-intent", "warning"), message="sent after 0.00 s")

    assert with_replaced_waiting(other, is_suite=True) == other
