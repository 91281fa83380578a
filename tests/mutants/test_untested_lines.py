"""Which statements of a file count as run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("coverage")

from mutants.untested_lines import untested_lines

SOURCE = """\
def is_allowed(size, limit):
    if (
        size < limit
        and size > 0
    ):
        return True
    return False
"""


class Recording:
    """A recording in which these lines were run."""

    def __init__(self, *lines: int) -> None:
        self._lines = lines

    def tested_lines(self, file: str, source: str) -> set[int]:
        return set(self._lines)


@pytest.mark.parametrize(
    ("run_lines", "untested"),
    [([1, 3, 4, 6, 7], []), ([1, 3, 7], [6]), ([1], [2, 6, 7])],
)
def test_a_condition_in_parentheses_was_run_if_its_first_line_was_run(
    tmp_path: Path, run_lines: list[int], untested: list[int]
) -> None:
    file = tmp_path / "sizes.py"
    file.write_text(SOURCE, encoding="utf-8")
    recording: Any = Recording(*run_lines)

    lines = untested_lines(recording, file, "emulator/hosting_emulator/sizes.py")

    assert [number for number, _, _ in lines] == untested
