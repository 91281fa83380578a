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
`--after-commit`, the request is applied, and only its response is lost or replaced. It does not act
on a request that the call refuses. Kinds that only delay let the call succeed in either case. Before
the commit they delay the effect of the request too, so requests that are sent together can overtake
each other.

Faults apply in the order in which they were armed, those before the commit first. Delays add up and
let other faults act. The first other effect ends the search, and later faults do not see the request.
`slow_upload` and `reset_in_upload` come before all others, because they act while the body of the
request is read: they cannot match by it, and act only on requests that have one.

A fault acts on requests with a valid token or key, unless `credentials` says otherwise."""


def render() -> str:
    """Return the page without its title."""
    return join(INTRODUCTION, kind_sections(describe_kinds(), "Fault", "fault add"))
