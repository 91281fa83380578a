"""The exceptions that the SDK raises. Each has a one-line message."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from hosting_emulator import DEFAULT_PORT

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True


class ControlError(Exception):
    """The base class of all exceptions that requests to the control API raise."""


def start_command(address: str) -> str:
    """Return the command that starts an emulator.

    If `address` is on this machine and its port is not the default, the command includes the port.
    """
    parts = urlsplit(address)
    is_local = parts.hostname in ("127.0.0.1", "localhost")
    if is_local and parts.port not in (None, DEFAULT_PORT):
        return f"hosting-emulator start --port {parts.port}"
    return "hosting-emulator start"


class EmulatorUnreachable(ControlError):
    """Raised if no emulator responds at `address` or the emulator has stopped responding.

    `reason` describes the network error.
    """

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(
            f"no emulator responds at {address} ({reason}); start it with `{start_command(address)}`"
        )
        self.address = address
        self.reason = reason


class EmulatorNotFound(ControlError):
    """Raised if the working folder's data directory has an emulator that is not running or cannot
    be used.

    `reason` says what is wrong, and `advice` what to do. If it is helpful, `running` lists this
    user's running emulators.
    """

    def __init__(self, reason: str, advice: str, running: str = "") -> None:
        super().__init__("; ".join(filter(None, (reason, advice, running))))
        self.reason = reason
        self.advice = advice


class UnexpectedResponse(ControlError):
    """Raised if the server at `address` responds but is not an emulator's control API."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"the server at {address} is not a hosting emulator: {reason}")


class UnreadableMessage(ControlError):
    """Raised if the emulator sent a message that this version of the SDK cannot read."""

    def __init__(self, address: str, kind: type[Any], reason: str) -> None:
        super().__init__(
            f"the emulator at {address} sent a message of type {kind.__name__} that this client cannot read: "
            f"{reason}. Use the same version of the emulator and of this client."
        )


class ControlRefused(ControlError):
    """Raised if the emulator refused the request. `status`, `title` and `detail` come from the problem."""

    def __init__(self, status: int, title: str, detail: str | None = None) -> None:
        super().__init__(" ".join((detail or title).split()))
        self.status = status
        self.title = title
        self.detail = detail
