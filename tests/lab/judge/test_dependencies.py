"""A judgment names what a client depends on, in each report, and it never makes a client fail."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.causes import ClientCause, Symptom
from hosting_emulator_lab.judge.client_behavior import Effect
from hosting_emulator_lab.judge.dependencies import ClientDependencies, PartEffect
from hosting_emulator_lab.judge.dependency_texts import (
    cause_of_alteration,
    dependency_lines,
    with_wording_fields,
)
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import Trial
from hosting_emulator_lab.judge.variation_causes import causes_of_points
from tests.lab.judge.judging import Progress, judge
from tests.lab.judge.planned_runs import PlannedRuns
from tests.lab.judge.test_judge_command import judge as run_judge
from tests.support.plain_http import client_command

STATUS = "alter/create_user_api_key/2xx/status"


def effect(text: str, word: Effect, *, is_allowed: bool = False) -> PartEffect:
    """Return the effect of an altered part of a page of deployments."""
    trial = AlteredTrial.read(f"alter/list_deployments/2xx/{text}")
    return PartEffect(trial, word, is_allowed)


@pytest.mark.parametrize(
    ("trial", "cause"),
    [
        ("list_deployments/2xx/reorder:/items", "depends-on-order"),
        ("list_deployments/2xx/header:X-Request-Id", "depends-on-response-headers"),
        ("list_deployments/2xx/status", "expects-one-success-status"),
        ("list_deployments/4xx/status", "decides-by-problem-status"),
        ("get_operation/2xx/remove:/result", "depends-on-result"),
        ("get_operation/2xx/remove:/result/url", "depends-on-result"),
        ("list_deployments/2xx/remove:/items/*/url", "needs-unpromised-field"),
        ("get_operation/2xx/remove:/progress/phase", "needs-optional-field"),
        ("get_operation/2xx/remove:/reconciliation", "needs-optional-field"),
        ("list_deployments/4xx/remove:/detail", "needs-optional-problem-field"),
    ],
)
def test_an_alteration_has_the_cause_of_the_variation_that_shows_the_same_mistake(
    trial: str, cause: str
) -> None:
    assert cause_of_alteration(AlteredTrial.read(f"alter/{trial}")).id == cause


def test_a_part_has_the_strongest_effect_of_its_alterations() -> None:
    effects = [effect("remove:/x", "ignores"), effect("set:/x", "depends")]
    for ordered in (effects, effects[::-1]):
        assert [part.effect for part in ClientDependencies(ordered).parts] == ["depends"]


def test_a_part_of_which_one_alteration_was_tried_is_not_untried() -> None:
    trials = [
        AlteredTrial.read(f"alter/list_deployments/2xx/{text}")
        for text in ("set:/x", "remove:/y", "set:/y")
    ]
    dependencies = ClientDependencies([effect("remove:/x", "ignores")], trials)
    assert dependencies.untried_parts == [trials[1]]


def altered(*, is_allowed: bool) -> PlannedRuns:
    """Return runs of a client that fails when the status of a response is altered."""

    def results(trial: Trial, alone: bool) -> TrialResult | None:
        if str(trial) != STATUS:
            return None
        return TrialResult(
            trial, "failed", ("exit code 1",), 1, 0.5, effect="depends", is_allowed=is_allowed
        )

    return PlannedRuns(results)


def test_altered_responses_come_after_all_other_trials() -> None:
    runs = PlannedRuns()
    progress = Progress()
    judge(runs, progress)
    first = next(index for index, text in enumerate(runs.log) if text.startswith("alter/"))
    assert all(text.startswith("alter/") for text in runs.log[first:])
    assert len(progress.alterations) == 3


def test_a_client_that_fails_where_the_contract_allows_a_change_has_a_cause() -> None:
    runs = altered(is_allowed=True)
    [cause] = judge(runs).causes
    assert (cause.id, cause.severity) == ("expects-one-success-status", "warning")
    assert f"{STATUS} alone" in runs.log


def test_a_client_that_reads_what_the_contract_promises_survives() -> None:
    result = judge(altered(is_allowed=False))
    assert (result.exit_code, result.causes) == (0, [])
    assert [str(part.trial) for part in result.dependencies.with_effect("depends")] == [STATUS]


def test_without_time_nothing_is_altered_and_everything_is_listed() -> None:
    result = judge(PlannedRuns(), budget_s=0.0)
    assert result.dependencies.effects == []
    assert len(result.dependencies.not_tried) == 3


def test_a_report_does_not_list_the_parts_if_there_was_no_time_for_any() -> None:
    untried = judge(PlannedRuns(), budget_s=0.0).dependencies

    assert dependency_lines(untried) == [
        "No part of a response was altered: there was no time for 3 parts."
    ]


WORDING = causes_of_points(["problem-wording"])[0]


@pytest.mark.parametrize(
    ("effects", "title", "place"),
    [
        (
            {"remove:/title": "depends", "remove:/detail": "shows"},
            "It depends on the wording of a problem: it reads `title`.",
            "RFC 9457, section 3.1.3",
        ),
        (
            {"remove:/detail": "depends", "remove:/suggested_action": "depends"},
            "It depends on the wording of a problem: it reads `detail` and `suggested_action`.",
            "RFC 9457, section 3.1.4",
        ),
        (
            {"remove:/suggested_action": "depends", "remove:/code": "depends"},
            "It depends on the wording of a problem: it reads `suggested_action`.",
            "contract, section Errors",
        ),
        ({"remove:/title": "ignores"}, WORDING.title, "RFC 9457, section 3.1.4"),
    ],
)
def test_a_dependence_on_wording_names_the_texts_that_the_client_reads(
    effects: dict[str, Effect], title: str, place: str
) -> None:
    cause = ClientCause(WORDING, (Symptom("vary/1/problem-wording", "failed"),))
    other = ClientCause(replace(WORDING, id="other"), cause.symptoms)
    dependencies = ClientDependencies(
        effects=[
            PartEffect(
                AlteredTrial.read(f"alter/get_operation/4xx/{change}"), word, is_allowed=True
            )
            for change, word in effects.items()
        ]
    )

    named, unchanged = with_wording_fields([cause, other], dependencies)

    assert (named.text.title, named.text.place) == (title, place)
    assert unchanged == other


def test_a_title_that_is_no_text_of_a_problem_is_not_named() -> None:
    cause = ClientCause(WORDING, (Symptom("vary/1/problem-wording", "failed"),))
    trial = AlteredTrial.read("alter/list_deployments/2xx/remove:/title")
    dependencies = ClientDependencies(effects=[PartEffect(trial, "depends", is_allowed=True)])

    assert with_wording_fields([cause], dependencies) == [cause]


@pytest.mark.slow
def test_the_dependencies_of_a_small_client_are_those_of_its_code() -> None:
    command = client_command("tests.lab.judge.small_client")
    _, stdout, _ = run_judge("--budget", "2m", "--json", "--", *command, "waiting", "1")
    dependencies = json.loads(stdout)["dependencies"]
    # The client looks only at the class of the status.
    assert (dependencies["depends"], dependencies["shows"]) == ([], [])
    ignored = {row["part"] for row in dependencies["ignores"]}
    assert {"enabled", "enabled_at", "project_id", "the status"} <= ignored


@pytest.mark.slow
def test_one_altered_run_shows_that_a_client_reads_a_part() -> None:
    script = (
        'curl -sf -H "Authorization: Bearer $HOSTING_TOKEN" '
        '"$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/edge-dns" | grep -q zone'
    )
    trial = "alter/get_dns_authorization/2xx/{}:/{}"
    code, _, stderr = run_judge("--trial", trial.format("remove", "zone"), "--", "sh", "-c", script)
    # The scope `zone.read` contains the word, too.
    assert (code, "ignores" in stderr) == (0, True)
    script = script.replace("-q zone", "-q expires_at")
    code, _, stderr = run_judge(
        "--trial", trial.format("remove", "expires_at"), "--", "sh", "-c", script
    )
    assert (code, "depends: exit code 1" in stderr) == (0, True)
