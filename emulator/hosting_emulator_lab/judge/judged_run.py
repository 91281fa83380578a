"""A run that is compared with the clean run, and the checks that all kinds of verdicts share."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import (
    NULL_WORD,
    CleanRun,
    RunEnd,
    Verdict,
    comparable_line,
)
from hosting_emulator_lab.judge.state_differences import StateDifferences, state_differences

#: A verdict and the sentences that explain it.
ExplainedVerdict: TypeAlias = tuple[Verdict, list[str]]
NO_VALUE = (
    "it reports success without an API key's value: the response was lost, and a replay has null"
)


@dataclass
class ComparedRun:
    """A run that is compared with the clean run. `limit_s` is its time limit in real seconds."""

    end: RunEnd
    observation: Observation
    clean: CleanRun
    limit_s: float

    @property
    def lasted_s(self) -> float:
        """How long a run lasted that had to be stopped, in real seconds."""
        if self.end.sent_too_much:
            return round(self.end.duration_s, 1)
        return self.limit_s

    @cached_property
    def differences(self) -> StateDifferences:
        """The differences between the states after this run and after the clean run."""
        return state_differences(self.observation, self.clean)

    def prints_the_same(self) -> bool:
        """Return whether the run prints the same as the clean run, except for ids and numbers.

        Returns True if the output is unknown, because then no difference can be seen.
        """
        usual_end = self.clean.end
        if usual_end.printed_lines is None:
            return True
        return self.end.comparable_lines == usual_end.comparable_lines

    def omits_usual_line(self) -> bool:
        """Return whether the run does not print a line that the clean run prints.

        Lines are compared except for ids and numbers. Returns False if the output is unknown.
        """
        return bool(self.clean.end.lines_beyond(self.end))

    def lacks_value(self) -> bool:
        """Return whether the client never received the value of an API key that it requested.

        A client that reads its key from elsewhere, such as a file, requests no key and lacks no
        value. If fewer keys exist than after the clean run, the client lacks a key, not its value.
        """
        keys = self.observation.state["API key"].total()
        if keys < self.clean.observation.state["API key"].total():
            return False
        expected = min(self.clean.key_values, self.observation.requested_keys)
        return self.observation.key_values < expected

    def verdict_without_value(self) -> ExplainedVerdict:
        """Judge a run that succeeded although it lacks the value of an API key."""
        if _repeats_key_creation(self.clean.observation):
            return "unclear", [f"{NO_VALUE}; the clean run also asks for a replay"]
        call = _omitted_call(self.observation, self.clean.observation)
        if call:
            # The client cannot do without the value what it does with it in the clean run.
            return "unclear", [f"{NO_VALUE}; it sends fewer requests of {call} than the clean run"]
        if self.prints_the_same() or self._prints_null_as_value():
            return "blind success", [NO_VALUE]
        return "unclear", [f"{NO_VALUE}; its output differs from the clean run's"]

    def _prints_null_as_value(self) -> bool:
        """Return whether the run prints `null` in place of a value, and otherwise nothing new.

        Any other new line may say that the value is missing.
        """
        usual_lines = self.clean.end.printed_lines or ()
        usual_comparable_lines = {"", *self.clean.end.comparable_lines}
        new_lines = [
            line
            for line in self.end.printed_lines or ()
            if comparable_line(line) not in usual_comparable_lines
        ]
        return bool(new_lines) and all(
            any(_has_null_for_value(line, usual_line) for usual_line in usual_lines)
            for line in new_lines
        )


def _omitted_call(observation: Observation, clean_observation: Observation) -> str:
    """Return a call that a run makes less often than the clean run, or an empty string."""
    calls = Counter(exchange.call for exchange in observation.exchanges)
    usual_calls = Counter(exchange.call for exchange in clean_observation.exchanges)
    return next((call for call in usual_calls - calls if call), "")


def _repeats_key_creation(observation: Observation) -> bool:
    """Return whether a run repeats a request that creates an API key, although it received the response.

    A test of replays does so. It may accept any response without a value, and never need the value.
    """
    received_keys: set[str | None] = set()
    for request in observation.requests:
        if request.call != "create_user_api_key" or not request.exchange.is_received:
            continue
        if request.exchange.replayed and request.key in received_keys:
            return True
        received_keys.add(request.key)
    return False


def _has_null_for_value(line: str, usual_line: str) -> bool:
    """Return whether a line is the usual line with a word such as `null` in place of a part."""
    for match in NULL_WORD.finditer(line):
        before = line[: match.start()]
        after = line[match.end() :]
        has_value = len(usual_line) > len(before) + len(after)
        if has_value and usual_line.startswith(before) and usual_line.endswith(after):
            return True
    return False


@dataclass
class JudgedRun(ComparedRun):
    """A run at a point. `findings` are the conduct findings that the clean run does not have."""

    point: FaultPoint
    findings: Sequence[str]

    def breaks_rule(self, rule: str) -> bool:
        """Return whether the run breaks a rule of conduct that the clean run keeps."""
        return any(finding.startswith(f"{rule}:") for finding in self.findings)
