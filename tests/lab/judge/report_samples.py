"""Sample judgments and explorations whose whole reports are golden files. Each shows many things at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from hosting_emulator.sdk import ConductFinding
from hosting_emulator_lab.judge.alteration_trials import AlteredTrial
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.causes import ClientCause, Symptom, rule_cause
from hosting_emulator_lab.judge.client_behavior import Effect
from hosting_emulator_lab.judge.client_requests import number_requests
from hosting_emulator_lab.judge.dependencies import ClientDependencies, PartEffect
from hosting_emulator_lab.judge.exploration import Exploration
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.judgment import Judgment
from hosting_emulator_lab.judge.point_plan import plan_points
from hosting_emulator_lab.judge.run_results import RunEnd
from hosting_emulator_lab.judge.symptoms import finding_symptom
from hosting_emulator_lab.judge.trials import read_trial
from tests.lab.judge.samples import (
    exchange,
    key_row,
    result,
    sample_clean_run,
    sample_observation,
    state,
)
from tests.support.sample_coverage import NO_COVERAGE, SAMPLE_COVERAGE

KEY = "create_user_api_key#1"
DOMAINS = "apply_project_domains#1"
FINDING = ConductFinding(
    rule="retried-too-soon",
    severity="error",
    title="Retried too soon",
    message="retried after 0 s, although Retry-After was 5",
    requests=[3, 4],
    more_requests=2,
    at="2026-01-01T00:00:00.000Z",
    because="retry_after_seconds <= 5",
    place="contract, section Problem",
    matters="The service is busy.",
    instead="Wait for as long as `Retry-After` says.",
)
TRACEBACK = (
    "Traceback (most recent call last):",
    '  File "deploy.py", line 7, in <module>',
    "    main()",
    '  File "deploy.py", line 5, in main',
    f"    send('{'x' * 200}')",
    "    raise NoResponse(request)",
    "NoResponse: <timed out> & gone",
)


def repeat_trial(trial: str) -> str:
    """Return the command line that makes a trial again."""
    return f"hosting-emulator judge --trial '{trial}' -- ./deploy.sh"


# --- Judgments ------------------------------------------------------------------------------------


def part_effect(text: str, effect: Effect, *, is_allowed: bool = False) -> PartEffect:
    """Return the effect of an altered part."""
    return PartEffect(AlteredTrial.read(f"alter/{text}"), effect, is_allowed)


DEPENDENCIES = ClientDependencies(
    effects=[
        part_effect("list_deployments/2xx/reorder:/items", "depends", is_allowed=True),
        part_effect("list_deployments/2xx/remove:/items/*/id", "depends"),
        part_effect("list_deployments/2xx/remove:/items/*/url", "depends", is_allowed=True),
        part_effect("list_deployments/2xx/remove:/items/*/created_at", "shows", is_allowed=True),
        part_effect("create_user_api_key/2xx/status", "ignores", is_allowed=True),
        part_effect("set_project_powered_by_flag/2xx/set:/enabled", "depends", is_allowed=True),
    ],
    not_tried=[
        AlteredTrial.read("alter/create_user_api_key/2xx/remove:/name"),
        AlteredTrial.read("alter/list_deployments/2xx/header:Content-Type"),
    ],
)


def judgment(*causes: ClientCause, **fields: Any) -> Judgment:
    """Return a judgment of a client with eighty trials, which were all made by default."""
    values: dict[str, Any] = {
        "command": "./deploy.sh --shop 'a & b'",
        "request_count": 6,
        "clean_s": 0.51234,
        "run_count": 1090,
        "duration_s": 31.41592,
        "causes": causes,
        "planned": 80,
        "tried": 80,
        "not_tried": [],
        "needed_s": 60,
        "unproven": [],
        "remarks": [],
        "coverage": NO_COVERAGE,
    }
    return Judgment(**{**values, **fields})


def judgment_with_causes() -> Judgment:
    """Return a judgment that finds causes of each severity, with all that reports say about a cause."""
    tests = tuple(f"test_deploy.py::test_{name}" for name in ("add", "get", "put", "end"))
    lost = f"{KEY}/connection_reset/after_commit"
    doubled = "doubled: 2 API keys, while the clean run makes 1"
    symptoms = (
        Symptom(lost, doubled, TRACEBACK, KEY, tests, "doubled"),
        Symptom(f"{DOMAINS}/truncate/after_commit", doubled, (), DOMAINS, (), "doubled"),
        Symptom(f"{KEY}/timeout/after_commit", "seen again", ("bye",), KEY, tests[:1], "doubled"),
        Symptom("vary/1/page-size", "a third message.", (), "", tests[:3], "differs"),
        Symptom("vary/2", "a fourth message", (), "", (), "differs"),
    )
    impatient = CAUSE_TEXTS["gives-up-at-passing-failure"]
    return judgment(
        ClientCause(CAUSE_TEXTS["done-twice"], symptoms),
        ClientCause(rule_cause(FINDING), (finding_symptom("clean/scaled", FINDING),)),
        ClientCause(impatient, (Symptom("clean/base-path", "failed"),), seen_alone=False),
        ClientCause(CAUSE_TEXTS["may-hide-failure"], (Symptom("clean", "unclear: perhaps"),)),
        tried=78,
        not_tried=[read_trial("vary/3"), read_trial(f"{KEY}/latency/before_commit")],
        needed_s=90,
        remarks=["A remark about <this> judgment."],
        dependencies=DEPENDENCIES,
        coverage=SAMPLE_COVERAGE,
    )


def judgment_of_survivor() -> Judgment:
    """Return a judgment that finds only a note."""
    note = ClientCause(CAUSE_TEXTS["still-polling"], (Symptom("vary/1", "hung: perhaps"),))
    return judgment(note, planned=1, tried=1, request_count=1, run_count=1)


def open_judgment() -> Judgment:
    """Return a judgment that proves nothing about a client without requests."""
    return judgment(
        tried=79,
        not_tried=[read_trial("vary/3")],
        request_count=0,
        needed_s=70,
        unproven=["There was no time for 3 pairs of a call & a kind of failure.", "No luck."],
    )


def judgment_with_warnings() -> Judgment:
    """Return a judgment in which warnings do not count, and one cause does."""
    warning = ClientCause(CAUSE_TEXTS["crashes"], (Symptom("vary/1", "crashed: exit code 139"),))
    error = ClientCause(CAUSE_TEXTS["done-twice"], (Symptom("vary/2", "doubled: 2 API keys"),))
    return judgment(error, warning, severity="error")


JUDGMENTS: dict[str, Callable[[], Judgment]] = {
    "judgment_with_causes.txt": judgment_with_causes,
    "judgment_of_survivor.txt": judgment_of_survivor,
    "open_judgment.txt": open_judgment,
    "judgment_of_errors_only.txt": judgment_with_warnings,
}


# --- Explorations ---------------------------------------------------------------------------------


def exploration(*results: Any, **fields: Any) -> Exploration:
    """Return an exploration of a command."""
    values: dict[str, Any] = {
        "subject": "./deploy.sh --shop 'a & b'",
        "results": results,
        "repeat_command": repeat_point,
    }
    return Exploration(**{**values, **fields})


def repeat_point(point: FaultPoint) -> str:
    """Return the command line that runs a point again."""
    return f"hosting-emulator explore --trial '{point}' -- ./deploy.sh"


def exploration_with_failures() -> Exploration:
    """Return an interrupted exploration with most verdicts and notes."""
    requests = number_requests(
        [
            exchange("create_user_api_key", 201, n=1, idempotency_key="k-1"),
            exchange("list_deployments", n=2),
            exchange("list_deployments", 404, n=3, code="resource_not_found"),
            exchange("apply_project_domains", 202, n=4),
        ]
    )
    findings = ("polled-too-early: Polled too early", "secret-in-url: A token in a URL")
    observation = sample_observation(
        requests=requests,
        conduct=findings,
        conduct_errors=findings,
        codes=frozenset(["resource_not_found"]),
    )
    other_state = state(user_api_keys={"1": key_row("other")})
    clean_run = replace(
        sample_clean_run(observation, other_state),
        end=RunEnd(0, duration_s=1.23456),
        same_keys=(KEY,),
    )
    faults = ["timeout", "connection_reset", "rate_limit", "abort:service_unavailable"]
    plan = plan_points(requests, faults=[*faults, "value_lost", "stick"], max_runs=22)
    rude = ("retried-too-soon: Retried too soon",)
    doubled: dict[str, Any] = {
        "verdict": "doubled",
        "reasons": ("one key too many",),
        "causes": ("done-twice",),
    }
    return exploration(
        result(f"{KEY}/timeout/after_commit", **doubled, output=TRACEBACK),
        result(f"{KEY}/connection_reset/after_commit", **doubled, output=TRACEBACK),
        result(f"{KEY}/rate_limit/before_commit", conduct=rude, codes=("rate_limited",)),
        result(f"{KEY}/value_lost/lasting", verdict="unclear", output=("KEY=None",)),
        result(
            "list_deployments#1/timeout/before_commit",
            verdict="failed",
            reasons=("exit code 1", "no retry"),
            output=("a different line", *TRACEBACK[1:]),
            exit_code=1,
            conduct=rude,
            causes=("gives-up-at-passing-failure", "retries-without-pause"),
        ),
        result(
            "list_deployments#2/timeout/before_commit",
            verdict="failed",
            output=("yet another line", *TRACEBACK[1:]),
            exit_code=1,
        ),
        result(f"{DOMAINS}/timeout/before_commit", verdict="not reached", hit=False),
        result(f"{DOMAINS}/stick/lasting", verdict="waits"),
        result(
            f"{DOMAINS}/connection_reset/before_commit",
            reasons=("once: hung",),
            conduct=(*rude, findings[0]),
        ),
        clean_run=clean_run,
        plan=plan,
        stop_reason="interrupted",
        repeat_clean_command="hosting-emulator exec --conduct -- ./deploy.sh",
        remarks=["A remark about <this> exploration."],
    )


def exploration_of_survivor() -> Exploration:
    """Return an exploration of a client that survived its only point."""
    clean_run = sample_clean_run()
    plan = plan_points(clean_run.observation.requests, faults=["rate_limit"])
    return exploration(result(f"{KEY}/rate_limit/before_commit"), clean_run=clean_run, plan=plan)


def open_exploration() -> Exploration:
    """Return an exploration in which a lasting fault is unclear. No command repeats its clean run."""
    findings = ("polled-too-early: Polled too early",)
    clean_run = sample_clean_run(sample_observation(conduct=findings))
    plan = plan_points(clean_run.observation.requests, faults=["value_lost"])
    unclear = result(f"{KEY}/value_lost/lasting", verdict="unclear", reasons=("read it",))
    return exploration(unclear, clean_run=clean_run, plan=plan)


EXPLORATIONS: dict[str, Callable[[], Exploration]] = {
    "exploration_with_failures.txt": exploration_with_failures,
    "exploration_of_survivor.txt": exploration_of_survivor,
    "open_exploration.txt": open_exploration,
}
