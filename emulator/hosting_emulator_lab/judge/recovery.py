"""Decides whether a client overcame a failure: whether its requests succeed as they do in the clean run.

If such a run fails nevertheless, the client did not give up. A test that expects an exact number of
requests fails in this way.
"""

from __future__ import annotations

from collections import Counter

from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.run_observation import Observation
from hosting_emulator_lab.judge.run_results import CleanRun

_POLLING_CALL = "get_operation"


def has_recovered(observation: Observation, clean: CleanRun) -> bool:
    """Return whether a run's requests succeed at least as often as in the clean run, call by call.

    An operation may be polled less often, because a retry waits. It only has to be polled, and the
    last poll has to succeed. Responses that a fault damaged do not count as successes.
    """
    usual_counts = _count_successes(clean.observation)
    counts = _count_successes(observation)
    return all(counts[call] >= count for call, count in usual_counts.items())


def _count_successes(observation: Observation) -> Counter[str]:
    """Return the number of successful requests to each call. Count polls of one operation as one."""
    counts: Counter[str] = Counter()
    last_polls: dict[tuple[int, str], NumberedRequest] = {}
    for request in observation.requests:
        if request.call == _POLLING_CALL:
            last_polls[request.exchange.chapter, request.exchange.path] = request
        elif _is_success(request):
            counts[request.call] += 1
    counts[_POLLING_CALL] = sum(map(_is_success, last_polls.values()))
    return counts


def _is_success(request: NumberedRequest) -> bool:
    return request.succeeded and request.exchange.is_received
