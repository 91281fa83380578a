"""A fault in a test's hands: armed until it is removed, or until its `with` block ends."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from hosting_emulator.sdk.answers import Fault
from hosting_emulator.sdk.control import ControlClient
from hosting_emulator.sdk.errors import ControlRefused

#: What is said of a fault beside its effect; no effect has an option of one of these names.
RULE = frozenset(
    "call project principal method path header times skip_first every probability from until ttl "
    "phase".split()
)


def fault_document(effect: str | None, fields: Mapping[str, Any]) -> dict[str, Any]:
    """Write a fault as the control API takes it; without `effect`, it stands in `fields`.

    A field of None is as if not given; `from_` is `from`.
    """
    named = {
        "from" if name == "from_" else name: value
        for name, value in fields.items()
        if value is not None
    }
    if effect is None:
        return named
    options = {name: value for name, value in named.items() if name not in RULE}
    rule = {name: value for name, value in named.items() if name in RULE}
    return {effect: options, **rule}


class ArmedFault:
    """A fault that was armed. `id` is its id in its world."""

    def __init__(self, control: ControlClient, world: str, armed: Fault) -> None:
        self._control = control
        self._world = world
        self.id = armed["id"]

    def __repr__(self) -> str:
        return f"<ArmedFault {self.id!r} of {self._world!r}>"

    @property
    def seen(self) -> int:
        """How many requests it has matched by now."""
        return self.now["seen"]

    @property
    def hits(self) -> int:
        """How many requests it has acted on by now."""
        return self.now["hits"]

    @property
    def spent(self) -> bool:
        """Whether it can act no more."""
        return self.now["spent"]

    @property
    def now(self) -> Fault:
        """The fault as it now is, with all its counts. Raises ControlRefused once removed."""
        return self._control.fault(self.id, self._world)

    def remove(self) -> None:
        """Disarm it. Raises ControlRefused when it is not armed any more."""
        self._control.remove_fault(self.id, self._world)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.remove()
        except ControlRefused as refused:
            if refused.status != 404:  # it was removed inside, or its world was reset
                raise
