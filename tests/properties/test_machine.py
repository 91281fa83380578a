"""Calls, faults, interventions, time, forks, snapshots, resets and crashes in any order.

After each step the world is checked against a small model of the service. `HOSTING_EMULATOR_EXAMPLES`
in the environment says how many runs of fifty steps there are; `-m torture` makes many.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from msgspec.structs import replace

from hosting_emulator.calls.answers import redeem
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.history import Keeper
from hosting_emulator.faults.documents import arm
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.storage.documents import StoredState, rows_of
from hosting_emulator.storage.journal import decode_line, encode_line
from hosting_emulator.world import lifecycles
from hosting_emulator.world.records import Deployment, Operation
from hosting_emulator.world.tables import (
    API_KEYS,
    DEPLOYMENTS,
    DNS,
    FAULTS,
    OPERATIONS,
    PROJECTS,
    TICKETS,
    Table,
)
from hosting_emulator.world.value import Change, World, apply
from tests.properties import model as m
from tests.support.in_process import InProcess, fresh_world

# Mostly the owner, and mostly in one project: that is where things meet.
ANYONE = st.sampled_from(
    ["owner"] * 6 + ["member", "member", "reader", "outsider", "outsider", "no-organization"]
)
ANYWHERE = st.sampled_from(["shop"] * 6 + ["garden"] * 2 + list(m.PROJECTS))
MOVES_MS = st.sampled_from([0, 1, 1_999, 2_000, 4_000, 8_000, 10_000] * 3 + [m.TICKET_MS] * 2)
LONG_MOVES_MS = st.sampled_from([m.MEMORY_MS, 31 * m.MEMORY_MS, m.KEY_MS])


class Shelf(Keeper):
    """Keeps a world as the disk does: what it began with, and a line for each commit."""

    def __init__(self, world: World) -> None:
        self.began, self.lines = world, list[bytes]()

    def append(self, commit: Any) -> None:
        self.lines.append(encode_line(commit))

    def replace(self, world: World) -> None:
        self.began, self.lines = world, []

    def read(self) -> World:
        """Return what a start after a crash would find."""
        world = self.began
        for line in self.lines:
            commit = decode_line(line[:-1])
            world = apply(world, commit.writes, commit=commit.number, at_ms=commit.at_ms)
        return world


def disarm(change: Change) -> None:
    """Take every fault away."""
    for key, _ in list(change.world.rows(FAULTS)):
        change.delete(FAULTS, key)


def moment_ms(text: str) -> int:
    return round(datetime.fromisoformat(text).timestamp() * 1000)


def stamp(at_ms: int | None) -> str | None:
    if at_ms is None:
        return None
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Hosting(RuleBasedStateMachine):
    """A world and a model of it, side by side."""

    api: InProcess
    shelf: Shelf
    model: m.Model
    cursor: str | None

    def __init__(self) -> None:
        super().__init__()
        self.begin(fresh_world())

    def begin(self, world: World) -> None:
        """Start with a fresh world and a model of what the default world holds."""
        self.live(world)
        self.model = m.Model(world.at_ms, {})
        for alias in m.PROJECTS:
            record = world.get(PROJECTS, self.api.project_id(alias))
            assert record is not None
            page = self.api.deployments("?limit=100", project=alias, who=self.owner(alias)).json
            self.model.projects[alias] = m.Project(
                flag=record.flag_enabled,
                flag_at_ms=moment_ms(record.flag_enabled_at) if record.flag_enabled_at else None,
                first_generation=record.source_generation,
                deployments=[found["id"] for found in reversed(page["items"])],
            )
        dns = world.get(DNS, self.api.project_id("shop"))
        assert dns is not None
        assert dns.expires_ms is not None
        self.dns_expires_ms = dns.expires_ms
        self.paging: list[str] | None = None
        self.seeded = world.count(OPERATIONS)
        self.ids: dict[str, str] = {}
        self.created: list[str] = []  # API keys, in the order of the model's
        self.before = self.records()
        self.noted: dict[str, Mapping[str, Any]] = {}

    def live(self, world: World, keys: int = 0) -> None:
        """Take a world up; `keys` is how many Idempotency-Keys were used in it."""
        self.shelf = Shelf(world)
        self.api = InProcess(world, self.shelf)
        self.api._created_keys = keys
        self.request_ids: set[str] = set()
        self.snapshots: list[tuple[str, Any]] = []

    def owner(self, project: str) -> str:
        return "outsider" if project in ("garden", "notes") else "owner"

    @property
    def now_ms(self) -> int:
        return self.model.now_ms

    # --- calls ----------------------------------------------------------------------------------

    def ask(self, kind: str, who: str, project: str, value: Any, key: str | None = None) -> Any:
        """Send one request; one that is refused leaves the very same world."""
        before = self.api.world
        send = {
            "flag": lambda **o: self.api.set_flag(value, project=project, **o),
            "source": lambda **o: self.api.initialize(value, project=project, **o),
            "domains": lambda **o: self.api.apply_domains(project=project, **o),
            "key": lambda **o: self.api.create_key(value, organization=project, **o),
            "ticket": lambda **_: self.api.ticket(project=project, who=who),
        }[kind]
        answer = send(who=who, key=key or self.api.new_key())
        if answer.status >= 400:
            assert self.api.world is before
            self.refused(answer)
        return answer

    def refused(self, answer: Any) -> None:
        """Hold a problem; no two of them, in the life of one engine, have the same request id."""
        assert answer.json["status"] == answer.status
        assert answer.headers["X-Request-Id"] == answer.json["request_id"]
        assert answer.json["request_id"] not in self.request_ids
        self.request_ids.add(answer.json["request_id"])

    def once(self, kind: str, who: str, project: str, value: Any) -> Any:
        """Send a request under a new key and remember its answer if it succeeds."""
        key = self.api.new_key()
        answer = self.ask(kind, who, project, value, key)
        if answer.status < 400:
            until_ms = self.now_ms + m.MEMORY_MS
            self.model.answered.append(
                m.Answered(who, key, kind, project, value, answer.status, answer.body, until_ms)
            )
        return answer

    @rule(who=ANYONE, project=ANYWHERE, enabled=st.booleans())
    def set_flag(self, who: str, project: str, enabled: bool) -> None:
        answer = self.once("flag", who, project, enabled)
        found = self.model.projects[project]
        expected = self.model.refusal(who, project, "owner") or 200
        if expected == 200 and not enabled and found.flag and project == m.NEEDS_ITS_FLAG:
            expected = 409
        if who == "no-organization":
            expected = 403
        assert answer.status == expected
        if expected == 200:
            if not enabled:
                found.flag_at_ms = None
            elif not found.flag:
                found.flag_at_ms = self.now_ms
            found.flag = enabled
            assert answer.json["enabled_at"] == stamp(found.flag_at_ms)

    @rule(who=ANYONE, project=ANYWHERE, wrong_by=st.sampled_from([0, 0, 0, 1, -1]))
    def initialize(self, who: str, project: str, wrong_by: int) -> None:
        found = self.model.projects[project]
        value = found.generation(self.now_ms) + wrong_by
        answer = self.once("source", who, project, value)
        expected = self.model.refusal(who, project, "maintainer") or 202
        if value < 0:
            expected = 400  # what is sent is read before it is asked who sends it
        elif who == "no-organization":
            expected = 403
        elif expected == 202 and wrong_by:
            expected = 409
        assert answer.status == expected
        if expected == 202:
            self.accepted(answer.json, "source", found)
            found.deployments.append(answer.json["deployment_id"])

    @rule(who=ANYONE, project=ANYWHERE)
    def apply_domains(self, who: str, project: str) -> None:
        answer = self.once("domains", who, project, None)
        expected = self.model.refusal(who, project, "maintainer") or 202
        assert answer.status == (403 if who == "no-organization" else expected)
        if answer.status == 202:
            self.accepted(answer.json, "domains", self.model.projects[project])

    def accepted(self, body: Any, kind: str, project: m.Project) -> None:
        holder = project.active(self.now_ms)
        operation = project.accept(body["id"], kind, self.now_ms)
        assert body["state"] == "queued"
        assert body.get("blocking_operation_id") == (holder.id if holder else None)
        waits_s = (operation if holder is None else holder).runs_ms - self.now_ms
        assert holder is not None or body["progress"]["next_poll_after_seconds"] == waits_s / 1000

    @rule(who=ANYONE, organization=st.sampled_from(["acme", "hobby"]))
    def create_key(self, who: str, organization: str) -> None:
        answer = self.once("key", who, organization, "a key")
        home = {"no-organization": None, "outsider": "hobby"}.get(who, "acme")
        expected = 403 if home is None else 201 if home == organization else 404
        assert answer.status == expected
        if expected == 201:
            expires_ms = self.now_ms + m.KEY_MS
            assert answer.json["key"]["expires_at"] == stamp(expires_ms)
            self.model.keys.append((answer.json["value"], organization, expires_ms))
            self.created.append(answer.json["key"]["id"])

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data(), project=ANYWHERE)
    def use_key(self, data: Any, project: str) -> None:
        value, organization, expires_ms = data.draw(st.sampled_from(self.model.keys))
        answer = self.api.dns(project=project, token=value)
        inside = (organization == "hobby") == (project in ("garden", "notes"))
        if expires_ms <= self.now_ms:
            assert answer.status == 401
        else:
            assert answer.status in ((200, 404) if inside else (404,))

    @rule(who=ANYONE, project=ANYWHERE)
    def create_ticket(self, who: str, project: str) -> None:
        answer = self.ask("ticket", who, project, None)
        expected = self.model.refusal(who, project, "owner") or 201
        assert answer.status == (403 if who == "no-organization" else expected)
        if answer.status == 201:
            earlier = self.model.last_tickets.get(who)
            if earlier is not None:
                earlier.spent = True
                self.open(earlier, earlier.project)
            secret = parse_qs(urlsplit(answer.json["redeem_url"]).query)["ticket"][0]
            ticket = m.Ticket(project, secret, self.now_ms + m.TICKET_MS)
            self.model.last_tickets[who] = ticket
            self.model.tickets.append(ticket)
            assert answer.json["expires_at"] == stamp(ticket.expires_ms)

    @precondition(lambda self: self.model.tickets)
    @rule(data=st.data(), project=ANYWHERE)
    def redeem_ticket(self, data: Any, project: str) -> None:
        ticket = data.draw(st.sampled_from(self.model.tickets[-4:]))
        project = data.draw(st.sampled_from([ticket.project] * 4 + [project]))
        self.open(ticket, project)
        self.open(ticket, ticket.project)

    def open(self, ticket: m.Ticket, project: str) -> None:
        change = Change(self.api.world, self.api.engine.run_due())
        try:
            redeem(change, change.row(PROJECTS, self.api.project_id(project)), ticket.secret)
            opened = True
            self.api.engine.commit(change, "redeem_ticket")
        except Refused:
            opened = False
        fresh = not ticket.spent and ticket.expires_ms > self.now_ms
        assert opened == (fresh and project == ticket.project)
        ticket.spent |= opened

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data())
    def ask_for_a_key_with_a_key(self, data: Any) -> None:
        value, organization, expires_ms = data.draw(st.sampled_from(self.model.keys))
        answer = self.api.create_key(token=value, organization=organization)
        expired = expires_ms <= self.now_ms
        assert answer.status == (401 if expired else 403)
        assert expired or answer.json["code"] == "interactive_login_required"

    # --- faults and interventions ---------------------------------------------------------------

    def change(self, act: Any) -> None:
        """Change the world from outside, as the control API does."""
        change = Change(self.api.world, self.api.engine.run_due())
        act(change)
        self.api.engine.commit(change, "from outside")

    @rule(project=ANYWHERE, code=st.sampled_from(["forbidden", "service_unavailable"]))
    def be_refused_by_a_fault(self, project: str, code: str) -> None:
        """Nothing but the fault's own count is changed, and the key stays free."""
        self.change(lambda change: arm(change, {"abort": {"code": code}, "times": 1}))
        before = self.records()
        key, who = self.api.new_key(), self.owner(project)
        answer = self.api.apply_domains(project=project, who=who, key=key)
        assert (answer.status, answer.json["code"]) == ({"f": 403, "s": 503}[code[0]], code)
        self.refused(answer)
        assert self.records() == before
        self.change(disarm)
        answer = self.ask("domains", who, project, None, key)
        assert answer.status == 202
        self.accepted(answer.json, "domains", self.model.projects[project])

    @rule(project=ANYWHERE)
    def lose_an_answer_to_a_fault(self, project: str) -> None:
        """What was asked is done all the same: asking again under the same key does nothing more."""
        lost = {"connection_reset": {}, "phase": "after_commit", "times": 1}
        self.change(lambda change: arm(change, lost))
        key, who = self.api.new_key(), self.owner(project)
        assert self.api.apply_domains(project=project, who=who, key=key).status == 0
        self.change(disarm)
        before = self.api.world
        answer = self.ask("domains", who, project, None, key)
        assert answer.status == 202
        assert self.api.world is before
        self.accepted(answer.json, "domains", self.model.projects[project])

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data(), word=st.sampled_from(["expire_key", "revoke_key"]))
    def end_a_key(self, data: Any, word: str) -> None:
        at = data.draw(st.integers(0, len(self.model.keys) - 1))
        value, organization, expires_ms = self.model.keys[at]
        if expires_ms <= self.now_ms:
            return
        self.change(read_intervention({word: {"key": self.created[at]}}).apply)
        self.model.keys[at] = (value, organization, self.now_ms)
        assert self.api.dns(token=value).status == 401

    @precondition(lambda self: self.model.last_tickets)
    @rule(data=st.data(), word=st.sampled_from(["expire_ticket", "revoke_ticket"]))
    def end_a_ticket(self, data: Any, word: str) -> None:
        who = data.draw(st.sampled_from(sorted(self.model.last_tickets)))
        ticket = self.model.last_tickets[who]
        if ticket.spent or ticket.expires_ms <= self.now_ms:
            return
        self.change(read_intervention({word: {"user": who}}).apply)
        ticket.spent = True
        self.open(ticket, ticket.project)

    # --- the same again -------------------------------------------------------------------------

    @precondition(lambda self: self.model.answered)
    @rule(data=st.data())
    def retry(self, data: Any) -> None:
        first = data.draw(st.sampled_from(self.model.answered[-12:]))
        if data.draw(st.integers(0, 9)) == 0 and first.until_ms - 1 > self.now_ms:
            self.advance(first.until_ms - 1 - self.now_ms)
        if first.until_ms <= self.now_ms:
            return
        before = self.api.world
        answer = self.ask(first.kind, first.who, first.project, first.value, first.key)
        assert self.api.world is before
        if first.kind == "key":
            assert answer.status == 200
            assert answer.json["key"]["id"] == json.loads(first.body)["key"]["id"]
            assert (answer.json["value"], answer.json["replayed"]) == (None, True)
        else:
            assert (answer.status, answer.body) == (first.status, first.body)

    @precondition(lambda self: self.model.answered)
    @rule(data=st.data())
    def use_a_key_for_something_else(self, data: Any) -> None:
        first = data.draw(st.sampled_from(self.model.answered[-12:]))
        if first.until_ms <= self.now_ms:
            return
        own = self.owner(first.project) if first.kind != "key" else first.who
        if first.kind == "flag":
            answer = self.ask("flag", first.who, first.project, not first.value, first.key)
        elif first.kind == "key":
            answer = self.ask("key", first.who, first.project, "another name", first.key)
        elif own == first.who:
            answer = self.ask("flag", first.who, first.project, True, first.key)
        else:
            answer = self.ask("source", first.who, first.project, 99, first.key)
        assert (answer.status, answer.json["code"]) == (409, "idempotency_key_reused")

    # --- reading --------------------------------------------------------------------------------

    @rule(project=ANYWHERE)
    def poll(self, project: str) -> None:
        for operation in self.model.projects[project].operations:
            answer = self.api.poll(operation.id, who=self.owner(project))
            assert answer.json["state"] == operation.state(self.now_ms)

    @rule(limit=st.integers(1, 30), project=ANYWHERE)
    def begin_paging(self, limit: int, project: str) -> None:
        found = self.model.projects[project].deployments
        self.paging, self.paged = list(reversed(found)), list[str]()
        self.page_project, self.page_limit, self.cursor = project, limit, None
        self.next_page()

    @precondition(lambda self: self.paging is not None)
    @rule()
    def next_page(self) -> None:
        assert self.paging is not None
        query = f"?limit={self.page_limit}" + (f"&cursor={self.cursor}" if self.cursor else "")
        who = self.owner(self.page_project)
        page = self.api.deployments(query, project=self.page_project, who=who).json
        self.paged += [found["id"] for found in page["items"]]
        self.cursor = page.get("next_cursor")
        assert self.paged == self.paging[: len(self.paged)]
        assert len(page["items"]) == self.page_limit or self.cursor is None
        if self.cursor is None:
            assert self.paged == self.paging
            self.paging = None

    @rule()
    def read_dns(self) -> None:
        expected = "authorized" if self.now_ms < self.dns_expires_ms else "expired"
        assert self.api.dns().json["status"] == expected

    # --- time and worlds ------------------------------------------------------------------------

    @rule(by_ms=MOVES_MS)
    def advance(self, by_ms: int) -> None:
        self.api.engine.move_by(by_ms)
        self.api._tokens.clear()
        self.model.now_ms += by_ms

    @rule(by_ms=LONG_MOVES_MS, really=st.integers(0, 3))
    def advance_far(self, by_ms: int, really: int) -> None:
        if really == 0:
            self.advance(by_ms)

    @rule(times=st.integers(1, 6))
    def advance_to_next_events(self, times: int) -> None:
        for _ in range(times):
            due_ms = self.api.world.next_due_ms
            if due_ms is not None and due_ms < self.now_ms + m.MEMORY_MS:
                self.advance(due_ms - self.now_ms)
                self.model_and_world_agree()

    @rule(project=ANYWHERE)
    def fork_and_disturb_the_fork(self, project: str) -> None:
        before = list(rows_of(self.api.world))
        fork = InProcess(replace(self.api.world, name="fork"))
        fork.set_flag(True, project=project, who=self.owner(project), key="in the fork")
        fork.apply_domains(project=project, who=self.owner(project), key="in the fork too")
        fork.engine.move_by(3_600_000)
        assert list(rows_of(self.api.world)) == before

    @rule()
    def go_on_in_a_fork(self) -> None:
        disturbed = self.api
        self.live(disturbed.world, disturbed._created_keys)
        disturbed.engine.move_by(m.KEY_MS)

    @rule()
    def take_a_snapshot(self) -> None:
        engine = self.api.engine
        name = engine.snapshots.take(engine.world, engine.run_due())
        seen = (self.model, self.ids, self.created, self.dns_expires_ms)
        self.snapshots.append((name, deepcopy(seen)))

    @precondition(lambda self: self.snapshots)
    @rule(data=st.data())
    def restore_a_snapshot(self, data: Any) -> None:
        """All is as it was then, but for the commits' numbers and the request log, which go on."""
        name, seen = data.draw(st.sampled_from(self.snapshots))
        engine, commit = self.api.engine, self.api.world.commit
        snapshot = engine.snapshots[name]
        engine.restore(snapshot)
        self.api._tokens.clear()
        self.model, self.ids, self.created, self.dns_expires_ms = deepcopy(seen)
        self.before, self.noted, self.paging = self.records(), {}, None
        assert engine.world.commit == commit + 1
        assert list(rows_of(engine.world)) == list(rows_of(snapshot.world))

    @rule()
    def crash_and_start_again(self) -> None:
        self.live(self.shelf.read(), self.api._created_keys)

    @rule()
    def export_and_import(self) -> None:
        world = self.api.world
        meta = {"world": world.name, "seed": world.seed, "commit": world.commit}
        again = StoredState({**meta, "at_ms": world.at_ms}, rows_of(world)).world()
        assert list(rows_of(again)) == list(rows_of(world))
        self.live(again, self.api._created_keys)

    @rule()
    def reset(self) -> None:
        fresh = fresh_world()
        self.api.engine.replace_world(replace(fresh, commit=self.api.world.commit + 1))
        self.begin(self.api.world)

    # --- what always holds ----------------------------------------------------------------------

    def records(self) -> dict[str, Mapping[str, Any]]:
        """Return the tables as they are; one that nothing was written to stays the same object."""
        return {table.name: self.api.world.tables[table.name] for table in RECORDS}

    @invariant()
    def model_and_world_agree(self) -> None:
        self.api.engine.run_due()
        world = self.api.world
        for alias, expected in self.model.projects.items():
            project = world.get(PROJECTS, self.api.project_id(alias))
            assert project is not None
            active = expected.active(self.now_ms)
            assert project.flag_enabled == expected.flag
            assert project.flag_enabled_at == stamp(expected.flag_at_ms)
            assert project.source_generation == expected.generation(self.now_ms)
            assert project.claim == (active.id if active else None)
            for operation in expected.operations:
                found = world.get(OPERATIONS, operation.id)
                assert found is not None
                assert found.state == operation.state(self.now_ms)

    @invariant()
    def one_operation_of_a_project_is_active(self) -> None:
        running: dict[str, int] = {}
        for _, operation in self.api.world.rows(OPERATIONS):
            if operation.state == "running":
                running[operation.project_id] = running.get(operation.project_id, 0) + 1
        assert all(count == 1 for count in running.values())

    @invariant()
    def states_move_along_their_tables_and_time_forward(self) -> None:
        after = self.records()
        for name, rows in self.before.items():
            if rows is not after[name]:
                for key, old in rows.items():
                    self.has_moved_along(name, old, after[name][key])
        self.before = after

    def has_moved_along(self, name: str, old: Any, new: Any) -> None:
        if new is old:
            return
        if isinstance(old, Operation | Deployment):
            assert new.updated_at >= old.updated_at
            assert new.created_at == old.created_at
        table, state = LIFECYCLES[name]
        assert getattr(new, state) in reachable(table, getattr(old, state))

    @invariant()
    def note_ids(self) -> None:
        for table in WITH_IDS:
            rows = self.api.world.tables[table.name]
            if self.noted.get(table.name) is rows:
                continue
            self.noted[table.name] = rows
            for key, record in rows.items():
                assert record.id == key
                assert self.ids.setdefault(key, table.name) == table.name
        accepted = [found for p in self.model.projects.values() for found in p.operations]
        assert self.api.world.count(OPERATIONS) == self.seeded + len(accepted)
        assert self.api.world.count(TICKETS) == len(self.model.tickets)
        assert self.api.world.count(API_KEYS) == len(self.model.keys)

    def teardown(self) -> None:
        assert list(rows_of(self.shelf.read())) == list(rows_of(self.api.world))
        assert self.shelf.read().commit == self.api.world.commit


