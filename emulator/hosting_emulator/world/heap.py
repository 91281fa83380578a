"""A persistent priority queue (a leftist heap), the order in which a world's schedule comes due.

Immutable like the world that holds it: a push or a pop shares all but O(log n) nodes with the heap
it came from, so a fork of the world costs nothing. Items are `(due_ms, sequence, key)`.
"""

from __future__ import annotations

from typing import NamedTuple

Item = tuple[int, int, str]


class Heap(NamedTuple):
    """A non-empty heap; None is the empty one. `rank` is the length of the right spine."""

    rank: int
    item: Item
    left: Heap | None
    right: Heap | None


def push(heap: Heap | None, item: Item) -> Heap:
    """Return the heap with `item` added."""
    return _merge(heap, Heap(1, item, None, None))


def pop(heap: Heap) -> Heap | None:
    """Return the heap without its least item."""
    if heap.left is None or heap.right is None:
        return heap.left or heap.right
    return _merge(heap.left, heap.right)


def _merge(one: Heap | None, other: Heap) -> Heap:
    if one is None:
        return other
    if other.item < one.item:
        one, other = other, one
    merged = _merge(one.right, other)
    if one.left is None:
        return Heap(1, one.item, merged, None)
    if one.left.rank >= merged.rank:
        return Heap(merged.rank + 1, one.item, one.left, merged)
    return Heap(one.left.rank + 1, one.item, merged, one.left)
