"""Beside the house: the contract check, which holds any server against the contract, from outside.

It knows the contract and speaks HTTP; it must not know how this emulator works.
"""

from __future__ import annotations

from hosting_emulator.contract_check.check import check
from hosting_emulator.contract_check.options import ALLOWED, CheckOptions, CheckRefused
from hosting_emulator.contract_check.report import Report

__all__ = ["ALLOWED", "CheckOptions", "CheckRefused", "Report", "check"]
