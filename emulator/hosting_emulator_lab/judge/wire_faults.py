"""Wire faults: how the fault at a point is armed.

A wire fault breaks, delays or replaces one response. The fault is transient, so a retry succeeds.
"""

from __future__ import annotations

from hosting_emulator.sdk import JsonObject
from hosting_emulator_lab.judge.client_requests import NumberedRequest
from hosting_emulator_lab.judge.fault_points import LATE_MS, FaultPoint

#: The highest rate that the `slow_response` kind accepts, in bytes per real second.
_HIGHEST_RATE = 1_000_000
#: The length of a usual body, for a response that was lost in the clean run. A test may lose it on
#: purpose.
_USUAL_BYTES = 500
#: The pause in the middle of a stalled response, in real milliseconds. No run lasts as long.
_STALL_MS = 600_000


def fault_at(point: FaultPoint, request: NumberedRequest, late_ms: int = LATE_MS) -> JsonObject:
    """Return the wire fault to arm in a new world, for a request of the clean run.

    If the fault delays the response, its last byte arrives `late_ms` real milliseconds late.
    """
    number = request.number
    if point.phase == "after_commit":
        number = request.number_after_commit
    kind, _, detail = point.fault.partition(":")
    return {
        kind: _options(kind, detail, request.response_bytes, late_ms),
        "call": point.call,
        "after_commit": point.phase == "after_commit",
        "skip_first": max(0, number - 1),
        "times": 1,
    }


def _options(kind: str, detail: str, response_bytes: int, late_ms: int) -> JsonObject:
    """Return the options of a kind of fault for a response whose body has `response_bytes` bytes.

    `detail` is the second part of the fault's word, such as `forbidden` in `abort:forbidden`.
    """
    match kind:
        case "abort":
            return {"code": detail or "service_unavailable"}
        case "gateway_error":
            return {"status": int(detail or 502)}
        case "rate_limit":
            return {"limit": 0, "window": "1s"}
        case "truncate":
            return {"bytes": response_bytes // 2}
        case "latency":
            return {"delay_ms": late_ms}
        case "stalled_response":
            return {"pause_ms": _STALL_MS}
        case "slow_response":
            rate = (response_bytes or _USUAL_BYTES) * 1000 // late_ms
            return {"bytes_per_second": max(1, min(_HIGHEST_RATE, rate))}
    return {}
