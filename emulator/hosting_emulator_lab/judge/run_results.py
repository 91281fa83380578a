"""The end of a run, the clean run, and the verdicts."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple, Self, TypeAlias

from hosting_emulator_lab.judge.client_behavior import ClientBehavior
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.suite_output import is_test_suite
from hosting_emulator_lab.judge.world_summary import StateRows

Verdict: TypeAlias = Literal[
    "survived",
    "gave up",
    "waits",
    "not reached",
    "unclear",
    "failed",
    "hung",
    "doubled",
    "differs",
    "blind success",
    "crashed",
    "repeated",
    "misbehaved",
]
#: The effect of conduct findings: they are ignored, they are reported and only errors count, or all
#: of them count.
ConductChoice: TypeAlias = Literal["off", "report", "error"]


class VerdictMeaning(NamedTuple):
    """A verdict's mark in a matrix, its color in a terminal, and its explanation."""

    mark: str
    color: str
    text: str


VERDICT_MEANINGS: Mapping[Verdict, VerdictMeaning] = {
    "survived": VerdictMeaning("+", "green", "same end and same state as the clean run"),
    "gave up": VerdictMeaning(
        ".",
        "green",
        "the request could not succeed, so the client rightly ended with a different exit code",
    ),
    "waits": VerdictMeaning(
        "w",
        "dim",
        "an operation never ended, and the client was still polling, with long pauses, at the limit",
    ),
    "not reached": VerdictMeaning(
        "?", "dim", "the fault hit no request, because the client sent different requests"
    ),
    "unclear": VerdictMeaning(
        "~",
        "magenta",
        "only the client's output can show whether it noticed the failure: read the output",
    ),
    "failed": VerdictMeaning("F", "red", "the client ended with a different exit code"),
    "hung": VerdictMeaning("H", "red", "the client did not end within the time limit"),
    "doubled": VerdictMeaning(
        "2",
        "red",
        "the client succeeded, but made a change more often than in the clean run",
    ),
    "differs": VerdictMeaning(
        "D", "yellow", "the client succeeded, but the result differs from the clean run's"
    ),
    "blind success": VerdictMeaning(
        "B",
        "red",
        "the client reported success, although the response said that the request failed",
    ),
    "crashed": VerdictMeaning(
        "X", "red", "a signal killed the client after a response that the contract allows"
    ),
    "repeated": VerdictMeaning(
        "R", "yellow", "the client retried although this could not help, or without a pause"
    ),
    "misbehaved": VerdictMeaning(
        "M",
        "yellow",
        "the exit code was right, but the client broke rules of conduct that it follows in the clean run",
    ),
}
#: The verdicts that find no mistake in the client.
FINE_VERDICTS = tuple(
    verdict for verdict, meaning in VERDICT_MEANINGS.items() if meaning.color in ("green", "dim")
)
#: The verdicts that prove nothing about the client.
UNDECIDED_VERDICTS: tuple[Verdict, ...] = ("not reached", "unclear")

#: Matches a word that stands for a missing value in the output of a program.
NULL_WORD = re.compile(r"\b(?:null|None|nil|undefined)\b")
#: The parts of a printed line that differ by chance between runs, or that stand for a missing
#: value.
_CHANGING_PART = re.compile(rf"\b[\w:.-]*\d[\w:.-]*|{NULL_WORD.pattern}|…")


def comparable_line(line: str) -> str:
    """Return a printed line without numbers, ids, times, secrets, and words such as `null`."""
    return " ".join(_CHANGING_PART.sub("", line).split())


