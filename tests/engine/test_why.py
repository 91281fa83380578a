"""Why an operation is in its state, and the commands that would change that."""

from typing import Any

import pytest

from hosting_emulator.engine.explanations.operations import why
from tests.support.in_process import InProcess, fresh_world


def stage(**options: Any) -> InProcess:
    return InProcess(fresh_world(**options))


def started(api: InProcess) -> str:
    return str(api.initialize().json["id"])


def test_why_names_the_next_change_of_an_operation_that_moves_with_time():
    api = stage()
    operation = started(api)

    explanation = api.why(operation)

    assert (explanation["state"], explanation["project"]) == ("queued", "shop")
    assert explanation["next"] == {
        "at": "2026-01-01T00:00:02.000Z",
        "event": "it changes from queued to running",
    }
    assert "in 2s of world time" in explanation["sentences"][0]
    assert "frozen" in explanation["sentences"][1]
    assert explanation["commands"] == [f"clock advance --until-operation {operation}"]
    assert (explanation["waits_for"], explanation["held_by"]) == (None, None)


@pytest.mark.parametrize(
    ("mode", "rate", "word"),
    [("real", None, "so wait"), ("scaled", 2.0, "rate"), ("skip", None, "next poll")],
)
def test_why_says_how_time_passes_in_each_clock_mode(mode, rate, word):
    api = stage(mode=mode, rate=rate)

    assert word in api.why(started(api))["sentences"][1]


def test_why_names_the_phase_of_a_running_operation():
    api = stage()
    operation = started(api)
    api.engine.move_by(2_000)

    explanation = api.why(operation)

    assert explanation["next"]["event"] == "it changes from running (building) to deploying"


def test_why_names_the_operation_that_blocks_a_waiting_operation():
    api = stage()
    first = started(api)
    second = started(api)
    third = started(api)

    explanation = api.why(third)

    assert explanation["waits_for"] == first
    assert "with 1 more waiting ahead of it" in explanation["sentences"][0]
    assert explanation["sentences"][1].startswith("Blocking operation: It is queued")
    assert explanation["next"]["event"].endswith("(the operation that it is waiting for)")
    assert explanation["commands"] == [f"clock advance --until-operation {third}"]
    assert "ahead" not in api.why(second)["sentences"][0]


def test_why_names_the_intervention_that_holds_an_operation_and_those_behind_it():
    api = stage()
    first = started(api)
    second = started(api)
    api.intervene("stick_operation", project="shop")

    explanation = api.why(first)
    behind = api.why(second)

    release = f"intervene release_operation operation={first}"
    assert (explanation["held_by"], explanation["next"]) == (
        "the stick_operation intervention",
        None,
    )
    assert explanation["commands"] == [release]
    assert (behind["held_by"], behind["waits_for"]) == ("the stick_operation intervention", first)
    assert behind["commands"] == [release]


def test_why_names_the_intervention_that_holds_the_claim():
    api = stage()
    api.intervene("hold_claim", project="shop")
    operation = started(api)

    explanation = api.why(operation)

    assert explanation["held_by"] == "the hold_claim intervention"
    assert explanation["commands"] == ["intervene release_claim project=shop"]


def test_why_names_the_commands_that_end_a_reconciliation():
    api = stage()
    operation = started(api)
    api.intervene("require_reconciliation", project="shop")

    explanation = api.why(operation)

    assert explanation["held_by"] == "a reconciliation that is required"
    assert [command.split()[1] for command in explanation["commands"]] == [
        "run_reconciliation",
        "complete_reconciliation",
    ]
    api.intervene("run_reconciliation", project="shop")
    assert len(api.why(operation)["commands"]) == 1


def test_why_names_the_commands_that_end_the_reconciliation_of_a_held_operation():
    api = stage()
    api.add_outcome(stick={"phase": "deploying", "for": "100s"})
    operation = str(api.apply_domains().json["id"])
    api.advance("10s")
    api.intervene("require_reconciliation", project="shop")

    required = api.why(operation)
    api.intervene("run_reconciliation", project="shop")
    running = api.why(operation)

    sentences = [explanation["sentences"][1] for explanation in (required, running)]
    assert sentences == [
        "Its reconciliation is required, and must end first.",
        "Its reconciliation is running, and must end first.",
    ]
    run = f"intervene run_reconciliation operation={operation}"
    complete = f"intervene complete_reconciliation operation={operation}"
    assert required["commands"] == [run, complete]
    assert running["commands"] == [complete]


