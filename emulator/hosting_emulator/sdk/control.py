"""What the control API has of the process: its worlds, the contract's tables, the scenario library.

It must not know how the emulator works, read meaning into what it is told, nor print anything. What
is of one world, `HostingEmulator` asks for.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hosting_emulator.control_api import (
    ClockRequest,
    Info,
    JsonObject,
    Record,
    WorldSummary,
)
from hosting_emulator.sdk.connection import ControlConnection

if TYPE_CHECKING:
    from hosting_emulator.sdk.emulator import HostingEmulator


class ControlClient(ControlConnection):
    """A client of a running emulator, over one kept-alive connection.

    `control_url` is the control API's address, such as `http://127.0.0.1:4620/_emulator`; `token`
    the control token, if the emulator was started with one; `timeout_s` the longest wait for an
    answer, in real seconds. Nothing is sent before the first call. Every method may raise
    `EmulatorUnreachable`, `ControlRefused` or `UnexpectedAnswer`; a malformed `control_url` is a
    ValueError. Threads may share it: one request at a time has the connection.
    """

    def health(self) -> Record:
        """Whether the emulator is up: its `status` and `version`."""
        return Record(self.get("health"))

    def info(self) -> Info:
        """The running process and its addresses."""
        return Info(self.get("info"))

    def contract(self, name: str) -> Any:
        """A table or document of the contract: `problems`, `fault-kinds`, `conduct-rules`, …"""
        answer = self.get(f"contract/{name}")
        return answer["items"] if answer.keys() == {"items"} else answer

    # --- Worlds ------------------------------------------------------------------------------

    def worlds(self) -> list[WorldSummary]:
        """The summaries of all worlds."""
        return [WorldSummary(world) for world in self.get("worlds")["items"]]

    def world(self, name: str = "default") -> HostingEmulator:
        """Hold a world by its name. Nothing is asked before it is used: it may not be there."""
        from hosting_emulator.sdk.emulator import HostingEmulator  # which holds such a client

        return HostingEmulator(self, name)

    def create_world(
        self,
        name: str | None = None,
        *,
        seed: str | None = None,
        clock: ClockRequest | None = None,
        assumptions: Mapping[str, Any] | None = None,
        ephemeral: bool | None = None,
        scenario: str | None = None,
        scenario_text: str | None = None,
        scenario_file: str | None = None,
        state: Mapping[str, Any] | None = None,
        vary: str | None = None,
        only: Sequence[str] | None = None,
    ) -> WorldSummary:
        """Make a world; without a name it gets a throw-away one. 409 if the name is taken.

        It begins as a `scenario` of the library, or as one given as YAML or JSON text, which errors
        call `scenario_file`; else as an exported `state`, which takes no seed, clock or assumptions
        beside it; else as the default world. `clock` and `assumptions` are laid over a scenario's.
        `vary` is a seed that its answers vary by, at the points in `only` or at all.
        """
        body = given(
            name=name,
            seed=seed,
            clock=clock or None,
            assumptions=assumptions or None,
            ephemeral=ephemeral,
            scenario=given(name=scenario, text=scenario_text, file=scenario_file) or None,
            state=state,
            vary=vary,
            only=only,
        )
        return WorldSummary(self.post("worlds", body))

    # --- Scenarios ---------------------------------------------------------------------------

    def scenarios(self) -> list[Record]:
        """The scenario library: names and descriptions."""
        return list(self.get("scenarios")["items"])

    def scenario(self, name: str) -> Record:
        """One scenario of the library: its name, description and `text`."""
        return Record(self.get(f"scenarios/{quote(name, safe='')}"))

    def run_scenario(
        self,
        name: str | None = None,
        *,
        text: str | None = None,
        file: str | None = None,
        world: str | None = None,
        vary: str | None = None,
        only: Sequence[str] | None = None,
    ) -> Record:
        """Run a scenario's story and return the report, step by step.

        It is one of the library by `name`, or YAML as `text`, which errors call `file`. It runs in a
        throw-away world, or in `world`, which it replaces and leaves as the story left it; `vary` and
        `only` as for `create_world`.
        """
        body = given(name=name, text=text, file=file, world=world, vary=vary, only=only)
        return Record(self.post("scenarios/run", body))


def given(**fields: Any) -> JsonObject:
    """Return the fields that were given, not None."""
    return {name: value for name, value in fields.items() if value is not None}
