"""The history keeps the states that a world can return to, within a bounded amount of memory."""

from __future__ import annotations

import pytest

from hosting_emulator.engine import history
from hosting_emulator.engine.history import History
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
