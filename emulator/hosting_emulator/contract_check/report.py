"""What a check found, as a document: verdicts by section, and assumptions observed."""

from __future__ import annotations

from typing import Any, NotRequired, TypedDict

from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract_check.observing import UNSEEN, differing
from hosting_emulator.contract_check.options import TOKENS
from hosting_emulator.contract_check.scene import Scene

#: What is shorter is no secret, and would be found in innocent words.
_SHORTEST_SECRET = 8


class SentenceReport(TypedDict):
    """A sentence, its verdict, and the answers that show it or the reason why none does."""

    key: str
    section: str
    sentence: str
    verdict: str
    seen: list[str]


class AssumptionReport(TypedDict):
    """An assumption: our default, and what was observed or `why` it was not."""

    name: str
    default: Any
    observed: NotRequired[Any]
    why: NotRequired[str]


class Report(TypedDict):
    """One check. `assumptions` are only those observed otherwise than our defaults."""

    base_url: str
    project_id: str
    organization_id: str
    allowed: list[str]
    requests: int
    summary: dict[str, int]
    sentences: list[SentenceReport]
    assumptions: dict[str, Any]
    observed: list[AssumptionReport]
    words: dict[str, list[str]]
    created: list[str]
    notes: list[str]


def report(scene: Scene) -> Report:
    """Write the report. No token, key or ticket is in it, wherever a server put one."""
    options = scene.options
    verdicts = scene.ledger.verdicts()
    outcomes = ("holds", "differs", "skipped", "cannot be seen from outside")
    settled = scene.observed.settled()
    found: Report = {
        "base_url": options.base_url,
        "project_id": options.project_id,
        "organization_id": options.organization_id,
        "allowed": sorted(options.allow),
        "requests": scene.ask.requests,
        "summary": {
            outcome: sum(verdict.outcome == outcome for verdict in verdicts) for outcome in outcomes
        },
        "sentences": [
            {
                "key": verdict.sentence.key,
                "section": verdict.sentence.section,
                "sentence": verdict.sentence.text,
                "verdict": verdict.outcome,
                "seen": list(verdict.said),
            }
            for verdict in verdicts
        ],
        "assumptions": differing(settled),
        "observed": [_assumption(name, settled) for name in DEFAULTS.__struct_fields__],
        "words": {name: sorted(words) for name, words in scene.observed.words.items()},
        "created": list(scene.ask.created),
        "notes": list(scene.observed.notes),
    }
    secrets = [getattr(options, name) for name in TOKENS] + [scene.api_key]
    told = [secret for secret in secrets if secret and len(secret) >= _SHORTEST_SECRET]
    for sentence in found["sentences"]:
        sentence["seen"] = _without(sentence["seen"], told)
    found["notes"] = _without(found["notes"], told)
    found["words"] = _without(found["words"], told)
    found["assumptions"] = _without(found["assumptions"], told)
    found["observed"] = _without(found["observed"], told)
    return found


def _assumption(name: str, settled: dict[str, Any]) -> AssumptionReport:
    default = getattr(DEFAULTS, name)
    row: AssumptionReport = {
        "name": name,
        "default": list(default) if isinstance(default, tuple) else default,
    }
    if name in settled:
        row["observed"] = settled[name]
    else:
        row["why"] = UNSEEN.get(name, "nothing that was permitted showed it")
    return row


def _without(found: Any, secrets: list[str]) -> Any:
    """Return a document without these texts, wherever they stand."""
    if isinstance(found, dict):
        return {name: _without(value, secrets) for name, value in found.items()}
    if isinstance(found, list):
        return [_without(value, secrets) for value in found]
    if isinstance(found, str):
        for secret in secrets:
            found = found.replace(secret, "…")
    return found
