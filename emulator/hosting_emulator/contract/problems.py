"""Problems by code, and the exception for refusing a request with a problem.

The table of problems is in `problem_table.py`. Like the table, this module must remain cheap to
import.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from hosting_emulator.contract.problem_table import ROWS, Problem

#: The bounds of `retry_after_seconds`, from one second to one day (contract, section Limits).
RETRY_AFTER_MIN: Final = 1
RETRY_AFTER_MAX: Final = 86_400
#: Every problem by its code, in the contract's order. Read-only.
PROBLEMS: Final[Mapping[str, Problem]] = MappingProxyType({row.code: row for row in ROWS})


class Refused(Exception):
    """An exception that any part of the core can raise to respond to a request with a problem.

    Problems are defined in the contract, section Errors.

    `status` and `action`, if given, override the code's status and suggested action. `why` is for
    the request log only, and is never sent to the client. `assumption` names the assumption without
    which the request would not be refused.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int | None = None,
        retry_after_seconds: int | None = None,
        why: str | None = None,
        assumption: str | None = None,
        action: str | None = None,
    ) -> None:
        """Create a refusal.

        Raises ValueError if the contract specifies a different status for the code, or if a number
        is out of bounds.
        """
        super().__init__(code, detail)
        if status is not None:
            PROBLEMS[code].check_status(status)
        wait = retry_after_seconds
        if wait is not None and not RETRY_AFTER_MIN <= wait <= RETRY_AFTER_MAX:
            bounds = f"{RETRY_AFTER_MIN} to {RETRY_AFTER_MAX}"
            raise ValueError(f"retry_after_seconds must be {bounds}, not {wait}")
        self.code = code
        self.detail = detail
        self.status = status
        self.retry_after_seconds = retry_after_seconds
        self.why = why
        self.assumption = assumption
        self.action = action or PROBLEMS[code].suggested_action

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"