@dataclass(frozen=True, slots=True)
class RunEnd:
    """How a run ended.

    `hung` means that the run had to be stopped. `duration_s` is in real seconds. `output` contains
    the last lines that the run printed. `printed_lines` contains all lines, or is None if they are
    unknown. `failure_text` describes a failure that has no exit code, such as the failure of a
    test. `varied` contains the variation points at which responses varied. `cpu_s` is the processor
    time that the run used, in seconds, or 0 if it is unknown. `prints_token` means that the output
    contains the client's token. `pid` is the process id of the command, or 0 if it is unknown.
    `sent_too_much` means that the run was stopped before its time limit, because it sent too many
    requests.
    """

    exit_code: int
    hung: bool = False
    duration_s: float = 0.0
    output: tuple[str, ...] = ()
    failure_text: str = ""
    printed_lines: tuple[str, ...] | None = None
    varied: tuple[str, ...] = ()
    cpu_s: float = 0.0
    prints_token: bool = False
    pid: int = 0
    sent_too_much: bool = False

    @property
    def comparable_lines(self) -> list[str]:
        """The printed lines without numbers, ids, times, secrets, and words such as `null`."""
        lines = [comparable_line(line) for line in self.printed_lines or ()]
        return [line for line in lines if line]

    def prints_new_words(self, usual: RunEnd) -> bool:
        """Return whether a line is none of the usual run's lines, apart from numbers and ids."""
        return bool(self.lines_beyond(usual))

    def lines_beyond(self, other: RunEnd) -> list[str]:
        """Return the comparable lines that the other run does not print."""
        other_lines = set(other.comparable_lines)
        return [line for line in self.comparable_lines if line not in other_lines]


def behavior_of(end: RunEnd, observation: Observation) -> ClientBehavior:
    """Return what a client did in a run."""
    return ClientBehavior(end.exit_code, end.hung, observation.sent, end.printed_lines)


@dataclass(frozen=True, slots=True)
class CleanRun:
    """The clean run, which was made twice without a fault.

    `start` is the state before the run. `observation` and `end` belong to the first of the two
    runs, and `second_state` is the state after the second. `same_keys` are the requests that had
    the same Idempotency-Key in both runs. `key_values` is the number of API keys whose value the
    client received in both runs, or the lower number if they differ. `behaviors` describes the
    behavior of the client in the two runs. `is_suite` says whether the command is a test suite.
    """

    start: StateRows
    observation: Observation
    end: RunEnd
    second_state: StateRows
    same_keys: tuple[str, ...] = ()
    key_values: int = 0
    behaviors: tuple[ClientBehavior, ...] = ()
    is_suite: bool = False

    @classmethod
    def of_two_runs(
        cls,
        start: StateRows,
        first: tuple[RunEnd, Observation],
        second: tuple[RunEnd, Observation],
    ) -> Self:
        """Combine two runs into the clean run. `start` is the state before the first run."""
        first_end, first_observation = first
        second_end, second_observation = second
        printed_lines = None
        if first_end.comparable_lines == second_end.comparable_lines:
            printed_lines = first_end.printed_lines
        # Use the shorter duration, because the first run may have to start or build something that
        # the second run uses.
        duration_s = min(first_end.duration_s, second_end.duration_s)
        second_keys = {request.name: request.key for request in second_observation.requests}
        return cls(
            start,
            first_observation,
            RunEnd(
                0,
                duration_s=duration_s,
                printed_lines=printed_lines,
                cpu_s=min(first_end.cpu_s, second_end.cpu_s),
            ),
            second_observation.state,
            same_keys=tuple(
                request.name
                for request in first_observation.requests
                if request.key and request.key == second_keys.get(request.name)
            ),
            key_values=min(first_observation.key_values, second_observation.key_values),
            behaviors=(
                behavior_of(first_end, first_observation),
                behavior_of(second_end, second_observation),
            ),
            is_suite=is_test_suite(first_end.printed_lines or ()),
        )

    @property
    def varying_kinds(self) -> list[str]:
        """The kinds of rows that differ between the two clean runs."""
        return [
            kind for kind, rows in self.observation.state.items() if self.second_state[kind] != rows
        ]


class CleanRunFailed(Exception):
    """A run without a fault did not succeed. `is_second` means that it was the second clean run."""

    def __init__(self, end: RunEnd, limit_s: float, *, is_second: bool) -> None:
        message = f"ended with {end.exit_code}"
        if end.hung:
            message = f"did not end within {limit_s:g} s"
        super().__init__(message)
        self.end = end
        self.is_second = is_second
