"""The errors that the SDK raises. The message of each error is one line."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from hosting_emulator import DEFAULT_PORT

#: pytest shows the line of the test instead of the lines of this module.
__tracebackhide__ = True


class ControlError(Exception):
    """Base class of the errors that requests to the control API raise."""


def start_command(address: str) -> str:
    """Return the command that starts an emulator.

    The command includes the port of `address` if the address is on this machine and the port is not
    the default.
    """
    parts = urlsplit(address)
    is_local = parts.hostname in ("127.0.0.1", "localhost")
    if is_local and parts.port not in (None, DEFAULT_PORT):
        return f"hosting-emulator start --port {parts.port}"
    return "hosting-emulator start"


class EmulatorUnreachable(ControlError):
    """No emulator responds at `address`, or the emulator stopped responding.

    `reason` describes the network error.
    """

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(
            f"no emulator responds at {address} ({reason}); start it with `{start_command(address)}`"
        )
        self.address = address
        self.reason = reason


class EmulatorNotFound(ControlError):
    """The working folder has a data directory whose emulator is not running or cannot be used.

    `reason` says what is wrong, and `advice` what to do. `running` lists the running emulators of
    this user, if that helps.
    """

    def __init__(self, reason: str, advice: str, running: str = "") -> None:
        super().__init__("; ".join(filter(None, (reason, advice, running))))
        self.reason = reason
        self.advice = advice


class UnexpectedResponse(ControlError):
    """The server at `address` responds, but does not serve an emulator's control API."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"the server at {address} is not a hosting emulator: {reason}")


class UnreadableMessage(ControlError):
    """The emulator sent a message that this version of the SDK cannot read."""

    def __init__(self, address: str, kind: type[Any], reason: str) -> None:
        super().__init__(
            f"the emulator at {address} sent a {kind.__name__} that this client cannot read: "
            f"{reason}. Use the same version of the emulator and of this client."
        )


class ControlRefused(ControlError):
    """The emulator refused the request with a problem: `status`, `title` and `detail`."""

    def __init__(self, status: int, title: str, detail: str | None = None) -> None:
        super().__init__(" ".join((detail or title).split()))
        self.status = status
        self.title = title
        self.detail = detail
