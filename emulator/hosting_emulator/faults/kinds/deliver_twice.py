"""A request that a proxy delivers twice."""

from typing import ClassVar, Literal

from hosting_emulator.faults.kinds import FaultKind


class DeliverTwice(FaultKind, frozen=True):
    """Handle the request twice, as if a proxy had delivered it twice.

    The client receives the response to the `first` or the `second` delivery. The second delivery is
    in the request log, marked as sent by the fault. Other faults see the request once, at the delivery
    whose response the client receives. It has no phase.
    """

    example: ClassVar = {"response": "second"}
    stage = "delivery"

    response: Literal["first", "second"]
