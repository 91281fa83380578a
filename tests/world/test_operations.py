"""The queue of a project's operations behind the one that holds its mutation claim."""

import pytest
from msgspec.structs import replace

from hosting_emulator.world import operations as ops
from hosting_emulator.world.plans import APPLY_DOMAINS, is_finished
from hosting_emulator.world.records import Ending
from hosting_emulator.world.tables import OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change
from tests.support.in_process import fresh_world


class Table:
    """A project and its operations, changed in one change."""

    def __init__(self):
        self.world = fresh_world()
        self.change = Change(self.world, self.world.at_ms)
        self.project_id = self.world.indexes["project:shop"]

    @property
    def project(self):
        return self.change.row(PROJECTS, self.project_id)

    def begin(self):
        return ops.begin(self.change, self.project, APPLY_DOMAINS).id

    def get(self, operation_id):
        return self.change.row(OPERATIONS, operation_id)

    def finish(self, operation_id, state):
        ending = Ending("intervention", "cancel_operation")
        return ops.finish(self.change, self.get(operation_id), state, ending)

    def run(self, operation_id):
        while not is_finished(self.get(operation_id)):
            ops.step(self.change, operation_id)


@pytest.fixture
def table():
    return Table()


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
    assert (table.project.queue_head, table.project.queue_tail) == (None, None)


def test_cancelling_every_operation_leaves_no_claim_and_no_events(table):
    before = list(table.world.rows(SCHEDULE))
    ids = [table.begin() for _ in range(3)]

    for operation_id in reversed(ids):
        table.finish(operation_id, "cancelled")

    assert table.project.claim is None
    assert list(table.change.applied().rows(SCHEDULE)) == before


def test_an_operation_that_has_ended_cannot_change_its_state(table):
    operation = table.begin()
    table.run(operation)

    with pytest.raises(ValueError, match="succeeded cannot become cancelled"):
        table.finish(operation, "cancelled")


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
