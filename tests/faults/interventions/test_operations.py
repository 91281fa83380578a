"""Interventions on operations, mutation claims, reconciliations and deployments."""

from typing import Any

import pytest

from hosting_emulator.contract.documents import DocumentRefused
from tests.faults.interventions.conftest import Stage

HOUR_MS = 3_600_000


@pytest.mark.parametrize("after_ms", [0, 3_000])
def test_a_stuck_operation_stays_in_its_state_until_released(stage: Stage, after_ms: int):
    operation = stage.begin()
    stage.advance_ms(after_ms)
    state = stage.operation(operation).state

    sentence = stage.intervene("stick_operation", project="shop")
    stage.advance_ms(HOUR_MS)

    assert sentence == f"operation {operation} is stuck while {state}"
    assert stage.poll(operation).json["state"] == state
    assert stage.poll(operation).json["progress"]["next_poll_after_seconds"] == 60

    stage.intervene("release_operation", operation=operation)
    stage.advance_ms(10_000)
    assert stage.poll(operation).json["state"] == "succeeded"


@pytest.mark.parametrize("hold", ["stick", "reconcile"])
@pytest.mark.parametrize(
    ("after_ms", "left_ms", "phases"),
    [(500, 1_500, ("queued", "building")), (3_000, 3_000, ("building", "deploying"))],
)
def test_a_released_operation_continues_from_its_state(
    stage: Stage, hold: str, after_ms: int, left_ms: int, phases: tuple[str, str]
):
    operation = stage.begin()
    stage.advance_ms(after_ms)
    words = {
        "stick": ("stick_operation", "release_operation"),
        "reconcile": tuple(f"{w}_reconciliation" for w in ("require", "run", "complete")),
    }[hold]

    for word in words:
        stage.intervene(word, operation=operation)
        stage.advance_ms(HOUR_MS if word != words[-1] else left_ms - 1)

    before = stage.operation(operation).phase
    stage.advance_ms(1)
    assert (before, stage.operation(operation).phase) == phases


def test_a_stuck_operation_stays_stuck_after_its_reconciliation(stage: Stage):
    operation = stage.begin()
    for word in ("stick_operation", *(f"{w}_reconciliation" for w in ("require", "run"))):
        stage.intervene(word, operation=operation)

    commands = stage.why(operation)["commands"]
    assert [command.split()[1] for command in commands] == [
        "complete_reconciliation",
        "release_operation",
    ]
    sentence = stage.intervene("complete_reconciliation", operation=operation)
    stage.advance_ms(HOUR_MS)

    assert "still stuck" in sentence
    assert stage.operation(operation).state == "queued"
    assert "stick_operation" in str(stage.why(operation)["held_by"])

    stage.intervene("release_operation", operation=operation)
    stage.advance_ms(10_000)
    assert stage.operation(operation).state == "succeeded"


def test_a_stuck_operation_does_not_hold_other_projects(stage: Stage):
    stuck = stage.begin()
    other = stage.begin(project="blog")

    stage.intervene("stick_operation", operation=stuck)
    stage.advance_ms(10_000)

    assert stage.operation(stuck).state == "queued"
    assert stage.operation(other).state == "succeeded"


def test_operations_behind_a_stuck_operation_wait(stage: Stage):
    first = stage.begin()
    second = stage.begin()
    stage.intervene("stick_operation", project="shop")
    stage.advance_ms(HOUR_MS)

    assert stage.poll(second).json["blocking_operation_id"] == first

    stage.intervene("cancel_operation", project="shop")
    stage.advance_ms(10_000)
    assert stage.operation(second).state == "succeeded"


def test_a_waiting_operation_can_be_stuck(stage: Stage):
    first = stage.begin()
    second = stage.begin()
    stage.intervene("stick_operation", operation=second)
    stage.advance_ms(HOUR_MS)
    assert (stage.operation(first).state, stage.operation(second).state) == ("succeeded", "queued")

    stage.intervene("release_operation", operation=second)
    stage.advance_ms(10_000)

    assert stage.operation(second).state == "failed"  # the first operation used its generation
    assert stage.operation(second).error is not None


@pytest.mark.parametrize("after_ms", [0, 3_000])
def test_a_failed_operation_shows_the_error_of_the_intervention(stage: Stage, after_ms: int):
    operation = stage.begin()
    stage.advance_ms(after_ms)

    stage.intervene(
        "fail_operation",
        operation=operation,
        code="quota",
        message="No space.",
        retryable=True,
        suggested_action="Free some.",
    )

    document = stage.poll(operation).json
    assert (document["state"], document["error"]) == (
        "failed",
        {
            "code": "quota",
            "message": "No space.",
            "retryable": True,
            "suggested_action": "Free some.",
        },
    )
    assert stage.project_record().claim is None
    assert stage.project_record().source_generation == 1
    assert stage.deployments().json["items"][0]["status"] == "failed"


