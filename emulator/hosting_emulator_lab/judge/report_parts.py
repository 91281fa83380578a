"""What the reports of judge and explore have in common, so that they show the same things alike."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hosting_emulator import junit
from hosting_emulator.sdk import JsonObject
from hosting_emulator.sdk.text import paint
from hosting_emulator_lab.judge.run_results import Verdict
from hosting_emulator_lab.judge.trial_texts import trial_description
from hosting_emulator_lab.judge.trials import read_trial

#: The colors of a result in a terminal, by exit code.
RESULT_COLORS = {0: "green", 1: "red", 2: "magenta"}
#: The maximum number of characters of a printed output line.
_LONGEST_LINE = 160


def evidence_document(
    trial: str, verdict: Verdict | None, message: str, output: Sequence[str]
) -> JsonObject:
    """Return the JSON members that describe what a trial showed.

    `verdict` is None if the trial showed it in another way, such as by a broken rule of conduct.
    """
    return {
        "trial": trial,
        "description": trial_description(read_trial(trial)),
        "verdict": verdict,
        "message": message,
        "output": list(output),
    }


def output_lines(output: Sequence[str], indent: str) -> Iterator[str]:
    """Yield the lines of a client's output for a terminal, shortened and marked."""
    for line in output:
        yield paint("dim", f"{indent}| {line[:_LONGEST_LINE]}")


def whole_command_case(undecided_reason: str) -> Any:
    """Return the JUnit case that tells whether anything was proven about the whole command.

    The case is an error if there is a reason why nothing was proven.
    """
    error = None
    if undecided_reason:
        error = junit.element("error", message=undecided_reason)
    return junit.case("whole command", "judged", error, time="0")
