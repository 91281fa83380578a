"""One world in this process, without sockets and threads, and with a machine clock that the test moves.

Most tests of the service's rules use such a world. Requests are sent directly to its engine.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import count
from typing import Any

import msgspec
from multidict import CIMultiDict

from hosting_emulator.calls.dev_access import project_at
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.durations import parse_duration_ms
from hosting_emulator.engine.connection import Connection, Passage
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import run_through
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.explanations.operations import why
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.engine.pipeline import CALL_STEPS, REDEEM_STEPS
from hosting_emulator.engine.triggers import rule_triggers
from hosting_emulator.engine.world_variation import unvary, variation_view, vary
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.messages import Trigger, VariationState
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import AuthorizationGrant, WorldSource
from hosting_emulator.world.tables import (
    ASSUMPTIONS,
    FAULTS,
    OUTCOMES,
    PROJECTS,
    SINGLETON_KEY,
    USERS,
)
from hosting_emulator.world.value import Change, World
from tests.support.calls import Calls, Response, fault_document

#: The initial time of the machine's clock, which is 2026-03-01T12:00:00Z.
NOON_MS = 1_772_366_400_000
#: Initial worlds, which tests can share because a world is an immutable value.
_SHARED_WORLDS: dict[tuple[str, str, str, int], World] = {}
TEN_YEARS_S = 10 * 365 * 86_400
#: The organization that a user's token names.
HOME_ORGANIZATIONS = {"owner": "acme", "member": "acme", "reader": "acme", "outsider": "hobby"}


def _raw(text: str) -> bytes:
    """Return the bytes of a header name or value, which may not be valid UTF-8."""
    return text.encode("utf-8", "surrogateescape")


class Machine:
    """The machine's clock, which the test moves."""

    def __init__(self, at_ms: int = NOON_MS) -> None:
        self.at_ms = at_ms

    def __call__(self) -> int:
        return self.at_ms


def fresh_world(
    name: str = "default",
    seed: str = "seed",
    *,
    mode: str = "frozen",
    rate: float | None = None,
    machine: Machine | None = None,
    **assumptions: Any,
) -> World:
    """Return a new default world, with a frozen clock by default."""
    origin = WorldSource(mode, rate, None, Assumptions().changed(assumptions))  # type: ignore[arg-type]
    at_ms = (machine or Machine())()
    key = (name, seed, repr(origin), at_ms)
    if key not in _SHARED_WORLDS:
        _SHARED_WORLDS[key] = new_world(name, seed, origin, at_ms)
    return _SHARED_WORLDS[key]


def world_origin(
    mode: str = "frozen", rate: float | None = None, at_ms: int | None = None
) -> WorldSource:
    """Return the source of a world, with the mode and rate of its clock, and its initial time."""
    return WorldSource(mode, rate, at_ms)  # type: ignore[arg-type]


def new_worlds(machine: Machine | None = None) -> Worlds:
    """Return the empty collection of worlds of a process that stores nothing on disk."""
    return Worlds(None, machine or Machine())


def new_change(world: World, now_ms: int | None = None) -> Change:
    """Start a change of a world that has no engine, by default at the world's current time."""
    return Change(world, world.at_ms if now_ms is None else now_ms)


