"""The engine of one world: its time, its commits and its access tokens.

The engine does not know the steps of an exchange (see `driver` and `pipeline`). None of its methods
is asynchronous, so no other code can run between reading the world and replacing it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from msgspec.structs import replace

from hosting_emulator.calls.api_keys import make_key
from hosting_emulator.calls.request import CallRequest, derived_request_id
from hosting_emulator.contract.durations import parse_duration_ms, whole_seconds
from hosting_emulator.contract.timestamps import EARLIEST_MS
from hosting_emulator.engine.access_tokens import AccessTokens, issuer_path
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.feed import Feed
from hosting_emulator.engine.history import Commit, History, SavedState, Snapshots
from hosting_emulator.engine.keeper import Keeper, StoreFailed
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.observers import EndReason
from hosting_emulator.engine.protection import ProtectedFaults
from hosting_emulator.engine.request_log import RequestLog
from hosting_emulator.engine.sign_ins import RedeemedGrant, SignIns
from hosting_emulator.engine.tally import Tally
from hosting_emulator.engine.timeline import run_timeline_entry
from hosting_emulator.faults.usage import UsageCounter
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import views
from hosting_emulator.world.due_events import run_due
from hosting_emulator.world.plans import is_finished
from hosting_emulator.world.reactions import react
from hosting_emulator.world.records import (
    ClockRecord,
    DefaultSettings,
    Organization,
    User,
    WorldSource,
)
from hosting_emulator.world.schedule import event_of
from hosting_emulator.world.sessions import implicit_session_id
from hosting_emulator.world.tables import CLOCK, OPERATIONS, ORIGIN, SCHEDULE, SINGLETON_KEY
from hosting_emulator.world.value import Change, World, apply

_log = logging.getLogger("hosting_emulator.worlds")


def anchored(world: World, world_ms: int, machine_ms: int) -> World:
    """Return a world whose scaled clock reads `world_ms` when the machine's clock reads `machine_ms`.

    If the world's clock is not scaled, return the world unchanged.
    """
    if world.clock.mode != "scaled":
        return world
    clock = replace(world.clock, world_ms=world_ms, machine_ms=machine_ms)
    return apply(
        world, {CLOCK.name: {SINGLETON_KEY: clock}}, commit=world.commit, at_ms=world.at_ms
    )


def mark_beginning(world: World) -> World:
    """Return a copy of a world that records the current commit as its initial state (see
    `Engine.has_changed`).
    """
    origin = world.get(ORIGIN, SINGLETON_KEY) or WorldSource()
    origin = replace(origin, commit=world.commit)
    return apply(
        world, {ORIGIN.name: {SINGLETON_KEY: origin}}, commit=world.commit, at_ms=world.at_ms
    )


def keep_default_settings(world: World, replaced: World) -> World:
    """Return a scenario's world, after storing in it the settings of the default world that it replaces.

    `replaced` is the world that is replaced: either the default world, or the world of an earlier
    scenario, which contains these settings.
    """
    origin = world.get(ORIGIN, SINGLETON_KEY)
    former = replaced.get(ORIGIN, SINGLETON_KEY)
    if origin is None or origin.scenario is None or former is None:
        return world
    default = former.default
    if former.scenario is None:
        default = DefaultSettings(
            mode=former.mode,
            rate=former.rate,
            at_ms=former.at_ms,
            assumptions=former.assumptions,
            chosen=former.chosen,
            variation=former.variation,
        )
    origin = replace(origin, default=default)
    return apply(
        world, {ORIGIN.name: {SINGLETON_KEY: origin}}, commit=world.commit, at_ms=world.at_ms
    )


class Engine:
    """A running world, with its clock, keeper, history, request log and identity provider."""

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
        #: The events in this world, for its listeners.
        self.feed = Feed(machine() * 1000)
        #: The exchange whose steps are currently running. New commits are attributed to it.
        self.current_exchange: ExchangeContext | None = None
        self._read_machine = machine
        #: How many real milliseconds `pass_real_time` has added.
        self._passed_ms = 0
        self._shown_ms = keeper.shown_ms
        #: The machine's time when world time was last read, and the world's clock record at the
        #: time.
        self.machine_ms = 0
        self._read_clock: ClockRecord | None = None
        self.access_tokens = AccessTokens(world.seed, world.name)
        self.sign_ins = SignIns(world.seed, world.name)
        self.log = RequestLog()
        #: How often each fault and outcome was considered, and which request came closest to
        #: triggering it.
        self.usage = UsageCounter()
        #: The unfinished exchanges, keyed by the storage key for their Idempotency-Key.
        self.in_flight: dict[str, CallRequest] = {}
        #: How many times this world has been loaded from disk. Request ids also depend on this
        #: number, because after a restart the log counts from 1 again and a frozen clock still
        #: shows the same time.
        self.starts = keeper.starts
        #: Whether the world exists only in memory.
        self.ephemeral = False
        #: The faults that judges protect in the process's worlds.
        self.protected: ProtectedFaults | None = None
        #: For how many real milliseconds the world must be idle before it is deleted. None means
        #: never.
        self.ttl_ms: int | None = None
        #: Cancels the timer that deletes the idle world.
        self.cancel_expiry: Callable[[], None] = lambda: None
        #: The number of control API requests about this world.
        self.control_requests = 0
        self._unlogged_responses = 0
        #: The number of access tokens issued for this world.
        self._issued_tokens = 0
        #: Returns the engines of all worlds in the process.
        self.worlds: Callable[[], Iterable[Engine]] = tuple

    # --- Time -----------------------------------------------------------------------------------

    def pass_real_time(self, ms: int) -> None:
        """Behave as if `ms` real milliseconds had passed.

        A real or scaled clock advances accordingly.
        """
        self._passed_ms += ms

    def _machine(self) -> int:
        return self._read_machine() + self._passed_ms

    def now_ms(self) -> int:
        """Return world time in milliseconds since 1970.

        World time never goes backwards, unless the world is replaced.
        """
        world = self.world
        machine_ms = self._read_machine() + self._passed_ms
        shown_ms = self._shown_ms
        is_same_moment = machine_ms == self.machine_ms and world.clock is self._read_clock
        if is_same_moment and world.at_ms <= shown_ms:
            return shown_ms
        self.machine_ms = machine_ms
        self._read_clock = world.clock
        now_ms = max(world.at_ms, shown_ms, clocks.read(world.clock, machine_ms))
        if now_ms != shown_ms:
            self._shown_ms = now_ms
            self.keeper.shown_ms = now_ms
        return now_ms

    def date_s(self) -> int:
        """Return the time for the Date header of a response, in seconds since 1970."""
        return (self.now_ms() + self.world.clock.date_skew_ms) // 1000

    def run_due(self) -> int:
        """Run all due events, and return world time in milliseconds since 1970."""
        now_ms = self.now_ms()
        schedule = self.world.schedule
        if schedule and schedule[0][0] <= now_ms:
            change, _ = run_due(self.world, now_ms, run_timeline_entry)
            self.commit(change, "due events")
        return now_ms

    # --- Commits --------------------------------------------------------------------------------

    def begin_change(self) -> Change:
        """Run all due events, and return an empty change to the world at the current world time."""
        now_ms = self.run_due()
        return Change(self.world, now_ms)

    def commit(
        self, change: Change, title: str, manual_change: Mapping[str, Any] | None = None
    ) -> None:
        """Store a change, then replace the world with the result. On failure, raises StoreFailed
        and changes nothing.

        If a user made the change by hand, `manual_change` describes it in the form of a story step.
        """
        react(change)
        writes = change.writes
        before = change.world
        assert before is self.world, f"{title}: the world changed in the meantime"
        if not any(writes.values()):
            return
        at_ms = max(before.at_ms, change.now_ms)
        world = apply(before, writes, commit=before.commit + 1, at_ms=at_ms)
        exchange = self.current_exchange
        commit = Commit(
            title,
            writes,
            before,
            world,
            tuple(change.transitions),
            manual_change,
            request=None if exchange is None else exchange.n,
        )
        try:
            self.keeper.append(commit)
        except OSError as error:
            raise StoreFailed(
                f"the change could not be saved: {error.strerror or error}"
            ) from error
        self.world = world
        self.usage.observe_removals(before, writes)
        self.history.append(commit)
        self.tally.add_commit(commit)
        if exchange is not None:
            exchange.commits += (commit,)
        if self.feed.awake:
            self.feed.emit_commit(title, writes, world)

    @property
    def has_changed(self) -> bool:
        """Whether the world has changed since its initial state. True if that state is unknown."""
        origin = self.world.get(ORIGIN, SINGLETON_KEY)
        return origin is None or origin.commit is None or origin.commit < self.world.commit

    def is_protected(self, fault_id: str) -> bool:
        """Return whether a judge protects a fault or outcome, so that no client can remove it."""
        return self.protected is not None and self.protected.get(fault_id) is not None

    def protect(self) -> None:
        """Add the missing protected faults to this world. Raises StoreFailed."""
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
        """Replace the world with a different one, as a new commit, and clear the request log.

        If `restored` is given, the new world is that earlier state, and the request log is kept. If
        `restored` is None, the log's observers are first told that the log ends, and for which
        `reason`. On failure, raises StoreFailed and changes nothing.
        """
        world = replace(world, commit=max(world.commit, self.world.commit + 1))
        if reason in ("loaded", "reset"):
            world = keep_default_settings(world, self.world)
        if reason in ("loaded", "reset") and self.keeper.is_on_disk:
            world = mark_beginning(world)
        try:
            self.keeper.replace(world)
        except OSError as error:
            raise StoreFailed(f"the world could not be saved: {error.strerror or error}") from error
        if restored is None:
            self.log.end(reason)
        self.history.append_replacement(Commit(title, {}, self.world, world, restored=restored))
        self.world = world
        self._shown_ms = 0
        self._read_clock = None
        self.access_tokens = AccessTokens(world.seed, world.name)
        self.sign_ins = SignIns(world.seed, world.name)
        self.in_flight.clear()
        if self.feed.awake:
            self.feed.emit("world", {"commit": world.commit, "title": title})
        fields = {"world": world.name, "commit": world.commit}
        _log.info("the world was replaced: %s", title, extra={"fields": fields})
        if restored is not None:
            self.log.rewinds.append(self.log.count)
            return
        self.log.clear()
        # Create a new counter instead of clearing the old one, which an observation may still be
        # using.
        self.usage = UsageCounter()
        self.starts = 0
        self._unlogged_responses = 0

    def restore(self, snapshot: SavedState, title: str = "restored") -> None:
        """Restore an earlier state of this world, as a new commit. The request log is kept.

        World time continues from the time at which the state was saved, except that a real clock
        shows real time. Faults whose protection has ended since then are not restored. Raises
        StoreFailed.
        """
        world = anchored(snapshot.world, snapshot.at_ms, self._machine())
        if self.protected is not None:
            world = self.protected.without_removed(world)
        self.replace_world(world, title, snapshot)

    # --- Moving time ----------------------------------------------------------------------------

    def due_of(self, operation_id: str) -> int | None:
        """Return the world time, in milliseconds, of the next event that can advance an operation.

        If the operation is waiting for the claim, this is the next event of the operation that
        holds it. If no step is scheduled for the operation, this is the next timeline entry.
        Returns None if no event is scheduled.
        """
        world = self.world
        operation = world.get(OPERATIONS, operation_id)
        if operation is None:
            return None
        event = event_of(Change(world, world.at_ms), operation)
        if event is not None:
            return event.due_ms
        planned = [event.due_ms for _, event in world.rows(SCHEDULE) if event.kind == "timeline"]
        return min(planned, default=None)

    def move_to(self, at_ms: int | None, mode: str | None = None, rate: float | None = None) -> int:
        """Move world time to `at_ms`, change the clock's mode and rate, and run all due events.

        A property whose argument is None does not change. Returns the number of events that ran.
        Raises ClockRefused, for example if `at_ms` is in the past.
        """
        return self._move(self.run_due(), at_ms, mode, rate)

    def move_by(self, by_ms: int) -> int:
        """Move world time forward by `by_ms` milliseconds, and return the number of events that ran.

        Raises ClockRefused for a time after the year 9999.
        """
        now_ms = self.run_due()
        return self._move(now_ms, now_ms + by_ms)

    def move_up_to(self, due_ms: int) -> int:
        """Move world time forward to `due_ms`, and return the number of events that ran.

        If `due_ms` is in the past, world time stays the same (`move_to` would raise an error).
        Raises ClockRefused for a time after the year 9999.
        """
        now_ms = self.run_due()
        return self._move(now_ms, max(due_ms, now_ms))

    def move_until_ended(self, operation_id: str) -> int | None:
        """Move world time forward until an operation ends, and return the number of events that ran.

        Returns None if the operation cannot end because no event is scheduled for it.
        """
        events = 0
        while not is_finished(self.world.tables[OPERATIONS.name][operation_id]):
            due_ms = self.due_of(operation_id)
            if due_ms is None:
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
        """Set the clock, and run all events that are due by the new time, in a single commit.

        Returns the number of events that ran.
        """
        change, count = run_due(self.world, clock.world_ms, run_timeline_entry)
        change.now_ms = max(change.now_ms, clock.world_ms)
        # An event may just have changed a skew, so use the latest skews.
        change.put(
            CLOCK, SINGLETON_KEY, clocks.with_skew_of(clock, change.get(CLOCK, SINGLETON_KEY))
        )
        self.commit(change, "clock")
        return count

    # --- Access tokens and API keys --------------------------------------------------------------

    @property
    def token_lifetime_s(self) -> int:
        """The lifetime of an access token issued at a sign-in, in seconds of world time.

        It is rounded up to a whole number, and is at least 1.
        """
        return max(1, whole_seconds(parse_duration_ms(self.world.assumptions.token_lifetime)))

    def provider_ms(self) -> int:
        """Return the time according to the identity provider's clock, in milliseconds since 1970."""
        return self.now_ms() + self.world.clock.token_skew_ms

    def _issued_s(self, now_s: int, lifetime_s: int | None) -> int:
        """Return the `iat` claim for a token that is issued when the identity provider's clock
        reads `now_s`.

        A token that is created by a tool, which passes `lifetime_s`, is dated to the earliest time
        that a world can have. The token therefore stays valid when a reset, a rewind or a different
        scenario moves world time back. If the identity provider's clock is skewed, however, the
        token is dated by that clock, because a skew is meant to be visible in tokens.
        """
        if lifetime_s is None or self.world.clock.token_skew_ms:
            return now_s
        return EARLIEST_MS // 1000

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
        """Return a new access token for a user, issued by the identity provider at `base_url`.

        Without `lifetime_s`, the token is issued for a sign-in, and is valid for `token_lifetime_s`
        starting now. With `lifetime_s`, in seconds of world time, it is created by a tool (see
        `_issued_s`). If the lifetime does not end at a whole second, the token expires at the next
        one.

        An `interactive` token names the user's current session, if there is one. `redeemed` is the
        grant from a browser sign-in. The token then also names the grant's client and scope (RFC
        9068, section 2.2), and is revoked together with the grant.
        """
        now_ms = self.provider_ms()
        self._issued_tokens += 1
        claims: dict[str, Any] = {
            "iss": base_url + issuer_path(self.world.name),
            "aud": self.world.assumptions.token_audience,
            "sub": user.id,
            "iat": self._issued_s(now_ms // 1000, lifetime_s),
            "exp": whole_seconds(now_ms) + (lifetime_s or self.token_lifetime_s),
        }
        session_id = None
        # The ordinal makes each token unique. Without the ordinal, a client that replaces a refused
        # token under a frozen clock would receive the same token again.
        grant_claims: dict[str, Any] = {"jti": f"token-{self._issued_tokens}"}
        if redeemed is not None:
            grant = redeemed.grant
            session_id = grant.session_id
            grant_claims = {
                "client_id": grant.client_id,
                "scope": grant.scope,
                "jti": f"{redeemed.key}.{grant.generation}",
            }
        elif interactive:
            session_id = implicit_session_id(self.world, user.id)
        if organization_id is not None:
            claims["org_id"] = organization_id
        if session_id is not None:
            claims["sid"] = session_id
        claims["name"] = user.name
        claims["email"] = user.email
        return self.access_tokens.sign(claims | grant_claims)

    def make_key(
        self,
        user: User,
        organization: Organization,
        name: str,
        permissions: Sequence[str] | None = None,
    ) -> dict[str, Any]:
        """Create an API key for a user.

        The key has the given `permissions`, or all of the organization's permissions if
        `permissions` is None. Returns the key and its full value, which is not stored. Raises
        ValueError if the organization does not have one of the permissions.
        """
        unknown = sorted(set(permissions or ()) - set(organization.permissions))
        if unknown:
            raise ValueError(f"{unknown[0]!r} is not one of {', '.join(organization.permissions)}")
        change = self.begin_change()
        granted = organization.permissions if permissions is None else tuple(permissions)
        key, value = make_key(change, organization, user.id, name, granted)
        body: dict[str, Any] = {"name": name}
        if granted != organization.permissions:
            body["permissions"] = list(granted)
        manual_change = {
            "api_key": user.alias,
            "organization": organization.alias,
            "body": body,
        }
        self.commit(change, "API key created by the control API", manual_change)
        return {"value": value, "key": views.api_key(key, self.world.assumptions)}

    def request_id(self) -> str:
        """Return a new request id for a response that is not listed in the request log.

        The new id does not use up a request number, so the numbers in the log have no gaps.
        """
        self._unlogged_responses += 1
        number = f"beside/{self._unlogged_responses}"
        if self.starts:
            number = f"{self.starts}/{number}"
        return derived_request_id(self.world.seed, number, self.now_ms())
