"""The contract check compares any server with the contract, from outside.

It knows the contract and speaks HTTP. It must not know how this emulator works.
"""

from __future__ import annotations

from hosting_emulator_lab.contract_check.check import check
from hosting_emulator_lab.contract_check.options import ALLOWED, CheckOptions, CheckRefused
from hosting_emulator_lab.contract_check.report import CauseReport, Report, SentenceReport

__all__ = [
    "ALLOWED",
    "CauseReport",
    "CheckOptions",
    "CheckRefused",
    "Report",
    "SentenceReport",
    "check",
]
