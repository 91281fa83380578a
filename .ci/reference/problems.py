"""The page of problem codes."""

from __future__ import annotations

from hosting_emulator.contract.problem_table import Problem
from hosting_emulator.contract.problems import PROBLEMS
from reference.markdown import codes, join, prose, table


def render() -> str:
    """Return the page without its title."""
    produced = sum(not problem.by_fault_only for problem in PROBLEMS.values())
    introduction = (
        f"The contract names {len(PROBLEMS)} problem codes. By default, the calls produce {produced} of "
        "them, and only faults produce the others: `hosting-emulator fault add abort code=CODE`. The "
        "`type` of a problem links to the running emulator's page about the code, under "
        "`/_emulator/docs/errors`."
    )
    rows = [
        [
            f"[`{problem.code}`](#{problem.code})",
            str(problem.status),
            "yes" if problem.retryable else "no",
            "faults only" if problem.by_fault_only else "calls",
        ]
        for problem in PROBLEMS.values()
    ]
    head = ["code", "status", "retryable", "comes from"]
    return join(introduction, table(head, rows), *(_section(each) for each in PROBLEMS.values()))


def _section(problem: Problem) -> str:
    source = "We chose the status, whether it is retryable, and the suggested action."
    if problem.specified:
        source = f"The contract states {codes(sorted(problem.specified))}. We chose the rest."
    retryable = "retryable" if problem.retryable else "not retryable"
    return join(
        f"## {problem.code}",
        f"**{problem.title}**: status {problem.status}, {retryable}. {source}",
        prose(problem.meaning),
        f"*When.* {prose(problem.when)}",
        f"*What a client should do.* {prose(problem.advice)}",
        f"*Suggested action.* {prose(problem.suggested_action)}",
    )
