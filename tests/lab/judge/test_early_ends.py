"""A client that ends silently where a failure interrupts its work."""

from __future__ import annotations

import pytest

from hosting_emulator_lab.judge.early_ends import early_end_text
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd
from tests.lab.judge.samples import observed, requests, sample_clean_run, state

LIST = "list_deployments"
FLAG = "set_project_powered_by_flag"
CUT_PAGE = FaultPoint.read(f"{LIST}#2/truncate/after_commit")
SUMMARY = "45 deployments"
IN_THE_MIDDLE = "it ends after list_deployments#2 and prints no error, while the clean run "


def clean_run(*calls: str, lines: tuple[str, ...] | None = (SUMMARY,)) -> CleanRun:
    """Return a clean run that makes these calls and prints these lines."""
    ends = (RunEnd(0, printed_lines=lines), observed(requests(*calls), state()))
    return CleanRun.of_two_runs(state(), ends, ends)


def early_end(
    *calls: str, usual: CleanRun, lines: tuple[str, ...] | None = (), exit_code: int = 0
) -> str:
    """Return how a run that makes these calls ended early."""
    end = RunEnd(exit_code, printed_lines=lines)
    return early_end_text(CUT_PAGE, end, observed(requests(*calls), state()), usual)


@pytest.mark.parametrize(
    ("usual_calls", "missing"),
    [
        ((LIST, LIST, LIST, FLAG), "sends 2 more requests"),
        ((LIST, LIST, FLAG), "sends 1 more request"),
        ((LIST, LIST), "prints 1 more line"),
    ],
)
def test_a_client_that_ends_silently_at_a_failure_ends_early(
    usual_calls: tuple[str, ...], missing: str
) -> None:
    usual = clean_run(*usual_calls)

    assert early_end(LIST, LIST, usual=usual) == IN_THE_MIDDLE + missing


def test_a_client_that_tries_again_or_goes_on_does_not_end_early() -> None:
    usual = clean_run(LIST, LIST, FLAG, FLAG)

    assert early_end(LIST, LIST, LIST, usual=usual) == ""
    assert early_end(LIST, LIST, FLAG, usual=usual) == ""


def test_a_client_that_reports_a_failure_does_not_end_silently() -> None:
    usual = clean_run(LIST, LIST, FLAG)

    assert early_end(LIST, LIST, usual=usual, lines=("cannot read the list",)) == ""
    assert early_end(LIST, LIST, usual=usual, exit_code=1) == ""


def test_a_client_whose_output_is_unknown_may_have_reported_the_failure() -> None:
    usual = clean_run(LIST, LIST, FLAG, lines=None)

    assert early_end(LIST, LIST, usual=usual, lines=None) == ""


def test_a_client_that_does_everything_that_it_does_on_a_good_day_does_not_end_early() -> None:
    usual = clean_run(LIST, LIST)

    assert early_end(LIST, LIST, usual=usual, lines=("44 deployments",)) == ""


def test_a_run_without_requests_does_not_end_early() -> None:
    assert early_end(usual=sample_clean_run()) == ""
