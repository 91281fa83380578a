"""The engine of one world: its time, the way from one commit to the next, and from request to answer;
and all worlds of a process, each with an engine of its own.

No `await` stands between reading the world and swapping it, so there are no locks and two
concurrent requests are always one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec
from msgspec.structs import replace

from hosting_emulator.calls.answers import make_key
from hosting_emulator.calls.request import NO_HEADERS, CallRequest, Reply, derived_request_id
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.exchange import (
    GONE,
    Delay,
    Durable,
    ExchangeContext,
    Wait,
    hand_out,
    machine_ms,
    run_through,
    stopwatch_ns,
)
from hosting_emulator.engine.history import (
    Commit,
    Feed,
    History,
    Keeper,
    SavedState,
    Snapshots,
    StoreFailed,
    Tally,
)
from hosting_emulator.engine.identity import Identity, RedeemedGrant, issuer_path
from hosting_emulator.engine.observers import EndReason, WorldsObserver, notify
from hosting_emulator.engine.pipeline import (
    CALL_STEPS,
    Step,
    carry_out,
    dress,
    faults_after_commit,
    note_wait,
    refuse,
    route,
)
from hosting_emulator.engine.protection import ProtectedFaults
from hosting_emulator.engine.request_log import RequestLog
from hosting_emulator.faults.usage import UsageCounter
from hosting_emulator.variation.points import POINTS
from hosting_emulator.variation.worlds import clear_variation, set_variation, varied_world
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import views
from hosting_emulator.world.naming import DEFAULT_WORLD, renamed
from hosting_emulator.world.operations import event_of, finished, run_due
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import ClockRecord, Organization, Origin, User, Variation
from hosting_emulator.world.sessions import standing_session
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import CLOCK, ONLY, OPERATIONS, ORIGIN, SCHEDULE
from hosting_emulator.world.value import Change, World, apply

#: How many worlds as they were built are remembered; the one longest unused goes first.
MOST_PROTOTYPES = 64


def anchored(world: World, world_ms: int, machine_ms: int) -> World:
    """Return a world whose scaled clock runs on from `world_ms`; the other modes know their time."""
    if world.clock.mode != "scaled":
        return world
    clock = replace(world.clock, world_ms=world_ms, machine_ms=machine_ms)
    return apply(world, {CLOCK.name: {ONLY: clock}}, commit=world.commit, at_ms=world.at_ms)


def mark_beginning(world: World) -> World:
    """Return a world that notes that it begins now: it has changed once it has another commit."""
    origin = world.get(ORIGIN, ONLY) or Origin()
    origin = replace(origin, commit=world.commit)
    return apply(world, {ORIGIN.name: {ONLY: origin}}, commit=world.commit, at_ms=world.at_ms)


class Engine:
    """One world that lives: its clock and keeper, its requests, and all that answers for it."""

    def __init__(
        self,
        world: World,
        keeper: Keeper,
        machine: Callable[[], int] = machine_ms,
        tally: Tally | None = None,
    ) -> None:
        self.world = world
        self.keeper = keeper
        self.history = History()
        self.history.append(Commit("began", {}, world, world))
        self.snapshots = Snapshots()
        self.tally = tally or Tally()
        #: What happens here, told to whoever listens.
        self.feed = Feed(machine() * 1000)
        #: The exchange that runs: commits are its.
        self.running: ExchangeContext | None = None
        self._read_machine, self._ahead_ms = machine, 0
        self._shown_ms = keeper.shown_ms
        #: What the machine's clock showed when it was last read, and the world's clock then.
        self.machine_ms = 0
        self._timed: ClockRecord | None = None
        self.identity = Identity(world.seed, world.name)
        self.log = RequestLog()
        #: How often each fault and outcome was considered.
        self.usage = UsageCounter()
        #: The unfinished exchanges, by what their Idempotency-Keys are remembered under.
        self.in_flight: dict[str, CallRequest] = {}
        #: Requests are counted from 1 again after a restart, and a frozen clock shows the same moment.
        self.starts = keeper.starts
        #: Whether it lives in memory only.
        self.ephemeral = False
        #: What a judge has put into every world of the process.
        self.protected: ProtectedFaults | None = None
        #: After how long without a request it is deleted, in milliseconds of real time.
        self.ttl_ms: int | None = None
        #: Calls off whatever looks after that, when it is deleted before.
        self.call_off: Callable[[], None] = lambda: None
        #: How often the control API was asked something of it.
        self.asked = 0
        self._beside = 0
        #: All worlds of the process.
        self.worlds: Callable[[], Iterable[Engine]] = tuple

    # --- time -----------------------------------------------------------------------------------

    def pass_over(self, ms: int) -> None:
        """Go on as if so many real milliseconds had passed, without waiting for them."""
        self._ahead_ms += ms

    def _machine(self) -> int:
        return self._read_machine() + self._ahead_ms

    def now_ms(self) -> int:
        """World time, in milliseconds since 1970. It never goes back, even if the machine's does."""
        world, machine_ms = self.world, self._read_machine() + self._ahead_ms
        shown_ms = self._shown_ms
        same = machine_ms == self.machine_ms and world.clock is self._timed
        if same and world.at_ms <= shown_ms:
            return shown_ms  # the same moment by the same clock as last time
        self.machine_ms, self._timed = machine_ms, world.clock
        now_ms = max(world.at_ms, shown_ms, clocks.read(world.clock, machine_ms))
        if now_ms != shown_ms:
            self._shown_ms = now_ms
            self.keeper.shown_ms = now_ms
        return now_ms

    def date_s(self) -> int:
        """Return what the Date header of a response shows now, in seconds since 1970."""
        return self.now_ms() // 1000

    def run_due(self) -> int:
        """Run what is due and return world time."""
        now_ms = self.now_ms()
        schedule = self.world.schedule
        if schedule and schedule[0][0] <= now_ms:
            change, _ = run_due(self.world, now_ms, carry_out)
            self.commit(change, "due events")
        return now_ms

    # --- commits --------------------------------------------------------------------------------

    def begin_change(self) -> Change:
        """Return a change that is made now, of the world as it is once all that is due has run."""
        now_ms = self.run_due()
        return Change(self.world, now_ms)

    def commit(self, change: Change, title: str, turn: Mapping[str, Any] | None = None) -> None:
        """Accept a change: keep it, then swap the world. Raises StoreFailed, changing nothing.

        `turn` is what a hand did to make it, as a step of a story says it.
        """
        writes, before = change.writes, change.world
        assert before is self.world, f"{title}: the world changed in the meantime"
        if not any(writes.values()):
            return
        at_ms = max(before.at_ms, change.now_ms)
        world = apply(before, writes, commit=before.commit + 1, at_ms=at_ms)
        request = None if self.running is None else self.running.n
        entered = tuple(change.entered)
        commit = Commit(title, writes, before, world, entered, turn, request=request)
        try:
            self.keeper.append(commit)
        except OSError as error:
            raise StoreFailed(
                f"the change could not be saved: {error.strerror or error}"
            ) from error
        self.world = world
        self.usage.observe_removals(before, writes)
        self.history.append(commit)
        self.tally.commits += 1
        if self.running is not None:
            self.running.commits += (commit,)
        if self.feed.awake:
            self.feed.committed(title, writes, world)

    @property
    def has_changed(self) -> bool:
        """Whether anything was committed since the world began, or how it began is not known."""
        origin = self.world.get(ORIGIN, ONLY)
        return origin is None or origin.commit is None or origin.commit < self.world.commit

    def is_protected(self, fault_id: str) -> bool:
        """Return whether a fault or outcome is protected, so that no client can remove it."""
        return self.protected is not None and self.protected.get(fault_id) is not None

    def protect(self) -> None:
        """Put the protected faults into this world, as far as it lacks them. Raises StoreFailed."""
        if self.protected:
            change = Change(self.world, self.world.at_ms)
            self.protected.put_into(change, self, self.log.cleared)
            self.commit(change, "protected faults")

    def replace_world(
        self,
        world: World,
        title: str = "replaced",
        restored: SavedState | None = None,
        reason: EndReason = "replaced",
    ) -> None:
        """Put another world in place of this one, later than all that was, and forget its requests.

        Of one that is `restored` the request log goes on. Otherwise observers of the log learn the
        `reason` first. Raises StoreFailed.
        """
        world = replace(world, commit=max(world.commit, self.world.commit + 1))
        if reason in ("loaded", "reset") and self.keeper.is_on_disk:
            world = mark_beginning(world)
        try:
            self.keeper.replace(world)
        except OSError as error:
            raise StoreFailed(f"the world could not be saved: {error.strerror or error}") from error
        if restored is None:
            self.log.end(reason)
        self.history.replace(Commit(title, {}, self.world, world, restored=restored))
        self.world = world
        self._shown_ms, self._timed = 0, None
        self.identity = Identity(world.seed, world.name)
        self.in_flight.clear()
        if self.feed.awake:
            self.feed.tell("world", {"commit": world.commit, "title": title})
        if restored is not None:
            self.log.turned.append(self.log.count)
            return
        self.log.clear()
        # An observation may still hold the counts of the world that ended.
        self.usage = UsageCounter()
        self.starts = self._beside = 0

    def restore(self, snapshot: SavedState, title: str = "restored") -> None:
        """Put an earlier state of this world back, as one more commit; its request log goes on.

        Time goes on from where it was then; a real clock shows the machine's. Raises StoreFailed.
        """
        world = anchored(snapshot.world, snapshot.at_ms, self._machine())
        self.replace_world(world, title, snapshot)

    # --- moving time ----------------------------------------------------------------------------

    def due_of(self, operation_id: str) -> int | None:
        """When an operation (or the one it waits for) takes its next step; None: nothing is scheduled."""
        world = self.world
        operation = world.get(OPERATIONS, operation_id)
        if operation is None:
            return None
        if (event := event_of(Change(world, world.at_ms), operation)) is not None:
            return event.due_ms
        # What the timeline does next may set an operation going that stands still.
        planned = [e.due_ms for _, e in world.rows(SCHEDULE) if e.kind == "timeline"]
        return min(planned, default=None)

    def move_to(self, at_ms: int | None, mode: str | None = None, rate: float | None = None) -> int:
        """Move world time forward and run what comes due; returns the number of events.

        What is None stays as it is. Raises ClockRefused, also when `at_ms` lies in the past.
        """
        return self._move(self.run_due(), at_ms, mode, rate)

    def move_by(self, by_ms: int) -> int:
        """Move world time forward by this much. Raises ClockRefused past the year 9999."""
        now_ms = self.run_due()
        return self._move(now_ms, now_ms + by_ms)

    def move_up_to(self, due_ms: int) -> int:
        """Move world time forward to a moment, unless time has passed it by itself."""
        now_ms = self.run_due()
        return self._move(now_ms, max(due_ms, now_ms))

    def move_until_ended(self, operation_id: str) -> int | None:
        """Move world time forward until an operation has ended; returns the number of events.

        None: it does not move with time, or not any more.
        """
        events = 0
        while not finished(self.world.tables[OPERATIONS.name][operation_id]):
            if (due_ms := self.due_of(operation_id)) is None:
                return None
            events += self.move_up_to(due_ms)
        return events

    def _move(
        self, now_ms: int, at_ms: int | None, mode: str | None = None, rate: float | None = None
    ) -> int:
        clock = clocks.change(
            self.world.clock, now_ms, self._machine(), mode=mode, rate=rate, at_ms=at_ms
        )
        return self.set_clock(clock)

    def set_clock(self, clock: ClockRecord) -> int:
        """Give the world another clock, and run what is due by it, in one commit."""
        change, count = run_due(self.world, clock.world_ms, carry_out)
        change.now_ms = max(change.now_ms, clock.world_ms)
        change.put(CLOCK, ONLY, clock)
        self.commit(change, "clock")
        return count

    # --- who asks -------------------------------------------------------------------------------

    def owner_of(self, token: str) -> str | None:
        """Say which other world made an API key, for the request log only; None: none did."""
        name, made = self.world.name, f"api_key:{digest(token)}"
        found = [one.world.name for one in self.worlds() if made in one.world.indexes]
        if not found or name in found:
            return None
        return f"it is an API key of world {found[0]}, but this is world {name}"

    @property
    def token_lifetime_s(self) -> int:
        """How long an access token is valid, in seconds of world time."""
        return max(1, parse_duration_ms(self.world.assumptions.token_lifetime) // 1000)

    def mint(
        self,
        user: User,
        organization_id: str | None,
        base_url: str,
        *,
        interactive: bool = True,
        lifetime_s: int | None = None,
        redeemed: RedeemedGrant | None = None,
    ) -> str:
        """Return an access token that a user gets now, from the issuer under a base URL.

        Its lifetime is in seconds of world time, from the second of now. It speaks for a session, if
        there is one. `redeemed` is what gives it, if somebody signed in by a browser: then it also
        says for which client and scope (RFC 9068, 2.2), and ends when the grant is revoked.
        """
        issued = self.now_ms() // 1000
        claims: dict[str, Any] = {
            "iss": base_url + issuer_path(self.world.name),
            "aud": self.world.assumptions.token_audience,
            "sub": user.id,
            "iat": issued,
            "exp": issued + (lifetime_s or self.token_lifetime_s),
        }
        session_id = standing_session(self.world, user.id) if interactive else None
        given: dict[str, Any] = {}
        if redeemed is not None:
            key, grant = redeemed
            session_id, given = grant.session_id, {"client_id": grant.client_id}
            given |= {"scope": grant.scope, "jti": f"{key}.{grant.generation}"}
        where = {"org_id": organization_id, "sid": session_id}
        claims |= {name: value for name, value in where.items() if value is not None}
        return self.identity.sign(claims | {"name": user.name, "email": user.email} | given)

    def make_key(
        self,
        user: User,
        organization: Organization,
        name: str,
        permissions: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Make a user API key by hand, with some of its organization's permissions, or all.

        Returns it with its value, which is not kept. Raises ValueError: a permission is unknown.
        """
        unknown = sorted(set(permissions or ()) - set(organization.permissions))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not one of {', '.join(organization.permissions)}")
        change, body = self.begin_change(), {"name": name}
        granted = organization.permissions if permissions is None else tuple(permissions)
        key, value = make_key(change, organization, user.id, name, granted)
        turn = {"api_key": user.alias, "organization": organization.alias, "body": body}
        if granted != organization.permissions:
            turn["body"] = body | {"permissions": list(granted)}
        self.commit(change, "API key created by the control API", turn)
        return {"value": value, "key": views.api_key(key, self.world.assumptions)}

    # --- requests -------------------------------------------------------------------------------

    async def exchange(
        self, ctx: ExchangeContext, steps: Sequence[Step] = CALL_STEPS, wait: Wait = hand_out
    ) -> Reply:
        """Answer one request of the public API. Never raises for anything a client did.

        Waits on its way by `wait`; see `exchange.run_through` for who need not.
        """
        try:
            while isinstance(reply := self._take(ctx, steps), Delay):
                self.log.hold(ctx)
                await wait(reply)
            if self.keeper.waits:
                self.log.hold(ctx)
                try:
                    await wait(Durable(self.keeper.durable))
                except OSError:
                    ctx.effect = None
                    detail = "The change could not be written to disk; it may be lost."
                    refused = ctx.again(Refused("service_unavailable", detail))
                    return run_through(self.exchange(refused, steps))
            if ctx.delay_ms or ctx.held:
                self.log.hold(ctx)
                await wait(Delay(ctx.delay_ms, answered=True))
            return reply
        finally:
            if ctx.in_progress:
                self.log.release(ctx)
            if self.in_flight.get(ctx.storage_key) is ctx:
                del self.in_flight[ctx.storage_key]
            # What the log does not show is forgotten.
            ctx.headers, ctx.docs_url = NO_HEADERS, str
            ctx.change = ctx.record = ctx.reply = GONE
            # An exception holds its traceback, and the traceback holds the request and its bytes.
            ctx.refused = None
            ctx.decision = None

    def arrive(self, ctx: ExchangeContext) -> None:
        """List a request whose body has not arrived completely."""
        self.log.count += 1
        ctx.n = self.log.count
        ctx.took_ns = stopwatch_ns()
        ctx.world = self.world
        ctx.at_ms = self.now_ms()
        ctx.came_ms = ctx.at_ms
        ctx.real_ms = self.machine_ms
        with suppress(Refused):
            route(self, ctx)
        ctx.refused = None
        self.log.hold(ctx)

    def _take(self, ctx: ExchangeContext, steps: Sequence[Step]) -> Delay | Reply:
        """Take the steps until one ends the way, and record the exchange, unless it has to wait."""
        self.protect()
        self.running, outcome = ctx, None
        try:
            try:
                for step in steps:
                    if (outcome := step(self, ctx)) is not None:
                        break
            except Refused as refused:
                ctx.assumption, ctx.reply = refused.assumption, None
                ctx.why += (refused.why or refused.detail,)
                outcome = refuse(self, ctx, refused)
                faults_after_commit(self, ctx)
        except StoreFailed as failed:
            lost = Refused("service_unavailable", f"Nothing was changed: {failed}.")
            ctx.effect = None
            ctx.why += (lost.detail,)
            outcome = refuse(self, ctx, lost)
        if self.protected:
            self.protected.take_counts(self.world)
        if isinstance(outcome, Delay):
            self.running = None
            return outcome
        reply = outcome or ctx.reply
        assert reply is not None
        if self.world.variation is not None and reply.status:
            dress(self, reply, ctx)
        if self.world.clock.mode == "skip":
            note_wait(self, ctx, reply)
        self.running = None
        self.log.record(ctx, reply)
        if self.feed.awake:
            self.feed.tell("request", ctx)
        self.tally.add(self.world, ctx)
        return reply

    def request_id(self) -> str:
        """Return a new request id, for an answer that is not an exchange of the public API.

        It takes no number of the request log, which would miss it.
        """
        self._beside += 1
        number = f"beside/{self._beside}"
        number = f"{self.starts}/{number}" if self.starts else number
        return derived_request_id(self.world.seed, number, self.now_ms())


# --- the worlds of a process --------------------------------------------------------------------------


class WorldStore(Protocol):
    """Where worlds are kept (see `storage.directory`)."""

    def worlds(self) -> list[str]:
        """Return the names of the worlds kept."""

    def load(self, name: str) -> World | None:
        """Read a world; None when there is none."""

    def keep(self, world: World, *, fresh: bool) -> Keeper:
        """Return the keeper of a world."""

    def forget(self, name: str) -> None:
        """Delete a world."""


class Worlds:
    """All worlds by name. `default` is always there. Without a library nothing is kept."""

    def __init__(
        self,
        library: WorldStore | None,
        machine: Callable[[], int] = machine_ms,
        rebuild: Callable[[World, Origin, int], World] | None = None,
    ) -> None:
        self._library = library
        self._rebuild = rebuild
        self._machine = machine
        self._engines: dict[str, Engine] = {}
        #: Return a world's engine by its name, or None.
        self.get: Callable[[str], Engine | None] = self._engines.get
        self._thrown_away = 0
        #: Worlds as they were when they were built, by what they were built from.
        self._prototypes: dict[Hashable, World] = {}
        self.tally = Tally()
        self.protected = ProtectedFaults()
        #: Judges that must know every world (see `conduct.observation`).
        self.observers: list[WorldsObserver] = []

    def open(self, seed: str, origin: Origin) -> bool:
        """Load what is kept, and make the default world if it is not; tell whether it was made."""
        library = self._library
        for kept in library.worlds() if library is not None else ():
            assert library is not None
            if (world := library.load(kept)) is not None:
                keeper = library.keep(world, fresh=False)
                # A scaled clock stood still while nobody ran it.
                world = anchored(world, max(world.at_ms, keeper.shown_ms), self._machine())
                self._take(Engine(world, keeper, self._machine, self.tally))
        if DEFAULT_WORLD in self._engines:
            return False
        self.create(DEFAULT_WORLD, seed, origin, ephemeral=False)
        return True

    def rest(self) -> None:
        """Bring every world up to date before the process ends. Raises StoreFailed after the last."""
        failed: StoreFailed | None = None
        for engine in self._engines.values():
            try:
                now_ms = engine.run_due()
                clock = engine.world.clock
                if clock.mode == "scaled":
                    now = replace(clock, world_ms=now_ms, machine_ms=self._machine())
                    engine.set_clock(now)
            except StoreFailed as error:
                failed = error
        if failed is not None:
            raise failed

    def __iter__(self) -> Iterator[Engine]:
        """Walk the engines, in the order the worlds were made."""
        return iter(list(self._engines.values()))

    def __len__(self) -> int:
        """The number of worlds."""
        return len(self._engines)

    def new_name(self) -> str:
        """Return a name for a throw-away world."""
        while True:
            self._thrown_away += 1
            name = f"world-{self._thrown_away}"
            if name not in self._engines:
                return name

    def create(self, name: str, seed: str, origin: Origin, *, ephemeral: bool) -> Engine:
        """Make a default world under a free name. Raises ClockRefused, StoreFailed."""
        return self.add(self.default(name, seed, origin), ephemeral=ephemeral, begins=True)

    def default(self, name: str, seed: str, origin: Origin) -> World:
        """Return a fresh default world under a name. Raises ClockRefused."""
        return self.fresh(
            name,
            (seed, msgspec.json.encode(origin)),
            lambda: new_world(name, seed, origin, self._machine()),
        )

    def fresh(self, name: str, key: Hashable, build: Callable[[], World]) -> World:
        """Return the world of `key` under a name; `build` is asked for one that is not known.

        Building a world costs milliseconds, a copy of a value nothing but its new name: that is what
        lets every test have a world of its own. What is built must depend on `key` and the name
        alone, but for a clock that runs: such a world begins at another time each time, and is not
        remembered. What `build` raises is passed on.
        """
        built = self._prototypes.pop(key, None) or build()
        if built.clock.mode in ("frozen", "skip"):
            self._prototypes[key] = built  # behind all others: the one longest unused is the first
            if len(self._prototypes) > MOST_PROTOTYPES:
                del self._prototypes[next(iter(self._prototypes))]
        return renamed(built, name)

    def add(
        self,
        world: World,
        *,
        ephemeral: bool,
        source: Engine | None = None,
        begins: bool = False,
    ) -> Engine:
        """Take in a world under its own, free name.

        It may be a copy of a `source`. One that `begins` has not changed yet. Raises StoreFailed.
        """
        library = None if ephemeral else self._library
        if begins and library is not None:
            world = mark_beginning(world)
        try:
            keeper = Keeper() if library is None else library.keep(world, fresh=True)
        except OSError as error:
            raise StoreFailed(f"the world could not be saved: {error.strerror or error}") from error
        engine = self._take(Engine(world, keeper, self._machine, self.tally))
        engine.ephemeral = ephemeral
        if source is not None:
            self.protected.copy_scope(source.world.name, world.name)
        if self.observers:
            notify(self.observers, lambda observer: observer.on_open(engine, source))
        self._tell(world.name, made=True)
        return engine

    def _take(self, engine: Engine) -> Engine:
        engine.worlds = self._engines.values
        # What belongs to this process must not be kept on disk.
        if type(engine.keeper) is Keeper:
            engine.protected = self.protected
        self._engines[engine.world.name] = engine
        return engine

    def fork(
        self, source: Engine, name: str, *, ephemeral: bool, of: World | None = None
    ) -> Engine:
        """Make another world that is now exactly like `source`, and from now on alone.

        `of` is an earlier state of `source` to begin from. Raises StoreFailed.
        """
        if of is None:
            source.run_due()
            world = source.world
        else:
            world = anchored(of, of.at_ms, self._machine())
        return self.add(replace(world, name=name), ephemeral=ephemeral, source=source)

    def reset(self, engine: Engine) -> None:
        """Begin a world again: as its scenario has it, or its seed, clock and assumptions."""
        old = engine.world
        origin = replace(old.get(ORIGIN, ONLY) or Origin(), commit=None)
        if origin.scenario is not None and self._rebuild is not None:
            world = self._rebuild(old, origin, self._machine())
        else:
            world = self.default(old.name, old.seed, origin)
        engine.replace_world(varied_world(world, origin.variation), "reset", reason="reset")

    def delete(self, name: str) -> None:
        """Delete a world and what is kept of it. Raises StoreFailed; it is then still there."""
        if not self._engines[name].ephemeral and self._library is not None:
            try:
                self._library.forget(name)
            except OSError as error:
                raise StoreFailed(
                    f"the world could not be deleted: {error.strerror or error}"
                ) from error
        engine = self._engines.pop(name)
        engine.log.end("deleted")
        engine.feed.end()
        self._tell(name, made=False)

    def _tell(self, name: str, *, made: bool) -> None:
        """Tell whoever listens to any world that one was made, or is gone."""
        for engine in self._engines.values():
            if engine.feed.awake:
                engine.feed.tell("worlds", {"name": name, "made": made})


def vary(engine: Engine, asked: Variation, kept: Collection[str] = ()) -> None:
    """Vary a world's answers from now on. Raises StoreFailed, changing nothing."""
    change = engine.begin_change()
    set_variation(change, asked, kept)
    engine.commit(change, "variation set", {"vary": asked.seed})
    engine.log.varied.clear()


def unvary(engine: Engine) -> bool:
    """Answer as usual again; tell whether anything was varied. Raises StoreFailed."""
    change = engine.begin_change()
    found = clear_variation(change)
    engine.commit(change, "variation removed", {"vary": None})
    return found


def variation_view(engine: Engine) -> dict[str, Any] | None:
    """Return a world's variation: seed, points it is confined to, what it assumes, what it did.

    `varied` counts the answers that varied, by point. None: the world answers as usual.
    """
    variation = engine.world.variation
    if variation is None:
        return None
    varied = engine.log.varied
    return {
        "seed": variation.seed,
        "only": None if variation.only is None else list(variation.only),
        "assumed": dict(variation.assumed),
        "varied": {point: varied[point] for point in POINTS if point in varied},
    }
