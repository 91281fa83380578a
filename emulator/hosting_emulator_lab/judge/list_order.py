"""Finds out what a client does with the order of a list that arrives in reverse.

A client may print the items of a list in the order in which they arrive. Then it prints the same
lines in a different order, perhaps with other row numbers. If it omits a line or a request, it picks
items by their position in the list, for example the first as the latest.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

from hosting_emulator.contract.json_text import read_pointer
from hosting_emulator_lab.judge.client_behavior import ClientBehavior
from hosting_emulator_lab.judge.client_requests import NumberedRequest

_WORD = re.compile(r"\w(?:[\w:.+/-]*\w)?")
#: A part of a value stands for the value if it has at least this many characters, as the start of a
#: commit's digest does.
_SHORTENED_LENGTH = 6
#: Stands for a word that may differ by chance between runs, or that is the number of a row.
_CHANGING = "#"
#: The words of a line in alphabetical order, because a line may contain a whole list.
_Words: TypeAlias = tuple[str, ...]


def omitted_request(altered: ClientBehavior, first: ClientBehavior, second: ClientBehavior) -> str:
    """Return a request that both unaltered runs send and the altered run does not send.

    Return an empty string if there is none. How often a request is sent does not count.
    """
    sent = set(altered.requests)
    usual = set(second.requests)
    omitted = (text for text in first.requests if text in usual and text not in sent)
    return next(omitted, "")


def omitted_line(
    altered: ClientBehavior, first: ClientBehavior, second: ClientBehavior, values: ItemValues
) -> str:
    """Return a line that both unaltered runs print and the altered run does not print.

    Return an empty string if there is none. The order of the words in a line does not count. Numbers,
    times and ids do not count either, unless they are among the `values` of the list's items.

    If the runs print the same words, the client may only have arranged the items in columns. A line
    then counts only if it marks an item, for example as the latest.
    """
    if altered.lines is None or first.lines is None or second.lines is None:
        return ""
    counts = Counter(map(values.words, altered.lines))
    second_counts = Counter(map(values.words, second.lines))
    first_counts = Counter(map(values.words, first.lines))
    has_same_words = _count_words(counts) == _count_words(first_counts)
    for line in first.lines:
        words = values.words(line)
        if not words or first_counts[words] != second_counts[words]:
            continue
        may_be_columns = has_same_words and not values.is_mark_of_item(words)
        if counts[words] < first_counts[words] and not may_be_columns:
            return line
    return ""


def _count_words(counts: Mapping[_Words, int]) -> Counter[str]:
    words: Counter[str] = Counter()
    for line_words, count in counts.items():
        for word in line_words:
            words[word] += count
    return words


@dataclass(frozen=True)
class ItemValues:
    """The texts in the items of a list. `items` has the texts of each item."""

    items: Sequence[frozenset[str]]

    @classmethod
    def of_list(cls, requests: Iterable[NumberedRequest], call: str, pointer: str) -> ItemValues:
        """Return the texts in the items of a list that responses to a call have at a JSON Pointer."""
        items: dict[frozenset[str], None] = {}
        for request in requests:
            if request.call == call and request.succeeded:
                for item in _items_at(request.known_response, read_pointer(pointer)):
                    items[frozenset(_texts(item))] = None
        return cls(list(items))

    def words(self, line: str) -> _Words:
        """Return the words of a line in alphabetical order, except for those that may change by chance."""
        return tuple(sorted(self._comparable(word) for word in _WORD.findall(line)))

    def is_mark_of_item(self, words: _Words) -> bool:
        """Return whether the words of a line name exactly one item, and say something else about it."""
        item_indexes: set[int] = set()
        for word in words:
            indexes = [index for index, texts in enumerate(self.items) if _has_word(texts, word)]
            if len(indexes) == 1:
                item_indexes.add(indexes[0])
        has_other_word = any(
            word != _CHANGING and not _has_word(self._texts, word) for word in words
        )
        return len(item_indexes) == 1 and has_other_word

    @cached_property
    def _texts(self) -> frozenset[str]:
        return frozenset().union(*self.items)

    def _comparable(self, word: str) -> str:
        has_digit = any(character.isdigit() for character in word)
        if has_digit and not _has_word(self._texts, word):
            return _CHANGING
        return word


def _has_word(texts: Iterable[str], word: str) -> bool:
    """Return whether a word is one of the texts, or a part of one that is long enough to stand for it."""
    if len(word) < _SHORTENED_LENGTH:
        return not word.isdecimal() and word in texts
    return any(word in text for text in texts)


def _items_at(value: Any, tokens: Sequence[str]) -> Iterator[Any]:
    """Yield the items of the lists at a pointer. `*` stands for the items of an outer list."""
    if not tokens:
        if isinstance(value, list):
            yield from value
    elif tokens[0] == "*" and isinstance(value, list):
        for item in value:
            yield from _items_at(item, tokens[1:])
    elif isinstance(value, dict) and tokens[0] in value:
        yield from _items_at(value[tokens[0]], tokens[1:])


def _texts(value: Any) -> Iterator[str]:
    """Yield the texts in an item."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for member in value.values():
            yield from _texts(member)
    elif isinstance(value, list):
        for member in value:
            yield from _texts(member)
