"""The file in `explore --results`, from which an interrupted exploration continues."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator.settings import Settings
from hosting_emulator_cli import exploration_results
from hosting_emulator_cli.exploration_results import ResultsFile, exploration_key
from hosting_emulator_cli.main import Failure

PLAN: Any = SimpleNamespace(points=())


def load(path: Path) -> str:
    return ResultsFile(path, "key").load(PLAN)


def test_results_of_another_format_are_refused(tmp_path: Path):
    path = tmp_path / "results.json"
    path.write_text(json.dumps({"format": "another 2", "key": "key", "results": []}))

    with pytest.raises(Failure) as caught:
        load(path)

    assert caught.value.message == (
        f"{path} does not contain the results of an exploration: name another file"
    )


def test_results_that_cannot_be_read_are_an_error(tmp_path: Path):
    with pytest.raises(Failure) as caught:
        load(tmp_path)

    assert caught.value.message.startswith(f"cannot read {tmp_path}: ")
    assert "Is a directory" in caught.value.message


def test_a_missing_file_of_results_is_no_error(tmp_path: Path):
    assert load(tmp_path / "missing.json") == ""


# --- The key of an exploration --------------------------------------------------------------------


def key_of(**changes: Any) -> str:
    """Return the key of an exploration. The keyword arguments change an ingredient."""
    request = SimpleNamespace(
        name="set_flag#1", exchange=SimpleNamespace(method="PUT", status=changes.pop("status", 200))
    )
    clean: Any = SimpleNamespace(
        observation=SimpleNamespace(requests=[request] * changes.pop("count", 1)),
        start={"projects": changes.pop("projects", {"b": 1, "a": 2})},
    )
    settings = Settings(port=0, data_dir=None)
    for name in ("seed", "clock", "at", "port"):
        if name in changes:
            settings = replace(settings, **{name: changes.pop(name)})
    arguments: dict[str, Any] = {
        "command": ("node", "client.js"),
        "user": None,
        "exports": (),
        "limit_s": None,
        "conduct": "off",
    }
    return exploration_key(clean, settings=settings, **arguments | changes)


@pytest.mark.parametrize(
    ("change", "is_another"),
    [
        ({}, False),
        ({"port": 4700}, False),
        ({"projects": {"a": 2, "b": 1}}, False),
        ({"projects": {"a": 2, "b": 3}}, True),
        ({"seed": "5"}, True),
        ({"clock": "skip"}, True),
        ({"at": "2030-01-31T09:30:00Z"}, True),
        ({"command": ("node", "other.js")}, True),
        ({"user": "owner"}, True),
        ({"exports": (("HOSTING_TOKEN", "TOKEN"),)}, True),
        ({"limit_s": 5.0}, True),
        ({"conduct": "error"}, True),
        ({"status": 202}, True),
        ({"count": 2}, True),
    ],
)
def test_an_exploration_continues_only_if_its_command_options_and_clean_run_are_the_same(
    change: dict[str, Any], is_another: bool
):
    assert (key_of(**change) != key_of()) == is_another


def test_an_exploration_starts_over_if_a_file_of_the_command_changed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(exploration_results, "_LONGEST_FILE", 4)
    missing = key_of()
    keys = [missing]
    for text in ("1234", "4321", "12345", "54321"):
        (tmp_path / "client.js").write_text(text)
        keys.append(key_of())

    assert len(set(keys)) == 3
    assert keys[3] == keys[4] == missing
    (tmp_path / "client.js").unlink()
    (tmp_path / "client.js").mkdir()
    assert key_of() == key_of(command=("node", "client.js")) == missing
    assert key_of(command=("node", "\0")) != missing


# --- Stored results -------------------------------------------------------------------------------


def stored(trial: str) -> dict[str, Any]:
    """Return the stored result of a run."""
    return {
        "trial": trial,
        "description": "",
        "verdict": "survived",
        "message": "",
        "output": ["a line"],
        "reasons": [],
        "exit_code": 0,
        "duration_s": 1.5,
        "conduct": [],
        "codes": [],
        "hit": True,
    }


TRIALS = [f"create_user_api_key#{n}/timeout/after_commit" for n in (1, 2, 3)]


def test_stored_results_are_continued_unless_they_are_of_another_or_finished_exploration(
    tmp_path: Path,
):
    path = tmp_path / "results.json"
    read_result = vars(exploration_results)["read_result"]
    results = [read_result(stored(trial)) for trial in TRIALS]
    plan: Any = SimpleNamespace(points=[result.point for result in results[:2]])
    file = ResultsFile(path, "key")
    unstored = ResultsFile(None, "key")

    for result in results[1:]:
        file.add(result)
        unstored.add(result)

    assert list(unstored.results) == [result.point for result in results[1:]]
    assert unstored.load(plan) == ""
    document = json.loads(path.read_text())
    assert path.read_text() == json.dumps(document, indent=2) + "\n"
    assert [result["trial"] for result in document["results"]] == TRIALS[1:]
    assert (document["format"], document["key"]) == ("hosting-emulator exploration 1", "key")

    continued = ResultsFile(path, "key")
    assert continued.load(plan) == f"Continuing from {path}: 1 of 2 runs are done."
    assert continued.results == {results[1].point: results[1]}

    other = ResultsFile(path, "another key")
    assert other.load(plan) == (
        f"{path} is from a different command or clean run, so the exploration starts over."
    )
    assert other.results == {}

    file.add(results[0])
    finished = ResultsFile(path, "key")
    assert finished.load(plan) == (
        f"{path} is from a finished exploration, so the exploration starts over."
    )
    assert finished.results == {}
