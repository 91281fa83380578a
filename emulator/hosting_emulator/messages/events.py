"""The events that a world sends to its listeners."""

from __future__ import annotations

from typing import Annotated

from hosting_emulator.messages.declaration import ControlMessage, JsonObject, doc


class WorldEvent(ControlMessage, frozen=True, kw_only=True):
    """Something that happened in a world."""

    id: Annotated[int, doc("The event's number. Later events have higher numbers.")]
    kind: Annotated[
        str,
        doc(
            "The kind of event: `request`, `commit`, `clock`, `fault`, `outcome`, `world` (another "
            "world replaced this world), `worlds` (a world was created or deleted) or `gap` (some "
            "events were missed)."
        ),
    ]
    data: Annotated[
        JsonObject, doc("The details of the event: for a request, for example, the exchange.")
    ]
