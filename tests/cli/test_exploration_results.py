"""The file in `explore --results`, from which an interrupted exploration continues."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from hosting_emulator_cli.exploration_results import ResultsFile
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
