"""Formats error messages about refused values and unknown words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hosting_emulator.contract.suggestions import nearest

#: The maximum number of characters that a message quotes from a refused value.
_LONGEST_QUOTE = 60
_LONGEST_WORD_QUOTE = 80


def display_value(value: Any) -> str:
    """Return a refused value as text for a message.

    A mapping becomes `a mapping`, and a list becomes `a list`. Other values are truncated to 60
    characters.
    """
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
    """Return a message saying that a word does not exist.

    The message suggests the nearest word, or lists all words if none is near.
    """
    listed = ", ".join(words) or "none"
    hint = nearest(word, words) or f"; the possible values are {listed}"
    noun = form.removeprefix("a ").removeprefix("an ")
    return f"there is no {noun} {word[:_LONGEST_WORD_QUOTE]!r}{hint}"
