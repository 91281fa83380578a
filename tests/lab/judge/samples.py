"""Sample requests, states, runs, results and explorations."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator.contract.calls import CALLS as CONTRACT_CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator_lab.judge.client_requests import (
    NumberedRequest,
    ObservedExchange,
    number_requests,
)
from hosting_emulator_lab.judge.exploration import Exploration
from hosting_emulator_lab.judge.exploration_page import exploration_page
from hosting_emulator_lab.judge.fault_points import KINDS, FaultPoint
from hosting_emulator_lab.judge.point_plan import plan_points
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trials import FaultTrial
from hosting_emulator_lab.judge.world_summary import StateRows, summarize
from tests.support.sample_coverage import NO_COVERAGE


def coverage_line(calls: int, kinds: int, codes: int) -> str:
    """Return the line of a text report with the parts of the contract that were covered."""
    return (
        f"Met: calls {calls} of {len(CONTRACT_CALLS)}, fault kinds {kinds} of {len(KINDS)}, "
        f"problem codes {codes} of {len(PROBLEMS)}."
    )


KEY = "create_user_api_key#1"


def exchange(
    call: str | None, status: int = 200, path: str = "", **overrides: Any
) -> ObservedExchange:
    """Return a row of the request log."""
    fields: dict[str, Any] = {
        "n": 1,
        "at": "2026-01-01T00:00:00.000Z",
        "method": CALLS[call].method if call in CALLS else "GET",
        "path": path or f"/v1/{call}",
        "query": "",
        "call": call,
        "project": None,
        "operation": None,
        "user_id": "01JGFJJZ001D5ZBWRDNQGNYAXZ",
        "user": "owner",
        "status": status,
        "code": None,
        "idempotency_key": None,
        "replayed": False,
        "lost": None,
        "why": (),
        "varied": [],
        "duration_us": 1.0,
        "in_progress": False,
    }
    return ObservedExchange(**{**fields, **overrides})


def requests(*calls: str) -> tuple[NumberedRequest, ...]:
    """Return successful requests of these calls."""
    return number_requests(exchange(call, n=n) for n, call in enumerate(calls, 1))


def keyed_requests(call: str, *keys: str) -> tuple[NumberedRequest, ...]:
    """Return successful requests of one call, one with each of these keys."""
    return number_requests(
        exchange(call, idempotency_key=key, n=n) for n, key in enumerate(keys, 1)
    )


def state(**tables: dict[str, Any]) -> dict[str, Counter[str]]:
    """Return the summary of a world with two projects and the given rows."""
    document = {
        "organizations": {"O": {"alias": "acme"}},
        "users": {"P": {"alias": "owner"}},
        "projects": {"S": {"alias": "shop", "flag_enabled": True}, "N": {"alias": "notes"}},
        **tables,
    }
    return summarize({"tables": document})


def key_row(name: str) -> dict[str, Any]:
    """Return the row of an API key."""
    return {"name": name, "user_id": "P", "organization_id": "O"}


def operation_row(state: str, **fields: Any) -> dict[str, Any]:
    """Return the row of an operation."""
    return {"kind": "apply_project_domains", "project_id": "S", "state": state, **fields}


def observed(
    requests: tuple[NumberedRequest, ...], state: StateRows, **overrides: Any
) -> Observation:
    """Return the observation of a run in which nothing else happened, except for the given facts."""
    fields: dict[str, Any] = {
        "exchanges": tuple(request.exchange for request in requests),
        "codes": frozenset(),
        "hit": False,
        "late": False,
        "conduct": (),
        "conduct_errors": (),
        "request_count": 0,
        "refusals_in_a_row": 0,
        "is_last_refused": False,
        "key_values": 0,
        "requested_keys": 0,
        "lost_keys": 0,
        "null_urls": frozenset(),
        "failed_operations": Counter(),
        "world_time_s": 0.0,
        "fast_attempts": (),
        "coverage": NO_COVERAGE,
        "sent": (),
    }
    return Observation(requests=requests, state=state, **{**fields, **overrides})


def sample_observation(**overrides: Any) -> Observation:
    """Return the observation of a run that creates one API key."""
    rows = state(user_api_keys={"1": key_row("ci")})
    made = overrides.pop("requests", requests("create_user_api_key"))
    return replace(observed(made, rows), **overrides)


def sample_clean_run(
    observation: Observation | None = None, second_state: StateRows | None = None
) -> CleanRun:
    """Return a clean run, which leaves the same state the second time by default."""
    if observation is None:
        observation = sample_observation()
    if second_state is None:
        second_state = observation.state
    return CleanRun(
        state(), observation, RunEnd(0), second_state, key_values=observation.key_values
    )


def result(text: str, **overrides: Any) -> TrialResult:
    """Return the result of a point, which the client survived by default."""
    fields: dict[str, Any] = {
        "verdict": "survived",
        "reasons": (),
        "exit_code": 0,
        "duration_s": 0.25,
    }
    return TrialResult(trial=FaultTrial(FaultPoint.read(text)), **{**fields, **overrides})


MIXED_RESULTS = (
    result(
        f"{KEY}/timeout/after_commit",
        verdict="doubled",
        reasons=("one key too many",),
        output=("<Done> & done",),
        causes=("done-twice",),
    ),
    result(f"{KEY}/connection_reset/after_commit", codes=("service_unavailable",)),
    result(f"{KEY}/timeout/before_commit", verdict="not reached", hit=False),
)


def sample_exploration(*results: TrialResult, **overrides: Any) -> Exploration:
    """Return an exploration of the creation of a key with timeouts and connection resets."""
    clean_run = sample_clean_run()
    run_plan = plan_points(clean_run.observation.requests, faults=["timeout", "connection_reset"])
    fields: dict[str, Any] = {
        "subject": "./deploy.sh",
        "clean_run": clean_run,
        "plan": run_plan,
        "results": results,
        "repeat_command": lambda point: (
            f"hosting-emulator explore --trial '{point}' -- ./deploy.sh"
        ),
    }
    return Exploration(**{**fields, **overrides})


def mixed_exploration() -> Exploration:
    """Return an exploration that was interrupted after three of its four points."""
    return sample_exploration(*MIXED_RESULTS, stop_reason="interrupted")


def page_with_long_results() -> str:
    """Return the HTML report of every fault at every call, with a long name and a long line in it."""
    run_plan = plan_points(
        requests(*reversed(CALLS)), faults=["abort:api_key_creation_uncertain", *KINDS]
    )
    findings = ("retried-too-soon: Retried too soon",)
    longest = max(run_plan.points, key=lambda point: len(str(point)))
    results = [
        result(str(point), conduct=findings if point == longest else ())
        for point in run_plan.points
    ]
    results[-1] = result(str(run_plan.points[-1]), verdict="failed", output=("/deep" * 60,))
    return exploration_page(sample_exploration(*results, plan=run_plan))
