"""The kinds of faults that explore tries, and the order in which it tries them."""

from __future__ import annotations

from hosting_emulator.faults.kinds import explored_kinds


def test_explore_tries_these_kinds_in_this_order() -> None:
    assert explored_kinds() == (
        "timeout",
        "abort",
        "rate_limit",
        "connection_reset",
        "gateway_error",
        "truncate",
        "empty_response",
        "malformed_response",
        "latency",
        "slow_response",
    )