class InProcess(Calls):
    """The calls of one world, sent directly to its engine."""

    def __init__(
        self,
        world: World | None = None,
        keeper: Keeper | None = None,
        machine: Machine | None = None,
        engine: Engine | None = None,
    ) -> None:
        self.machine = machine or Machine()
        self.engine = engine or Engine(world or fresh_world(), keeper or Keeper(), self.machine)
        self._tokens: dict[tuple[str, bool], str] = {}
        #: The port of dev origins, or None for the default port of the scheme.
        self.dev_port: int | None = None
        #: The number of the connection that requests use. `opened` contains the open connections by number.
        self.connection = 0
        self.opened: dict[int, Connection] = {}
        self._positions = count(1)

    @property
    def world(self) -> World:
        return self.engine.world

    def project_id(self, alias: str = "shop") -> str:
        return str(self.world.indexes[f"project:{alias}"])

    def organization_id(self, alias: str = "acme") -> str:
        return str(self.world.indexes[f"organization:{alias}"])

    def user_id(self, alias: str) -> str:
        return str(self.world.indexes[f"user:{alias}"])

    def record(self, table: str, key: str) -> Any:
        """Return the record with this key in a table. Raises KeyError if there is no such record."""
        return self.world.tables[table][key]

    def records(self, table: str) -> Mapping[str, Any]:
        """Return the current records of a table by key. Later changes do not affect the result."""
        records: Mapping[str, Any] = self.world.tables[table]
        return records

    def token(self, user: str = "owner", *, interactive: bool = True) -> str:
        """Return an access token for a user, of an interactive session unless `interactive` is False."""
        existing_token = self._tokens.get((user, interactive))
        if existing_token is not None:
            return existing_token
        token = self.new_token(user, HOME_ORGANIZATIONS.get(user), interactive=interactive)
        self._tokens[user, interactive] = token
        return token

    def new_token(self, alias: str, organization: str | None, *, interactive: bool = True) -> str:
        """Return a new access token for a user, which names `organization` if that is not None."""
        user = self.world.get(USERS, self.world.indexes[f"user:{alias}"])
        assert user is not None
        return self.engine.mint(
            user,
            self.organization_id(organization) if organization else None,
            "http://127.0.0.1",
            interactive=interactive,
            lifetime_s=TEN_YEARS_S,
        )

    # --- Requests -------------------------------------------------------------------------------

    def send(
        self,
        method: str,
        path: str,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
        *,
        host: str = "",
        docs_url: str = "http://docs",
    ) -> Response:
        """Send a request without adding headers.

        `host` is the dev host of a project, for a request to the project's dev origin.
        """
        path, _, query = path.partition("?")
        project = project_at(new_change(self.world), host) if host else None
        context = ExchangeContext(
            method=method,
            path=path,
            query=query,
            docs_url=lambda: docs_url,
            headers=CIMultiDict(headers),
            body=body,
            dev_port=self.dev_port,
            raw_headers=[(_raw(name), _raw(value)) for name, value in headers],
            record=project,
        )
        self.arrive(context)
        steps = CALL_STEPS if project is None else REDEEM_STEPS
        reply = run_through(run_exchange(self.engine, context, steps))
        self.depart(context)
        reply_headers = CIMultiDict(reply.headers)
        if reply.content_type:
            reply_headers["Content-Type"] = reply.content_type
        return Response(reply.status, reply_headers, reply.body)

    def call(  # type: ignore[override]
        self,
        method: str,
        path: str,
        *,
        user: str | None = "owner",
        token: str | None = None,
        key: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        raw: bytes | None = None,
    ) -> Response:
        """Send a request as a user, with a JSON body or with exactly the bytes of `raw`."""
        request_headers = list((headers or {}).items())
        if token is not None or user is not None:
            request_headers.append(("Authorization", f"Bearer {token or self.token(str(user))}"))
        if key is not None:
            request_headers.append(("Idempotency-Key", key))
        if body is None:
            return self.send(method, path, request_headers, raw or b"")
        if "Content-Type" not in (headers or {}):
            request_headers.append(("Content-Type", "application/json"))
        return self.send(method, path, request_headers, json.dumps(body).encode())

    def redeem(
        self, url: str, headers: Mapping[str, str] | None = None, *, project: str = "shop"
    ) -> Response:
        """Request a ticket's `redeem_url` at the dev origin of a project."""
        path, _, query = url.partition(".localhost")[2].partition("?")
        context = ExchangeContext(
            method="GET",
            path=path,
            query=query,
            docs_url=lambda: "http://docs",
            headers=CIMultiDict(headers or {}),
            raw_headers=[(_raw(name), _raw(value)) for name, value in (headers or {}).items()],
        )
        context.record = self.world.get(PROJECTS, self.project_id(project))
        reply = run_through(run_exchange(self.engine, context, REDEEM_STEPS))
        return Response(reply.status, CIMultiDict(reply.headers), reply.body)

    def why(self, operation_id: str) -> dict[str, Any]:
        """Return the explanation of an operation's state, with the commands that would change the state."""
        explanation = why(self.engine, operation_id)
        assert explanation is not None
        document: dict[str, Any] = msgspec.to_builtins(explanation)
        return document

    # --- States of the world --------------------------------------------------------------------

    def issue_authorization_code(
        self, user: str, scope: str = "openid", redirect_uri: str = "", challenge: str = ""
    ) -> str:
        """Return an authorization code, as after a sign-in of a user at the identity provider."""
        user_id = self.user_id(user)
        grant = AuthorizationGrant(
            "s", user_id, None, "client", scope, 0, redirect_uri, challenge, 0
        )
        change = self.engine.begin_change()
        code = self.engine.sign_ins.issue_code(change, grant)
        self.engine.commit(change, "authorization code")
        return code

    def forget_tokens(self) -> None:
        """Discard all tokens, so that later calls use new tokens."""
        self._tokens.clear()

    def take_snapshot(self) -> str:
        """Take a snapshot of the world and return its id."""
        return self.engine.snapshots.take(self.world, self.engine.run_due())

    def snapshot_world(self, snapshot_id: str) -> World:
        """Return the world as it was when a snapshot was taken."""
        return self.engine.snapshots[snapshot_id].world

    def restore_snapshot(self, snapshot_id: str) -> None:
        self.engine.restore(self.engine.snapshots[snapshot_id])
        self.forget_tokens()

    # --- Connections ----------------------------------------------------------------------------

    def arrive(self, context: ExchangeContext) -> None:
        """Let a request arrive on the current connection, which is opened first if necessary."""
        context.is_connection_reused = self.connection in self.opened
        if not context.is_connection_reused:
            self.opened[self.connection] = Connection(next(self._positions))
        context.connection = self.opened[self.connection]
        context.passage = Passage(context.connection, next(self._positions))

    def depart(self, context: ExchangeContext) -> None:
        """Let a response leave. If a fault lost the response, close its connection."""
        assert context.passage is not None
        if context.delivered.lost is None:
            context.passage.departure = next(self._positions)
        else:
            self.close(context.connection)

    def close(self, connection: Connection) -> None:
        """Let the client close a connection. The connection's number can then be used again."""
        connection.ended = connection.closed_by_client = next(self._positions)
        self.opened = {
            number: other for number, other in self.opened.items() if other is not connection
        }

    # --- What happens to the world from outside the contract ------------------------------------

    def add_fault(self, **fault: Any) -> str:
        return self._arm(fault, FAULT)

    def add_outcome(self, **outcome: Any) -> str:
        return self._arm(outcome, OUTCOME)

    def disarm(self, rule_id: str) -> None:
        """Remove an armed fault or outcome."""
        change = self.engine.begin_change()
        change.delete(FAULTS if rule_id.startswith("fault") else OUTCOMES, rule_id)
        self.engine.commit(change, f"{rule_id} removed")

    def listed_rules(self, *, with_removed: bool) -> list[Trigger]:
        """Return the faults and then the outcomes as triggers, on request with removed ones."""
        return [
            trigger
            for category in (FAULT, OUTCOME)
            for trigger in rule_triggers(self.engine, category, with_removed=with_removed)
        ]

    def _arm(self, fields: Mapping[str, Any], family: RuleCategory) -> str:
        change = self.engine.begin_change()
        fault = arm(change, fault_document(fields), family)
        self.engine.commit(change, f"{fault.id} armed")
        return fault.id

    def intervene(self, name: str, /, **fields: Any) -> str:
        change = self.engine.begin_change()
        sentence = read_intervention({name: fields}).apply(change)
        self.engine.commit(change, f"intervention {name}")
        return sentence

    def advance(self, duration: str) -> None:
        self.engine.move_by(parse_duration_ms(duration))

    def set_assumptions(self, **values: Any) -> None:
        change = self.engine.begin_change()
        change.put(ASSUMPTIONS, SINGLETON_KEY, self.world.assumptions.changed(values))
        self.engine.commit(change, "assumptions")

    def vary(self, seed: str, *points: str) -> None:
        """Vary responses from now on, at these points or, if none are given, at all points."""
        vary(self.engine, read_variation(seed, points or None))

    def unvary(self) -> bool:
        """Stop varying responses. Return whether responses varied before."""
        return unvary(self.engine)

    @property
    def variation(self) -> VariationState | None:
        """The variation of the responses, or None if responses do not vary."""
        return variation_view(self.engine)