def test_why_says_that_another_operation_has_used_up_an_outcome():
    api = stage()
    api.add_outcome(stick={"phase": "verifying"}, times=1, while_={"plan": "free"})
    api.apply_domains()
    api.advance("1s")
    operation = str(api.apply_domains(project="blog").json["id"])
    api.intervene("set_plan", organization="acme", plan="free")
    api.advance("8s")
    assert api.why(operation)["sentences"][-1] == "The condition of outcome-1 holds now."

    api.advance("1s")

    assert api.why(operation)["sentences"][-1] == (
        "outcome-1 is used up, so it will not act again."
    )


def test_the_command_that_why_names_moves_the_operation():
    api = stage(source_profile="manual")
    operation = started(api)
    command = api.why(operation)["commands"][0].split()

    api.intervene(command[1], **dict([command[2].split("=")]))

    assert api.why(operation)["state"] == "running"


def test_why_counts_the_polls_of_an_operation_that_moves_by_polls():
    api = stage(source_profile="per_poll 2")
    operation = started(api)
    api.poll(operation)

    explanation = api.why(operation)

    assert (
        "each state lasts 2 polls, and the current state has had 1" in explanation["sentences"][0]
    )


def test_why_names_an_armed_fault_on_polls_until_it_is_spent():
    api = stage()
    operation = started(api)
    api.add_fault(abort={"code": "rate_limited"}, call="get_operation", times=1)

    assert "fault-1 (abort) is armed for polls" in api.why(operation)["sentences"][-1]
    api.poll(operation)
    assert "fault-1" not in " ".join(api.why(operation)["sentences"])


def test_why_says_what_ended_a_failed_operation():
    api = stage()
    operation = started(api)
    api.intervene("fail_operation", project="shop", message="No space left.")

    explanation = api.why(operation)

    assert explanation["sentences"] == [
        "It failed at 2026-01-01T00:00:00.000Z. This state is final.",
        "The fail_operation intervention ended the operation.",
        "The error is operation_failed, which is not retryable: No space left.",
    ]
    assert explanation["commands"] == []


@pytest.mark.parametrize(
    ("durations", "before", "afterwards"),
    [
        ({}, None, "outcome-1 applied to the operation, but set no durations."),
        (
            {"queued": "10s", "running": "1m"},
            "outcome-1 applies to the operation: it is queued for 10s and running for 1m.",
            "outcome-1 determined how long the operation took.",
        ),
        (
            {"running": "1m"},
            "outcome-1 applies to the operation: it is running for 1m.",
            "outcome-1 determined how long the operation took.",
        ),
    ],
)
def test_why_says_which_durations_an_outcome_set(
    durations: dict[str, str], before: str | None, afterwards: str
):
    api = stage()
    api.add_outcome(succeed=durations)
    operation = started(api)

    sentences = api.why(operation)["sentences"]
    assert [text for text in sentences if "outcome-1" in text] == ([before] if before else [])

    api.advance("1h")
    assert api.why(operation)["sentences"][-1] == afterwards


def test_why_of_an_unknown_operation_is_none():
    assert why(stage().engine, "none") is None


@pytest.mark.parametrize(
    ("options", "state", "event"),
    [
        ({}, "becomes stuck", "to stuck"),
        ({"while": {"dns": "expired"}}, "becomes stuck", "to stuck"),
        ({"while": {"dns": "authorized"}}, "becomes verifying", "to verifying"),
    ],
)
def test_why_says_whether_an_outcome_will_hold_an_operation(
    options: dict[str, Any], state: str, event: str
):
    api = stage()
    api.intervene("move_dns", project="shop", to="expired")
    api.add_outcome(stick={"phase": "deploying"}, call="apply_project_domains", **options)
    operation = str(api.apply_domains().json["id"])
    api.advance("2s")

    explanation = api.why(operation)

    assert f"It is running (deploying), and {state} at " in explanation["sentences"][0]
    assert explanation["next"]["event"] == f"it changes from running (deploying) {event}"
    assert explanation["commands"] == ["clock advance 4s"]
