"""Moving the clock costs the same for each due event, however many operations are unfinished."""

from __future__ import annotations

from tests.support.function_calls import count_calls
from tests.support.in_process import InProcess

DAY_MS = 86_400_000


def cost_of_finishing(count: int) -> int:
    """Return the function calls that finish this number of queued operations."""
    api = InProcess()
    for _ in range(count):
        assert api.apply_domains().status < 300
    return count_calls(lambda: api.engine.move_by(DAY_MS))


def test_finishing_twice_as_many_operations_costs_twice_as_much():
    cost_of_finishing(1)  # what is computed once is not counted
    base = cost_of_finishing(100)

    assert cost_of_finishing(200) < 2.3 * base
