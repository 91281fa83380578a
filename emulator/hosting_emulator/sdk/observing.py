"""Looking into a world and back in time, as methods of the client.

It must not read meaning into what it is told.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any, Unpack, cast
from urllib.parse import quote, urlencode

from hosting_emulator.sdk.answers import JsonObject, World
from hosting_emulator.sdk.listening import Listening
from hosting_emulator.sdk.observed import (
    Commit,
    ConductReport,
    ConductRule,
    Exchange,
    ExchangePage,
    RequestFilters,
    SnapshotEntry,
    UnfinishedOperation,
    WholeExchange,
    Why,
    WorldReport,
)
from hosting_emulator.sdk.wire import DEFAULT_WORLD, Wire, world_path


class Observing(Wire):
    """The part of `ControlClient` that tells what happened and why, and keeps moments."""

    # --- Requests ----------------------------------------------------------------------------

    def requests(
        self,
        world: str = DEFAULT_WORLD,
        *,
        limit: int = 50,
        **filters: Unpack[RequestFilters],
    ) -> list[Exchange]:
        """The last exchanges of a world, newest first, each with its explanation."""
        return self.request_page(world, limit=limit, **filters)["items"]

    def request_page(
        self,
        world: str = DEFAULT_WORLD,
        *,
        limit: int = 50,
        trail: bool = True,
        **filters: Unpack[RequestFilters],
    ) -> ExchangePage:
        """The last exchanges, newest first, 1 to 1000 of them, and how many there were in all.

        Without `trail` the answer is shorter and sooner made.
        """
        more = {} if trail else {"trail": "false"}
        query = _query({"limit": limit, **more, **filters})
        return cast(ExchangePage, self.get(f"{world_path(world)}/requests{query}"))

    def request(self, n: int, world: str = DEFAULT_WORLD) -> WholeExchange:
        """One exchange with headers and bodies; 404 when newer ones have taken its place."""
        return cast(WholeExchange, self.get(f"{world_path(world)}/requests/{n}"))

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
        more = {"state": "true"} if state else {}
        query = _query({"limit": limit, **more, **filters})
        return cast(JsonObject, self.get(f"{world_path(world)}/requests.har{query}"))

    def replay(
        self, n: int, world: str = DEFAULT_WORLD, *, same_key: bool = False
    ) -> WholeExchange:
        """Send a request of the log again, as the same person, and return what it came to.

        It gets a new Idempotency-Key, unless `same_key`. 409 if its body was not kept whole.
        """
        path = f"{world_path(world)}/requests/{n}/replay"
        return cast(WholeExchange, self.post(path, {"same_key": same_key}))

    def listen(
        self,
        world: str = DEFAULT_WORLD,
        *,
        only: Sequence[str] = (),
        last_id: int | None = None,
        **filters: Unpack[RequestFilters],
    ) -> Listening:
        """Listen to a world, over a connection of its own, from now on (or after `last_id`).

        `only` names the kinds of events wanted; `filters` choose among requests. To miss nothing,
        listen first and read then.
        """
        query = _query({"only": ",".join(only), **filters})
        headers = {} if last_id is None else {"Last-Event-ID": str(last_id)}
        return self.open_stream(f"{world_path(world)}/events{query}", headers)

    # --- Operations --------------------------------------------------------------------------

    def unfinished_operations(self, world: str = DEFAULT_WORLD) -> list[UnfinishedOperation]:
        """The operations that have not ended, oldest first."""
        found = self.get(f"{world_path(world)}/operations?unfinished=true")
        return cast("list[UnfinishedOperation]", found["items"])

    def why(self, operation_id: str, world: str = DEFAULT_WORLD) -> Why:
        """Why an operation is where it is, what happens next and what would move it."""
        return cast(Why, self.get(f"{_operation(operation_id, world)}/why"))

    def step_operation(self, operation_id: str, world: str = DEFAULT_WORLD) -> JsonObject:
        """Move an operation to its next state now, and return it."""
        return cast(JsonObject, self.post(f"{_operation(operation_id, world)}/step"))

    def report(self, world: str = DEFAULT_WORLD, *, requests: int = 20) -> WorldReport:
        """A world's story in one document, with its last `requests` exchanges."""
        return cast(WorldReport, self.get(f"{world_path(world)}/report?requests={requests}"))

    # --- Conduct -----------------------------------------------------------------------------

    def conduct(
        self, world: str = DEFAULT_WORLD, *, off: Collection[str] = (), final: bool = False
    ) -> ConductReport:
        """What the client of a world did that it had better not; `off` are rules to leave out.

        With `final` the client is done: also what can only be said then.
        """
        query = _query({"off": ",".join(off), "final": "true" if final else None})
        return cast(ConductReport, self.get(f"{world_path(world)}/conduct{query}"))

    def conduct_rules(self) -> list[ConductRule]:
        """Every rule of conduct, why it is one, and what to do instead."""
        return cast("list[ConductRule]", self.get("contract/conduct-rules")["items"])

    # --- History -----------------------------------------------------------------------------

    def history(self, world: str = DEFAULT_WORLD, *, limit: int = 100) -> list[Commit]:
        """The last commits of a world that are kept, newest first, 1 to 1000 of them."""
        found = self.get(f"{world_path(world)}/history?limit={limit}")
        return cast("list[Commit]", found["items"])

    def rewind(self, commit: int, world: str = DEFAULT_WORLD) -> World:
        """Put the state after a commit back, as one more commit; 404 if it is not kept."""
        return cast(World, self.post(f"{world_path(world)}/rewind", {"commit": commit}))

    # --- Snapshots ---------------------------------------------------------------------------

    def snapshot(self, world: str = DEFAULT_WORLD) -> SnapshotEntry:
        """Keep a world as it is now; the snapshot lives as long as process and world."""
        return cast(SnapshotEntry, self.post(f"{world_path(world)}/snapshots", {}))

    def snapshots(self, world: str = DEFAULT_WORLD) -> list[SnapshotEntry]:
        """The snapshots of a world."""
        return cast("list[SnapshotEntry]", self.get(f"{world_path(world)}/snapshots")["items"])

    def restore_snapshot(self, snapshot_id: str, world: str = DEFAULT_WORLD) -> World:
        """Put state, clock, faults and assumptions back; the request log goes on."""
        return cast(World, self.post(f"{_snapshot(snapshot_id, world)}/restore", {}))

    def delete_snapshot(self, snapshot_id: str, world: str = DEFAULT_WORLD) -> None:
        """Forget a snapshot."""
        self.delete(_snapshot(snapshot_id, world))


def _query(fields: dict[str, Any]) -> str:
    given = {name: value for name, value in fields.items() if value not in (None, "")}
    return f"?{urlencode(given)}" if given else ""


def _operation(operation_id: str, world: str) -> str:
    return f"{world_path(world)}/operations/{quote(operation_id, safe='')}"


def _snapshot(snapshot_id: str, world: str) -> str:
    return f"{world_path(world)}/snapshots/{quote(snapshot_id, safe='')}"
