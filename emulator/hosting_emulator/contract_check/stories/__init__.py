"""The stories, told in the order in which they are imported: reading first, changes last."""

from __future__ import annotations

# ruff: noqa: I001  (the order of these lines is the order of the stories)
from hosting_emulator.contract_check.stories import reading as reading
from hosting_emulator.contract_check.stories import paging as paging
from hosting_emulator.contract_check.stories import strangers as strangers
from hosting_emulator.contract_check.stories import inputs as inputs
from hosting_emulator.contract_check.stories import flag as flag
from hosting_emulator.contract_check.stories import keys as keys
from hosting_emulator.contract_check.stories import tickets as tickets
from hosting_emulator.contract_check.stories import operations as operations
from hosting_emulator.contract_check.stories import following as following
