"""The control API's resources as methods, for the CLI, the handle of worlds and anybody's own tools.

It must not know how the emulator works, read meaning into what it is told, nor print anything.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, TypeVar, Unpack
from urllib.parse import quote, urlencode

from hosting_emulator.sdk.connection import ControlConnection, EventStream
from hosting_emulator.sdk.records import (
    ClockRequest,
    ClockState,
    CommitEntry,
    ConductReport,
    Exchange,
    FaultState,
    Info,
    JsonObject,
    Record,
    RequestFilters,
    WholeExchange,
    Why,
    WorldSummary,
)

DEFAULT_WORLD = "default"
R = TypeVar("R", bound=Record)


class ControlClient(ControlConnection):
    """A client of a running emulator, over one kept-alive connection.

    `control_url` is the control API's address, such as `http://127.0.0.1:4620/_emulator`; `token`
    the control token, if the emulator was started with one; `timeout_s` the longest wait for an
    answer, in real seconds. Nothing is sent before the first call. Every method may raise
    `EmulatorUnreachable`, `ControlRefused` or `UnexpectedAnswer`; a malformed `control_url` is a
    ValueError. Threads may share it: one request at a time has the connection.
    """

    def _list(self, kind: type[R], path: str) -> list[R]:
        return [kind(item) for item in self.get(path)["items"]]

    # --- The process -------------------------------------------------------------------------

    def health(self) -> Record:
        """Whether the emulator is up: its `status` and `version`."""
        return Record(self.get("health"))

    def info(self) -> Info:
        """The running process and its addresses."""
        return Info(self.get("info"))

    def openapi(self, world: str = DEFAULT_WORLD) -> JsonObject:
        """The OpenAPI 3.1 document of a world's public API, under that world's assumptions."""
        return Record(self.get(world_path(world, "openapi.json")))

    def contract(self, name: str) -> Any:
        """A table or document of the contract: `problems`, `fault-kinds`, `conduct-rules`, …"""
        answer = self.get(f"contract/{name}")
        return answer["items"] if answer.keys() == {"items"} else answer

    # --- Worlds ------------------------------------------------------------------------------

    def worlds(self) -> list[WorldSummary]:
        """The summaries of all worlds."""
        return self._list(WorldSummary, "worlds")

    def world(self, name: str = DEFAULT_WORLD) -> WorldSummary:
        """One world's summary."""
        return WorldSummary(self.get(world_path(name)))

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
        body = _given(
            name=name,
            seed=seed,
            clock=clock or None,
            assumptions=assumptions or None,
            ephemeral=ephemeral,
            scenario=_given(name=scenario, text=scenario_text, file=scenario_file) or None,
            state=state,
            vary=vary,
            only=only,
        )
        return WorldSummary(self.post("worlds", body))

    def fork(
        self,
        world: str = DEFAULT_WORLD,
        name: str | None = None,
        *,
        ephemeral: bool | None = None,
        commit: int | None = None,
    ) -> WorldSummary:
        """Copy `world` into a new one, which lives on by itself.

        As it is now, or as it was after a `commit` of its history; 404 if that is not kept.
        """
        body = _given(name=name, ephemeral=ephemeral, commit=commit)
        return WorldSummary(self.post(world_path(world, "fork"), body))

    def reset(self, world: str = DEFAULT_WORLD) -> WorldSummary:
        """Put a world back to its seed."""
        return WorldSummary(self.post(world_path(world, "reset"), {}))

    def delete_world(self, world: str) -> None:
        """Delete a world and its state; the default world cannot be deleted (409)."""
        self.delete(world_path(world))

    def export_state(self, world: str = DEFAULT_WORLD) -> JsonObject:
        """The whole state of a world as one document."""
        return Record(self.get(world_path(world, "state")))

    def import_state(self, state: Mapping[str, Any], world: str = DEFAULT_WORLD) -> WorldSummary:
        """Replace a world's state by an exported document; a missing world is made."""
        return WorldSummary(self.put(world_path(world, "state"), state))

    # --- Time --------------------------------------------------------------------------------

    def clock(self, world: str = DEFAULT_WORLD) -> ClockState:
        """A world's time."""
        return ClockState(self.get(world_path(world, "clock")))

    def set_clock(self, world: str = DEFAULT_WORLD, *, clock: ClockRequest) -> ClockState:
        """Change a clock's mode, rate or time. Moving back is refused (409)."""
        return ClockState(self.put(world_path(world, "clock"), clock))

    def advance(
        self,
        world: str = DEFAULT_WORLD,
        *,
        by: str | None = None,
        to: str | None = None,
        until_operation: str | None = None,
    ) -> ClockState:
        """Move a world's time and run all that falls due on the way.

        Exactly one of: `by` a duration (`10m`, `90d`, `PT10M`), `to` a timestamp, or
        `until_operation`, the id of an operation that shall reach its end.
        """
        body = _given(by=by, to=to, until_operation=until_operation)
        return ClockState(self.post(world_path(world, "clock", "advance"), body))

    # --- What lives in a world ---------------------------------------------------------------

    def token(
        self,
        principal: str = "owner",
        *,
        world: str = DEFAULT_WORLD,
        organization: str | None = None,
        interactive: bool = True,
        expires_in_seconds: int | None = None,
    ) -> Record:
        """Make an access token for a person, named by alias or id: {access_token, expires_in, …}.

        `organization` is an alias or id; without it the person's own default. A token that is not
        `interactive` carries no login session. It lives for seconds of the world's time.
        """
        body = {"as": principal, "interactive": interactive} | _given(
            organization=organization, expires_in_seconds=expires_in_seconds
        )
        return Record(self.post(world_path(world, "tokens"), body))

    def create_api_key(
        self,
        principal: str = "owner",
        *,
        world: str = DEFAULT_WORLD,
        name: str | None = None,
        organization: str | None = None,
        permissions: Sequence[str] | None = None,
    ) -> Record:
        """Make an API key for a person without a call of the contract: {value, key}.

        `organization` is an alias or id; `permissions` are all of the organization's unless given.
        """
        body = _given(name=name, organization=organization, permissions=permissions)
        return Record(self.post(world_path(world, "api-keys"), {"as": principal, **body}))

    def assumptions(self, world: str = DEFAULT_WORLD) -> list[Record]:
        """What a world assumes where the contract is silent: each with name, value and sentence."""
        return self._list(Record, world_path(world, "assumptions"))

    def set_assumptions(
        self, values: Mapping[str, Any], world: str = DEFAULT_WORLD
    ) -> list[Record]:
        """Change some assumptions by name, and return them all."""
        return list(self.patch(world_path(world, "assumptions"), values)["items"])

    # --- Faults and interventions ------------------------------------------------------------

    def faults(self, world: str = DEFAULT_WORLD) -> list[FaultState]:
        """The armed faults of a world, in the order in which they are tried."""
        return self._list(FaultState, world_path(world, "faults"))

    def fault(self, fault_id: str, world: str = DEFAULT_WORLD) -> FaultState:
        """One armed fault with its counts."""
        return FaultState(self.get(world_path(world, "faults", fault_id)))

    def add_fault(self, fault: Mapping[str, Any], world: str = DEFAULT_WORLD) -> FaultState:
        """Arm a fault, after all that are armed, and return it.

        `fault` is written as in a scenario: one effect with its options, what it matches, when it
        acts, such as `{"abort": {"code": "rate_limited"}, "call": "list_deployments", "times": 2}`.
        """
        return FaultState(self.post(world_path(world, "faults"), fault))

    def remove_fault(self, fault_id: str, world: str = DEFAULT_WORLD) -> None:
        """Disarm one fault, by its id."""
        self.delete(world_path(world, "faults", fault_id))

    def clear_faults(self, world: str = DEFAULT_WORLD) -> int:
        """Disarm all faults of a world; returns how many there were."""
        return int(self.delete(world_path(world, "faults"))["removed"])

    def intervene(
        self, word: str, fields: Mapping[str, Any] | None = None, world: str = DEFAULT_WORLD
    ) -> Record:
        """Change a world from outside the contract, such as `stick_operation` of `{"project": …}`.

        Returns what it did, in one sentence (`["said"]`). Where it makes no sense it is refused
        (409), and nothing is changed.
        """
        return Record(self.post(world_path(world, "interventions"), {word: fields or {}}))

    # --- Scenarios ---------------------------------------------------------------------------

    def scenarios(self) -> list[Record]:
        """The scenario library: names and descriptions."""
        return self._list(Record, "scenarios")

    def scenario(self, name: str) -> Record:
        """One scenario of the library: its name, description and `text`."""
        return Record(self.get(f"scenarios/{quote(name, safe='')}"))

    def load_scenario(
        self,
        name: str | None = None,
        *,
        text: str | None = None,
        file: str | None = None,
        world: str = DEFAULT_WORLD,
    ) -> WorldSummary:
        """Replace a world by a scenario's: one of the library by `name`, or YAML as `text`.

        `file` is what errors call the text. The old state stays until the new one is ready.
        """
        body = _given(name=name, text=text, file=file)
        return WorldSummary(self.post(world_path(world, "scenario"), body))

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

        It runs in a throw-away world, or in `world`, which it replaces and leaves as the story
        left it. Scenario and errors as for `load_scenario`; `vary` and `only` as for `create_world`.
        """
        body = _given(name=name, text=text, file=file, world=world, vary=vary, only=only)
        return Record(self.post("scenarios/run", body))

    # --- Requests ----------------------------------------------------------------------------

    def requests(
        self, world: str = DEFAULT_WORLD, *, limit: int = 50, **filters: Unpack[RequestFilters]
    ) -> list[Exchange]:
        """The last exchanges of a world, newest first, each with its explanation."""
        return self._list(Exchange, world_path(world, "requests") + _query(limit=limit, **filters))

    def request_page(
        self,
        world: str = DEFAULT_WORLD,
        *,
        limit: int = 50,
        trail: bool = True,
        **filters: Unpack[RequestFilters],
    ) -> Record:
        """The last exchanges, newest first, 1 to 1000 of them, and how many there were: {items, total}.

        Without `trail` the answer is shorter and sooner made.
        """
        query = _query(limit=limit, trail=None if trail else "false", **filters)
        return Record(self.get(world_path(world, "requests") + query))

    def request(self, n: int, world: str = DEFAULT_WORLD) -> WholeExchange:
        """One exchange with headers and bodies; 404 when newer ones have taken its place."""
        return WholeExchange(self.get(world_path(world, "requests", n)))

    def har(
        self,
        world: str = DEFAULT_WORLD,
        *,
        limit: int = 1000,
        state: bool = False,
        **filters: Unpack[RequestFilters],
    ) -> JsonObject:
        """The last exchanges, oldest first, as an HTTP Archive 1.2.

        With `state` it holds the world as the first of them found it, for sending them again.
        """
        query = _query(limit=limit, state="true" if state else None, **filters)
        return Record(self.get(world_path(world, "requests.har") + query))

    def replay(
        self, n: int, world: str = DEFAULT_WORLD, *, same_key: bool = False
    ) -> WholeExchange:
        """Send a request of the log again, as the same person, and return what it came to.

        It gets a new Idempotency-Key, unless `same_key`. 409 if its body was not kept whole.
        """
        path = world_path(world, "requests", n, "replay")
        return WholeExchange(self.post(path, {"same_key": same_key}))

    def listen(
        self,
        world: str = DEFAULT_WORLD,
        *,
        only: Sequence[str] = (),
        last_id: int | None = None,
        **filters: Unpack[RequestFilters],
    ) -> EventStream:
        """Listen to a world, over a connection of its own, from now on (or after `last_id`).

        `only` names the kinds of events wanted; `filters` choose among requests. To miss nothing,
        listen first and read then.
        """
        path = world_path(world, "events") + _query(only=",".join(only), **filters)
        return self.open_stream(path, {} if last_id is None else {"Last-Event-ID": str(last_id)})

    def report(self, world: str = DEFAULT_WORLD, *, requests: int = 20) -> Record:
        """A world's story in one document, with its last `requests` exchanges."""
        return Record(self.get(world_path(world, "report") + _query(requests=requests)))

    def conduct(
        self, world: str = DEFAULT_WORLD, *, off: Collection[str] = (), final: bool = False
    ) -> ConductReport:
        """What the client of a world did that it had better not; `off` are rules to leave out.

        With `final` the client is done: also what can only be said then.
        """
        query = _query(off=",".join(off), final="true" if final else None)
        return ConductReport(self.get(world_path(world, "conduct") + query))

    # --- Operations --------------------------------------------------------------------------

    def why(self, operation_id: str, world: str = DEFAULT_WORLD) -> Why:
        """Why an operation is where it is, what happens next and what would move it."""
        return Why(self.get(world_path(world, "operations", operation_id, "why")))

    # --- History -----------------------------------------------------------------------------

    def history(self, world: str = DEFAULT_WORLD, *, limit: int = 100) -> list[CommitEntry]:
        """The last commits of a world that are kept, newest first, 1 to 1000 of them."""
        return self._list(CommitEntry, world_path(world, "history") + _query(limit=limit))

    def rewind(self, commit: int, world: str = DEFAULT_WORLD) -> WorldSummary:
        """Put the state after a commit back, as one more commit; 404 if it is not kept."""
        return WorldSummary(self.post(world_path(world, "rewind"), {"commit": commit}))


def world_path(name: str, *parts: str | int) -> str:
    """Return the path of a world, or of something in it, below the control URL."""
    return "/".join(["worlds", *(quote(str(part), safe="") for part in (name, *parts))])


def _given(**fields: Any) -> JsonObject:
    return {name: value for name, value in fields.items() if value is not None}


def _query(**fields: Any) -> str:
    given = {name: value for name, value in fields.items() if value not in (None, "")}
    return f"?{urlencode(given)}" if given else ""
