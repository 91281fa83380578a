"""What a case of an assumption is, and what the probes of many cases share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.conftest import Response
from tests.contract.conftest import HeldApi

Probe = Callable[[HeldApi], Any]


class Case(NamedTuple):
    """An assumption, an alternative, what is asked, and what is answered before and after."""

    name: str
    value: Any
    probe: Probe
    usual: Any
    expected: Any


class Cases:
    """The cases of one file, in its order."""

    def __init__(self) -> None:
        self.found: list[Case] = []

    def add(self, name: str, value: Any, usual: Any, expected: Any) -> Callable[[Probe], Probe]:
        """Add a case; `usual` is what the probe finds in a world without the assumption."""

        def add(probe: Probe) -> Probe:
            self.found.append(Case(name, value, probe, usual, expected))
            return probe

        return add


def code(answer: Response) -> tuple[int, str | None]:
    """Return status and problem code of an answer."""
    return answer.status, answer.json["code"] if answer.status >= 400 else None


def done(api: HeldApi, operation: Response) -> dict[str, Any]:
    """Let an operation end, and return it."""
    api.emulator.clock.until(operation.json["id"])
    found: dict[str, Any] = api.poll(operation.json["id"]).json
    return found
