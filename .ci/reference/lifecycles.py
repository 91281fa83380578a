"""The page of lifecycles: the steps of operations, and the state transitions of every resource."""

from __future__ import annotations

from collections.abc import Sequence

from hosting_emulator.contract.assumption_values import parse_profile
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.durations import format_duration
from hosting_emulator.world.lifecycles import DATABASE, LIFECYCLES, Lifecycle
from hosting_emulator.world.plans import DEPLOYING_PLAN, PLAIN_PLAN, Step
from reference.markdown import code, codes, join, table

INTRODUCTION = """\
The contract names most of these states, but gives no durations and few transitions. This page shows
what the emulator does with the default [assumptions](assumptions.md). Durations are in world time. An
[intervention](interventions.md) can put a resource into another state, and an [outcome](outcomes.md)
can change how an operation ends."""
SOURCE = """\
`initialize_managed_source` starts an operation with these steps. The last column shows the status of
the deployment that the operation creates. `source_profile` sets the durations:"""
DOMAINS = """\
`apply_project_domains` starts an operation with these steps. `domains_profile` sets the durations:"""
UNENFORCED = """\
The emulator does not enforce these transitions: `intervene set_database` can set any state."""


def render() -> str:
    """Return the page without its title."""
    return join(
        INTRODUCTION,
        "## Steps of an operation",
        SOURCE,
        _steps(DEPLOYING_PLAN, DEFAULTS.source_profile, with_deployment=True),
        DOMAINS,
        _steps(PLAIN_PLAN, DEFAULTS.domains_profile, with_deployment=False),
        *(_transitions(lifecycle) for lifecycle in LIFECYCLES),
    )


def _steps(plan: Sequence[Step], profile: str, *, with_deployment: bool) -> str:
    head = ["state", "`progress.phase`", "duration"]
    if with_deployment:
        head.append("deployment")
    rows = []
    for step in plan:
        row = [code(step.state), code(step.phase), _duration(step, profile)]
        if with_deployment:
            row.append(code(step.deployment))
        rows.append(row)
    return table(head, rows)


def _duration(step: Step, profile: str) -> str:
    _, queued_ms, running_ms = parse_profile(profile)
    if step.state == "queued":
        return format_duration(queued_ms)
    if step.state == "running":
        return format_duration(int(step.share * running_ms))
    return "final"


def _transitions(lifecycle: Lifecycle) -> str:
    rows = [
        [code(state), codes(sorted(following)) or "none: this state is final"]
        for state, following in lifecycle.transitions.items()
    ]
    heading = f"{lifecycle.name[0].upper()}{lifecycle.name[1:]}"
    note = UNENFORCED if lifecycle is DATABASE else ""
    return join(f"## {heading}", note, table(["state", "can become"], rows))
