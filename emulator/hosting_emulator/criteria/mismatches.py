"""Finds the differences between an expected and an actual value, to report them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from hosting_emulator.criteria.comparisons import (
    ITEM_FINDERS,
    LIST_WORDS,
    ORDERS,
    counted_items,
    is_comparison,
    match,
    match_word,
    names_counted_items,
    parts_of,
)
from hosting_emulator.criteria.value_types import (
    ABSENT,
    ANY,
    MISSING,
    ORDERED_VALUES,
    Path,
    ValueType,
)


@dataclass(frozen=True, slots=True)
class Mismatch:
    """A difference between an expected and an actual value.

    `at` is the path of the actual value in the response. `path` is the path of the expected value
    in the expectation.
    """

    at: str
    expected: Any
    actual: Any
    path: Path = ()

    def below(self, at: str, path: Path = ()) -> Mismatch:
        """Return the same mismatch with a prefix added to both paths.

        `at` is prepended to the path of the actual value, and `path` to the path of the expected
        value.
        """
        return replace(self, at=f"{at}.{self.at}", path=(*path, *self.path))

    def within(self, *path: str | int) -> Mismatch:
        """Return the same mismatch with `path` prepended to the path of the expected value."""
        return replace(self, path=(*path, *self.path))

    def report(self) -> dict[str, Any]:
        """Return the mismatch as a story's report shows it, without the position in the file."""
        return {"at": self.at, "expected": self.expected, "found": self.actual}


def compare(kind: ValueType, expected: Any, actual: Any, at: str) -> list[Mismatch]:
    """Return the differences between an actual value and an expected value.

    Fields without an expectation may have any value. `at` is the path of the actual value, for use
    in reports.
    """
    if is_comparison(expected):
        return _compare_words(kind, expected, actual, at)
    parts = None
    if isinstance(expected, Mapping) and expected:
        parts = parts_of(expected, actual)
    if parts is not None:
        differences = []
        for name, value in expected.items():
            inner = kind.field(name) or ANY
            where = f"{at}.{name}" if at else str(name)
            part_differences = compare(inner, value, parts.get(str(name), MISSING), where)
            differences += [difference.within(name) for difference in part_differences]
        return differences
    if _are_lists_of_one_length(expected, actual):
        item_kind = kind.items() or ANY
        differences = []
        for index, (expected_item, item) in enumerate(zip(expected, actual, strict=True)):
            item_differences = compare(item_kind, expected_item, item, f"{at}[{index}]")
            differences += [difference.within(index) for difference in item_differences]
        return differences
    if match(kind, expected, actual) is True:
        return []
    return [_mismatch(at, expected, actual)]


def _mismatch(at: str, expected: Any, actual: Any) -> Mismatch:
    if actual is MISSING:
        return Mismatch(at, expected, ABSENT)
    return Mismatch(at, expected, actual)


def _compare_words(
    kind: ValueType, expected: Mapping[str, Any], actual: Any, at: str
) -> list[Mismatch]:
    """Return the differences between a value and a comparison, by item where possible."""
    words = [
        word
        for word, operand in expected.items()
        if match_word(word, kind, operand, actual) is not True
    ]
    details = {word: _word_mismatches(kind, word, expected[word], actual, at) for word in words}
    if words and not any(details.values()):
        return [_mismatch(at, expected, actual)]
    differences = []
    for word in words:
        mismatches = details[word] or [_mismatch(at, {word: expected[word]}, actual)]
        differences += [mismatch.within(word) for mismatch in mismatches]
    return differences


def _word_mismatches(
    kind: ValueType, word: str, operand: Any, actual: Any, at: str
) -> list[Mismatch]:
    """Return mismatches that name the exact item that differs, or the exact reason.

    The list is empty if only the whole comparison can be reported.
    """
    if actual is MISSING or actual is None:
        return []
    if word in ORDERS:
        return _unordered_value(kind, word, operand, actual, at)
    if word not in LIST_WORDS:
        return []
    if not isinstance(actual, list):
        return [Mismatch(at, f"a list, because {word} applies to the items of a list", actual)]
    item_kind = kind.items() or ANY
    if word in ITEM_FINDERS:
        finding = ITEM_FINDERS[word](item_kind, operand, actual)
        if finding is None:
            return []
        return [Mismatch(f"{at}{finding.at}", finding.expected, finding.actual)]
    if word == "item_count":
        count, expected_count = counted_items(kind, operand, actual)
        if names_counted_items(operand):
            return [Mismatch(f"{at} (number of matching items)", expected_count, count, ("is",))]
        return [Mismatch(f"{at} (number of items)", expected_count, count)]
    if word == "each":
        for index, item in enumerate(actual):
            differences = compare(item_kind, operand, item, f"{at}[{index}]")
            if differences:
                return differences
        return [Mismatch(at, "at least one item", actual)]
    return []


def _unordered_value(
    kind: ValueType, word: str, limit: Any, actual: Any, at: str
) -> list[Mismatch]:
    """Return a list with a mismatch if a value and a limit cannot be compared, or an empty list."""
    if match_word(word, kind, limit, actual) is not None:
        return []
    rank = kind.rank(limit)
    order = rank.order if rank is not None else ORDERED_VALUES
    return [
        Mismatch(
            at,
            f"{word} {limit} (this value cannot be compared with {order})",
            actual,
        )
    ]


def _are_lists_of_one_length(expected: Any, actual: Any) -> bool:
    return isinstance(expected, list) and isinstance(actual, list) and len(expected) == len(actual)
