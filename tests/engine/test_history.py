"""The history keeps the states that a world can return to, within a bounded amount of memory."""

from __future__ import annotations

import pytest

from hosting_emulator.engine import history
from hosting_emulator.engine.explanations.commits import describe_changes
from hosting_emulator.engine.history import History, SavedState, TooManySnapshots, planned_in
from tests.support.in_process import InProcess, fresh_world
from tests.support.stories import scenario_world


def numbers(commits: History) -> list[int]:
    return [commit.number for commit in reversed(commits)]


def test_the_history_forgets_replaced_worlds_above_a_number_of_rows(
    monkeypatch: pytest.MonkeyPatch,
):
    api = InProcess()
    rows = sum(map(len, api.world.tables.values()))
    monkeypatch.setattr(history, "MOST_ROWS_REPLACED", 3 * rows + rows // 2)

    for number in range(1, 10):
        api.set_flag(number % 2 == 0)
        api.engine.replace_world(fresh_world())

    commits = api.engine.history
    assert numbers(commits)[0] == api.world.commit
    replaced = [c for c in commits if not c.writes and c.before is not c.world]
    assert len(replaced) == 3
    oldest = commits[0]
    assert oldest.before is oldest.world  # the state before it is forgotten


def test_the_history_keeps_the_commits_of_a_world_of_any_size(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history, "MOST_ROWS_REPLACED", 1)
    api = InProcess()
    for number in range(5):
        api.set_flag(number % 2 == 0)

    assert numbers(api.engine.history) == [6, 5, 4, 3, 2, 1]


def test_a_world_has_a_bounded_number_of_snapshots(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(history, "MOST_SNAPSHOTS", 2)
    api = InProcess()
    names = [api.take_snapshot(), api.take_snapshot()]

    with pytest.raises(TooManySnapshots, match=r"^a world can have at most 2 snapshots; delete"):
        api.take_snapshot()

    del api.engine.snapshots[names[0]]
    assert api.take_snapshot() == "snapshot-3"


@pytest.mark.parametrize(("count", "more"), [(3, []), (4, ["and 2 more"])])
def test_a_commit_is_described_by_at_most_six_changes(count: int, more: list[str]):
    api = InProcess()
    api.intervene("add_deployments", project="shop", count=count)

    changes = describe_changes(api.engine.history[-1])

    # Each deployment is one change, and so is the operation that made it.
    assert all(change.startswith("operation ") for change in changes[:count])
    assert set(changes[count:6]) == {"the deployment of shop is ready"}
    assert changes[6:] == more


def test_a_commit_that_changes_no_status_describes_no_change():
    api = InProcess()
    api.intervene("remove_deployments", project="shop", count=2)

    assert describe_changes(api.engine.history[-1]) == []


# --- Earlier states -------------------------------------------------------------------------------


def test_the_state_after_a_commit_includes_the_counts_of_the_same_request():
    api = InProcess()
    api.add_fault(connection_reset={}, after_commit=True, times=1)
    api.set_flag(False)
    api.set_flag(True)
    history = api.engine.history

    titles = [(commit.number, commit.title) for commit in history]
    assert titles == [
        (1, "began"),
        (2, "fault-1 armed"),
        (3, "set_project_powered_by_flag"),
        (4, "faults counted"),
        (5, "set_project_powered_by_flag"),
        (6, "faults counted"),
    ]
    states = {number: history.state_after(number) for number, _ in titles}
    assert {number: state and state.commit for number, state in states.items()} == {
        1: 1,
        2: 2,
        3: 4,
        4: 4,
        5: 6,
        6: 6,
    }
    assert history.state_after(7) is None


def test_the_state_at_a_time_is_the_state_after_the_last_commit_made_by_then():
    api = InProcess()
    began_ms = api.world.at_ms
    for seconds in (0, 10, 20):
        api.advance(f"{seconds}s")
        api.set_flag(seconds != 10)

    flags = [
        _flag(api, began_ms + offset_ms) for offset_ms in (0, 9_999, 10_000, 29_999, 30_000, 99_999)
    ]
    assert flags == [True, True, False, False, True, True]


def test_the_state_at_a_time_ignores_commits_that_a_rewind_undid():
    api = InProcess()
    before = SavedState(api.world, api.world.at_ms)
    api.advance("10s")
    api.set_flag(False)
    api.engine.restore(before)
    api.advance("20s")

    assert _flag(api, api.world.at_ms - 5_000) is True


def _flag(api: InProcess, at_ms: int) -> bool:
    """Return whether the flag of the project shop was on at a time."""
    world = api.engine.history.world_at(at_ms)
    return bool(world.tables["projects"][api.project_id()].flag_enabled)


def test_the_history_names_what_a_timeline_did():
    api = InProcess(
        scenario_world(
            """
            world: {extends: default}
            timeline:
              - {at: 1h, intervene: {set_plan: {organization: acme, plan: free}}}
            """
        )
    )
    api.advance("1h")

    (entry,) = planned_in(api.engine.history[-1].writes)
    assert entry.happened
    assert entry.message == "acme is on the free plan"


def test_the_commits_of_a_variation_have_titles():
    api = InProcess()
    api.vary("1")
    api.dns()
    assert api.variation is not None
    api.vary("2")
    assert api.variation is not None
    assert api.variation.varied == {}
    api.unvary()

    titles = [commit.title for commit in api.engine.history]
    assert titles == ["began", "variation set", "variation set", "variation removed"]
