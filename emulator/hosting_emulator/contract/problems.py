"""The one table of problem codes: every code of the contract's Errors part, in its order.

The table itself is `problems.md`. It must stay cheap to import (no models, no web framework).

The contract fixes little: status and `retryable` of two codes and one suggested action. Each row
says in `specified` which of its values are the contract's; the rest is our choice, made by a rule:
402 credits, plans and budgets; 403 login and context; 409 conflicts, stale or missing
preconditions; 429 limits; 503 what is unavailable, uncertain or out of capacity; 400 what is
invalid in itself. `retryable` means: the same request, sent again unchanged, can succeed. (That is
why `idempotency_key_reused` is not retryable although its action says retry: the key must change.)
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

from hosting_emulator.contract.markdown import read_sections

#: Bounds of `retry_after_seconds`, up to one day (contract: Limits).
RETRY_AFTER_MIN: Final = 1
RETRY_AFTER_MAX: Final = 86_400
#: The last sentence of `Problem.when` for a code that no call answers with on its own.
BY_FAULT_ONLY: Final = (
    "No call of the contract produces it here; it is reachable only by fault injection."
)


#: How a meaning begins that the contract does not give; and what its first sentence is.
_OURS = "Our reading: "
_FIRST_SENTENCE = re.compile(r".*?\.(?=\s|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Problem:
    """One problem code and everything said about it (contract: Errors).

    `meaning`, `when` (which calls and conditions produce it here) and `advice` may hold `code` in
    backticks. `specified`: which of "status", "retryable" and "suggested_action" the contract fixes.
    """

    code: str
    status: int
    retryable: bool
    title: str
    suggested_action: str
    meaning: str
    when: str
    advice: str
    specified: frozenset[str] = frozenset()

    @property
    def slug(self) -> str:
        """The code with hyphens, as it stands at the end of the problem's `type` link."""
        return self.code.replace("_", "-")

    @property
    def detail(self) -> str:
        """What the service might say of it: the first sentence of its meaning, without our comments."""
        meaning = self.meaning.removeprefix(_OURS).replace("`", "")
        first = _FIRST_SENTENCE.match(meaning)
        sentence = meaning if first is None else first[0]
        return sentence[:1].upper() + sentence[1:]

    def check_status(self, status: int) -> None:
        """Raise ValueError for a status that this code cannot have (contract, Errors)."""
        if "status" in self.specified and status != self.status:
            raise ValueError(f"the contract fixes {self.code} to {self.status}")
        if not 400 <= status <= 599:
            raise ValueError(f"a problem's status is 400 to 599, not {status}")

    @property
    def by_fault_only(self) -> bool:
        """Whether no call answers with it on its own, so that only an armed fault shows it."""
        return self.when.endswith(BY_FAULT_ONLY)


def _read_table() -> Iterator[Problem]:
    for code, items in read_sections(Path(__file__).with_name("problems.md")):
        row: dict[str, Any] = dict(items)
        row["status"], row["retryable"] = int(row["status"]), row["retryable"] == "yes"
        row["when"] = row["when"].replace("{by_fault_only}", BY_FAULT_ONLY)
        row["specified"] = frozenset(row.get("specified", "").split())
        yield Problem(code, **row)


#: Every problem by its code, in the contract's order. Read-only.
PROBLEMS: Final[Mapping[str, Problem]] = MappingProxyType({p.code: p for p in _read_table()})


class Refused(Exception):
    """Raised anywhere in the core to answer a request with a problem (contract: Errors).

    `status` and `action` are those of the code's row unless overridden. `field` is the header,
    parameter or body field at fault. `why` is for the request log only and never sent to the client.
    `assumption` is the one under which alone this is refused.
    """

    def __init__(
        self,
        code: str,
        detail: str,
        *,
        status: int | None = None,
        retry_after_seconds: int | None = None,
        field: str | None = None,
        why: str | None = None,
        assumption: str | None = None,
        action: str | None = None,
    ) -> None:
        """Refuse. Raises ValueError for a status that the contract fixes, a number out of bounds."""
        super().__init__(code, detail)
        if status is not None:
            PROBLEMS[code].check_status(status)
        wait = retry_after_seconds
        if wait is not None and not RETRY_AFTER_MIN <= wait <= RETRY_AFTER_MAX:
            bounds = f"{RETRY_AFTER_MIN} to {RETRY_AFTER_MAX}"
            raise ValueError(f"retry_after_seconds is {bounds}, not {wait}")
        self.code = code
        self.detail = detail
        self.status = status or PROBLEMS[code].status
        self.retry_after_seconds = retry_after_seconds
        self.field = field
        self.why = why
        self.assumption = assumption
        self.action = action or PROBLEMS[code].suggested_action

    def __str__(self) -> str:
        return f"{self.code}: {self.detail}"
