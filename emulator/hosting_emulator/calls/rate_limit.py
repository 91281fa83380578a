"""The rate limit: requests of a person are counted in fixed windows of world time."""

from __future__ import annotations

from hosting_emulator.contract.assumptions import parse_rate_limit
from hosting_emulator.contract.problems import Refused
from hosting_emulator.world.records import RateWindow
from hosting_emulator.world.tables import RATE_WINDOWS
from hosting_emulator.world.value import Change

#: The longest wait that can be said (contract, Errors: `retry_after_seconds`).
_LONGEST_WAIT_S = 86_400


def count_request(change: Change, person_id: str) -> None:
    """Count a request, if there is a limit. Raises Refused `rate_limited` when it is one too many."""
    limit = parse_rate_limit(change.assumptions.rate_limit)
    if limit is None:
        return
    most, window_ms = limit
    window, now_ms = change.get(RATE_WINDOWS, person_id), change.now_ms
    if window is None or not 0 <= now_ms - window.began_ms < window_ms:
        window = RateWindow(now_ms, 0)
    if window.count >= most:
        seconds = -(-(window.began_ms + window_ms - now_ms) // 1000)
        raise Refused(
            change.assumptions.code_of("rate_exceeded"),
            f"More than {most} requests in {window_ms // 1000} seconds.",
            retry_after_seconds=max(1, min(_LONGEST_WAIT_S, seconds)),
        )
    change.put(RATE_WINDOWS, person_id, RateWindow(window.began_ms, window.count + 1))
