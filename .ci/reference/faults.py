"""The page of faults."""

from __future__ import annotations

from hosting_emulator.faults.views import describe_kinds
from reference.markdown import join
from reference.triggers import kind_sections

INTRODUCTION = """\
A fault changes how a call responds. `hosting-emulator fault add KIND OPTION=VALUE` arms a fault in
a running emulator, and prints its id. A scenario file writes the same fault as
`faults: [{KIND: {OPTION: VALUE}}]`, the control API as `{"KIND": {"OPTION": VALUE}}`, and Python as
`hosting_emulator.fault("KIND", OPTION=VALUE)`. Which requests a fault meets, and how often it acts,
is the same for all kinds: see [Conditions](conditions.md).

A fault acts before the commit of the call by default: the request is not applied. With
`--after-commit`, the request is applied, and only its response is lost or replaced."""


def render() -> str:
    """Return the page without its title."""
    return join(INTRODUCTION, kind_sections(describe_kinds(), "Fault", "fault add"))
