"""Requests, worlds and results, as a run would have them."""

from __future__ import annotations

from collections import Counter
from typing import Any, cast

from hosting_emulator.contract.calls import ALL_CALLS as CALLS
from hosting_emulator.sdk import Exchange
from hosting_emulator_lab.explore.plan import KINDS, FaultPoint, NumberedRequest, number, plan
from hosting_emulator_lab.explore.report import Exploration, page
from hosting_emulator_lab.explore.runs import (
    CleanRun,
    Observation,
    PointResult,
    RunEnd,
    State,
    summary,
)

PROJECT = "01JGFJJZ00TGEYDG0VT5J9EZXF"


def exchange(call: str | None, status: int = 200, path: str = "", **over: Any) -> Exchange:
    """A line of the request log."""
    found: dict[str, Any] = {
        "n": 1,
        "at": "2026-01-01T00:00:00.000Z",
        "method": CALLS[call].method if call in CALLS else "GET",
        "path": path or f"/v1/{call}",
        "query": "",
        "call": call,
        "project": None,
        "operation": None,
        "principal": "01JGFJJZ001D5ZBWRDNQGNYAXZ",
        "who": "owner",
        "status": status,
        "code": None,
        "idempotency_key": None,
        "replayed": False,
        "lost": None,
        "why": [],
        "duration_us": 1.0,
    }
    return cast("Exchange", {**found, **over})


def requests(*calls: str) -> tuple[NumberedRequest, ...]:
    """Requests of calls that all succeeded."""
    return number(exchange(call, n=n) for n, call in enumerate(calls, 1))


def state(**tables: dict[str, Any]) -> dict[str, Counter[str]]:
    """The summary of a world of two projects, with more rows in some tables."""
    document = {
        "organizations": {"O": {"alias": "acme"}},
        "users": {"P": {"alias": "owner"}},
        "projects": {"S": {"alias": "shop", "flag_enabled": True}, "N": {"alias": "notes"}},
        **tables,
    }
    return summary({"tables": document})


def key(name: str) -> dict[str, Any]:
    """An API key's row."""
    return {"name": name, "user_id": "P", "organization_id": "O"}


def operation(state: str, **more: Any) -> dict[str, Any]:
    """An operation's row."""
    return {"kind": "apply_project_domains", "project_id": "S", "state": state, **more}


def clean(seen: Observation | None = None, again: State | None = None) -> CleanRun:
    """A clean run that makes one API key."""
    made = seen or Observation(
        requests("create_user_api_key"), state(user_api_keys={"1": key("ci")})
    )
    second = made.state if again is None else again
    return CleanRun(state(), made, RunEnd(0), second, values=made.values)


def result(text: str, **over: Any) -> PointResult:
    """A result of a point."""
    found: dict[str, Any] = {"verdict": "survived", "says": (), "exit_code": 0, "duration_s": 0.25}
    return PointResult(point=FaultPoint.read(text), **{**found, **over})


def exploration(*results: PointResult, **over: Any) -> Exploration:
    """An exploration of one key's creation by timeouts and connection resets."""
    made = clean()
    planned = plan(made.seen.requests, faults=["timeout", "connection_reset"])
    found: dict[str, Any] = {
        "subject": "./deploy.sh",
        "clean": made,
        "plan": planned,
        "results": results,
        "repeat": lambda point: f"hosting-emulator explore --point '{point}' -- ./deploy.sh",
    }
    return Exploration(**{**found, **over})


def page_with_long_results() -> str:
    """Return the HTML report of every fault at every call, with a long name and a long line in it."""
    planned = plan(requests(*reversed(CALLS)), faults=["abort:api_key_creation_uncertain", *KINDS])
    findings = ("retried-too-soon: Retried too soon",)
    longest = max(planned.points, key=lambda point: len(str(point)))
    results = [
        result(str(point), conduct=findings if point == longest else ()) for point in planned.points
    ]
    results[-1] = result(str(planned.points[-1]), verdict="failed", output=("/deep" * 60,))
    return page(exploration(*results, plan=planned))
