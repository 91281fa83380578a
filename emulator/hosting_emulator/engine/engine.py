"""The engine of one world: its time, the way from one commit to the next, and from request to answer.

No `await` stands between reading the world and swapping it, so there are no locks and two
concurrent requests are always one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hosting_emulator.calls.answers import make_key
from hosting_emulator.calls.request import NO_HEADERS, CallRequest, Reply, derived_request_id
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.exchange import (
    NOTHING,
    Delay,
    Durable,
    Exchange,
    ExchangeContext,
    run_through,
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
from hosting_emulator.engine.identity import Identity, Redeemed, issuer_path
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.pipeline import (
    CALL_STEPS,
    Step,
    carry_out,
    dress,
    faults_after_commit,
    note_wait,
    refuse,
)
from hosting_emulator.engine.request_log import RequestLog
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import views
from hosting_emulator.world.operations import event_of, run_due
from hosting_emulator.world.records import ClockRecord, Organization, Person
from hosting_emulator.world.sessions import standing_session
from hosting_emulator.world.streams import digest
from hosting_emulator.world.tables import CLOCK, ONLY, OPERATIONS, SCHEDULE
from hosting_emulator.world.value import Change, World, apply


def anchored(world: World, world_ms: int, machine_ms: int) -> World:
    """Return a world whose scaled clock runs on from `world_ms`; the other modes know their time."""
    if world.clock.mode != "scaled":
        return world
    clock = replace(world.clock, world_ms=world_ms, machine_ms=machine_ms)
    return apply(world, {CLOCK.name: {ONLY: clock}}, commit=world.commit, at_ms=world.at_ms)


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
        #: Where commits are noted, as long as an exchange runs: they are its.
        self.noted: list[Commit] | None = None
        self._read_machine, self._ahead_ms = machine, 0
        self._shown_ms = keeper.shown_ms
        #: What the machine's clock showed when it was last read.
        self.machine_ms = 0
        self.identity = Identity(world.seed, world.name)
        self.log = RequestLog()
        #: The unfinished exchanges, by what their Idempotency-Keys are remembered under.
        self.in_flight: dict[str, CallRequest] = {}
        #: Requests are counted from 1 again after a restart, and a frozen clock shows the same moment.
        self.starts = keeper.starts
        #: After how long without a request it is deleted, in milliseconds of real time.
        self.ttl_ms: int | None = None
        #: Calls off whatever looks after that, when it is deleted before.
        self.call_off: Callable[[], None] = lambda: None
        #: How often the control API was asked something of it.
        self.asked = 0
        #: Until when requests were refused, for a clock that skips there (see `pipeline.note_wait`).
        self.waits: dict[tuple[str, ...], int] = {}
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
        world = self.world
        self.machine_ms = machine_ms = self._read_machine() + self._ahead_ms
        now_ms = max(world.at_ms, self._shown_ms, clocks.read(world.clock, machine_ms))
        if now_ms != self._shown_ms:
            self._shown_ms = now_ms
            self.keeper.show(now_ms)
        return now_ms

    def run_due(self) -> int:
        """Run what is due and return world time."""
        now_ms = self.now_ms()
        schedule = self.world.schedule
        if schedule and schedule[0][0] <= now_ms:
            found = run_due(self.world, now_ms, carry_out)
            if found is not None:
                self.commit(found[0], "due events")
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
        commit = Commit(title, writes, before, world, tuple(change.entered), turn)
        try:
            self.keeper.append(commit)
        except OSError as error:
            raise StoreFailed(
                f"the change could not be saved: {error.strerror or error}"
            ) from error
        self.world = world
        self.history.append(commit)
        self.tally.commits += 1
        if self.noted is not None:
            self.noted.append(commit)
        if self.feed.awake:
            self.feed.committed(title, writes, world)

    def replace_world(
        self, world: World, title: str = "replaced", restored: SavedState | None = None
    ) -> None:
        """Put another world in place of this one, and forget the old one's requests.

        Of one that is `restored` the request log goes on. Raises StoreFailed.
        """
        try:
            self.keeper.replace(world)
        except OSError as error:
            raise StoreFailed(f"the world could not be saved: {error.strerror or error}") from error
        self.history.replace(Commit(title, {}, self.world, world, restored=restored))
        self.world = world
        self._shown_ms = 0
        self.identity = Identity(world.seed, world.name)
        self.in_flight.clear()
        self.waits.clear()
        if self.feed.awake:
            self.feed.tell("world", (world.commit, title))
        if restored is not None:
            self.log.turned.append(self.log.count)
            return
        self.log.clear()
        self.starts = self._beside = 0

    def restore(self, snapshot: SavedState, title: str = "restored") -> None:
        """Put an earlier state of this world back, as one more commit; its request log goes on.

        Time goes on from where it was then; a real clock shows the machine's. Raises StoreFailed.
        """
        world = anchored(snapshot.world, snapshot.at_ms, self._machine())
        self.replace_world(replace(world, commit=self.world.commit + 1), title, snapshot)

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

    def _move(
        self, now_ms: int, at_ms: int | None, mode: str | None = None, rate: float | None = None
    ) -> int:
        clock = clocks.change(
            self.world.clock, now_ms, self._machine(), mode=mode, rate=rate, at_ms=at_ms
        )
        return self.set_clock(clock)

    def set_clock(self, clock: ClockRecord) -> int:
        """Give the world another clock, and run what is due by it, in one commit."""
        found = run_due(self.world, clock.world_ms, carry_out)
        change, count = found or (Change(self.world, self.world.at_ms), 0)
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
        person: Person,
        organization_id: str | None,
        base_url: str,
        *,
        interactive: bool = True,
        lifetime_s: int | None = None,
        redeemed: Redeemed | None = None,
    ) -> str:
        """Return an access token that a person gets now, from the issuer under a base URL.

        `redeemed` is what gives it, if somebody signed in by a browser.
        """
        session_id = standing_session(self.world, person.id) if interactive else None
        return self.identity.mint(
            person,
            organization_id,
            issuer=base_url + issuer_path(self.world.name),
            audience=self.world.assumptions.token_audience,
            now_ms=self.now_ms(),
            lifetime_s=lifetime_s or self.token_lifetime_s,
            session_id=session_id if redeemed is None else redeemed.grant.session_id,
            redeemed=redeemed,
        )

    def make_key(
        self,
        person: Person,
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
        key, value = make_key(change, organization, person.id, name, granted)
        turn = {"api_key": person.alias, "organization": organization.alias, "body": body}
        if granted != organization.permissions:
            turn["body"] = body | {"permissions": list(granted)}
        self.commit(change, "API key created by the control API", turn)
        return {"value": value, "key": views.api_key(key, self.world.assumptions)}

    # --- requests -------------------------------------------------------------------------------

    def exchange(self, ctx: ExchangeContext, steps: Sequence[Step] = CALL_STEPS) -> Exchange:
        """Answer one request of the public API. Never raises for anything a client did.

        Yields what is to be awaited on the way; see `exchange.run_through` for who need not wait.
        """
        try:
            while isinstance(reply := self._take(ctx, steps), Delay):
                self.log.count -= 1  # it comes again
                yield reply
            if self.keeper.waits and (yield Durable(self.keeper.durable)) is not None:
                ctx.effect = None
                detail = "The change could not be written to disk; it may be lost."
                return run_through(
                    self.exchange(ctx.again(Refused("service_unavailable", detail)), steps)
                )
            if ctx.delay_ms or ctx.held:
                yield Delay(ctx.delay_ms, answered=True)
            return reply
        finally:
            if self.in_flight.get(ctx.storage_key) is ctx:
                del self.in_flight[ctx.storage_key]
            # What the log does not show is forgotten.
            ctx.headers, ctx.docs_url = NO_HEADERS, str
            ctx.change = ctx.record = ctx.reply = NOTHING

    def _take(self, ctx: ExchangeContext, steps: Sequence[Step]) -> Delay | Reply:
        """Take the steps until one ends the way, and record the exchange, unless it has to wait."""
        self.noted, outcome = ctx.commits, None
        try:
            try:
                for step in steps:
                    if (outcome := step(self, ctx)) is not None:
                        break
            except Refused as refused:
                ctx.assumption, ctx.reply = refused.assumption, None
                ctx.why.append(refused.why or refused.detail)
                outcome = refuse(self, ctx, refused)
                faults_after_commit(self, ctx)
        except StoreFailed as failed:
            lost = Refused("service_unavailable", f"Nothing was changed: {failed}.")
            ctx.effect = None
            ctx.why.append(lost.detail)
            outcome = refuse(self, ctx, lost)
        self.noted = None
        if isinstance(outcome, Delay):
            return outcome
        reply = outcome or ctx.reply
        assert reply is not None
        if self.world.variation is not None and reply.status:
            dress(self, reply, ctx)
        if self.world.clock.mode == "skip":
            note_wait(self, ctx, reply)
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
