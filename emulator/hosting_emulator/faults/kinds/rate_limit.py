"""Limits the number of requests per time window."""

from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.contract.problems import Refused
from hosting_emulator.contract.value_texts import count_text
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.faults.windows import check_window
from hosting_emulator.world.fault_records import Fault


class RateLimit(FaultKind, frozen=True):
    """Accept `limit` requests in each `window` of world time. Refuse all other requests with
    rate_limited.
    """

    example: ClassVar = {"limit": 3, "window": "60s"}
    replaces_response = True

    limit: Annotated[int, Meta(ge=0, le=1_000_000)]
    window: Duration = "60s"

    def __post_init__(self) -> None:
        check_window(self.window, shortest="1s")

    def count(self, fault: Fault, now_ms: int) -> tuple[Fault, bool]:
        began_ms, count = self._window(fault, now_ms)
        if count >= self.limit:
            return fault, True
        return replace(fault, window_began_ms=began_ms, window_count=count + 1), False

    def problem(self, fault: Fault, now_ms: int) -> Refused:
        began_ms, _ = self._window(fault, now_ms)
        remaining_ms = began_ms + parse_duration_ms(self.window) - now_ms
        return Refused(
            "rate_limited",
            f"More than {count_text(self.limit, 'request')} in {self.window}.",
            retry_after_seconds=max(1, -(-remaining_ms // 1000)),
        )

    def _window(self, fault: Fault, now_ms: int) -> tuple[int, int]:
        """Return the start of the current window, and the number of requests that it already
        contains.
        """
        ends_ms = fault.window_began_ms + parse_duration_ms(self.window)
        if now_ms >= ends_ms or not fault.window_count:
            return now_ms, 0
        return fault.window_began_ms, fault.window_count
