"""The contract's tables of calls and problems as JSON."""

from __future__ import annotations

from hosting_emulator.contract.call_table import describe_calls
from hosting_emulator.contract.problem_table import Problem
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.engine.engine import Engine
from hosting_emulator.messages import CallRow, ProblemRow


def calls(engine: Engine) -> list[CallRow]:
    """List the calls of the public API under the default world's assumptions."""
    return [CallRow(**row) for row in describe_calls(engine.world.assumptions)]


def problems() -> list[ProblemRow]:
    """List the problem codes of the public API."""
    return [_problem_row(problem) for problem in PROBLEMS.values()]


def _problem_row(problem: Problem) -> ProblemRow:
    return ProblemRow(
        code=problem.code,
        status=problem.status,
        retryable=problem.retryable,
        title=problem.title,
        suggested_action=problem.suggested_action,
        meaning=problem.meaning,
        when=problem.when,
        advice=problem.advice,
        specified=sorted(problem.specified),
    )
