"""Delta debugging: the `ddmin` of Zeller and Hildebrandt (2002)."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Generic, NamedTuple, TypeVar

T = TypeVar("T")
_Places = tuple[int, ...]


class Smallest(NamedTuple, Generic[T]):
    """The fewest things that hold, and the tries; none can be left out if it `finished`."""

    items: tuple[T, ...]
    tries: int
    finished: bool


def read_target(text: str, fields: Collection[str], example: str) -> dict[str, str]:
    """Read the `name=value` words that tell what is to stay. Raises ValueError, naming the fields."""
    given: dict[str, str] = {}
    for word in text.split():
        name, _, value = word.partition("=")
        if name not in fields or not value:
            raise ValueError(f"{word!r} is not one of {', '.join(f'{f}=…' for f in fields)}")
        given[name] = value
    if not given:
        raise ValueError(example)
    return given


class _OutOfTries(Exception):
    pass


def smallest(
    items: Sequence[T], holds: Callable[[tuple[T, ...]], bool], max_tries: int
) -> Smallest[T]:
    """Return the fewest of `items` for which `holds`, asked at most `max_tries` times, is still true."""
    known: dict[_Places, bool] = {}

    def ask(places: _Places) -> bool:
        if places not in known:
            if len(known) == max_tries:
                raise _OutOfTries
            known[places] = holds(tuple(items[place] for place in places))
        return known[places]

    left, parts, finished = tuple(range(len(items))), 2, True
    try:
        while len(left) > 1:
            size = -(-len(left) // parts)
            pieces = [left[start : start + size] for start in range(0, len(left), size)]
            rests = [tuple(p for p in left if p not in piece) for piece in pieces]
            if piece := next((piece for piece in pieces if ask(piece)), None):
                left, parts = piece, 2
            elif rest := next((rest for rest in rests if ask(rest)), None):
                left, parts = rest, max(parts - 1, 2)
            elif size == 1:
                break
            else:
                parts = min(parts * 2, len(left))
    except _OutOfTries:
        finished = False
    return Smallest(tuple(items[place] for place in left), len(known), finished)
