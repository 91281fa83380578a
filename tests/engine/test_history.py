"""The history keeps the states that a world can return to, within a bounded amount of memory."""

from __future__ import annotations

import pytest

from hosting_emulator.engine import history
from hosting_emulator.engine.explanations.commits import describe_changes
from hosting_emulator.engine.history import History, TooManySnapshots
from tests.support.in_process import InProcess, fresh_world


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
