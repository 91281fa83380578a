"""The client itself: the control API's resources as methods.

It must not know how the emulator works, nor print anything.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from hosting_emulator.sdk.answers import (
    Advanced,
    Assumption,
    Clock,
    ClockRequest,
    Health,
    Info,
    JsonObject,
    Token,
    World,
)
from hosting_emulator.sdk.observing import Observing
from hosting_emulator.sdk.on_demand import OnDemand
from hosting_emulator.sdk.wire import DEFAULT_WORLD, given, world_path


class ControlClient(OnDemand, Observing):
    """A client of a running emulator, over one kept-alive connection.

    `control_url` is the control API's address, such as `http://127.0.0.1:4620/_emulator`; `token`
    the control token, if the emulator was started with one; `timeout_s` the longest wait for an
    answer, in real seconds. Nothing is sent before the first call. Every method may raise
    `EmulatorUnreachable`, `ControlRefused` or `UnexpectedAnswer`; a malformed `control_url` is a
    ValueError. Threads may share it: one request at a time has the connection.
    """

    # --- The process -------------------------------------------------------------------------

    def health(self) -> Health:
        """Whether the emulator is up."""
        return cast(Health, self.get("health"))

    def info(self) -> Info:
        """The running process and its addresses."""
        return cast(Info, self.get("info"))

    def openapi(self, world: str = DEFAULT_WORLD) -> JsonObject:
        """The OpenAPI 3.1 document of a world's public API, under that world's assumptions."""
        return cast(JsonObject, self.get(f"{world_path(world)}/openapi.json"))

    def problems(self) -> list[JsonObject]:
        """The table of problem codes."""
        return cast("list[JsonObject]", self.get("contract/problems")["items"])

    # --- Worlds ------------------------------------------------------------------------------

    def worlds(self) -> list[World]:
        """The summaries of all worlds."""
        return cast("list[World]", self.get("worlds")["items"])

    def world(self, name: str = DEFAULT_WORLD) -> World:
        """One world's summary."""
        return cast(World, self.get(world_path(name)))

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
    ) -> World:
        """Make a world; without a name it gets a throw-away one. 409 if the name is taken.

        It begins as a `scenario` of the library, or as one given as YAML or JSON text, which errors
        call `scenario_file`; else as an exported `state`, which takes no seed, clock or assumptions
        beside it; else as the default world. `clock` and `assumptions` are laid over a scenario's.
        `vary` is a seed that its answers vary by, at the points in `only` or at all.
        """
        chosen = given(name=scenario, text=scenario_text, file=scenario_file)
        body = given(
            name=name,
            seed=seed,
            clock=clock or None,
            assumptions=dict(assumptions) if assumptions else None,
            ephemeral=ephemeral,
            scenario=chosen or None,
            state=None if state is None else dict(state),
            vary=vary,
            only=None if only is None else list(only),
        )
        return cast(World, self.post("worlds", body))

    def fork(
        self,
        world: str = DEFAULT_WORLD,
        name: str | None = None,
        *,
        ephemeral: bool | None = None,
        commit: int | None = None,
    ) -> World:
        """Copy `world` into a new one, which lives on by itself.

        As it is now, or as it was after a `commit` of its history; 404 if that is not kept.
        """
        body = given(name=name, ephemeral=ephemeral, commit=commit)
        return cast(World, self.post(f"{world_path(world)}/fork", body))

    def reset(self, world: str = DEFAULT_WORLD) -> World:
        """Put a world back to its seed."""
        return cast(World, self.post(f"{world_path(world)}/reset", {}))

    def delete_world(self, world: str) -> None:
        """Delete a world and its state; the default world cannot be deleted (409)."""
        self.delete(world_path(world))

    def export_state(self, world: str = DEFAULT_WORLD) -> JsonObject:
        """The whole state of a world as one document."""
        return cast(JsonObject, self.get(f"{world_path(world)}/state"))

    def import_state(self, state: Mapping[str, Any], world: str = DEFAULT_WORLD) -> World:
        """Replace a world's state by an exported document; a missing world is made."""
        return cast(World, self.put(f"{world_path(world)}/state", dict(state)))

    # --- Time --------------------------------------------------------------------------------

    def clock(self, world: str = DEFAULT_WORLD) -> Clock:
        """A world's time."""
        return cast(Clock, self.get(f"{world_path(world)}/clock"))

    def set_clock(self, world: str = DEFAULT_WORLD, *, clock: ClockRequest) -> Clock:
        """Change a clock's mode, rate or time. Moving back is refused (409)."""
        return cast(Clock, self.put(f"{world_path(world)}/clock", dict(clock)))

    def advance(
        self,
        world: str = DEFAULT_WORLD,
        *,
        by: str | None = None,
        to: str | None = None,
        until_operation: str | None = None,
    ) -> Advanced:
        """Move a world's time and run all that falls due on the way.

        Exactly one of: `by` a duration (`10m`, `90d`, `PT10M`), `to` a timestamp, or
        `until_operation`, the id of an operation that shall reach its end.
        """
        body = given(by=by, to=to, until_operation=until_operation)
        return cast(Advanced, self.post(f"{world_path(world)}/clock/advance", body))

    # --- What lives in a world ---------------------------------------------------------------

    def token(
        self,
        principal: str = "owner",
        *,
        world: str = DEFAULT_WORLD,
        organization: str | None = None,
        interactive: bool = True,
        expires_in_seconds: int | None = None,
    ) -> Token:
        """Make an access token for a person, named by alias or id.

        `organization` is an alias or id; without it the person's own default. A token that is not
        `interactive` carries no login session. It lives for seconds of the world's time.
        """
        body = given(
            organization=organization,
            interactive=interactive,
            expires_in_seconds=expires_in_seconds,
        )
        return cast(Token, self.post(f"{world_path(world)}/tokens", {"as": principal, **body}))

    def create_api_key(
        self,
        principal: str = "owner",
        *,
        world: str = DEFAULT_WORLD,
        name: str | None = None,
        organization: str | None = None,
        permissions: Sequence[str] | None = None,
    ) -> JsonObject:
        """Make an API key for a person without a call of the contract: {value, key}.

        `organization` is an alias or id; `permissions` are all of the organization's unless given.
        """
        body = given(
            name=name,
            organization=organization,
            permissions=None if permissions is None else list(permissions),
        )
        path = f"{world_path(world)}/api-keys"
        return cast(JsonObject, self.post(path, {"as": principal, **body}))

    def assumptions(self, world: str = DEFAULT_WORLD) -> list[Assumption]:
        """What a world assumes where the contract is silent."""
        return cast("list[Assumption]", self.get(f"{world_path(world)}/assumptions")["items"])

    def set_assumptions(
        self, values: Mapping[str, Any], world: str = DEFAULT_WORLD
    ) -> list[Assumption]:
        """Change some assumptions by name, and return them all."""
        answer = self.patch(f"{world_path(world)}/assumptions", dict(values))
        return cast("list[Assumption]", answer["items"])
