"""The samples of tables: the next commit tries other rows, and each sample can be repeated."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.support import sampling
from tests.support.sampling import SAMPLE_VARIABLE, commit_number, rotating, sample_number

ROWS = [f"row {number}" for number in range(10)]


def chosen_rows(parameters: list[Any]) -> list[str]:
    """Return the rows that are not marked as torture."""
    return [row for row in parameters if isinstance(row, str)]


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=A tester", "-c", "user.email=tester@example.com"]
    subprocess.run(["git", "-C", str(folder), *identity, *arguments], check=True)


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with three commits."""
    root = tmp_path / "repository"
    root.mkdir()
    git(root, "init", "-q")
    for subject in ("first", "second", "third"):
        git(root, "commit", "-q", "--allow-empty", "-m", subject)
    return root


@pytest.mark.parametrize("count", [1, 3, 5, 10, 20])
@pytest.mark.parametrize("first_number", [0, 4, 1234])
def test_consecutive_commits_try_all_rows(first_number: int, count: int) -> None:
    commits_needed = -(-len(ROWS) // count)
    numbers = range(first_number, first_number + commits_needed)
    samples = [chosen_rows(rotating(ROWS, count, number=number)) for number in numbers]

    assert {len(sample) for sample in samples} == {min(count, len(ROWS))}
    assert sorted({row for sample in samples for row in sample}) == ROWS


def test_the_rows_outside_the_sample_are_torture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "omits_torture", False)
    parameters = rotating(ROWS, 4, number=1)

    others = [row for row in parameters if not isinstance(row, str)]
    assert [row.marks for row in others] == [(pytest.mark.torture,)] * 6
    assert sorted([*chosen_rows(parameters), *(row.values[0] for row in others)]) == ROWS


def test_a_run_without_torture_collects_only_the_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sampling, "omits_torture", False)
    sample = chosen_rows(rotating(ROWS, 4, number=1))

    monkeypatch.setattr(sampling, "omits_torture", True)
    assert rotating(ROWS, 4, number=1) == sample


def test_each_commit_has_another_number(repository: Path) -> None:
    before = commit_number(repository)
    git(repository, "commit", "-q", "--allow-empty", "-m", "fourth")

    assert (before, commit_number(repository)) == (3, 4)


def test_commits_of_a_shallow_clone_have_different_numbers(
    repository: Path, tmp_path: Path
) -> None:
    git(tmp_path, "clone", "-q", "--depth", "1", repository.as_uri(), "clone")
    before = commit_number(tmp_path / "clone")
    git(tmp_path / "clone", "commit", "-q", "--allow-empty", "-m", "fourth")

    assert before != commit_number(tmp_path / "clone")


def test_sources_without_a_repository_have_a_number(tmp_path: Path) -> None:
    assert commit_number(tmp_path) == 0


def test_a_chosen_number_repeats_its_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(SAMPLE_VARIABLE, "1234")

    assert rotating(ROWS, 3) == rotating(ROWS, 3, number=1234)


@pytest.mark.parametrize("text", ["x", "-1", "1.5", "²"])
def test_a_sample_must_be_a_number(monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setenv(SAMPLE_VARIABLE, text)

    with pytest.raises(pytest.UsageError, match=f"{SAMPLE_VARIABLE} is '{text}', not a number"):
        sample_number()


def test_pytest_prints_how_to_repeat_the_sample() -> None:
    number = sample_number()
    command = [sys.executable, "-m", "pytest", "-n", "0", "--collect-only", __file__]
    output = subprocess.run(command, capture_output=True, text=True, check=True).stdout

    expected = f"samples: number {number} (to repeat them at another commit: TEST_SAMPLE={number})"
    assert expected in output.splitlines()