def test_an_operation_failed_without_options_has_a_default_error(stage: Stage):
    operation = stage.begin()

    stage.intervene("fail_operation", project="shop")

    error = stage.poll(operation).json["error"]
    assert error["code"] == "operation_failed"
    assert error["message"]
    assert error["suggested_action"]


def test_a_cancelled_operation_lets_the_next_one_start(stage: Stage):
    first = stage.begin()
    second = stage.begin()

    stage.intervene("cancel_operation", operation=first)
    stage.advance_ms(10_000)

    assert stage.poll(second).json["state"] == "succeeded"
    cancelled = stage.poll(first).json
    assert cancelled["state"] == "cancelled"
    deployments = {item["id"]: item for item in stage.deployments().json["items"]}
    assert deployments[cancelled["deployment_id"]]["status"] == "cancelled"


def test_a_waiting_operation_can_be_cancelled(stage: Stage):
    first = stage.begin()
    second = stage.begin()
    third = stage.begin()

    stage.intervene("cancel_operation", operation=second)
    stage.advance_ms(HOUR_MS)

    assert stage.operation(first).state == "succeeded"
    assert stage.operation(second).state == "cancelled"
    assert stage.operation(third).state == "failed"  # the first operation used its generation


@pytest.mark.parametrize("word", ["stick_operation", "fail_operation", "cancel_operation"])
def test_an_operation_that_has_ended_refuses_interventions(stage: Stage, word: str):
    operation = stage.begin()
    stage.advance_ms(10_000)

    with pytest.raises(DocumentRefused, match="is already succeeded, which is final"):
        stage.intervene(word, operation=operation)


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({}, "name either the operation"),
        ({"operation": "x", "project": "shop"}, "name either the operation"),
        ({"operation": "x"}, "there is no operation 'x'"),
        ({"project": "shop"}, "project shop has no operation in progress"),
        ({"project": "shpo"}, "there is no project .* 'shpo'; did you mean shop"),
        ({"project": "zzz"}, "the projects are blog, docs, garden, labs, notes, shop"),
    ],
)
def test_an_operation_that_cannot_be_identified_is_refused(
    stage: Stage, fields: dict[str, Any], words: str
):
    before = stage.world

    with pytest.raises(DocumentRefused, match=words):
        stage.intervene("stick_operation", **fields)

    assert stage.world is before


def test_an_operation_cannot_be_stuck_or_released_twice(stage: Stage):
    stage.begin()
    with pytest.raises(DocumentRefused, match="is not stuck"):
        stage.intervene("release_operation", project="shop")

    stage.intervene("stick_operation", project="shop")

    with pytest.raises(DocumentRefused, match="is already stuck"):
        stage.intervene("stick_operation", project="shop")


# --- The claim -----------------------------------------------------------------------------------


def test_a_held_claim_makes_operations_wait(stage: Stage):
    sentence = stage.intervene("hold_claim", project="shop")
    waiting = stage.begin()
    stage.advance_ms(HOUR_MS)

    document = stage.poll(waiting).json
    assert document["state"] == "queued"
    assert document["blocking_operation_id"] in sentence
    holder = stage.poll(document["blocking_operation_id"]).json
    assert holder["state"] == "running"

    stage.intervene("release_claim", project="shop")
    stage.advance_ms(10_000)
    assert stage.poll(waiting).json["state"] == "succeeded"
    assert stage.poll(holder["id"]).json["state"] == "succeeded"


def test_a_claim_cannot_be_held_or_released_twice(stage: Stage):
    with pytest.raises(DocumentRefused, match="was not held by hold_claim"):
        stage.intervene("release_claim", project="shop")
    stage.intervene("hold_claim", project="shop")
    with pytest.raises(DocumentRefused, match="already holds the claim of shop"):
        stage.intervene("hold_claim", project="shop")
    stage.intervene("release_claim", project="shop")
    stage.begin()
    with pytest.raises(DocumentRefused, match="was not held by hold_claim"):
        stage.intervene("release_claim", project="shop")


# --- Reconciliation ------------------------------------------------------------------------------


def test_a_completed_reconciliation_alone_does_not_end_the_operation(stage: Stage):
    operation = stage.begin()
    stage.advance_ms(3_000)

    stage.intervene("require_reconciliation", project="shop")
    required = stage.poll(operation).json
    stage.advance_ms(HOUR_MS)
    stage.intervene("run_reconciliation", project="shop")
    running = stage.poll(operation).json
    stage.intervene("complete_reconciliation", project="shop")
    completed = stage.poll(operation).json

    operations = [required, running, completed]
    reconciliations = [operation["reconciliation"] for operation in operations]
    states = [reconciliation["state"] for reconciliation in reconciliations]
    assert states == ["required", "running", "completed"]
    assert len({reconciliation["attempt_id"] for reconciliation in reconciliations}) == 1
    assert reconciliations[0]["observed_at"] < reconciliations[1]["observed_at"]
    assert {operation["state"] for operation in operations} == {"running"}

    stage.advance_ms(10_000)
    ended = stage.poll(operation).json
    assert ended["state"] == "succeeded"
    assert "reconciliation" not in ended


