"""Suggests a comparison for an unknown word, including words that other tools use."""

from __future__ import annotations

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.criteria.comparisons import COMPARISONS

#: Comparison words of other tools, with the emulator's equivalents.
_OTHER_WORDS = {
    "all": "each",
    "every": "each",
    "any": "has",
    "some": "has",
    "contains": "has",
    "includes": "has",
    "none": "not",
    "in": "one_of",
    "any_of": "one_of",
    "is": "same_as",
    "eq": "same_as",
    "equals": "same_as",
    "ne": "not",
    "nin": "not_in",
    "none_of": "not_in",
    "count": "item_count",
    "length": "item_count",
    "size": "item_count",
    "unique": "distinct",
    "order_by": "sorted_by",
    "gt": "above",
    "after": "above",
    "gte": "at_least",
    "min": "at_least",
    "lt": "below",
    "before": "below",
    "lte": "at_most",
    "max": "at_most",
}


def comparison_hint(name: str) -> str:
    """Return a hint that names the comparison that the user probably meant.

    If no comparison resembles the unknown word, the hint lists all comparisons.
    """
    word = _OTHER_WORDS.get(name)
    if word is not None:
        return f"; did you mean {word}?"
    return nearest(name, COMPARISONS) or f"; the comparisons are {', '.join(COMPARISONS)}"
