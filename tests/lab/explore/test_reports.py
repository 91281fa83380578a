"""One exploration in four forms: text, JSON, JUnit and a page. All say the same."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from xml.etree import ElementTree as Xml

import pytest

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator.explore.plan import KINDS, OUTCOMES, plan
from hosting_emulator.explore.report import (
    Exploration,
    coverage,
    document,
    junit_text,
    matrix,
    page,
    plan_text,
    read_result,
    report_text,
    result_document,
)
from hosting_emulator.explore.runs import Observation
from tests.lab.explore.samples import clean, exploration, requests, result, state

KEY = "create_user_api_key#1"
SAYS = "2 API keys, while the clean run makes 1: 'ci' of owner in acme"
LINE = (
    "hosting-emulator explore --point 'create_user_api_key#1/timeout/after_commit' -- ./deploy.sh"
)
MIXED = (
    result(
        f"{KEY}/timeout/after_commit", verdict="doubled", says=(SAYS,), output=("<Done> & done",)
    ),
    result(f"{KEY}/connection_reset/after_commit", codes=("service_unavailable",)),
    result(f"{KEY}/timeout/before_commit", verdict="not reached", hit=False),
)


@pytest.fixture
def mixed() -> Exploration:
    """Three of four points were run: one doubled, one survived, one was not reached."""
    return exploration(*MIXED, cut="interrupted")


def test_the_text_has_a_matrix_a_story_a_line_and_figures(mixed: Exploration):
    text = report_text(mixed)

    assert text.splitlines()[:3] == [
        "                       timeout  reset",
        "create_user_api_key#1  ?2       -+",
        "Two marks each, before and after the commit: + survived, ? not reached, 2 doubled, "
        "- not run.",
    ]
    assert f"{KEY}  doubled at 1 point: {SAYS}\n  | <Done> & done\n  again: {LINE}\n" in text
    assert "3 runs: 1 survived, 1 not reached, 1 doubled.\n1 point not run: interrupted.\n" in text
    assert text.endswith("Met: calls 1 of 8, fault kinds 2 of 10, problem codes 1 of 57.")


def test_colours_change_no_word(mixed: Exploration):
    coloured = report_text(mixed, color=True)

    assert "\x1b[31m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == report_text(mixed)


def test_points_that_came_to_the_same_are_one_story_with_a_line_each():
    same = [
        result(f"{KEY}/{fault}/before_commit", verdict="failed", says=("exit code 1",))
        for fault in ("timeout", "connection_reset")
    ]

    text = report_text(exploration(*same))

    assert text.count("exit code 1") == 1
    assert text.count("  again: ") == 2


def test_a_wide_matrix_numbers_its_columns():
    planned = plan(requests(*CALLS), faults=[*KINDS, "abort:*"])
    wide = exploration(plan=planned, clean=clean())

    lines = report_text(wide).splitlines()

    assert lines[0].split() == [str(n) for n in range(1, len(matrix(wide).faults) + 1)]
    assert "1 timeout" in lines[len(CALLS) + 1]


def test_what_is_done_in_survived_runs_is_told_once():
    rude = [
        result(f"{KEY}/{fault}/before_commit", conduct=("retried-too-soon: No",))
        for fault in ("timeout", "connection_reset")
    ]

    text = report_text(exploration(*rude))

    assert f"conduct: retried-too-soon: No ({KEY}/timeout/before_commit and 1 more)" in text
    line = f"again: hosting-emulator explore --point '{KEY}/timeout/before_commit' -- ./deploy.sh"
    assert text.count(line) == 1
    assert escape(line.removeprefix("again: ")) in page(exploration(*rude))
    assert document(exploration(*rude))["points"][0]["repeat"] == line.removeprefix("again: ")


def test_what_the_clean_run_did_is_told_with_its_line():
    seen = replace(clean().seen, conduct=("retried-too-soon: No",))
    survived = result(f"{KEY}/timeout/before_commit")
    rude = exploration(
        survived, clean=clean(seen), repeat_clean="hosting-emulator exec -- ./deploy.sh"
    )

    told = "conduct: retried-too-soon: No (the clean run)\n  again: hosting-emulator exec -- ./deploy.sh"
    assert told in report_text(rude)
    assert rude.survived
    assert "retried-too-soon" not in report_text(replace(rude, conduct="off"))
    strict = replace(rude, conduct="error")
    assert not strict.survived
    assert "The clean run itself has conduct findings." in report_text(strict)


def test_a_run_that_misbehaved_is_a_story_with_its_rules():
    rude = result(
        f"{KEY}/timeout/before_commit",
        verdict="misbehaved",
        says=("retried-too-soon",),
        conduct=("retried-too-soon: No",),
    )

    found = exploration(rude, conduct="error")

    assert not found.survived
    text = report_text(found)
    assert (
        f"{KEY}  misbehaved at 1 point: retried-too-soon\n  conduct: retried-too-soon: No\n" in text
    )
    assert "M misbehaved" in text


def test_calls_that_met_no_fault_are_not_counted():
    many = clean(Observation(requests("create_user_api_key", "list_deployments"), state()))
    missed = result("list_deployments#1/timeout/before_commit", verdict="not reached", hit=False)
    met = result(f"{KEY}/timeout/before_commit")
    planned = plan(many.seen.requests, faults=["timeout"])

    found = coverage(exploration(met, missed, clean=many, plan=planned))

    assert found["calls"]["met"] == ["create_user_api_key"]


def test_outcomes_that_quick_leaves_out_are_counted_as_not_met():
    """As the matrix has a column for each of them."""
    planned = plan(requests("apply_project_domains"), faults=OUTCOMES, quick=True)
    found = exploration(result(str(planned.points[0])), plan=planned)

    assert coverage(found)["outcomes"]["of"] == len(matrix(found).faults) > len(planned.points)
    assert f"{len(planned.left_out)} points left out by quick." in report_text(found)


def test_what_happened_once_of_two_times_is_named():
    once = result(f"{KEY}/timeout/before_commit", says=("the first of two runs: failed",))

    text = report_text(exploration(once))

    assert (
        f"Only in one of two runs: {KEY}/timeout/before_commit (the first of two runs: failed)."
        in text
    )


def test_explore_announces_the_number_of_runs():
    planned = plan(requests(KEY[:-2], "list_deployments"), faults=["timeout"], max_runs=2)

    assert plan_text(planned, 4) == (
        "2 requests: 2 runs, 4 at a time, 1 more is merged as equivalent, 1 is left out by the "
        "limit on runs."
    )


def test_json_holds_all_of_it_and_only_durations_change(mixed: Exploration):
    found = json.loads(json.dumps(document(mixed)))

    assert [p["verdict"] for p in found["points"]] == ["doubled", "survived", "not reached"]
    assert found["points"][0]["repeat"] == LINE
    assert found["not_run"] == [f"{KEY}/connection_reset/before_commit"]
    assert found["summary"] == {"survived": 1, "not reached": 1, "doubled": 1}
    assert found["coverage"]["fault_kinds"] == {"met": ["timeout", "connection_reset"], "of": 10}
    again = document(exploration(*MIXED, cut="interrupted"))
    assert again == found


def test_a_result_can_be_read_again():
    assert [read_result(result_document(found)) for found in MIXED] == list(MIXED)


def test_what_a_program_prints_each_time_stands_once():
    end = (
        "Traceback",
        '  File "deploy.py", line 7, in ask',
        "    raise Broken",
        "Broken: no answer",
    )
    points = [f"{KEY}/{kind}/after_commit" for kind in ("timeout", "connection_reset")]
    says = [("exit code 1",), ("exit code 1", "and more")]
    found = [
        result(point, verdict="failed", says=said, output=("Begun.", str(n), *end))
        for n, (point, said) in enumerate(zip(points, says, strict=True))
    ]

    text = report_text(exploration(*found))

    assert text.count("deploy.py") == 1
    assert f"  | … as at {points[0]}\n  | Broken: no answer" in text
    assert text.count("  again: ") == 2


def test_coverage_counts_what_was_met(mixed: Exploration):
    text = report_text(mixed)

    assert "Met: calls 1 of 8, fault kinds 2 of 10, problem codes 1 of 57." in text


def test_junit_has_a_case_for_each_point(mixed: Exploration):
    root = Xml.fromstring(junit_text(mixed))

    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (KEY, "4", "1")
    assert suite.get("skipped") == "2"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == f"doubled: {SAYS}"
    assert LINE in (failure.text or "")


def test_junit_can_hold_whatever_was_printed():
    odd = result(f"{KEY}/timeout/after_commit", verdict="failed", output=("\x00\x1b]<\ud800",))

    assert Xml.fromstring(junit_text(exploration(odd))) is not None


class _Page(HTMLParser):
    """Collects what a page loads, what it links to and the ids it has."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.loads: list[str] = []
        self.targets: list[str] = []
        self.ids: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        for name, value in attrs:
            if name == "id":
                self.ids.append(value or "")
            elif name == "href" and tag == "a":
                self.targets.append(value or "")
            elif name in ("src", "href"):
                self.loads.append(value or "")


