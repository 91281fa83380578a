"""The rate limit: how many requests one principal may make in a window of world time."""

from __future__ import annotations

from hosting_emulator.contract.assumptions import parse_rate_limit
from hosting_emulator.contract.problems import Refused

_MOST_PRINCIPALS = 10_000


class RateLimiter:
    """Counts requests in fixed windows. Its counts are not part of the world's state."""

    def __init__(self) -> None:
        self._windows: dict[str, tuple[int, int]] = {}

    def count(self, setting: str, principal: str, now_ms: int) -> None:
        """Count a request. Raises Refused `rate_limited` when it is one too many."""
        limit = parse_rate_limit(setting)
        if limit is None:
            return
        most, window_ms = limit
        began_ms, count = self._windows.get(principal, (now_ms, 0))
        if now_ms >= began_ms + window_ms or now_ms < began_ms:
            began_ms, count = now_ms, 0
        if count >= most:
            seconds = -(-(began_ms + window_ms - now_ms) // 1000)
            raise Refused(
                "rate_limited",
                f"More than {most} requests in {window_ms // 1000} seconds.",
                retry_after_seconds=max(1, min(86_400, seconds)),
            )
        if len(self._windows) >= _MOST_PRINCIPALS:
            self._windows.clear()
        self._windows[principal] = (began_ms, count + 1)
