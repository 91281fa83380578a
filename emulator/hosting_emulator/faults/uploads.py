"""The limits that faults impose on reading a request body."""

from __future__ import annotations

from typing import NamedTuple

from hosting_emulator.faults.decisions import Decision
from hosting_emulator.faults.kinds import FaultKind, kind_of


class UploadLimits(NamedTuple):
    """The limits on reading a request body: a rate, in bytes per real second, and a number of bytes.

    None means no limit. The connection is reset after `most_bytes` bytes, but always before the last
    byte is read.
    """

    bytes_per_second: int | None = None
    most_bytes: int | None = None

    def late_ms(self, body_bytes: int) -> int:
        """Return how many real milliseconds it takes to read a body of this length under the limits."""
        if self.bytes_per_second is None:
            return 0
        return self.bytes_to_read(body_bytes) * 1000 // self.bytes_per_second

    def bytes_to_read(self, body_bytes: int) -> int:
        """Return how many bytes to read from a body of `body_bytes` bytes."""
        if self.most_bytes is None:
            return body_bytes
        return min(self.most_bytes, max(0, body_bytes - 1))


def upload_limits(*kinds: FaultKind) -> UploadLimits:
    """Return the strictest limits that any of these kinds imposes on reading a request body."""
    rates = [rate for kind in kinds if (rate := kind.upload_rate()) is not None]
    lengths = [length for kind in kinds if (length := kind.upload_bytes()) is not None]
    return UploadLimits(min(rates, default=None), min(lengths, default=None))


def limits_of_decision(decision: Decision) -> UploadLimits:
    """Return the limits that the faults in a decision impose on reading a request body."""
    return upload_limits(*map(kind_of, decision.acted))
