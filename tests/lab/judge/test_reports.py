"""The reports of an exploration: text, JSON, JUnit and HTML. All state the same results."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from html import escape
from html.parser import HTMLParser
from xml.etree import ElementTree as Xml

import pytest

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator_lab.judge.fault_points import KINDS, OUTCOMES
from hosting_emulator_lab.judge.point_plan import plan_points
from hosting_emulator_lab.judge.report import (
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
from hosting_emulator_lab.judge.run_observation import Observation
from tests.lab.judge.samples import clean, exploration, met_line, requests, result, state

KEY = "create_user_api_key#1"
SAYS = "one key too many"
LINE = (
    "hosting-emulator explore --point 'create_user_api_key#1/timeout/after_commit' -- ./deploy.sh"
)
MIXED = (
    result(
        f"{KEY}/timeout/after_commit", verdict="doubled", reasons=(SAYS,), output=("<Done> & done",)
    ),
    result(f"{KEY}/connection_reset/after_commit", codes=("service_unavailable",)),
    result(f"{KEY}/timeout/before_commit", verdict="not reached", hit=False),
)


@pytest.fixture
def mixed() -> Exploration:
    """An exploration that ran three of four points: one doubled, one survived, one was not reached."""
    return exploration(*MIXED, cut="interrupted")


def test_the_text_report_has_a_matrix_a_story_a_command_and_totals(mixed: Exploration):
    text = report_text(mixed)

    assert text.splitlines()[:3] == [
        "                       timeout  reset",
        "create_user_api_key#1  ?2       -+",
        "Two marks each, before and after the commit: + survived, ? not reached, 2 doubled, "
        "- not run.",
    ]
    assert f"{KEY}  doubled at 1 point: {SAYS}\n  | <Done> & done\n  again: {LINE}\n" in text
    assert "3 runs: 1 survived, 1 not reached, 1 doubled.\n1 point not run: interrupted.\n" in text
    assert text.endswith(met_line(calls=1, kinds=2, codes=1))


def test_colors_change_no_word_of_the_text_report(mixed: Exploration):
    coloured = report_text(mixed, color=True)

    assert "\x1b[31m" in coloured
    assert re.sub(r"\x1b\[\d+m", "", coloured) == report_text(mixed)


def test_points_with_the_same_result_share_one_story_with_a_command_each():
    results = [
        result(f"{KEY}/{fault}/before_commit", verdict="failed", reasons=("exit code 1",))
        for fault in ("timeout", "connection_reset")
    ]

    text = report_text(exploration(*results))

    assert text.count("exit code 1") == 1
    assert text.count("  again: ") == 2


def test_a_matrix_too_wide_for_names_numbers_its_columns():
    run_plan = plan_points(requests(*CALLS), faults=[*KINDS, "abort:*"])
    wide = exploration(plan=run_plan, clean=clean())

    lines = report_text(wide).splitlines()

    assert lines[0].split() == [str(n) for n in range(1, len(matrix(wide).faults) + 1)]
    assert "1 timeout" in lines[len(CALLS) + 1]


def test_a_conduct_finding_of_several_survived_runs_is_reported_once():
    results = [
        result(f"{KEY}/{fault}/before_commit", conduct=("retried-too-soon: No",))
        for fault in ("timeout", "connection_reset")
    ]

    text = report_text(exploration(*results))

    assert f"conduct: retried-too-soon: No ({KEY}/timeout/before_commit and 1 more)" in text
    line = f"again: hosting-emulator explore --point '{KEY}/timeout/before_commit' -- ./deploy.sh"
    assert text.count(line) == 1
    assert escape(line.removeprefix("again: ")) in page(exploration(*results))
    assert document(exploration(*results))["points"][0]["repeat"] == line.removeprefix("again: ")


def test_conduct_findings_of_the_clean_run_are_reported_with_their_command():
    observation = replace(clean().observation, conduct=("retried-too-soon: No",))
    survived = result(f"{KEY}/timeout/before_commit")
    explored = exploration(
        survived, clean=clean(observation), repeat_clean="hosting-emulator exec -- ./deploy.sh"
    )

    expected = "conduct: retried-too-soon: No (the clean run)\n  again: hosting-emulator exec -- ./deploy.sh"
    assert expected in report_text(explored)
    assert explored.survived
    assert "retried-too-soon" not in report_text(replace(explored, conduct="off"))
    strict = replace(explored, conduct="error")
    assert not strict.survived
    assert "The clean run itself has conduct findings." in report_text(strict)


def test_the_story_of_a_misbehaved_run_names_its_rules():
    misbehaved = result(
        f"{KEY}/timeout/before_commit",
        verdict="misbehaved",
        reasons=("retried-too-soon",),
        conduct=("retried-too-soon: No",),
    )

    explored = exploration(misbehaved, conduct="error")

    assert not explored.survived
    text = report_text(explored)
    assert (
        f"{KEY}  misbehaved at 1 point: retried-too-soon\n  conduct: retried-too-soon: No\n" in text
    )
    assert "M misbehaved" in text


def test_coverage_leaves_out_calls_that_no_fault_hit():
    clean_run = clean(Observation(requests("create_user_api_key", "list_deployments"), state()))
    missed = result("list_deployments#1/timeout/before_commit", verdict="not reached", hit=False)
    met = result(f"{KEY}/timeout/before_commit")
    run_plan = plan_points(clean_run.observation.requests, faults=["timeout"])

    covered = coverage(exploration(met, missed, clean=clean_run, plan=run_plan))

    assert covered["calls"]["met"] == ["create_user_api_key"]


def test_coverage_counts_outcomes_that_a_quick_plan_leaves_out_as_not_met():
    """The matrix has a column for each of them too."""
    run_plan = plan_points(requests("apply_project_domains"), faults=OUTCOMES, quick=True)
    explored = exploration(result(str(run_plan.points[0])), plan=run_plan)

    assert (
        coverage(explored)["outcomes"]["of"] == len(matrix(explored).faults) > len(run_plan.points)
    )
    assert f"{len(run_plan.left_out)} points left out by quick." in report_text(explored)


def test_the_text_report_names_a_failure_of_only_one_of_two_runs():
    once = result(f"{KEY}/timeout/before_commit", reasons=("once: failed",))

    text = report_text(exploration(once))

    assert f"Only in one of two runs: {KEY}/timeout/before_commit (once: failed)." in text


def test_explore_announces_the_number_of_runs():
    run_plan = plan_points(requests(KEY[:-2], "list_deployments"), faults=["timeout"], max_runs=2)

    assert plan_text(run_plan, 4) == (
        "2 requests: 2 runs, 4 at a time, 1 more is merged as equivalent, 1 is left out by the "
        "limit on runs."
    )


def test_the_json_report_is_complete_and_reproducible(mixed: Exploration):
    report = json.loads(json.dumps(document(mixed)))

    assert [point["verdict"] for point in report["points"]] == [
        "doubled",
        "survived",
        "not reached",
    ]
    assert report["points"][0]["repeat"] == LINE
    assert report["not_run"] == [f"{KEY}/connection_reset/before_commit"]
    assert report["summary"] == {"survived": 1, "not reached": 1, "doubled": 1}
    assert report["coverage"]["fault_kinds"] == {
        "met": ["timeout", "connection_reset"],
        "of": len(KINDS),
    }
    second_report = document(exploration(*MIXED, cut="interrupted"))
    assert second_report == report


def test_a_written_result_is_read_back_unchanged():
    assert [read_result(result_document(point_result)) for point_result in MIXED] == list(MIXED)


def test_output_that_several_runs_share_is_printed_once():
    end = (
        "Traceback",
        '  File "deploy.py", line 7, in ask',
        "    raise Broken",
        "Broken: no response",
    )
    points = [f"{KEY}/{kind}/after_commit" for kind in ("timeout", "connection_reset")]
    says = [("exit code 1",), ("exit code 1", "and more")]
    results = [
        result(point, verdict="failed", reasons=point_says, output=("Begun.", str(n), *end))
        for n, (point, point_says) in enumerate(zip(points, says, strict=True))
    ]

    text = report_text(exploration(*results))

    assert text.count("deploy.py") == 1
    assert f"  | … as at {points[0]}\n  | Broken: no response" in text
    assert text.count("  again: ") == 2


def test_the_text_report_counts_calls_kinds_and_codes_that_were_met(mixed: Exploration):
    text = report_text(mixed)

    assert met_line(calls=1, kinds=2, codes=1) in text


def test_the_junit_report_has_a_case_for_each_point(mixed: Exploration):
    root = Xml.fromstring(junit_text(mixed))

    suite = root.find("testsuite")
    assert suite is not None
    assert (suite.get("name"), suite.get("tests"), suite.get("failures")) == (KEY, "4", "1")
    assert suite.get("skipped") == "2"
    failure = suite.find("testcase/failure")
    assert failure is not None
    assert failure.get("message") == f"doubled: {SAYS}"
    assert LINE in (failure.text or "")


def test_the_junit_report_is_valid_xml_for_any_output():
    odd = result(f"{KEY}/timeout/after_commit", verdict="failed", output=("\x00\x1b]<\ud800",))

    assert Xml.fromstring(junit_text(exploration(odd))) is not None


class _Page(HTMLParser):
    """Collects the resources, link targets and ids of a page."""

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


def test_the_html_report_loads_nothing_and_its_links_have_targets(mixed: Exploration):
    html = _Page(page(mixed))

    assert html.loads == ["data:,"]
    assert not {"script", "img", "iframe"} & set(html.tags)
    assert html.targets == ["#story-1"]
    assert html.ids == ["story-1"]


def test_the_html_report_has_both_themes_and_print_styles(mixed: Exploration):
    text = page(mixed)

    assert "light-dark(" in text
    assert "@media print" in text
    assert "http" not in text.replace("http-equiv", "")


def test_the_html_report_escapes_the_output_of_clients(mixed: Exploration):
    text = page(mixed)

    assert "&lt;Done&gt; &amp; done" in text
    assert "<Done>" not in text


def test_the_html_report_of_a_surviving_client_has_no_stories():
    points = exploration().plan.points
    explored = exploration(*(result(str(point)) for point in points))

    text = page(explored)

    assert "survived every failure" in text
    assert "What happened" not in text


def test_the_text_report_names_state_that_differs_between_two_clean_runs():
    clean_run = clean(second_state=state())

    assert "not compared: API key." in report_text(exploration(clean=clean_run))


def test_a_lasting_fault_has_one_column_and_one_mark_in_the_matrix():
    clean_run = clean()
    run_plan = plan_points(
        clean_run.observation.requests, faults=["timeout", "value_lost", "abort:forbidden"]
    )
    results = [
        result("create_user_api_key#1/value_lost/lasting", verdict="blind success"),
        result("create_user_api_key#1/abort:forbidden/lasting", verdict="gave up"),
    ]

    explored = exploration(*results, plan=run_plan)

    assert report_text(explored).splitlines()[:3] == [
        "                       timeout  value_lost  forbidden",
        "create_user_api_key#1  --       B           .",
        "Two marks each, before and after the commit: . gave up, B blind success, - not run.",
    ]
    assert "outcomes 2 of 2" in report_text(explored)
    assert page(explored).count("from then on") == 2
    assert read_result(result_document(results[0])) == results[0]


def test_the_text_report_names_an_idempotency_key_shared_by_both_clean_runs():
    text = report_text(exploration(clean=replace(clean(), same_keys=("create_user_api_key#1",))))

    assert "Same Idempotency-Key in both clean runs: create_user_api_key#1. If " in text
