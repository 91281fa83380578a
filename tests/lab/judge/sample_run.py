"""Everything that the judge plans for one clean run, as the sections of a golden file."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.accepted_requests import AcceptedTrial, refused_request
from hosting_emulator_lab.judge.alterations import alteration_of, plan_alterations
from hosting_emulator_lab.judge.armed_points import protected_fault
from hosting_emulator_lab.judge.client_judge import SEEDS
from hosting_emulator_lab.judge.client_requests import ObservedResponse, number_requests, place_of
from hosting_emulator_lab.judge.fault_points import KINDS, OUTCOMES, WAITING_KINDS, FaultPoint
from hosting_emulator_lab.judge.point_plan import plan_points
from hosting_emulator_lab.judge.trial_plan import plan_trials
from hosting_emulator_lab.judge.trial_texts import trial_description
from hosting_emulator_lab.judge.trials import FaultTrial, read_trial
from tests.lab.judge.samples import exchange, sample_clean_run, sample_observation

SHOP = "01JGFJJZ00TGEYDG0VT5J9EZXF"
NOW = "2026-01-01T00:00:00Z"
LATE_MS = 700
DEPLOYMENT = {"id": "d-1", "status": "ready", "url": "https://shop.example", "created_at": NOW}
OPERATION: JsonObject = {
    "id": "o-1",
    "state": "queued",
    "created_at": NOW,
    "updated_at": NOW,
    "progress": {"phase": "queued", "next_poll_after_seconds": 2},
}
DATABASE = {"suspend_timeout_seconds": 300}
ZONE = {"status": "authorized", "zone": "a.example", "scopes": ["zone.read"], "expires_at": NOW}
REFUSAL = {"type": "about:blank", "code": "invalid_request", "status": 400}
#: The requests of the run: the call, the status, and the body of the response.
REQUESTS: tuple[tuple[str, int, JsonObject], ...] = (
    ("create_user_api_key", 201, {"key": {"id": "k-1"}, "value": "phk_1", "replayed": False}),
    ("apply_project_domains", 202, OPERATION),
    ("get_operation", 200, OPERATION),
    (
        "list_deployments",
        200,
        {"items": [DEPLOYMENT, {**DEPLOYMENT, "id": "d-2"}], "next_cursor": "c"},
    ),
    ("list_deployments", 200, {"items": [DEPLOYMENT]}),
    ("get_dns_authorization", 200, ZONE),
    ("read_database_compute", 200, {"environment": "prod", "database": DATABASE}),
    ("set_project_powered_by_flag", 400, REFUSAL),
    ("set_project_powered_by_flag", 200, {"project_id": SHOP, "enabled": True}),
    ("apply_project_domains", 202, {**OPERATION, "id": "o-2"}),
    ("create_user_api_key", 200, {"key": {"id": "k-1"}, "value": None, "replayed": True}),
    ("apply_project_domains", 202, {**OPERATION, "id": "o-3"}),
)
#: The number of the request on which a fault of the world itself acts after the commit.
FAULTY_REQUEST = 10
#: The number of the request that receives a replay.
REPLAYED_REQUEST = 11
HEADERS = (("Content-Type", "application/json"), ("Cache-Control", "no-store"), ("Date", "today"))
EXCHANGES = [
    exchange(
        call,
        status,
        n=n,
        project=None if call == "create_user_api_key" else SHOP,
        replayed=n == REPLAYED_REQUEST,
        why=("fault-1 (timeout, after_commit) acted, hit 1",) if n == FAULTY_REQUEST else (),
    )
    for n, (call, status, _) in enumerate(REQUESTS, 1)
]
RESPONSES = {
    place_of(row): ObservedResponse(len(json.dumps(body)), body, HEADERS)
    for row, (_, _, body) in zip(EXCHANGES, REQUESTS, strict=True)
}
CLEAN_REQUESTS = number_requests(EXCHANGES, RESPONSES)
EVERY_FAULT = (*KINDS, *WAITING_KINDS, *OUTCOMES, "gateway_error:503", "abort:forbidden")


class _WorldWithTokens:
    """A world that issues tokens. Nothing else of a world is used."""

    def token(self, user: str) -> str:
        return f"token of {user}"


def plan_sections() -> Iterator[tuple[str, str]]:
    """Yield the plans for the sample run, and how each kind of trial changes the service."""
    yield "trials of judge", "\n".join(_judge_lines())
    quick = plan_points(CLEAN_REQUESTS, faults=EVERY_FAULT, quick=True)
    yield "points of explore --quick", "\n".join(map(str, quick.points))
    yield "faults at the first and the last point", "\n".join(_armed_lines())
    yield "alterations", "\n".join(_alteration_lines())
    yield "refused requests that are accepted", "\n".join(_accepted_lines())
    yield "conditions", "\n".join(_condition_lines())


def _judge_lines() -> Iterator[str]:
    plan = plan_trials(CLEAN_REQUESTS, SEEDS)
    for name in ("varied", "required", "others"):
        trials = getattr(plan, name)
        yield f"{name}:"
        for trial in trials:
            yield f"    {trial}"
    yield f"{plan.trial_count} trials"


def _armed_lines() -> Iterator[str]:
    """Yield each fault at the first and at the last point of the plan that have it."""
    clean = sample_clean_run(sample_observation(requests=CLEAN_REQUESTS))
    world: Any = _WorldWithTokens()
    points: dict[tuple[str, str], list[FaultPoint]] = {}
    for point in plan_points(CLEAN_REQUESTS, faults=EVERY_FAULT).points:
        points.setdefault((point.fault, point.phase), []).append(point)
    for first, *others in points.values():
        for point in (first, *others[-1:]):
            fault = protected_fault(point, clean, world, None, LATE_MS)
            yield f"{point}: {json.dumps(fault)}"
            if point.lasting is not None:
                yield f"    {point.lasting.request_end}: {point.lasting.description}"


def _alteration_lines() -> Iterator[str]:
    for trial in plan_alterations(CLEAN_REQUESTS):
        alteration = alteration_of(trial, CLEAN_REQUESTS)
        verb = "allowed" if alteration.is_allowed else "not allowed"
        yield f"{trial}: {trial_description(trial)}"
        yield f"    {verb}: {json.dumps(alteration.fault)}"


def _accepted_lines() -> Iterator[str]:
    for row in EXCHANGES:
        trial = refused_request(EXCHANGES, place_of(row))
        if trial is not None:
            yield f"#{row.n}: {trial}: {json.dumps(trial.fault(CLEAN_REQUESTS))}"
    for text in ("accept/redeem_ticket#2", "accept/create_dev_access_ticket#1"):
        fault = AcceptedTrial.read(text).fault(CLEAN_REQUESTS)
        yield f"{text}: {json.dumps(fault)}"


def _condition_lines() -> Iterator[str]:
    """Yield the conditions of runs, and below them the trials or faults that have these conditions."""
    subjects: dict[str, list[str]] = {}
    for text in (
        "clean",
        "clean/scaled",
        "clean/base-path",
        "vary/1",
        "vary/2/extra-fields,page-size",
        "alter/list_deployments/2xx/status",
        "accept/redeem_ticket#1",
    ):
        subjects.setdefault(str(read_trial(text).conditions), []).append(text)
    for point in plan_points(CLEAN_REQUESTS, faults=EVERY_FAULT).points:
        faults = subjects.setdefault(str(FaultTrial(point).conditions), [])
        if point.fault not in faults:
            faults.append(point.fault)
    for conditions, names in subjects.items():
        yield conditions
        yield f"    {', '.join(names)}"
