"""Words: naming what was probably meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` when a known word is near `word`, else nothing."""
    # Imported here: only a mistake needs it.
    from difflib import get_close_matches

    found = get_close_matches(word, list(known), n=1, cutoff=0.55)
    return f"; did you mean {found[0]}?" if found else ""
