"""Handles a request twice, as if a proxy had delivered it twice."""

from typing import ClassVar, Literal

from hosting_emulator.faults.kinds import FaultKind


class DeliverTwice(FaultKind, frozen=True):
    """Handle the request twice, as if a proxy had delivered it twice.

    The client receives the response to the `first` or the `second` delivery. The second delivery
    appears in the request log too, marked as sent by the fault. Other faults on the call and on its
    response act only on the delivery whose response the client receives. The second delivery does
    not count toward rate limits or `after_calls`, and is not checked against the rules of conduct.
    This kind does not accept after_commit.
    """

    example: ClassVar = {"response": "second"}
    stage = "delivery"

    response: Literal["first", "second"]
