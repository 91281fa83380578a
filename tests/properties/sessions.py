"""A session of somebody who calls, intervenes, arms and moves time as a seed draws."""

from __future__ import annotations

import contextlib
from random import Random
from typing import Any
from urllib.parse import urlsplit

from multidict import CIMultiDict

from hosting_emulator.calls.answers import project_at
from hosting_emulator.control import clock, faults, worlds
from hosting_emulator.control.routes import ControlRefusal
from hosting_emulator.engine.exchange import ExchangeContext, run_through
from hosting_emulator.engine.identity import home_of
from hosting_emulator.engine.pipeline import REDEEM_STEPS
from hosting_emulator.faults.interventions import INTERVENTIONS
from hosting_emulator.faults.kinds import fault_kinds
from hosting_emulator.faults.outcomes import OUTCOME_KINDS
from hosting_emulator.identity import endpoints as identity
from hosting_emulator.world import tables as t
from hosting_emulator.world.operations import finished
from hosting_emulator.world.value import Change
from tests.support.in_process import InProcess, Machine, fresh_world

PEOPLE = ["owner", "member", "reader", "outsider", "no-organization"]
PROJECTS = ["shop", "shop", "shop", "labs", "notes", "garden"]
STATES = ["init", "ready", "suspended", "resizing", "failed"]
#: What a field of an intervention may be; others are left out.
FIELDS: dict[str, list[Any]] = {
    "project": PROJECTS,
    "organization": ["acme", "hobby"],
    "person": PEOPLE,
    "people": [[{"alias": "zoe", "organizations": {"acme": "member"}}], [{"alias": "yan"}]],
    "keys": [[{"person": "owner", "value": "phk_" + letter * 43}] for letter in "ab"],
    "ago": ["1m", "5h"],
    "to": [*PEOPLE, "pending", "authorized", "expired", "revoked"],
    "role": ["owner", "member", "maintainer", "reader", "none"],
    "plan": ["free", "paid"],
    "credits": [0, 3],
    "permissions": [["dns.read"]],
    "environment": ["dev", "prod", "both"],
    "state": [*STATES, "absent"],
    "pending_state": STATES,
    "data_mode": ["shared", "separate"],
    "zone": ["customer.example"],
    "domain": ["own.example"],
    "expires_in": ["0s", "5s", "1d"],
    "times": [1, 2],
}
ROWS: dict[str, Any] = {"operation": t.OPERATIONS, "ticket": t.TICKETS, "key": t.API_KEYS}
ASSUMED: list[dict[str, Any]] = [
    {"accepted_status": 200},
    {"deployment_order": "oldest_first"},
    {"rate_limit": "5 per 10s"},
    {"operation_replay": "current"},
    {"request_id": "client"},
]
MOVES = ["0s", "1s", "1500ms", "2s", "10s", "11m", "2h", "91d"]


class Tokens(InProcess):
    """The calls of a world by tokens of the usual lifetime; one of five times an old one."""

    draw: Random

    def token(self, who: str = "owner", *, interactive: bool = True) -> str:
        kept = self._tokens.get((who, interactive))
        if kept is not None and self.draw.random() < 0.2:
            return kept
        person = self.world.get(t.PEOPLE, self.world.indexes[f"person:{who}"])
        assert person is not None
        engine, home = self.engine, home_of(self.world, person)
        token = engine.mint(person, home, "http://127.0.0.1", interactive=interactive)
        self._tokens[who, interactive] = token
        return token


