"""A printed number of items shows that a client counts items twice, or misses those of a failed page."""

from __future__ import annotations

from dataclasses import replace

import pytest

from hosting_emulator_lab.judge.client_behavior import ClientBehavior
from hosting_emulator_lab.judge.client_requests import ObservedResponse, number_requests
from hosting_emulator_lab.judge.item_counts import missing_items_text, repeated_items_text
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd
from tests.lab.judge.samples import exchange, sample_clean_run, sample_observation

#: The items of two pages: four and three deployments, of which five are ready.
PAGES = (
    [{"id": f"D{number}", "status": "ready"} for number in range(4)],
    [{"id": f"D{number}", "status": "ready" if number < 5 else "failed"} for number in (4, 5, 6)],
)


def run_of(*pages: int, failed: bool = False) -> Observation:
    """Return the observation of a run that receives these pages, and perhaps a refusal after them.

    A refused request is not among the requests that a fault can meet.
    """
    exchanges = [exchange("list_deployments", n=number) for number, _ in enumerate(pages, 1)]
    responses = {
        (0, number): ObservedResponse(2, {"items": PAGES[page]})
        for number, page in enumerate(pages, 1)
    }
    requests = number_requests(exchanges, responses)
    return sample_observation(
        requests=requests, request_count=len(requests) + 2, is_last_refused=failed
    )


def clean_run(*lines: str, second: str | None = None) -> CleanRun:
    """Return a clean run that prints these lines. The second clean run may print another last line."""
    second_lines = lines if second is None else (*lines[:-1], second)
    end = RunEnd(0, printed_lines=lines)
    behaviors = (
        ClientBehavior(0, hung=False, requests=(), lines=lines),
        ClientBehavior(0, hung=False, requests=(), lines=second_lines),
    )
    return replace(sample_clean_run(run_of(0, 1)), behaviors=behaviors, end=end)


def text(clean: CleanRun, *lines: str) -> str:
    """Judge a run that receives the first page twice, and prints these lines."""
    return repeated_items_text(RunEnd(0, printed_lines=lines), run_of(0, 0, 1), clean)


def test_a_client_that_counts_a_page_twice_prints_the_number_of_received_items() -> None:
    assert text(clean_run("deployments: 7"), "deployments: 11") == (
        "it prints 'deployments: 11', with 11 instead of 7: "
        "it received some items again, and counts them again"
    )


def test_items_of_one_status_count_as_well() -> None:
    assert "9 instead of 5" in text(clean_run("ready: 5"), "ready: 9")


def test_a_client_that_discards_the_items_before_it_starts_again_is_correct() -> None:
    assert text(clean_run("deployments: 7"), "retry 1 after 503", "deployments: 7") == ""


@pytest.mark.parametrize(
    ("usual_line", "line"),
    [
        ("7 deployments in 2 requests", "7 deployments in 3 requests"),
        ("4 requests", "5 requests"),
        ("took 7 ms", "took 12 ms"),
    ],
)
def test_numbers_of_other_things_may_change_after_a_failure(usual_line: str, line: str) -> None:
    assert text(clean_run(usual_line), line) == ""


def test_a_number_that_differs_between_clean_runs_shows_nothing() -> None:
    assert text(clean_run("7 left", second="8 left"), "11 left") == ""


def test_a_run_that_receives_each_item_once_counts_none_twice() -> None:
    run = RunEnd(0, printed_lines=("deployments: 11",))
    assert repeated_items_text(run, run_of(0, 1), clean_run("deployments: 7")) == ""


def test_a_run_that_receives_items_for_the_first_time_repeats_none() -> None:
    clean = replace(clean_run("deployments: 4"), observation=run_of(0))
    run = RunEnd(0, printed_lines=("deployments: 7",))
    assert repeated_items_text(run, run_of(0, 1), clean) == ""


def missing_text(clean: CleanRun, *lines: str, failed: bool = True) -> str:
    """Judge a run that receives the first of two pages, and prints these lines."""
    return missing_items_text(RunEnd(0, printed_lines=lines), run_of(0, failed=failed), clean)


def test_a_client_that_reports_a_part_of_the_list_as_the_whole_prints_its_number() -> None:
    assert missing_text(clean_run("all 7 deployments"), "all 4 deployments") == (
        "it prints 'all 4 deployments', with 4 instead of 7: "
        "it did not receive the other items, and no word says so"
    )


def test_a_client_may_print_fewer_items_besides_their_number() -> None:
    clean = clean_run("is ready", "is ready", "is failed", "7 in all")
    assert "4 instead of 7" in missing_text(clean, "is ready", "4 in all")


@pytest.mark.parametrize(
    "lines", [("7 deployments, incomplete",), ("4 deployments", "the second page was refused")]
)
def test_a_client_whose_words_may_say_that_items_are_missing_is_correct(
    lines: tuple[str, ...],
) -> None:
    assert missing_text(clean_run("7 deployments"), *lines) == ""


def test_a_client_that_stops_without_a_failure_misses_no_page() -> None:
    assert missing_text(clean_run("7 deployments"), "4 deployments", failed=False) == ""


@pytest.mark.parametrize("pages", [(), (0, 1)], ids=["none", "all"])
def test_a_client_that_receives_no_item_or_all_items_reports_no_part_of_them(
    pages: tuple[int, ...],
) -> None:
    end = RunEnd(0, printed_lines=("0 deployments",))
    assert missing_items_text(end, run_of(*pages, failed=True), clean_run("7 deployments")) == ""


def test_a_number_that_does_not_count_received_items_shows_no_missing_page() -> None:
    assert missing_text(clean_run("project 7"), "project 5") == ""


def test_only_the_items_of_pages_that_arrived_are_received() -> None:
    page = {"items": [{"id": "D1"}, "no object"]}
    rows = [
        exchange("list_deployments", n=1),
        exchange("list_deployments", 404, n=2),
        exchange("list_deployments", n=3, lost="timeout"),
        exchange("get_operation", n=4),
        exchange("list_deployments", n=5),
        exchange("list_deployments", n=6),
        exchange("list_deployments", n=7),
    ]
    contents = [page, page, page, page, {"items": "none"}, [page], {}]
    responses = {
        (0, number): ObservedResponse(2, content) for number, content in enumerate(contents, 1)
    }

    observation = sample_observation(requests=number_requests(rows, responses))

    assert observation.received_items == [{"id": "D1"}]


def test_the_items_of_the_clean_run_are_collected_once_for_all_trials() -> None:
    clean = clean_run("deployments: 7")

    items = clean.observation.received_items
    text(clean, "deployments: 11")

    assert len(items) == 7
    assert clean.observation.received_items is items
