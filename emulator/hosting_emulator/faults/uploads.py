"""What the faults that act on a request's body mean for the reader of that body."""

from __future__ import annotations

from typing import NamedTuple

from hosting_emulator.faults.decisions import Decision
from hosting_emulator.faults.kinds import FaultKind, kind_of


class UploadLimits(NamedTuple):
    """How a request's body is read: at most this many bytes in a real second, and at most this many.

    None: there is no limit. With `most_bytes` the connection is reset after them, and before the last byte.
    """

    bytes_per_second: int | None = None
    most_bytes: int | None = None

    def late_ms(self, body_bytes: int) -> int:
        """Return how many real milliseconds the reading of a body takes."""
        if self.bytes_per_second is None:
            return 0
        return self.bytes_to_read(body_bytes) * 1000 // self.bytes_per_second

    def bytes_to_read(self, body_bytes: int) -> int:
        """Return how many bytes of a body are read."""
        if self.most_bytes is None:
            return body_bytes
        return min(self.most_bytes, max(0, body_bytes - 1))


def upload_limits(*kinds: FaultKind) -> UploadLimits:
    """Return the limits of all faults that act on a request's body."""
    rates = [rate for kind in kinds if (rate := kind.upload_rate()) is not None]
    lengths = [length for kind in kinds if (length := kind.upload_bytes()) is not None]
    return UploadLimits(min(rates, default=None), min(lengths, default=None))


def limits_of_decision(decision: Decision) -> UploadLimits:
    """Return the limits of all faults that were decided to act on a request's body."""
    return upload_limits(*map(kind_of, decision.acted))
