"""A deviation that hides behind a response that shows nothing never counts as conforming."""

from __future__ import annotations

import pytest

from tests.lab.contract_check.check_run import with_verdict
from tests.lab.contract_check.hidden import HIDDEN, HiddenDeviation
from tests.lab.contract_check.tampered_world import TamperedWorld
from tests.lab.contract_check.whole_reports import hidden_report, recorded_text, report_text


@pytest.mark.parametrize("hidden", HIDDEN, ids=lambda hidden: hidden.name)
def test_a_hidden_deviation_never_counts_as_conforming(hidden: HiddenDeviation) -> None:
    report = hidden_report(hidden)

    assert with_verdict(report, hidden.verdict).keys() >= set(hidden.breaks.split())
    assert report_text(report) == recorded_text("hidden_deviations.txt", hidden.name)


def test_our_own_emulator_leaves_only_unseen_sentences_undecided() -> None:
    report = TamperedWorld().checked()

    assert report["summary"]["differs"] == 0
    assert all(
        "was not seen" in observations[0]
        for observations in with_verdict(report, "undecided").values()
    )
