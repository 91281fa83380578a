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
`--after-commit`, the request is applied, and only its response is lost, truncated or replaced. Such a
fault does not act on a request that the call refuses. Kinds that only delay the response, slice it or
send it twice let the call succeed in either case. Before the commit, `latency` also delays the effect
of the request, so requests that are sent together can overtake each other. `alter`, `deliver_twice`,
`stale_read`, `slow_upload`, `reset_in_upload` and `bad_certificate` have a fixed time at which they
act, and do not accept `--after-commit`.

Faults that act at the same time are tried in the order in which they were armed. Delays add up. The
first fault with another effect ends the search, and later faults do not see the request. This does not
apply to `alter`, `deliver_twice` and `stale_read`, which do not prevent other faults from acting.
`slow_upload` and `reset_in_upload` come first, because they act while the body of the request is being
read. They cannot match by the body, and act only on requests with a body.

Without `call`, a fault acts only on API calls. It acts on API calls with a valid token or key, unless
`credentials` says otherwise."""


def render() -> str:
    """Return the page without its title."""
    return join(INTRODUCTION, kind_sections(describe_kinds(), "Fault", "fault add"))
