"""The page of outcomes."""

from __future__ import annotations

from hosting_emulator.faults.views import describe_outcome_kinds
from reference.markdown import docstring, join
from reference.triggers import DEFINITIONS, fields_table, kind_sections

INTRODUCTION = """\
An outcome determines in advance how the next matching operation proceeds and ends. `hosting-emulator
outcome add KIND OPTION=VALUE` arms an outcome in a running emulator, and prints the outcome's id. In a
scenario file, the same outcome is `outcomes: [{KIND: {OPTION: VALUE}}]`. For all kinds,
[conditions](conditions.md) determine to which operations an outcome applies.

An outcome applies to one operation, unless `times` sets another number. It works with every clock, and
is stored with the world. `queued` and `running` set how long the operation is in these states, even
with a profile that counts polls. An outcome is refused, with the reason, if operations that the call
starts do not have its phase, or could not end in this way. `stick` with `for` requires a profile in
which time advances operations, or `queued` or `running`."""


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
