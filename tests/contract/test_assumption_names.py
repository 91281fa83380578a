"""A name stands for one assumption, which is either fixed or can be set."""

from __future__ import annotations

from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.fixed_assumptions import FIXED


def test_no_assumption_is_both_fixed_and_settable() -> None:
    both = FIXED.keys() & set(Assumptions.__struct_fields__)

    assert both == set(), "delete the row in contract/fixed_assumptions.py, or choose another name"
