"""Errors between the SDK and an emulator. The text of each error is one line."""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from hosting_emulator import DEFAULT_PORT


class ControlError(Exception):
    """Base class of all errors of the control API. The text is one line."""


def start_command(address: str) -> str:
    """Return the command that starts an emulator, with the port if `address` is on this machine."""
    parts = urlsplit(address)
    is_local = parts.hostname in ("127.0.0.1", "localhost")
    if is_local and parts.port not in (None, DEFAULT_PORT):
        return f"hosting-emulator start --port {parts.port}"
    return "hosting-emulator start"


class EmulatorUnreachable(ControlError):
    """Nothing responds at `address`, or the emulator stopped responding.

    `reason` is the network error.
    """

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(
            f"no emulator responds at {address} ({reason}); start it with `{start_command(address)}`"
        )
        self.address = address
        self.reason = reason


class UnexpectedResponse(ControlError):
    """A server responds at the address, but not like the control API of an emulator."""

    def __init__(self, address: str, reason: str) -> None:
        super().__init__(f"the server at {address} is not a hosting emulator: {reason}")


class UnreadableMessage(ControlError):
    """The emulator sent a message without the members that this version of the SDK needs."""

    def __init__(self, address: str, kind: type[Any], reason: str) -> None:
        super().__init__(
            f"the emulator at {address} sent a {kind.__name__} that this client cannot read: "
            f"{reason}. Use the same version of the emulator and of this client."
        )


class ControlRefused(ControlError):
    """The emulator refused the request. The problem has a `status`, a `title` and a `detail`."""

    def __init__(self, status: int, title: str, detail: str | None = None) -> None:
        super().__init__(" ".join((detail or title).split()))
        self.status = status
        self.title = title
        self.detail = detail
