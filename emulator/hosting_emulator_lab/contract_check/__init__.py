"""Beside the house: the contract check, which holds any server against the contract, from outside.

It knows the contract and speaks HTTP; it must not know how this emulator works.
"""

from __future__ import annotations

from hosting_emulator_lab.contract_check.check import Report, SentenceReport, check
from hosting_emulator_lab.contract_check.run import ALLOWED, CheckOptions, CheckRefused

__all__ = ["ALLOWED", "CheckOptions", "CheckRefused", "Report", "SentenceReport", "check"]
