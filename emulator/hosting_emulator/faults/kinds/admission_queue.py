"""Limits the number of requests per time window. Requests over the limit have to wait."""

from typing import Annotated, ClassVar

from msgspec import Meta
from msgspec.structs import replace

from hosting_emulator.contract.durations import Duration, parse_duration_ms
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.faults.windows import check_window, current_window_ms
from hosting_emulator.world.fault_records import Fault


class AdmissionQueue(FaultKind, frozen=True):
    """Admit `limit` requests in each `window` of world time. All other requests wait for a later window.

    The requests wait in real time, for at most ten minutes. The world's clock must therefore be
    real or scaled: a frozen or skip clock would not advance while requests wait. `scenario record`
    omits this fault, because a recorded story has a frozen clock.
    """

    example: ClassVar = {"limit": 2, "window": "1s"}
    delays = True
    needs_running_clock = True

    limit: Annotated[int, Meta(ge=1, le=1_000_000)]
    window: Duration = "1s"

    def __post_init__(self) -> None:
        check_window(self.window, shortest="1ms")

    def count(self, fault: Fault, now_ms: int) -> tuple[Fault, bool]:
        window_ms = parse_duration_ms(self.window)
        began_ms = current_window_ms(fault, window_ms, now_ms)
        count = fault.window_count if began_ms == fault.window_began_ms else 0
        if count >= self.limit:
            began_ms += window_ms
            count = 0
        fault = replace(fault, window_began_ms=began_ms, window_count=count + 1)
        return fault, began_ms > now_ms

    def wait_ms(self, fault: Fault, now_ms: int) -> int:
        return max(0, fault.window_began_ms - now_ms)
