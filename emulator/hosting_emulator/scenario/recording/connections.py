"""Names the connections of recorded requests if any recorded fault matches by connection."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.engine.connection import Connection
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.scenario.recording.refusals import NotRecordable
from hosting_emulator.world.tables import FAULTS
from hosting_emulator.world.value import World


class RecordedConnections:
    """The names of the connections used in a recorded story.

    `worlds` contains the world as it was before each recorded event.
    """

    def __init__(self, worlds: Iterable[World]) -> None:
        self._is_needed = any(_matches_by_connection(world) for world in worlds)
        self._names: dict[Connection, str] = {}

    def name(self, entry: Entry) -> str | None:
        """Return the name of a request's connection, or None if the step does not need one.

        Raises NotRecordable if the connection had already been used before the recording, because a
        story cannot repeat that use.
        """
        if not self._is_needed or entry.is_connection_reused is None:
            return None
        name = self._names.get(entry.connection)
        if name is None:
            if entry.is_connection_reused:
                raise NotRecordable(
                    f"request {entry.n} used a connection that had been used before the recording"
                )
            name = f"connection-{len(self._names) + 1}"
            self._names[entry.connection] = name
        return name


def _matches_by_connection(world: World) -> bool:
    """Return whether any fault armed in a world matches by connection."""
    return any(fault.rule.connection is not None for _, fault in world.rows(FAULTS))
