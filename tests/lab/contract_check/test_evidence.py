"""The verdict on a sentence follows from all observations about it."""

from __future__ import annotations

from hosting_emulator_lab.contract_check.clauses import CLAUSES
from hosting_emulator_lab.contract_check.evidence import Evidence

_KEY = "flag.body"
_NOT_SHOWN = ("skipped", ["no response showed it"])
#: The key of the sentence with the address of the call.
_CALL = "flag.call"


def test_a_difference_outweighs_what_is_undecided_held_and_skipped_in_this_order() -> None:
    evidence = Evidence()
    expected: list[tuple[str, list[str]]] = [("skipped", ["no response showed it"])]
    verdicts = [evidence.verdict(_KEY, "")]

    evidence.skips(_KEY, "a reason")
    evidence.skips(_KEY, "another reason")
    expected.append(("skipped", ["a reason"]))
    verdicts.append(evidence.verdict(_KEY, ""))
    evidence.holds((_KEY, "json"), "a proof")
    evidence.holds(_KEY, "another proof")
    expected.append(("holds", ["a proof"]))
    verdicts.append(evidence.verdict(_KEY, ""))
    for text in "aabcd":
        evidence.cannot_decide(_KEY, f"doubt {text}")
    expected.append(("undecided", ["doubt a", "doubt b", "doubt c"]))
    verdicts.append(evidence.verdict(_KEY, ""))
    expected.append(("unseen", ["nobody can see it"]))
    verdicts.append(evidence.verdict(_KEY, "nobody can see it"))
    for text in "aabcd":
        evidence.differs((_KEY, "v1"), f"response {text}", "it is wrong")
    texts = [f"response {text}: it is wrong" for text in "abc"]
    expected.append(("differs", texts))
    verdicts.append(evidence.verdict(_KEY, "nobody can see it"))

    assert verdicts == expected
    assert evidence.verdict("json", "") == ("holds", ["a proof"])
    assert evidence.verdict("v1", "") == ("differs", texts)
    assert len(evidence.differences) == 5


def test_a_refusal_proves_a_sentence_only_if_a_correct_request_to_the_call_succeeds() -> None:
    evidence = Evidence()
    assert evidence.judge(_KEY, True, "a refusal", "", call=_CALL) is True
    assert evidence.verdict(_KEY, "") == (
        "skipped",
        ["a refusal: refused, but no correct request succeeded"],
    )

    evidence.skips(_CALL, "it is busy")
    assert evidence.verdict(_KEY, "") == (
        "skipped",
        ["a refusal: refused, but no correct request succeeded (it is busy)"],
    )

    evidence.working_calls.add(_CALL)
    assert evidence.verdict(_KEY, "") == ("holds", ["a refusal"])


def test_a_comparison_without_values_records_nothing() -> None:
    evidence = Evidence()

    assert evidence.judge(_KEY, None, "it", "a fault") is None
    assert evidence.judge("json", False, "it", "a fault") is False
    assert evidence.judge("v1", True, "it", "a fault") is True

    verdicts = [evidence.verdict(key, "")[0] for key in (_KEY, "json", "v1")]
    assert verdicts == ["skipped", "differs", "holds"]


def test_a_sentence_with_a_named_word_is_undecided_until_a_response_contains_the_word() -> None:
    evidence = Evidence()
    evidence.holds("progress-object", "a proof")
    evidence.see_word("progress-object", "progress.phase", "working")
    evidence.see_word("progress-object", "progress.phase", "done")
    assert evidence.verdict("progress-object", "") == (
        "undecided",
        ["progress.phase was 'done', 'working'; the contract's 'queued' was not seen"],
    )
    assert evidence.verdict("durable", "")[0] == "skipped"

    evidence.see_word("progress-object", "progress.phase", "queued")
    assert evidence.verdict("progress-object", "") == ("holds", ["a proof"])


_NO_OPERATION = "no operation that was started"
_NO_PROBLEM = "no problem had this field"


def test_a_sentence_that_only_rare_responses_show_is_skipped_for_its_own_reason() -> None:
    reasons = {
        "operation.blocking_operation_id": f"{_NO_OPERATION} waited on another",
        "states.blocking": f"{_NO_OPERATION} waited on another",
        "operation.deployment_id": f"{_NO_OPERATION} created a deployment",
        "operation.result": f"{_NO_OPERATION} had a result",
        "operation.error": f"{_NO_OPERATION} failed",
        "error-object": f"{_NO_OPERATION} failed",
        "operation.reconciliation": f"{_NO_OPERATION} was being reconciled",
        "reconciliation-object": f"{_NO_OPERATION} was being reconciled",
        "problem.detail": _NO_PROBLEM,
        "problem.instance": _NO_PROBLEM,
        "problem.retry_after_seconds": f"{_NO_PROBLEM}: the server limited nothing",
        "limit.retry-after": f"{_NO_PROBLEM}: the server limited nothing",
        "deployment.artifact_digest": "no deployment had this field",
        "deployment.url": "no deployment had this field",
        "limit.zone": "no DNS zone is authorized",
        "compute.placement": "neither environment has a database",
    }
    evidence = Evidence()

    verdicts = {key: evidence.verdict(key, "") for key in CLAUSES}

    rare = {key: verdict for key, verdict in verdicts.items() if verdict != _NOT_SHOWN}
    assert rare == {key: ("skipped", [reason]) for key, reason in reasons.items()}
