"""The schedule's heap: it gives back what heapq would, and never changes what it came from."""

import heapq

from hypothesis import given
from hypothesis import strategies as st

from hosting_emulator.world import heap as heaps

ITEMS = st.tuples(st.integers(0, 50), st.integers(0, 50), st.sampled_from("abc"))
#: An item is pushed, None pops.
STEPS = st.lists(st.one_of(ITEMS, st.none()), max_size=200)


@given(steps=STEPS)
def test_pops_in_the_order_of_heapq(steps):
    heap: heaps.Heap | None = None
    model: list[heaps.Item] = []

    for step in steps:
        if step is not None:
            heap = heaps.push(heap, step)
            heapq.heappush(model, step)
        elif heap is not None:
            assert heap.item == heapq.heappop(model)
            heap = heaps.pop(heap)

        assert (heap is None) == (not model)
        assert heap is None or heap.item == model[0]


@given(before=st.lists(ITEMS, min_size=1, max_size=50), after=STEPS)
def test_leaves_the_heap_it_came_from_alone(before, after):
    kept = None
    for item in before:
        kept = heaps.push(kept, item)

    moved = kept
    for step in after:
        moved = heaps.push(moved, step) if step else heaps.pop(moved) if moved else None

    assert drained(kept) == sorted(before)


@given(items=st.lists(ITEMS, min_size=1, max_size=300))
def test_right_spine_stays_logarithmic(items):
    heap = None
    for item in items:
        heap = heaps.push(heap, item)

    spine, node = 0, heap
    while node is not None:
        spine, node = spine + 1, node.right

    assert 2**spine - 1 <= len(items)


def test_takes_many_items_in_the_worst_order():
    heap = None
    for due in range(50_000, 0, -1):
        heap = heaps.push(heap, (due, due, "x"))

    found = drained(heap)

    assert found[0] == (1, 1, "x")
    assert len(found) == 50_000


def drained(heap):
    found = []
    while heap is not None:
        found.append(heap.item)
        heap = heaps.pop(heap)
    return found