def test_the_page_needs_nothing_else_and_its_links_lead_somewhere(mixed: Exploration):
    found = _Page(page(mixed))

    assert found.loads == ["data:,"]
    assert not {"script", "img", "iframe"} & set(found.tags)
    assert found.targets == ["#story-1"]
    assert found.ids == ["story-1"]


def test_the_page_has_both_themes_and_can_be_printed(mixed: Exploration):
    text = page(mixed)

    assert "light-dark(" in text
    assert "@media print" in text
    assert "http" not in text.replace("http-equiv", "")


def test_the_page_escapes_what_clients_print(mixed: Exploration):
    text = page(mixed)

    assert "&lt;Done&gt; &amp; done" in text
    assert "<Done>" not in text


def test_the_page_of_a_client_that_survived_says_so():
    points = exploration().plan.points
    fine = exploration(*(result(str(point)) for point in points))

    text = page(fine)

    assert "survived every failure" in text
    assert "What happened" not in text


def test_kinds_that_two_clean_runs_leave_differently_are_named():
    unsteady = clean(again=state())

    assert "not compared: API key." in report_text(exploration(clean=unsteady))


def test_what_lasts_has_one_column_and_one_mark_beside_what_passes():
    made = clean()
    planned = plan(made.seen.requests, faults=["timeout", "value_lost", "abort:forbidden"])
    results = [
        result("create_user_api_key#1/value_lost/lasting", verdict="blind success"),
        result("create_user_api_key#1/abort:forbidden/lasting", verdict="gave up"),
    ]

    found = exploration(*results, plan=planned)

    assert report_text(found).splitlines()[:3] == [
        "                       timeout  value_lost  forbidden",
        "create_user_api_key#1  --       B           .",
        "Two marks each, before and after the commit: . gave up, B blind success, - not run.",
    ]
    assert "outcomes 2 of 2" in report_text(found)
    assert page(found).count("from then on") == 2
    assert read_result(result_document(results[0])) == results[0]


def test_an_idempotency_key_that_is_the_same_each_time_is_named():
    text = report_text(exploration(clean=replace(clean(), same_keys=("create_user_api_key#1",))))

    assert "Same Idempotency-Key in both clean runs: create_user_api_key#1. If " in text
