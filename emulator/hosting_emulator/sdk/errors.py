"""What can go wrong between a client and the control API, each as one clear line."""

from __future__ import annotations


class ControlError(Exception):
    """Anything that kept the control API from doing what was asked; its text is one line."""


class EmulatorUnreachable(ControlError):
    """Nothing answers at the address, or it stopped answering.

    `address` is the control URL that was tried, `reason` what the network said.
    """

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(
            f"no emulator answers at {address} ({reason}); start it with `hosting-emulator start`"
        )
        self.address = address
        self.reason = reason


class UnexpectedAnswer(ControlError):
    """Something answers at the address, but not as an emulator's control API would."""

    def __init__(self, address: str, what: str) -> None:
        super().__init__(f"what answers at {address} is not a hosting emulator: {what}")
        self.address = address
        self.what = what


class ControlRefused(ControlError):
    """The emulator understood and said no: its problem's `status`, `title` and `detail`."""

    def __init__(self, status: int, title: str, detail: str | None = None) -> None:
        super().__init__(" ".join((detail or title).split()))
        self.status = status
        self.title = title
        self.detail = detail
