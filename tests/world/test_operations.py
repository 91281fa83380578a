"""Operations: their plans, and the claim by which a project runs one operation at a time."""

import pytest
from msgspec.structs import replace

from hosting_emulator.world import operations as ops
from hosting_emulator.world.operations import APPLY_DOMAINS, INITIALIZE
from hosting_emulator.world.records import Ending
from hosting_emulator.world.tables import DEPLOYMENTS, OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change
from tests.support.in_process import fresh_world


class Table:
    """A project and its operations, changed in one change."""

    def __init__(self, **assumptions):
        self.world = fresh_world(**assumptions)
        self.change = Change(self.world, self.world.at_ms)
        self.project_id = self.world.indexes["project:shop"]

    @property
    def project(self):
        return self.change.row(PROJECTS, self.project_id)

    def begin(self, kind=APPLY_DOMAINS, **options):
        return ops.begin(self.change, self.project, kind, **options).id

    def get(self, operation_id):
        return self.change.row(OPERATIONS, operation_id)

    def state(self, operation_id):
        return self.get(operation_id).state

    def step(self, operation_id):
        return ops.step(self.change, operation_id).state

    def finish(self, operation_id, state):
        ending = Ending("intervention", "cancel_operation")
        return ops.finish(self.change, self.get(operation_id), state, ending)

    def run(self, operation_id):
        while not ops.finished(self.get(operation_id)):
            self.step(operation_id)
        return self.state(operation_id)


@pytest.fixture
def table():
    return Table()


def test_the_first_operation_takes_the_claim_and_a_place_in_the_schedule(table):
    first = table.begin()

    assert table.project.claim == first
    event = table.change.row(SCHEDULE, table.get(first).event)
    assert (event.due_ms - table.change.now_ms, event.subject) == (2_000, first)


def test_waiting_operations_run_in_the_order_of_arrival(table):
    first, second, third = (table.begin() for _ in range(3))

    order = []
    while table.project.claim:
        order.append(table.project.claim)
        assert table.run(table.project.claim) == "succeeded"

    assert order == [first, second, third]
    assert (table.project.queue_head, table.project.queue_tail) == (None, None)


def test_a_waiting_operation_is_scheduled_only_when_it_gets_the_claim(table):
    first = table.begin()
    second = table.begin()
    assert table.get(second).event is None

    table.finish(first, "cancelled")

    assert table.get(second).event is not None
    assert table.project.claim == second


@pytest.mark.parametrize("cancelled", [0, 1, 2, 3])
def test_a_cancelled_operation_leaves_the_queue_at_any_position(table, cancelled):
    ids = [table.begin() for _ in range(4)]

    table.finish(ids[cancelled], "cancelled")
    last = table.begin()
    order = []
    while table.project.claim:
        order.append(table.project.claim)
        table.run(table.project.claim)

    assert order == [operation_id for operation_id in ids if operation_id != ids[cancelled]] + [
        last
    ]
    assert table.project.queue_tail is None


def test_cancelling_every_operation_leaves_no_claim_and_no_events(table):
    before = list(table.world.rows(SCHEDULE))
    ids = [table.begin() for _ in range(3)]

    for operation_id in reversed(ids):
        table.finish(operation_id, "cancelled")

    assert table.project.claim is None
    assert list(table.change.applied().rows(SCHEDULE)) == before


def test_an_initialization_moves_its_deployment_through_its_states(table):
    operation = table.begin(INITIALIZE, expected_generation=1)
    deployment = table.get(operation).deployment_id

    states = [(table.state(operation), table.change.row(DEPLOYMENTS, deployment).status)]
    while not ops.finished(table.get(operation)):
        table.step(operation)
        states.append((table.state(operation), table.change.row(DEPLOYMENTS, deployment).status))

    assert states == [
        ("queued", "queued"),
        ("running", "building"),
        ("running", "deploying"),
        ("running", "deploying"),
        ("succeeded", "ready"),
    ]
    assert table.project.source_generation == 2
    assert table.get(operation).result == {"source_generation": 2}
    assert table.change.row(DEPLOYMENTS, deployment).url.startswith("https://shop.")


def test_only_the_first_of_two_initializations_of_one_generation_succeeds(table):
    first = table.begin(INITIALIZE, expected_generation=1)
    second = table.begin(INITIALIZE, expected_generation=1)

    assert table.run(first) == "succeeded"
    assert table.run(second) == "failed"

    assert table.get(second).error.code == "etag_mismatch"
    assert table.change.row(DEPLOYMENTS, table.get(second).deployment_id).status == "failed"
    assert table.project.source_generation == 2


def test_applied_domains_name_the_hosts(table):
    operation = table.begin()
    table.run(operation)

    hosts = table.get(operation).result["hostnames"]

    assert set(hosts) == {"development", "production", "mail"}
    assert hosts["production"] == "shop.prod.localhost"


@pytest.mark.parametrize("state", ["failed", "cancelled"])
def test_an_operation_that_does_not_succeed_ends_its_deployment(table, state):
    operation = table.begin(INITIALIZE)
    table.step(operation)

    table.finish(operation, state)

    assert table.change.row(DEPLOYMENTS, table.get(operation).deployment_id).status == state
    assert table.project.source_generation == 1


def test_an_operation_that_has_ended_cannot_change_its_state(table):
    operation = table.begin()
    table.run(operation)

    with pytest.raises(ValueError, match="succeeded cannot become cancelled"):
        table.finish(operation, "cancelled")


@pytest.mark.parametrize("profile", ["manual", "per_poll 2"])
def test_an_operation_with_a_profile_without_time_is_not_scheduled(profile):
    table = Table(domains_profile=profile)

    assert table.get(table.begin()).event is None


def test_each_state_of_a_per_poll_operation_lasts_n_polls():
    table = Table(domains_profile="per_poll 2")
    operation = table.begin()

    phases = [ops.count_poll(table.change, table.get(operation)).phase for _ in range(4)]

    assert phases == ["queued", "deploying", "verifying", "done"]


def test_polls_of_a_waiting_operation_do_not_move_it():
    table = Table(domains_profile="per_poll 1")
    first = table.begin()
    second = table.begin()

    ops.count_poll(table.change, table.get(second))

    assert table.state(second) == "queued"
    assert table.get(second).polls == 0
    assert table.project.claim == first


def test_polls_of_an_operation_with_a_timed_profile_are_not_counted(table):
    operation = table.get(table.begin())

    assert ops.count_poll(table.change, operation) is operation


def test_an_operation_with_the_immediate_profile_is_due_at_once():
    table = Table(domains_profile="immediate")
    operation = table.get(table.begin())

    assert table.change.row(SCHEDULE, operation.event).due_ms == table.change.now_ms


def test_an_operation_that_waited_longer_than_its_queued_time_is_due_at_once(table):
    table.begin()
    second = table.begin()
    table.change.now_ms += 60_000

    table.finish(table.project.claim, "cancelled")

    event = table.change.row(SCHEDULE, table.get(second).event)
    assert event.due_ms == table.change.now_ms


def test_an_operation_that_joins_a_long_queue_changes_two_rows(table):
    ids = [table.begin() for _ in range(200)]
    world = table.change.applied()

    change = Change(world, world.at_ms)
    ops.begin(change, change.row(PROJECTS, table.project_id), APPLY_DOMAINS)

    touched = sum(len(rows) for name, rows in change.writes.items() if name == OPERATIONS.name)
    assert touched == 2  # the new operation and the one before it
    assert replace(change.row(OPERATIONS, ids[-1]), next_waiting=None) == world.get(
        OPERATIONS, ids[-1]
    )
