"""The schedule: due events happen in order and at their moments, however seldom they are run."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.world.due_events import run_due
from hosting_emulator.world.operations import begin
from hosting_emulator.world.plans import APPLY_DOMAINS, INITIALIZE
from hosting_emulator.world.tables import DNS, OPERATIONS, PROJECTS, SCHEDULE
from hosting_emulator.world.value import Change, World
from tests.support.exported_worlds import stored_rows
from tests.support.in_process import fresh_world

DAY_MS = 86_400_000
#: When operations begin (ms after the start), on which project, of which kind.
BEGINNINGS = st.lists(
    st.tuples(
        st.integers(0, 30_000),
        st.sampled_from(["shop", "blog"]),
        st.sampled_from([INITIALIZE, APPLY_DOMAINS]),
    ),
    min_size=1,
    max_size=6,
)


def busy_world(beginnings: Any) -> Any:
    """Return a world in which operations were accepted, and the moment at which it began."""
    world = fresh_world()
    start_ms = world.at_ms
    for offset, alias, kind in sorted(beginnings):
        due, count = run_due(world, start_ms + offset)
        world = due.applied() if count else world
        change = Change(world, start_ms + offset)
        project = change.row(PROJECTS, world.indexes[f"project:{alias}"])
        begin(change, project, kind, expected_generation=project.source_generation)
        world = change.applied()
    return world, start_ms


def after_due_events(world: Any, until_ms: int) -> Any:
    """Return the world after all events that are due by a moment."""
    due, count = run_due(world, until_ms)
    assert count
    return due.applied()


def expiry_ms(world: World) -> int:
    """Return when the DNS authorization of the project shop expires."""
    authorization = world.get(DNS, world.indexes["project:shop"])
    assert authorization is not None
    assert authorization.expires_ms is not None
    return authorization.expires_ms


def rows(world):
    return [row for row in stored_rows(world) if row[0] != "clock"]


@given(beginnings=BEGINNINGS, looks=st.lists(st.integers(0, 100_000), max_size=8))
@settings(deadline=None)
def test_the_result_of_due_events_does_not_depend_on_how_often_they_run(beginnings, looks):
    busy, start_ms = busy_world(beginnings)
    end_ms = start_ms + 120_000

    at_once = after_due_events(busy, end_ms)
    often = busy
    for look in [*sorted(looks), 120_000]:
        due, count = run_due(often, start_ms + look)
        often = due.applied() if count else often

    assert rows(often) == rows(at_once)


@given(beginnings=BEGINNINGS)
@settings(deadline=None)
def test_every_operation_ends_and_leaves_no_claim_and_no_event(beginnings):
    busy, start_ms = busy_world(beginnings)

    after = after_due_events(busy, start_ms + 600_000)

    assert all(
        operation.state in ("succeeded", "failed", "cancelled")
        for _, operation in after.rows(OPERATIONS)
    )
    assert all(project.claim is None for _, project in after.rows(PROJECTS))
    assert {event.kind for _, event in after.rows(SCHEDULE)} == {"dns_expiry"}


def test_each_event_happens_at_its_due_moment():
    busy, start_ms = busy_world([(0, "shop", APPLY_DOMAINS)])
    (operation_id,) = [
        key for key, operation in busy.rows(OPERATIONS) if operation.state == "queued"
    ]

    after = after_due_events(busy, start_ms + DAY_MS)

    ended = after.get(OPERATIONS, operation_id)
    assert ended.updated_at == format_timestamp(start_ms + 10_000)
    assert after.at_ms == start_ms + 10_000


def test_running_no_due_event_changes_nothing():
    world = fresh_world()
    due_ms = expiry_ms(world)

    for change, count in (
        run_due(world, due_ms - 1),
        run_due(replace(world, schedule=()), due_ms),
    ):
        assert (change.writes, count) == ({}, 0)