RECORDS: tuple[Table[Any], ...] = (OPERATIONS, DEPLOYMENTS, TICKETS, DNS)
WITH_IDS: tuple[Table[Any], ...] = (OPERATIONS, DEPLOYMENTS, TICKETS, API_KEYS, PROJECTS)
LIFECYCLES = {
    OPERATIONS.name: (lifecycles.OPERATION, "state"),
    DEPLOYMENTS.name: (lifecycles.DEPLOYMENT, "status"),
    TICKETS.name: (lifecycles.TICKET, "state"),
    DNS.name: (lifecycles.DNS_AUTHORIZATION, "status"),
}


def reachable(table: lifecycles.Lifecycle, state: str) -> set[str]:
    found, waiting = set[str](), [state]
    while waiting:
        state = waiting.pop()
        if state not in found:
            found.add(state)
            waiting += table.transitions[state]
    return found


def profile(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=50,
        deadline=None,
        # Without `explain`: it would take minutes to say which steps do not matter.
        phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    )


TestHosting = Hosting.TestCase
TestHosting.settings = profile(int(os.environ.get("HOSTING_EMULATOR_EXAMPLES", "35")))


@pytest.mark.torture
def test_hosting_at_length() -> None:
    run_state_machine_as_test(Hosting, settings=profile(2_000))
