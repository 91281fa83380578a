"""Suggests the name that a user probably meant."""

from __future__ import annotations

from collections.abc import Iterable

#: The maximum number of characters to compare: more than twice the length of our longest name.
#: Comparing a string of 1 MiB would take a third of a second.
_COMPARED_CHARACTERS = 200


def nearest(word: str, candidates: Iterable[str]) -> str:
    """Return `; did you mean …?` if a candidate resembles `word`, and otherwise an empty string."""
    # Import difflib here: the import takes a millisecond, and only errors need it.
    from difflib import get_close_matches

    matches = get_close_matches(word[:_COMPARED_CHARACTERS], list(candidates), n=1, cutoff=0.55)
    return f"; did you mean {matches[0]}?" if matches else ""


def unknown(noun: str, word: str, candidates: Iterable[str]) -> str:
    """Return an error message saying that a name does not exist.

    The message suggests the most similar name, or lists all names.
    """
    names = list(candidates)
    hint = nearest(word, names)
    if not hint:
        hint = f"; there are {', '.join(names) or 'none'}"
    return f"there is no {noun} {word[:80]!r}{hint}"
