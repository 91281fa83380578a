"""The checks, made in the order in which they are imported: reading first, changes last."""

from __future__ import annotations

# ruff: noqa: I001  (the order of these lines is the order of the checks)
from hosting_emulator.contract_check.checks import reading as reading
from hosting_emulator.contract_check.checks import access as access
from hosting_emulator.contract_check.checks import changes as changes
from hosting_emulator.contract_check.checks import operations as operations
from hosting_emulator.contract_check.run import check

check(allow=("tickets",))(changes.outlive_ticket)