def test_each_reconciliation_attempt_has_its_own_id(stage: Stage):
    operation = stage.begin()
    attempts = []
    for _ in range(2):
        stage.intervene("require_reconciliation", project="shop")
        attempts.append(stage.poll(operation).json["reconciliation"]["attempt_id"])
        stage.intervene("run_reconciliation", project="shop")
        stage.intervene("complete_reconciliation", project="shop")

    assert len(set(attempts)) == 2


def test_an_exhausted_reconciliation_fails_the_operation(stage: Stage):
    operation = stage.begin()
    stage.intervene("require_reconciliation", project="shop")
    stage.intervene("run_reconciliation", project="shop")

    stage.intervene("exhaust_reconciliation", project="shop")

    document = stage.poll(operation).json
    assert (document["state"], document["error"]["code"]) == ("failed", "reconciliation_exhausted")
    assert document["error"]["retryable"] is False
    assert "reconciliation" not in document


@pytest.mark.parametrize(
    ("before", "word", "words"),
    [
        ([], "run_reconciliation", "is none and cannot become running"),
        ([], "complete_reconciliation", "is none"),
        ([], "exhaust_reconciliation", "is none"),
        (["require"], "require_reconciliation", "is required"),
        (["require"], "complete_reconciliation", "is required"),
        (["require", "run"], "run_reconciliation", "is running"),
        (["require", "run", "complete"], "exhaust_reconciliation", "is complete"),
        (["require"], "release_operation", "complete or exhaust"),
        (["require", "run"], "release_operation", "complete or exhaust"),
    ],
)
def test_a_reconciliation_step_out_of_order_is_refused(
    stage: Stage, before: list[str], word: str, words: str
):
    stage.begin()
    for each in before:
        stage.intervene(f"{each}_reconciliation", project="shop")

    with pytest.raises(DocumentRefused, match=words):
        stage.intervene(word, project="shop")


# --- Deployments ---------------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["ready", "failed", "cancelled"])
def test_added_deployments_are_the_newest_and_have_operations(stage: Stage, status: str):
    before = stage.deployments("?limit=100").json["items"]

    stage.intervene("add_deployments", project="shop", count=3, status=status)

    after = stage.deployments("?limit=100").json["items"]
    assert after[3:] == before
    assert [item["status"] for item in after[:3]] == [status] * 3
    assert len({item["id"] for item in after}) == len(after)
    assert {"url" in item for item in after[:3]} == {status == "ready"}
    states = {"ready": "succeeded"}
    made_by = stage.poll(after[0]["operation_id"]).json
    assert made_by["state"] == states.get(status, status)


def test_a_deployment_is_added_alone_and_ready_unless_the_options_say_otherwise(stage: Stage):
    stage.intervene("add_deployments", project="labs")

    (item,) = stage.deployments(project="labs").json["items"]
    assert item["status"] == "ready"


def test_hundreds_of_added_deployments_can_be_paged(stage: Stage):
    stage.intervene("add_deployments", project="labs", count=250)

    ids = []
    cursor = ""
    while True:
        page = stage.deployments(f"?limit=100{cursor}", project="labs").json
        ids += [item["id"] for item in page["items"]]
        if "next_cursor" not in page:
            break
        cursor = f"&cursor={page['next_cursor']}"

    assert len(ids) == len(set(ids)) == 250
    assert ids == sorted(ids, reverse=True)


def test_added_failed_deployments_leave_the_source_generation(stage: Stage):
    stage.intervene("add_deployments", project="labs", count=2, status="failed")

    listed = stage.deployments(project="labs").json["items"]
    assert [item["status"] for item in listed] == ["failed", "failed"]
    assert stage.initialize(0, project="labs").status == 202


def test_a_failed_deployment_fails_its_operation(stage: Stage):
    operation = stage.begin()
    stage.advance_ms(3_000)

    stage.intervene("fail_deployment", project="shop", message="Out of memory.")

    document = stage.poll(operation).json
    assert document["error"]["message"] == "Out of memory."
    assert stage.deployments().json["items"][0]["status"] == "failed"
    assert stage.deployments().json["items"][0]["id"] == document["deployment_id"]


def test_an_operation_without_deployment_refuses_fail_deployment(stage: Stage):
    stage.apply_domains()

    with pytest.raises(DocumentRefused, match="creates no deployment"):
        stage.intervene("fail_deployment", project="shop")


def test_a_held_claim_takes_no_step(stage: Stage):
    stage.intervene("hold_claim", project="shop")
    claim = stage.project_record().claim

    message = f"^operation {claim} only holds the claim; use release_claim$"
    with pytest.raises(DocumentRefused, match=message):
        stage.intervene("step_operation", project="shop")