class RandomSession:
    """One world, and what is done to it."""

    def __init__(self, seed: str, mode: str = "frozen") -> None:
        self.draw = Random(seed)
        self.machine = Machine()
        rate = 10.0 if mode == "scaled" else None
        world = fresh_world(seed=seed, mode=mode, rate=rate, machine=self.machine)
        self.api = Tokens(world, machine=self.machine)
        self.api.draw = self.draw
        self.engine = self.api.engine
        self.keys: list[str] = []
        self.operations: list[str] = []
        self.tickets: list[str] = []
        self.cursors: list[str] = []

    def walk(self, steps: int) -> None:
        """Do so many things; what is refused is done as well."""
        doings = [self.ask] * 10 + [self.intervene] * 3 + [self.arm] * 2 + [self.move] * 3
        doings += [self.disarm, self.assume, self.poll, self.poll, self.redeem, self.stray]
        doings += [self.make_key] + [self.rewind] * (self.draw.random() < 0.3)
        for _ in range(steps):
            self.machine.at_ms += self.draw.choice([0, 3, 900, 2100])
            with contextlib.suppress(ControlRefusal):
                self.draw.choice(doings)()

    # --- requests --------------------------------------------------------------------------------

    def ask(self) -> None:
        api, draw = self.api, self.draw
        project, who = draw.choice(PROJECTS), draw.choice([*["owner"] * 5, *PEOPLE])
        known = self.keys[-3:]
        options: dict[str, Any] = {"who": who}
        if known and draw.random() < 0.2:
            options["token"] = draw.choice(known)
        if draw.random() < 0.2:
            options["key"] = draw.choice(["again", "once more"])
        cursor = f"&cursor={draw.choice(self.cursors)}" if self.cursors else ""
        calls = (
            lambda: api.set_flag(draw.random() < 0.5, project=project, **options),
            lambda: api.initialize(draw.choice([0, 1, 2]), project=project, **options),
            lambda: api.apply_domains(project=project, **options),
            lambda: api.create_key(draw.choice(["ci", ""]), **options),
            lambda: api.ticket(project=project, **self._plain(options)),
            lambda: api.dns(project=project, **self._plain(options)),
            lambda: api.deployments(f"?limit=5{cursor}", project=project, **self._plain(options)),
            lambda: api.compute(project=project, **self._plain(options)),
        )
        answer = draw.choice(calls)()
        found = answer.json if answer.body[:1] == b"{" else {}
        if answer.status < 300:
            self.operations += [found["id"]] if "state" in found else []
            # The value is null in a replay.
            self.keys += [found["value"]] if found.get("value") else []
            self.tickets += [found["redeem_url"]] if "redeem_url" in found else []
            self.cursors += [found["next_cursor"]] if found.get("next_cursor") else []

    def _plain(self, options: dict[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in options.items() if name != "key"}

    def poll(self) -> None:
        if self.operations:
            self.api.poll(self.draw.choice(self.operations))

    def redeem(self) -> None:
        if not self.tickets:
            return
        url = urlsplit(self.draw.choice(self.tickets))
        record = project_at(self._change(), url.hostname or "")
        context = ExchangeContext(
            method="GET",
            path=url.path,
            query=url.query,
            docs_url=lambda: "http://docs",
            headers=CIMultiDict(),
            record=record,
        )
        run_through(self.engine.exchange(context, REDEEM_STEPS))

    def stray(self) -> None:
        """Ask what no client should."""
        api, good = self.api, ("Authorization", f"Bearer {self.api.token()}")
        path = f"/v1/projects/{api.project_id()}/domains"
        self.draw.choice(
            (
                lambda: api.send("GET", "/v1/nowhere", [good]),
                lambda: api.send("POST", path, [good]),
                lambda: api.send("POST", path),
                lambda: api.send("POST", path, [("Authorization", "Bearer x.y.z")]),
                lambda: api.send("DELETE", path, [good, ("X-Request-Id", "mine")]),
                lambda: api.send("PUT", path, [good, ("Idempotency-Key", "k")], b"{not json"),
            )
        )()

    # --- turns of a hand -------------------------------------------------------------------------

    def _change(self) -> Any:
        return Change(self.api.world, 0)

    def intervene(self) -> None:
        draw, word, fields = self.draw, self.draw.choice([*INTERVENTIONS]), dict[str, Any]()
        for name in INTERVENTIONS[word].__struct_fields__:
            if name in ROWS:
                kept = sorted(key for key, _ in self.api.world.rows(ROWS[name]))[-2:]
                fields[name] = draw.choice(kept or ["none"])
            elif name in FIELDS and (draw.random() < 0.8 or name in ("project", "organization")):
                fields[name] = draw.choice(FIELDS[name])
        faults.intervene(self.engine, {word: fields})

    def arm(self) -> None:
        draw = self.draw
        if draw.random() < 0.3:
            kind = draw.choice([*OUTCOME_KINDS])
            faults.arm_outcome(self.engine, {kind: dict(OUTCOME_KINDS[kind].example)})
            return
        kind = draw.choice([*fault_kinds()])
        document: dict[str, Any] = {kind: dict(fault_kinds()[kind].example)}
        document["times"] = draw.choice([1, 1, 2])
        if draw.random() < 0.5:
            document["project"] = draw.choice(PROJECTS)
        if draw.random() < 0.5:
            document |= draw.choice(
                ({"skip_first": 1}, {"every": 2}, {"probability": 0.5}, {"phase": "after_commit"})
            )
        if draw.random() < 0.3:
            document["ttl"] = "30s"
        faults.arm_fault(self.engine, document)

    def disarm(self) -> None:
        draw, engine = self.draw, self.engine
        armed = sorted(key for key, _ in engine.world.rows(t.FAULTS))
        told = sorted(key for key, _ in engine.world.rows(t.OUTCOMES))
        if draw.random() < 0.3:
            faults.clear_faults(engine)
        elif armed:
            faults.remove_fault(engine, draw.choice(armed))
        elif told:
            faults.remove_outcome(engine, draw.choice(told))

    def move(self) -> None:
        engine, draw = self.engine, self.draw
        operations = [operation for _, operation in engine.world.rows(t.OPERATIONS)]
        operations.sort(key=lambda operation: (operation.created_ms, operation.id))
        unfinished = [operation for operation in operations if not finished(operation)]
        if unfinished and draw.random() < 0.3:
            id_ = draw.choice(unfinished).id
            clock.advance_clock(engine, clock.Advance(until_operation=id_))
        elif draw.random() < 0.15:
            mode = draw.choice(["real", "frozen", "skip", "scaled"])
            rate = 10.0 if mode == "scaled" else None
            clock.put_clock(engine, clock.ClockChange(mode=mode, rate=rate))
        else:
            clock.advance_clock(engine, clock.Advance(by=draw.choice(MOVES)))

    def assume(self) -> None:
        worlds.patch_assumptions(self.engine, self.draw.choice(ASSUMED))

    # --- the past --------------------------------------------------------------------------------

    def rewind(self) -> None:
        """Go back to one of the last commits, but not into the middle of a request."""
        asked = [entry.commits for entry in self.engine.log.after(0) if entry.commits]
        within = {commit.number for commits in asked for commit in commits[:-1]}
        kept = [
            one.number for one in [*reversed(self.engine.history)][:8] if one.number not in within
        ]
        clock.rewind(self.engine, clock.Rewind(commit=self.draw.choice(kept)))

    def make_key(self) -> None:
        made = identity.create_api_key(self.engine, identity.NewKey(who="owner"))
        self.keys.append(made["value"])
