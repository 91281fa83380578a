"""The declaration of a check: a function, its sentences, and the options that it needs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from hosting_emulator_lab.contract_check.options import CheckOptions
from hosting_emulator_lab.contract_check.run import CheckRun


@dataclass(frozen=True, slots=True)
class Check:
    """A check of one part of the contract.

    The docstring of `function` describes what the check tries.

    `judges` are the keys of the sentences that are skipped if the check cannot be made. `needs` is
    the name of an option that the check requires. `allow` contains words of ALLOWED, and the check
    requires one of them.
    """

    function: Callable[[CheckRun], None]
    judges: tuple[str, ...]
    needs: str | None
    allow: tuple[str, ...]

    @property
    def name(self) -> str:
        """The name of the function."""
        return self.function.__name__

    def make(self, run: CheckRun) -> None:
        """Make the check. Raises Unreachable."""
        self.function(run)

    def missing_option(self, options: CheckOptions) -> str | None:
        """Return a sentence about the option that would enable the check, or None if none is missing."""
        if self.needs is not None and getattr(options, self.needs) is None:
            return f"it needs --{self.needs.replace('_', '-')}"
        if self.allow and not options.allow.intersection(self.allow):
            return f"it changes the project: permit it with --allow {' or '.join(self.allow)}"
        return None


def declare_check(
    *, judges: tuple[str, ...] = (), needs: str | None = None, allow: tuple[str, ...] = ()
) -> Callable[[Callable[[CheckRun], None]], Check]:
    """Turn a function into a Check. The parameters are the fields of Check."""

    def declare(function: Callable[[CheckRun], None]) -> Check:
        return Check(function, judges, needs, allow)

    return declare
