"""The guide to exploring leaves out no fault and no verdict."""

from __future__ import annotations

from pathlib import Path

from tests.support.judging_tables import explored_faults, verdict_rows

GUIDE = (Path(__file__).parents[2] / "docs" / "explore.md").read_text(encoding="utf-8")


def test_the_explore_guide_names_every_fault_kind():
    assert [kind for kind in explored_faults() if f"`{kind}`" not in GUIDE] == [], (
        "describe in docs/explore.md when explore tries the kind"
    )


def test_the_explore_guide_explains_every_verdict_beside_its_mark():
    assert [row for row in verdict_rows() if row not in GUIDE] == []
