"""The kinds of faults, as far as tests outside the faults' own folder must know them."""

from __future__ import annotations

from hosting_emulator.faults.kinds import fault_kinds


def kinds_of_faults() -> set[str]:
    """Return the names of all kinds of faults."""
    return set(fault_kinds())


def kinds_that_lose_the_response() -> set[str]:
    """Return the kinds of faults after which no complete response arrives."""
    return {name for name, kind in fault_kinds().items() if not kind.arrives}
