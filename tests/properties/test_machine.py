"""Calls, faults, interventions, time, forks, snapshots, resets and crashes in any order.

After each step the world is checked against a small model of the service. `EMULATOR_EXAMPLES`
in the environment says how many runs of fifty steps there are; `-m torture` makes many.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from typing import Any

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

from tests.properties.model import (
    KEY_MS,
    MEMORY_MS,
    PROJECT_THAT_NEEDS_ITS_FLAG,
    PROJECTS,
    TICKET_MS,
    ApiKey,
    Model,
    Project,
    RememberedRequest,
    Ticket,
)
from tests.support.calls import Response
from tests.support.exported_worlds import stored_rows
from tests.support.in_process import InProcess, fresh_world
from tests.support.journaled_worlds import JournalKeeper
from tests.support.product_tables import lifecycles
from tests.support.world_changes import ControlledWorld, export_and_import

# Mostly the owner, and mostly one project, so that things meet there.
USERS = st.sampled_from(
    ["owner"] * 6 + ["member", "member", "reader", "outsider", "outsider", "no-organization"]
)
ANY_PROJECT = st.sampled_from(["shop"] * 6 + ["garden"] * 2 + list(PROJECTS))
MOVES_MS = st.sampled_from([0, 1, 1_999, 2_000, 4_000, 8_000, 10_000] * 3 + [TICKET_MS] * 2)
LONG_MOVES_MS = st.sampled_from([MEMORY_MS, 31 * MEMORY_MS, KEY_MS])
#: The organization that a user's token names. Other users name `acme`.
HOME_ORGANIZATIONS = {"no-organization": None, "outsider": "hobby"}
#: The lifecycle of the records of a table, and the field that holds their state.
LIFECYCLES = {
    "operations": ("operation", "state"),
    "deployments": ("deployment", "status"),
    "dev_access_tickets": ("dev access ticket", "state"),
    "dns_authorizations": ("DNS authorization", "status"),
}
TRANSITIONS = lifecycles()
#: The tables whose records have a Ulid as their id.
TABLES_WITH_IDS = (
    "operations",
    "deployments",
    "dev_access_tickets",
    "user_api_keys",
    "projects",
)


def milliseconds(timestamp: str) -> int:
    return round(datetime.fromisoformat(timestamp).timestamp() * 1000)


def timestamp(at_ms: int | None) -> str | None:
    if at_ms is None:
        return None
    moment = datetime.fromtimestamp(at_ms / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Hosting(RuleBasedStateMachine):
    """A world and a model of it, side by side."""

    api: ControlledWorld
    keeper: JournalKeeper
    model: Model
    cursor: str | None

    def __init__(self) -> None:
        super().__init__()
        self.key_count = 0
        self.begin(fresh_world())

    def begin(self, world: Any) -> None:
        """Start with a fresh world and a model of what the default world holds."""
        self.live(world)
        self.model = Model(world.at_ms, {})
        for alias in PROJECTS:
            record = self.api.record("projects", self.api.project_id(alias))
            page = self.api.deployments("?limit=100", project=alias, user=self.owner(alias)).json
            flag_at = record.flag_enabled_at
            self.model.projects[alias] = Project(
                flag=record.flag_enabled,
                flag_at_ms=milliseconds(flag_at) if flag_at else None,
                first_generation=record.source_generation,
                deployments=[deployment["id"] for deployment in reversed(page["items"])],
            )
        dns = self.api.record("dns_authorizations", self.api.project_id("shop"))
        assert dns.expires_ms is not None
        self.dns_expires_ms = dns.expires_ms
        self.expected_pages: list[str] | None = None
        self.first_operation_count = len(self.api.records("operations"))
        #: The table of each id that was ever seen.
        self.ids: dict[str, str] = {}
        self.previous_records = self.lifecycle_records()
        self.checked_records: dict[str, Mapping[str, Any]] = {}

    def live(self, world: Any) -> None:
        """Run a world in an engine of its own."""
        self.keeper = JournalKeeper(world)
        self.api = ControlledWorld(world, self.keeper)
        self.request_ids: set[str] = set()
        self.snapshots: list[tuple[str, Any]] = []

    def owner(self, project: str) -> str:
        return "outsider" if project in ("garden", "notes") else "owner"

    def new_key(self) -> str:
        """Return an Idempotency-Key that was not used in any life of the world."""
        self.key_count += 1
        return f"key-{self.key_count}"

    @property
    def now_ms(self) -> int:
        return self.model.now_ms

    # --- Calls ----------------------------------------------------------------------------------

    def send(self, kind: str, user: str, project: str, value: Any, key: str) -> Response:
        """Send a request. If it is refused, the world stays the same value."""
        world = self.api.world
        if kind == "flag":
            response = self.api.set_flag(value, project=project, user=user, key=key)
        elif kind == "source":
            response = self.api.initialize(value, project=project, user=user, key=key)
        elif kind == "domains":
            response = self.api.apply_domains(project=project, user=user, key=key)
        elif kind == "key":
            response = self.api.create_key(value, organization=project, user=user, key=key)
        else:
            response = self.api.ticket(project=project, user=user)
        if response.status >= 400:
            assert self.api.world is world
            self.check_problem(response)
        return response

    def check_problem(self, response: Response) -> None:
        """Check a problem. No two problems of one engine have the same request id."""
        document = response.json
        assert document["status"] == response.status
        assert response.headers["X-Request-Id"] == document["request_id"]
        assert document["request_id"] not in self.request_ids
        self.request_ids.add(document["request_id"])

    def send_new(self, kind: str, user: str, project: str, value: Any) -> Response:
        """Send a request with a new key and remember its response if it succeeds."""
        key = self.new_key()
        response = self.send(kind, user, project, value, key)
        if response.status < 400:
            self.model.remembered.append(
                RememberedRequest(
                    user=user,
                    key=key,
                    kind=kind,
                    project=project,
                    value=value,
                    status=response.status,
                    body=response.body,
                    until_ms=self.now_ms + MEMORY_MS,
                )
            )
        return response

    @rule(user=USERS, project=ANY_PROJECT, enabled=st.booleans())
    def set_flag(self, user: str, project: str, enabled: bool) -> None:
        response = self.send_new("flag", user, project, enabled)
        expected = self.model.projects[project]
        status = self.model.refusal(user, project, "owner") or 200
        needs_flag = expected.flag and project == PROJECT_THAT_NEEDS_ITS_FLAG
        if status == 200 and not enabled and needs_flag:
            status = 409
        if user == "no-organization":
            status = 403
        assert response.status == status
        if status == 200:
            if not enabled:
                expected.flag_at_ms = None
            elif not expected.flag:
                expected.flag_at_ms = self.now_ms
            expected.flag = enabled
            assert response.json["enabled_at"] == timestamp(expected.flag_at_ms)

    @rule(user=USERS, project=ANY_PROJECT, offset=st.sampled_from([0, 0, 0, 1, -1]))
    def initialize(self, user: str, project: str, offset: int) -> None:
        expected = self.model.projects[project]
        generation = expected.generation(self.now_ms) + offset
        response = self.send_new("source", user, project, generation)
        status = self.model.refusal(user, project, "maintainer") or 202
        if generation < 0:
            status = 400  # the body is validated before the user is authorized
        elif user == "no-organization":
            status = 403
        elif status == 202 and offset:
            status = 409
        assert response.status == status
        if status == 202:
            self.accept(response.json, "source", expected)
            expected.deployments.append(response.json["deployment_id"])

    @rule(user=USERS, project=ANY_PROJECT)
    def apply_domains(self, user: str, project: str) -> None:
        response = self.send_new("domains", user, project, None)
        status = self.model.refusal(user, project, "maintainer") or 202
        assert response.status == (403 if user == "no-organization" else status)
        if response.status == 202:
            self.accept(response.json, "domains", self.model.projects[project])

    def accept(self, document: Any, kind: str, project: Project) -> None:
        """Add an accepted operation to the model and check how it is shown."""
        holder = project.active(self.now_ms)
        operation = project.accept(document["id"], kind, self.now_ms)
        assert document["state"] == "queued"
        assert document.get("blocking_operation_id") == (holder.id if holder else None)
        if holder is None:
            wait_s = (operation.runs_ms - self.now_ms) / 1000
            assert document["progress"]["next_poll_after_seconds"] == wait_s

    @rule(user=USERS, organization=st.sampled_from(["acme", "hobby"]))
    def create_key(self, user: str, organization: str) -> None:
        response = self.send_new("key", user, organization, "a key")
        home = HOME_ORGANIZATIONS.get(user, "acme")
        if home is None:
            assert response.status == 403
        elif home != organization:
            assert response.status == 404
        else:
            assert response.status == 201
            key = response.json["key"]
            ends_ms = self.now_ms + KEY_MS
            assert key["expires_at"] == timestamp(ends_ms)
            value = response.json["value"]
            self.model.keys.append(ApiKey(key["id"], value, organization, ends_ms))

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data(), project=ANY_PROJECT)
    def use_key(self, data: Any, project: str) -> None:
        key = data.draw(st.sampled_from(self.model.keys))
        response = self.api.dns(project=project, token=key.value)
        is_inside = (key.organization == "hobby") == (project in ("garden", "notes"))
        if key.ends_ms <= self.now_ms:
            assert response.status == 401
        elif is_inside:
            assert response.status in (200, 404)
        else:
            assert response.status == 404

    @rule(user=USERS, project=ANY_PROJECT)
    def create_ticket(self, user: str, project: str) -> None:
        response = self.send("ticket", user, project, None, "")
        status = self.model.refusal(user, project, "owner") or 201
        assert response.status == (403 if user == "no-organization" else status)
        if response.status == 201:
            earlier = self.model.last_tickets.get(user)
            if earlier is not None:
                earlier.spent = True
                self.open_ticket(earlier, earlier.project)
            ticket = Ticket(project, response.json["redeem_url"], self.now_ms + TICKET_MS)
            self.model.last_tickets[user] = ticket
            self.model.tickets.append(ticket)
            assert response.json["expires_at"] == timestamp(ticket.expires_ms)

    @precondition(lambda self: self.model.tickets)
    @rule(data=st.data(), project=st.sampled_from(PROJECTS))
    def redeem_ticket(self, data: Any, project: str) -> None:
        """Redeem a ticket at the dev origin of any project, and then at its own."""
        ticket = data.draw(st.sampled_from(self.model.tickets[-4:]))
        self.open_ticket(ticket, project)
        self.open_ticket(ticket, ticket.project)

    def open_ticket(self, ticket: Ticket, project: str) -> None:
        """Redeem a ticket at the dev origin of a project."""
        world = self.api.world
        response = self.api.redeem(ticket.url, project=project)
        is_valid = not ticket.spent and ticket.expires_ms > self.now_ms
        if is_valid and project == ticket.project:
            assert response.status == 303
            ticket.spent = True
        else:
            assert response.status == 404
            assert self.api.world is world

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data())
    def create_key_with_key(self, data: Any) -> None:
        key = data.draw(st.sampled_from(self.model.keys))
        response = self.api.create_key(
            token=key.value, organization=key.organization, key=self.new_key()
        )
        if key.ends_ms <= self.now_ms:
            assert response.status == 401
        else:
            assert response.status == 403
            assert response.json["code"] == "interactive_login_required"

    # --- Faults and interventions ---------------------------------------------------------------

    @rule(
        project=ANY_PROJECT,
        refusal=st.sampled_from([(403, "forbidden"), (503, "service_unavailable")]),
    )
    def send_into_refusing_fault(self, project: str, refusal: tuple[int, str]) -> None:
        """The fault changes only its own count, and the Idempotency-Key stays unused."""
        _, code = refusal
        self.api.add_fault(abort={"code": code}, times=1)
        records = self.lifecycle_records()
        key = self.new_key()
        user = self.owner(project)
        refused = self.api.apply_domains(project=project, user=user, key=key)
        assert (refused.status, refused.json["code"]) == refusal
        self.check_problem(refused)
        assert self.lifecycle_records() == records
        self.api.clear_faults()
        response = self.send("domains", user, project, None, key)
        assert response.status == 202
        self.accept(response.json, "domains", self.model.projects[project])

    @rule(project=ANY_PROJECT)
    def lose_response_to_fault(self, project: str) -> None:
        """The operation is accepted although the response is lost. A retry changes nothing."""
        self.api.add_fault(connection_reset={}, after_commit=True, times=1)
        key = self.new_key()
        user = self.owner(project)
        assert self.api.apply_domains(project=project, user=user, key=key).status == 0
        self.api.clear_faults()
        world = self.api.world
        response = self.send("domains", user, project, None, key)
        assert response.status == 202
        assert self.api.world is world
        self.accept(response.json, "domains", self.model.projects[project])

    @precondition(lambda self: self.model.keys)
    @rule(data=st.data(), word=st.sampled_from(["expire_key", "revoke_key"]))
    def end_key(self, data: Any, word: str) -> None:
        key = data.draw(st.sampled_from(self.model.keys))
        if key.ends_ms > self.now_ms:
            self.api.intervene(word, key=key.id)
            key.ends_ms = self.now_ms
            assert self.api.dns(token=key.value).status == 401

    @precondition(lambda self: self.model.last_tickets)
    @rule(data=st.data(), word=st.sampled_from(["expire_ticket", "revoke_ticket"]))
    def end_ticket(self, data: Any, word: str) -> None:
        user = data.draw(st.sampled_from(sorted(self.model.last_tickets)))
        ticket = self.model.last_tickets[user]
        if not ticket.spent and ticket.expires_ms > self.now_ms:
            self.api.intervene(word, user=user)
            ticket.spent = True
            self.open_ticket(ticket, ticket.project)

    # --- Idempotency ----------------------------------------------------------------------------

    @precondition(lambda self: self.model.remembered)
    @rule(data=st.data())
    def retry(self, data: Any) -> None:
        first = data.draw(st.sampled_from(self.model.remembered[-12:]))
        if data.draw(st.integers(0, 9)) == 0 and first.until_ms - 1 > self.now_ms:
            self.advance(first.until_ms - 1 - self.now_ms)
        if first.until_ms <= self.now_ms:
            return
        world = self.api.world
        response = self.send(first.kind, first.user, first.project, first.value, first.key)
        assert self.api.world is world
        if first.kind == "key":
            assert response.status == 200
            assert response.json["key"]["id"] == json.loads(first.body)["key"]["id"]
            assert (response.json["value"], response.json["replayed"]) == (None, True)
        else:
            assert (response.status, response.body) == (first.status, first.body)

    @precondition(lambda self: self.model.remembered)
    @rule(data=st.data())
    def reuse_key_for_another_request(self, data: Any) -> None:
        first = data.draw(st.sampled_from(self.model.remembered[-12:]))
        if first.until_ms <= self.now_ms:
            return
        user = first.user
        project = first.project
        if first.kind == "flag":
            response = self.send("flag", user, project, not first.value, first.key)
        elif first.kind == "key":
            response = self.send("key", user, project, "another name", first.key)
        elif user == self.owner(project):
            response = self.send("flag", user, project, True, first.key)
        else:
            response = self.send("source", user, project, 99, first.key)
        assert (response.status, response.json["code"]) == (409, "idempotency_key_reused")

    # --- Reading --------------------------------------------------------------------------------

    @rule(project=ANY_PROJECT)
    def poll(self, project: str) -> None:
        for operation in self.model.projects[project].operations:
            response = self.api.poll(operation.id, user=self.owner(project))
            assert response.json["state"] == operation.state(self.now_ms)

    @rule(limit=st.integers(1, 30), project=ANY_PROJECT)
    def begin_paging(self, limit: int, project: str) -> None:
        self.expected_pages = list(reversed(self.model.projects[project].deployments))
        self.read_ids: list[str] = []
        self.page_project = project
        self.page_limit = limit
        self.cursor = None
        self.read_next_page()

    @precondition(lambda self: self.expected_pages is not None)
    @rule()
    def read_next_page(self) -> None:
        assert self.expected_pages is not None
        query = f"?limit={self.page_limit}" + (f"&cursor={self.cursor}" if self.cursor else "")
        user = self.owner(self.page_project)
        page = self.api.deployments(query, project=self.page_project, user=user).json
        self.read_ids += [deployment["id"] for deployment in page["items"]]
        self.cursor = page.get("next_cursor")
        assert self.read_ids == self.expected_pages[: len(self.read_ids)]
        assert len(page["items"]) == self.page_limit or self.cursor is None
        if self.cursor is None:
            assert self.read_ids == self.expected_pages
            self.expected_pages = None

    @rule()
    def read_dns(self) -> None:
        status = "authorized" if self.now_ms < self.dns_expires_ms else "expired"
        assert self.api.dns().json["status"] == status

    # --- Time and worlds ------------------------------------------------------------------------

    @rule(by_ms=MOVES_MS)
    def advance(self, by_ms: int) -> None:
        self.api.advance(f"{by_ms}ms")
        self.api.forget_tokens()
        self.model.now_ms += by_ms

    @rule(by_ms=LONG_MOVES_MS, chance=st.integers(0, 3))
    def advance_far(self, by_ms: int, chance: int) -> None:
        if chance == 0:
            self.advance(by_ms)

    @rule(times=st.integers(1, 6))
    def advance_to_next_events(self, times: int) -> None:
        for _ in range(times):
            due_ms = self.api.world.next_due_ms
            if due_ms is not None and due_ms < self.now_ms + MEMORY_MS:
                self.advance(due_ms - self.now_ms)
                self.model_and_world_agree()

    @rule(project=ANY_PROJECT)
    def change_fork(self, project: str) -> None:
        """Changes of a fork do not affect the world."""
        rows = stored_rows(self.api.world)
        fork = InProcess(replace(self.api.world, name="fork"))
        user = self.owner(project)
        fork.set_flag(True, project=project, user=user, key="in the fork")
        fork.apply_domains(project=project, user=user, key="in the fork too")
        fork.advance("1h")
        assert stored_rows(self.api.world) == rows

    @rule()
    def continue_in_fork(self) -> None:
        """Later changes of the original do not affect its fork."""
        original = self.api
        self.live(original.world)
        original.advance("90d")

    @rule()
    def take_snapshot(self) -> None:
        state = (self.model, self.ids, self.dns_expires_ms)
        self.snapshots.append((self.api.take_snapshot(), deepcopy(state)))

    @precondition(lambda self: self.snapshots)
    @rule(data=st.data())
    def restore_snapshot(self, data: Any) -> None:
        """Everything is as it was, except the number of the commit and the request log."""
        snapshot_id, state = data.draw(st.sampled_from(self.snapshots))
        commit = self.api.world.commit
        snapshot_rows = stored_rows(self.api.snapshot_world(snapshot_id))
        self.api.restore_snapshot(snapshot_id)
        self.model, self.ids, self.dns_expires_ms = deepcopy(state)
        self.previous_records = self.lifecycle_records()
        self.checked_records = {}
        self.expected_pages = None
        assert self.api.world.commit == commit + 1
        assert stored_rows(self.api.world) == snapshot_rows

    @rule()
    def crash_and_start(self) -> None:
        self.live(self.keeper.read())

    @rule()
    def export_and_import(self) -> None:
        imported = export_and_import(self.api.world, with_seed=True)
        assert stored_rows(imported) == stored_rows(self.api.world)
        self.live(imported)

    @rule()
    def reset(self) -> None:
        self.api.engine.replace_world(fresh_world())
        self.begin(self.api.world)

    # --- Invariants -----------------------------------------------------------------------------

    def lifecycle_records(self) -> dict[str, Mapping[str, Any]]:
        """Return the records with a lifecycle by their tables.

        A table to which nothing was written stays the same object.
        """
        return {table: self.api.records(table) for table in LIFECYCLES}

    @invariant()
    def model_and_world_agree(self) -> None:
        self.api.engine.run_due()
        for alias, expected in self.model.projects.items():
            project = self.api.record("projects", self.api.project_id(alias))
            active = expected.active(self.now_ms)
            assert project.flag_enabled == expected.flag
            assert project.flag_enabled_at == timestamp(expected.flag_at_ms)
            assert project.source_generation == expected.generation(self.now_ms)
            assert project.claim == (active.id if active else None)
            for operation in expected.operations:
                record = self.api.record("operations", operation.id)
                assert record.state == operation.state(self.now_ms)

    @invariant()
    def at_most_one_operation_of_a_project_is_running(self) -> None:
        running_projects = [
            operation.project_id
            for operation in self.api.records("operations").values()
            if operation.state == "running"
        ]
        assert len(running_projects) == len(set(running_projects))

    @invariant()
    def states_follow_their_lifecycles_and_time_moves_forward(self) -> None:
        records = self.lifecycle_records()
        for table, previous_rows in self.previous_records.items():
            if previous_rows is not records[table]:
                for key, previous in previous_rows.items():
                    self.check_transition(table, previous, records[table][key])
        self.previous_records = records

    def check_transition(self, table: str, previous: Any, record: Any) -> None:
        if record is previous:
            return
        if table in ("operations", "deployments"):
            assert record.updated_at >= previous.updated_at
            assert record.created_at == previous.created_at
        lifecycle, field = LIFECYCLES[table]
        assert getattr(record, field) in reachable(lifecycle, getattr(previous, field))

    @invariant()
    def ids_are_unique_and_no_record_is_missing(self) -> None:
        for table in TABLES_WITH_IDS:
            rows = self.api.records(table)
            if self.checked_records.get(table) is rows:
                continue
            self.checked_records[table] = rows
            for key, record in rows.items():
                assert record.id == key
                assert self.ids.setdefault(key, table) == table
        accepted_count = sum(len(project.operations) for project in self.model.projects.values())
        operation_count = self.first_operation_count + accepted_count
        assert len(self.api.records("operations")) == operation_count
        assert len(self.api.records("dev_access_tickets")) == len(self.model.tickets)
        assert len(self.api.records("user_api_keys")) == len(self.model.keys)

    def teardown(self) -> None:
        journaled = self.keeper.read()
        assert stored_rows(journaled) == stored_rows(self.api.world)
        assert journaled.commit == self.api.world.commit


def reachable(lifecycle: str, state: str) -> set[str]:
    """Return the states that a record can reach from a state, which is one of them."""
    reachable_states: set[str] = set()
    pending_states = [state]
    while pending_states:
        pending_state = pending_states.pop()
        if pending_state not in reachable_states:
            reachable_states.add(pending_state)
            pending_states += TRANSITIONS[lifecycle][pending_state]
    return reachable_states


def profile(examples: int) -> settings:
    return settings(
        max_examples=examples,
        stateful_step_count=50,
        deadline=None,
        # Without `explain`: it would take minutes to find the steps that do not matter.
        phases=(Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink),
    )


TestAnyHistoryAgreesWithTheModel = Hosting.TestCase
TestAnyHistoryAgreesWithTheModel.settings = profile(int(os.environ.get("EMULATOR_EXAMPLES", "35")))


@pytest.mark.torture
def test_two_thousand_random_histories_agree_with_the_model() -> None:
    run_state_machine_as_test(Hosting, settings=profile(2_000))
