"""Limits the number of requests per time window. A refusal says when to retry."""

from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.contract.problems import RETRY_AFTER_MAX, Refused
from hosting_emulator.contract.value_texts import count_text
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.faults.windows import check_window, current_window_ms
from hosting_emulator.world.fault_records import Fault


class AdmissionWindow(FaultKind, frozen=True):
    """Admit `limit` requests in each `window` of world time. Refuse all other requests with rate_limited.

    The Retry-After headers spread the refused requests over later windows: the first `limit`
    refused requests are told to retry in the next window, the following `limit` requests in the
    window after that, and so on. By contrast, `rate_limit` tells all refused requests to retry at
    the same time. The windows follow one another without gaps. The first window begins with the
    first request.
    """

    example: ClassVar = {"limit": 2, "window": "1s"}
    replaces_response = True

    limit: Annotated[int, Meta(ge=1, le=1_000_000)]
    window: Duration = "1s"

    def __post_init__(self) -> None:
        check_window(self.window, shortest="1ms")

    def count(self, fault: Fault, now_ms: int) -> tuple[Fault, bool]:
        began_ms = current_window_ms(fault, parse_duration_ms(self.window), now_ms)
        if began_ms != fault.window_began_ms or not fault.window_count:
            return replace(fault, window_began_ms=began_ms, window_count=1), False
        fault = replace(fault, window_count=fault.window_count + 1)
        return fault, fault.window_count > self.limit

    def problem(self, fault: Fault, now_ms: int) -> Refused:
        windows = -(-(fault.window_count - self.limit) // self.limit)
        returns_ms = fault.window_began_ms + windows * parse_duration_ms(self.window)
        return Refused(
            "rate_limited",
            f"More than {count_text(self.limit, 'request')} in {self.window}.",
            retry_after_seconds=min(RETRY_AFTER_MAX, max(1, -(-(returns_ms - now_ms) // 1000))),
        )
