"""One world driven in this process: no socket, no thread, and a machine clock that tests move."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any

from multidict import CIMultiDict

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Connection, ExchangeContext, Passage, run_through
from hosting_emulator.engine.history import Keeper
from hosting_emulator.world.population import new_world
from hosting_emulator.world.records import Origin
from hosting_emulator.world.tables import PEOPLE
from hosting_emulator.world.value import World
from tests.conftest import Calls

#: Where the machine's clock stands at first: 2026-03-01T12:00:00Z.
NOON_MS = 1_772_366_400_000
#: A world is a value: tests that begin with the same may share it.
_BEGUN: dict[tuple[str, str, str, int], World] = {}
TEN_YEARS_S = 10 * 365 * 86_400
HOMES = {"owner": "acme", "member": "acme", "reader": "acme", "outsider": "hobby"}


def _raw(text: str) -> bytes:
    """Return a header as it came out of a socket, where not all is UTF-8."""
    return text.encode("utf-8", "surrogateescape")


class Machine:
    """The machine's clock, in the test's hands."""

    def __init__(self, at_ms: int = NOON_MS) -> None:
        self.at_ms = at_ms

    def __call__(self) -> int:
        return self.at_ms


@dataclass(frozen=True)
class Answer:
    """What came out of the engine."""

    status: int
    body: bytes
    headers: dict[str, str]

    @property
    def json(self) -> Any:
        return json.loads(self.body)


def fresh_world(
    name: str = "default",
    seed: str = "seed",
    *,
    mode: str = "frozen",
    rate: float | None = None,
    machine: Machine | None = None,
    **assumptions: Any,
) -> World:
    """Return a default world whose clock stands still unless told otherwise."""
    origin = Origin(mode, rate, None, Assumptions().changed(assumptions))  # type: ignore[arg-type]
    at_ms = (machine or Machine())()
    key = (name, seed, repr(origin), at_ms)
    if key not in _BEGUN:
        _BEGUN[key] = new_world(name, seed, origin, at_ms)
    return _BEGUN[key]


class InProcess(Calls[Answer]):
    """The calls of one engine, as any person of its world."""

    def __init__(
        self,
        world: World | None = None,
        keeper: Keeper | None = None,
        machine: Machine | None = None,
    ) -> None:
        self.machine = machine or Machine()
        self.engine = Engine(world or fresh_world(), keeper or Keeper(), self.machine)
        self._tokens: dict[tuple[str, bool], str] = {}
        #: Where dev origins answer; None: at the scheme's own port.
        self.dev_port: int | None = None
        #: The number of the connection that requests come by, and those that there were.
        self.connection = 0
        self.opened: dict[int, Connection] = {}
        self._positions = count(1)

    @property
    def world(self) -> World:
        return self.engine.world

    def project_id(self, alias: str) -> str:
        return self.project(alias)

    def organization_id(self, alias: str) -> str:
        return self.organization(alias)

    def project(self, alias: str = "shop") -> str:
        return str(self.world.indexes[f"project:{alias}"])

    def organization(self, alias: str = "acme") -> str:
        return str(self.world.indexes[f"organization:{alias}"])

    def token(self, who: str = "owner", *, interactive: bool = True) -> str:
        kept = self._tokens.get((who, interactive))
        if kept is not None:
            return kept
        person = self.world.get(PEOPLE, self.world.indexes[f"person:{who}"])
        assert person is not None
        home = HOMES.get(who)
        self._tokens[who, interactive] = token = self.engine.mint(
            person,
            self.organization(home) if home else None,
            "http://127.0.0.1",
            interactive=interactive,
            lifetime_s=TEN_YEARS_S,
        )
        return token

    def send(
        self,
        method: str,
        path: str,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes = b"",
    ) -> Answer:
        """Send exactly this."""
        path, _, query = path.partition("?")
        context = ExchangeContext(
            method=method,
            path=path,
            query=query,
            docs_url=lambda: "http://docs",
            headers=CIMultiDict(headers),
            body=body,
            dev_port=self.dev_port,
            raw_headers=[(_raw(name), _raw(value)) for name, value in headers],
        )
        self.arrive(context)
        reply = run_through(self.engine.exchange(context))
        self.depart(context)
        return Answer(reply.status, reply.body, dict(reply.headers))

    def arrive(self, context: ExchangeContext) -> None:
        """Let a request arrive by the connection of this number, which is opened if it is not."""
        if self.connection not in self.opened:
            self.opened[self.connection] = Connection(next(self._positions))
        context.connection = self.opened[self.connection]
        context.passage = Passage(context.connection, next(self._positions))

    def depart(self, context: ExchangeContext) -> None:
        """Let a response leave. Where a fault lost it, its connection is over."""
        assert context.passage is not None
        if context.lost is None:
            context.passage.departure = next(self._positions)
        else:
            self.close(context.connection)

    def close(self, connection: Connection) -> None:
        """Let a client close a connection: its number is free for the next one."""
        connection.ended = connection.closed_by_client = next(self._positions)
        self.opened = {n: one for n, one in self.opened.items() if one is not connection}

    def call(  # type: ignore[override]
        self,
        method: str,
        path: str,
        *,
        who: str | None = "owner",
        token: str | None = None,
        key: str | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request as a person, with JSON."""
        sent = list((headers or {}).items())
        if token is not None or who is not None:
            sent.append(("Authorization", f"Bearer {token or self.token(str(who))}"))
        if key is not None:
            sent.append(("Idempotency-Key", key))
        if body is None:
            return self.send(method, path, sent)
        sent.append(("Content-Type", "application/json"))
        return self.send(method, path, sent, json.dumps(body).encode())
