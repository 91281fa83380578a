"""Refused values and unknown words, as messages quote them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hosting_emulator.contract.suggestions import nearest

#: How many characters of a refused value a message quotes.
_LONGEST_QUOTE = 60
_LONGEST_WORD_QUOTE = 80


def display_value(value: Any) -> str:
    """Return a refused value for a message, shortened if it is long."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    if value is None:
        return "null"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value)
    if len(text) > _LONGEST_QUOTE:
        return f"{text[:_LONGEST_QUOTE]}…"
    return text


def unknown_word(form: str, word: str, words: Sequence[str]) -> str:
    """Say that a word does not exist: the nearest word, or all of them."""
    listed = ", ".join(words) or "none"
    hint = nearest(word, words) or f"; there are {listed}"
    noun = form.removeprefix("a ").removeprefix("an ")
    return f"there is no {noun} {word[:_LONGEST_WORD_QUOTE]!r}{hint}"
