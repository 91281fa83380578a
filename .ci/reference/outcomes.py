"""The page of outcomes."""

from __future__ import annotations

from hosting_emulator.faults.views import describe_outcome_kinds
from reference.markdown import docstring, join
from reference.triggers import DEFINITIONS, fields_table, kind_sections

INTRODUCTION = """\
An outcome sets in advance how the next operation ends. `hosting-emulator outcome add KIND
OPTION=VALUE` sets an outcome in a running emulator, and prints its id. A scenario file writes the
same outcome as `outcomes: [{KIND: {OPTION: VALUE}}]`. To which operations an outcome applies is the
same for all kinds: see [Conditions](conditions.md).

An outcome applies to one operation unless `times` says more, with every clock and profile, and after
a restart, a fork or a rewind. `queued` and `running` set how long the operation is in these states,
also under a profile that counts polls. An outcome that could never act is refused with the reason,
such as a phase that operations of the call do not have. `stick` with `for` needs a profile in which
time moves operations."""


def render() -> str:
    """Return the page without its title."""
    effects = DEFINITIONS["PartialEffects"]
    return join(
        INTRODUCTION,
        kind_sections(describe_outcome_kinds(), "Outcome", "outcome add"),
        "## Partial effects",
        docstring(effects["description"]),
        fields_table(effects, "effect"),
    )
