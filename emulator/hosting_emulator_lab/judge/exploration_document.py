"""The JSON report of an exploration, and single results as JSON."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.exploration import Exploration, coverage
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.report_parts import evidence_document
from hosting_emulator_lab.judge.trial_results import TrialResult, count_verdicts
from hosting_emulator_lab.judge.trials import FaultTrial


def exploration_document(exploration: Exploration) -> JsonObject:
    """Return an exploration as JSON.

    Two explorations of the same command have the same document, except for durations.
    """
    plan = exploration.plan
    return {
        "command": exploration.subject,
        "exit_code": exploration.exit_code,
        "undecided": exploration.undecided_reason or None,
        "clean": _clean_run_document(exploration),
        "points": [
            result_document(result, exploration.repeat_command) for result in exploration.results
        ],
        "merged": [
            {"point": str(merged.point), "into": str(merged.into), "why": merged.reason}
            for merged in plan.merged
        ],
        "left_out": [str(point) for point in plan.left_out],
        "not_run": [str(point) for point in exploration.points_not_run],
        "cut": exploration.stop_reason or None,
        "remarks": list(exploration.remarks),
        "summary": count_verdicts(exploration.results),
        "coverage": {
            name: {"met": figure.covered, "of": figure.total}
            for name, figure in coverage(exploration).items()
        },
    }


def result_document(
    result: TrialResult, repeat_command: Callable[[FaultPoint], str] | None = None
) -> JsonObject:
    """Return a result as JSON, which `read_result` reads.

    If `repeat_command` is set, the document of a failure or of a result with conduct findings also
    contains the command line that runs the point again.
    """
    document: JsonObject = {
        **evidence_document(str(result.trial), result.verdict, result.message, result.output),
        "reasons": list(result.reasons),
        "causes": list(result.causes),
        "exit_code": result.exit_code,
        "duration_s": result.duration_s,
        "conduct": list(result.conduct),
        "codes": list(result.codes),
        "hit": result.hit,
    }
    is_notable = bool(result.conduct) or not result.is_fine
    if repeat_command is not None and is_notable:
        document["repeat"] = repeat_command(result.point)
    return document


def read_result(document: Mapping[str, Any]) -> TrialResult:
    """Parse a result from the JSON of `result_document`.

    Raises ValueError, TypeError or KeyError if the document is not a result.
    """
    fields = dict(document)
    for name, value in document.items():
        if isinstance(value, list):
            fields[name] = tuple(value)
    for name in ("description", "message"):
        # These describe other members for readers.
        del fields[name]
    unknown = [id_ for id_ in document.get("causes", ()) if id_ not in CAUSE_TEXTS]
    if unknown:
        raise ValueError(f"no cause is called {unknown[0]}")
    fields["trial"] = FaultTrial(FaultPoint.read(document["trial"]))
    return TrialResult(**fields)


def _clean_run_document(exploration: Exploration) -> JsonObject:
    clean_run = exploration.clean_run
    findings: list[str] = []
    if exploration.conduct != "off":
        findings += clean_run.observation.conduct
    return {
        "exit_code": clean_run.end.exit_code,
        "duration_s": round(clean_run.end.duration_s, 3),
        "requests": [_request_document(request) for request in exploration.plan.requests],
        "conduct": findings,
        "not_the_same_each_time": clean_run.varying_kinds,
    }


def _request_document(request: NumberedRequest) -> JsonObject:
    exchange = request.exchange
    return {
        "request": request.name,
        "method": exchange.method,
        "path": exchange.path,
        "status": exchange.status,
        "code": exchange.code,
        "idempotency_key": exchange.idempotency_key is not None,
    }
