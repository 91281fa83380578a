"""The report of a check as data.

It contains no token, key or ticket, even if a server returned one in an unexpected place.
"""

from __future__ import annotations

from typing import Any, TypedDict, get_args

from msgspec import to_builtins

from hosting_emulator.contract.assumption_table import needed_to_observe, why_unseen
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.json_values import each_text
from hosting_emulator_lab.contract_check.causes import causes_of
from hosting_emulator_lab.contract_check.clauses import CLAUSES
from hosting_emulator_lab.contract_check.evidence import SentenceVerdict
from hosting_emulator_lab.contract_check.run import CheckRun

#: The parts of a report that contain texts from the server. Secrets in these texts are replaced.
_PARTS_WITH_TEXTS = ("sentences", "assumptions", "observed", "words", "notes", "causes")


class SentenceReport(TypedDict):
    """The verdict on a sentence, with the responses or the reason on which it is based."""

    key: str
    section: str
    sentence: str
    verdict: str
    seen: list[str]


class CauseReport(TypedDict):
    """A mistake in the server that explains differences.

    `sentences` are the keys of the sentences that the server breaks because of it. `calls` are the
    calls whose responses show it, and `responses` is the number of these responses. `examples`
    describes some of them.
    """

    cause: str
    sentences: list[str]
    calls: list[str]
    responses: int
    examples: list[str]


class Report(TypedDict):
    """The report of one check.

    `summary` counts the sentences by verdict. `assumptions` contains only observed values that
    differ from our defaults. Each row of `observed` has the `name` of an assumption and our
    `default`, and either the `observed` value or, in `why`, the reason why no value was observed.
    `words` lists the observed values of open sets, and `created` lists what was created or changed
    on the server. `causes` groups the differences, and begins with the cause of the most
    differences. `unchecked` is the reason why the check as a whole shows nothing, or None if it
    shows something.
    """

    base_url: str
    project_id: str
    organization_id: str
    allowed: list[str]
    requests: int
    summary: dict[str, int]
    sentences: list[SentenceReport]
    assumptions: dict[str, Any]
    observed: list[dict[str, Any]]
    words: dict[str, list[str]]
    created: list[str]
    notes: list[str]
    causes: list[CauseReport]
    unchecked: str | None


def report_of(run: CheckRun, unchecked: str | None) -> Report:
    """Return the report of a run that has ended.

    `unchecked` is the reason why the check shows nothing, or None.
    """
    assumptions = run.behavior.observed_assumptions()
    sentences = _sentence_reports(run)
    verdicts = [sentence["verdict"] for sentence in sentences]
    report: Report = {
        "base_url": run.options.base_url,
        "project_id": run.options.project_id,
        "organization_id": run.options.organization_id,
        "allowed": sorted(run.options.allow),
        "requests": run.requests,
        "summary": {verdict: verdicts.count(verdict) for verdict in get_args(SentenceVerdict)},
        "sentences": sentences,
        "assumptions": {
            name: value for name, value in assumptions.items() if value != getattr(DEFAULTS, name)
        },
        "observed": [_assumption_row(name, assumptions) for name in DEFAULTS.__struct_fields__],
        "words": {name: sorted(words) for name, words in run.behavior.words.items()},
        "created": run.created.lines(),
        "notes": run.behavior.notes,
        "causes": _cause_reports(run),
        "unchecked": unchecked,
    }

    def without_secrets(text: str) -> str:
        for secret in run.secrets:
            text = text.replace(secret, "…")
        return text

    for part in _PARTS_WITH_TEXTS:
        report[part] = each_text(report[part], without_secrets)  # type: ignore[literal-required]
    return report


def _sentence_reports(run: CheckRun) -> list[SentenceReport]:
    reports: list[SentenceReport] = []
    for clause in CLAUSES.values():
        verdict, observations = run.evidence.verdict(clause.key, clause.unseen)
        reports.append(
            {
                "key": clause.key,
                "section": clause.section,
                "sentence": clause.text,
                "verdict": verdict,
                "seen": observations,
            }
        )
    return reports


def _cause_reports(run: CheckRun) -> list[CauseReport]:
    return [
        {
            "cause": cause.fault,
            "sentences": list(cause.keys),
            "calls": list(cause.calls),
            "responses": cause.count,
            "examples": list(cause.examples),
        }
        for cause in causes_of(run.evidence.differences)
    ]


def _assumption_row(name: str, assumptions: dict[str, Any]) -> dict[str, Any]:
    row = {"name": name, "default": to_builtins(getattr(DEFAULTS, name))}
    if name in assumptions:
        row["observed"] = assumptions[name]
    else:
        row["why"] = _why_not_observed(name)
    return row


def _why_not_observed(name: str) -> str:
    reason = why_unseen(name)
    if reason:
        return reason
    needed_options = needed_to_observe(name)
    if needed_options:
        return f"it needs {needed_options}"
    return "no permitted request showed it"
