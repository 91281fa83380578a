"""Finds a client that ends silently, with exit code 0, where a failure interrupts its work.

Some programs end by themselves when nothing is left to wait for. If such a program misses the end of
a broken response, it does nothing more, prints nothing, and its exit code is 0.
"""

from __future__ import annotations

from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun, RunEnd


def early_end_text(
    point: FaultPoint, end: RunEnd, observation: Observation, clean: CleanRun
) -> str:
    """Describe how a run ended in the middle of its work, or return an empty string if it did not.

    The run must have met a wire fault. It ended early if its exit code is 0, the request that the
    fault met was its last request, the clean run does or prints more, and the run prints nothing that
    could be about the failure. If the output is unknown, the run counts as complete.
    """
    if end.hung or end.exit_code or clean.end.exit_code or not observation.exchanges:
        return ""
    if end.printed_lines is None or end.prints_new_words(clean.end):
        return ""
    count = sum(exchange.call == point.call for exchange in observation.exchanges)
    if observation.exchanges[-1].call != point.call or count != point.number:
        return ""
    missing = _missing_text(end, observation, clean)
    if not missing:
        return ""
    return f"it ends after {point.request} and prints no error, while the clean run {missing}"


def _missing_text(end: RunEnd, observation: Observation, clean: CleanRun) -> str:
    """Return what the clean run does after the last request of a run, or an empty string."""
    missing_count = len(clean.observation.exchanges) - len(observation.exchanges)
    if missing_count > 0:
        return f"sends {count_text(missing_count, 'more request')}"
    missing_lines = clean.end.lines_beyond(end)
    return f"prints {count_text(len(missing_lines), 'more line')}" if missing_lines else ""
