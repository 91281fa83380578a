"""A judgment as JSON, and the parts of a cause that all reports show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from hosting_emulator.sdk import JsonObject
from hosting_emulator.sdk.coverage import coverage_document
from hosting_emulator_lab.judge.causes import ClientCause, Symptom
from hosting_emulator_lab.judge.dependency_texts import dependency_document
from hosting_emulator_lab.judge.judgment import Judgment
from hosting_emulator_lab.judge.report_parts import evidence_document
from hosting_emulator_lab.judge.trial_texts import trial_description
from hosting_emulator_lab.judge.trials import read_trial

#: Returns the command line that repeats a trial, which is given by its text.
RepeatLine: TypeAlias = Callable[[str], str]
#: The maximum number of symptoms that a report shows for a cause.
_MOST_SYMPTOMS = 3
#: The maximum number of failed tests that a report names for a symptom.
_MOST_TESTS = 3


def judgment_document(judgment: Judgment, repeat: RepeatLine) -> JsonObject:
    """Return a judgment as a JSON document."""
    return {
        "command": judgment.command,
        "result": judgment.headline,
        "exit_code": judgment.exit_code,
        "severity": judgment.severity,
        "causes": [_cause_document(cause, repeat) for cause in judgment.causes],
        "planned": judgment.planned,
        "tried": judgment.tried,
        "not_tried": [str(trial) for trial in judgment.not_tried],
        "needed_budget_s": judgment.needed_s,
        "unproven": list(judgment.unproven),
        "remarks": list(judgment.remarks),
        "runs": judgment.run_count,
        "duration_s": round(judgment.duration_s, 3),
        "clean": {
            "requests": judgment.request_count,
            "duration_s": round(judgment.clean_s, 3),
        },
        "dependencies": dependency_document(judgment.dependencies),
        "coverage": coverage_document(judgment.coverage),
    }


def shown_symptoms(cause: ClientCause) -> Sequence[Symptom]:
    """Return the symptoms that a report shows: the first few with different messages."""
    distinct: dict[str, Symptom] = {}
    for symptom in cause.symptoms:
        distinct.setdefault(symptom.message, symptom)
    return list(distinct.values())[:_MOST_SYMPTOMS]


def symptom_text(symptom: Symptom) -> str:
    """Describe what happened in a symptom's trial, what the client did, and which tests failed."""
    text = f"{trial_description(read_trial(symptom.trial))}. {_sentence(symptom.message)}"
    if symptom.failed_tests:
        text += f" {_failed_tests_sentence(symptom.failed_tests)}"
    return text


def _failed_tests_sentence(tests: Sequence[str]) -> str:
    names = list(tests[:_MOST_TESTS])
    if len(tests) > _MOST_TESTS:
        names.append(f"and {len(tests) - _MOST_TESTS} more")
    noun = "Failed test" if len(tests) == 1 else "Failed tests"
    return f"{noun}: {', '.join(names)}."


def _sentence(text: str) -> str:
    """Return a text that begins with a capital letter, unless it begins with a name of a request."""
    first_word = text.partition(" ")[0]
    is_name = "#" in first_word or "_" in first_word
    start = text[:1] if is_name else text[:1].upper()
    return f"{start}{text[1:]}".rstrip(".") + "."


def other_trials(cause: ClientCause) -> list[str]:
    """Return the texts of the trials that showed a cause, but whose symptoms reports do not show."""
    shown_trials = {symptom.trial for symptom in shown_symptoms(cause)}
    trials = dict.fromkeys(symptom.trial for symptom in cause.symptoms)
    return [trial for trial in trials if trial not in shown_trials]


def repeatable_trial(cause: ClientCause) -> str:
    """Return the text of the trial to repeat for a cause, which is the trial of its first symptom."""
    return cause.symptoms[0].trial


def _cause_document(cause: ClientCause, repeat: RepeatLine) -> JsonObject:
    text = cause.text
    return {
        "id": cause.id,
        "severity": cause.severity,
        "title": text.title,
        "matters": text.matters,
        "because": text.because,
        "place": text.place,
        "instead": text.instead,
        "seen_alone": cause.seen_alone,
        "symptoms": [
            {
                **evidence_document(
                    symptom.trial, symptom.verdict, symptom.message, symptom.output
                ),
                "failed_tests": list(symptom.failed_tests),
            }
            for symptom in cause.symptoms
        ],
        "repeat": repeat(repeatable_trial(cause)),
    }
