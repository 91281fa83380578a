"""The page of faults."""

from __future__ import annotations

from hosting_emulator.faults.views import describe_kinds
from reference.markdown import join
from reference.triggers import kind_sections

INTRODUCTION = """\
A fault makes a request fail, or delays, truncates, alters or loses its response. `hosting-emulator
fault add KIND OPTION=VALUE` arms a fault in a running emulator, and prints the fault's id. In a
scenario file, the same fault is `faults: [{KIND: {OPTION: VALUE}}]`. In the control API it is
`{"KIND": {"OPTION": VALUE}}`, and in Python `hosting_emulator.fault("KIND", OPTION=VALUE)`. For all
kinds, [conditions](conditions.md) determine on which requests a fault acts, and how often.

By default, a fault acts before the commit of the call, so the request is not applied. With
`--after-commit`, the request is applied, and only its response is lost or replaced. Such a fault does
not act on a request that the call refuses. Kinds that only delay let the call succeed in either case.
Before the commit, they also delay the effect of the request, so requests that are sent together can
overtake each other.

Faults apply in the order in which they were armed, and those before the commit come first. Delays add
up. The first fault that replaces or loses the response ends the search, and later faults do not see
the request. `slow_upload` and `reset_in_upload` come before all others, because they act while the
body of the request is being read. They cannot match by the body, and act only on requests with a body.

A fault acts on requests with a valid token or key, unless `credentials` says otherwise."""


def render() -> str:
    """Return the page without its title."""
    return join(INTRODUCTION, kind_sections(describe_kinds(), "Fault", "fault add"))
