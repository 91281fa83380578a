"""The engine of one world: takes each exchange through the core, and keeps what came of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from msgspec.structs import replace

from hosting_emulator.calls.create_user_api_key import make_key
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
from hosting_emulator.engine.history import SavedState, Snapshots
from hosting_emulator.engine.identity import Identity, issuer_path
from hosting_emulator.engine.live_world import Keeper, LiveWorld, StoreFailed, anchored
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.pipeline import (
    CALL_STEPS,
    Step,
    dress,
    faults_after_commit,
    note_wait,
    refuse,
)
from hosting_emulator.engine.request_log import RequestLog
from hosting_emulator.engine.sign_in import Redeemed
from hosting_emulator.engine.tally import Tally
from hosting_emulator.world import views
from hosting_emulator.world.records import Organization, Person
from hosting_emulator.world.sessions import standing_session
from hosting_emulator.world.streams import digest
from hosting_emulator.world.value import World


class Engine(LiveWorld):
    """A live world, and all that answers for it without being part of its state."""

    def __init__(
        self,
        world: World,
        keeper: Keeper,
        machine: Callable[[], int] = machine_ms,
        tally: Tally | None = None,
    ) -> None:
        super().__init__(world, keeper, machine, tally)
        self.identity = Identity(world.seed, world.name)
        self.log = RequestLog()
        self.snapshots = Snapshots()
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

    def replace_world(
        self, world: World, title: str = "replaced", restored: SavedState | None = None
    ) -> None:
        """Put another world in place of this one, and forget the old one's requests.

        Of one that is `restored` the request log goes on.
        """
        super().replace_world(world, title, restored)
        self.identity = Identity(world.seed, world.name)
        self.in_flight.clear()
        self.waits.clear()
        if self.feed.awake:
            self.feed.replaced(title, self.world)
        if restored is not None:
            self.log.turn()
            return
        self.log.clear()
        self.starts = self._beside = 0

    def restore(self, snapshot: SavedState, title: str = "restored") -> None:
        """Put an earlier state of this world back, as one more commit; its request log goes on.

        Time goes on from where it was then; a real clock shows the machine's. Raises StoreFailed.
        """
        world = anchored(snapshot.world, snapshot.at_ms, self._machine())
        self.replace_world(replace(world, commit=self.world.commit + 1), title, snapshot)

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
            self.feed.exchanged(ctx)
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
