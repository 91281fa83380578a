"""Whole reports of judgments and explorations, and the texts of all causes, are as recorded."""

from __future__ import annotations

import pytest

from tests.lab.judge.whole_reports import FILES, file_sections, recorded_sections


@pytest.mark.parametrize("file", FILES)
def test_a_report_is_as_recorded(file: str) -> None:
    advice = f"see reports/{file}; if the change is intended, run `make record` and read the diff"

    assert file_sections(file) == recorded_sections(file), advice
