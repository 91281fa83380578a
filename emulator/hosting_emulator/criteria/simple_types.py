"""The types of plain values: booleans, numbers, and several kinds of strings."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.criteria.patterns import Expression
from hosting_emulator.criteria.type_messages import display_value, unknown_word
from hosting_emulator.criteria.value_types import (
    IDS,
    NUMBERS,
    TIMESTAMPS,
    Impossible,
    Path,
    Rank,
    Result,
    ValueType,
    equals_if,
    http_date_rank,
    id_rank,
    is_number,
    moment_ms,
    number_rank,
    timestamp_rank,
)

#: The largest range of numbers for which `possible_values` returns all values.
_FEW_VALUES = 1000
#: The maximum number of words that a message lists.
_MOST_CHOICES = 12


@dataclass(frozen=True)
class Boolean(ValueType):
    """A boolean, true or false."""

    form: str = "true or false"
    json_type: ClassVar[str] = "boolean"

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, bool):
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        are_booleans = isinstance(expected, bool) and isinstance(actual, bool)
        return equals_if(are_booleans, expected, actual)

    def possible_values(self) -> Sequence[bool]:
        return (True, False)


@dataclass(frozen=True)
class Number(ValueType):
    """A number from `least` to `greatest`. If `whole` is true, only whole numbers are allowed."""

    form: str = "a number"
    whole: bool = False
    least: float = float("-inf")
    greatest: float = float("inf")

    def check_plain(self, expected: Any, path: Path) -> None:
        is_whole = isinstance(expected, int) or (
            isinstance(expected, float) and expected.is_integer()
        )
        if not is_number(expected) or (self.whole and not is_whole):
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)
        if not self.least <= expected <= self.greatest or math.isinf(expected):
            raise Impossible(f"it must be {self.form}, so it can never be {expected}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        are_numbers = is_number(expected) and is_number(actual)
        return equals_if(are_numbers, expected, actual)

    def orders(self) -> Sequence[str]:
        return (NUMBERS,)

    def rank(self, value: Any) -> Rank | None:
        return number_rank(value)

    def limits(self) -> tuple[float, float]:
        return self.least, self.greatest

    def possible_values(self) -> Sequence[int] | None:
        if not self.whole or not self.greatest - self.least <= _FEW_VALUES:
            return None
        return range(int(self.least), int(self.greatest) + 1)

    def schema(self) -> dict[str, Any]:
        bounds = {"minimum": self.least, "maximum": self.greatest}
        finite = {name: int(value) for name, value in bounds.items() if abs(value) != float("inf")}
        json_type = "integer" if self.whole else "number"
        return {"type": json_type, **finite}


@dataclass(frozen=True)
class Text(ValueType):
    """A string. The whole string must match `pattern`, unless `pattern` is None."""

    form: str = "a string"
    pattern: str | None = None
    json_type: ClassVar[str] = "string"

    def is_text(self) -> bool:
        return True

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, str):
            hint = ""
            if isinstance(expected, int | float):
                hint = "; put it in quotes"
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}{hint}", path)
        if self.pattern is not None and re.fullmatch(self.pattern, expected) is None:
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        are_texts = isinstance(expected, str) and isinstance(actual, str)
        return equals_if(are_texts, expected, actual)


@dataclass(frozen=True)
class Word(Text):
    """A word from a fixed set. The `aliases` function maps other spellings to words of the set."""

    form: str = "a word"
    words: tuple[str, ...] = ()
    aliases: Callable[[str], str] = str

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, str):
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)
        if self.aliases(expected) not in self.words:
            raise Impossible(unknown_word(self.form, expected, self.words), path)

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        if not any(pattern.search(word) for word in self.words):
            raise Impossible(
                f"/{pattern.pattern}/ matches none of the possible words: {self.choices()}",
                path,
            )

    def equals(self, expected: Any, actual: Any) -> Result:
        if not isinstance(expected, str) or not isinstance(actual, str):
            return None
        return self.aliases(expected) == actual

    def possible_values(self) -> Sequence[str] | None:
        return self.words

    def schema(self) -> dict[str, Any]:
        return {"enum": [*self.words, *self.other_spellings()]}

    def other_spellings(self) -> Sequence[str]:
        """Return the other spellings that the type accepts for its words."""
        return ()

    def choices(self) -> str:
        """Return at most 12 of the words, as text for a message."""
        if len(self.words) <= _MOST_CHOICES:
            return ", ".join(self.words)
        return ", ".join([*self.words[:_MOST_CHOICES], "…"])


@dataclass(frozen=True)
class Timestamp(Text):
    """A timestamp. Two timestamps are equal if they denote the same time."""

    form: str = "a timestamp such as 2026-01-31T09:30:00Z"

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, str) or moment_ms(expected) is None:
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        expected_ms = moment_ms(expected)
        actual_ms = moment_ms(actual)
        if expected_ms is None or actual_ms is None:
            return None
        return expected_ms == actual_ms

    def orders(self) -> Sequence[str]:
        return (TIMESTAMPS,)

    def rank(self, value: Any) -> Rank | None:
        return timestamp_rank(value)


@dataclass(frozen=True)
class Ulid(Text):
    """A Ulid. Ulids are ordered by creation time."""

    form: str = "a Ulid of 26 characters"
    pattern: str | None = ULID_PATTERN

    def orders(self) -> Sequence[str]:
        return (IDS,)

    def rank(self, value: Any) -> Rank | None:
        return id_rank(value)


@dataclass(frozen=True)
class HeaderText(Text):
    """The value of a header.

    An expected number is compared with a header's value as a number. An expected timestamp is
    compared with the time in a header such as Date.
    """

    form: str = "a string or a number"
    nullable: bool = True

    def is_null_when_absent(self) -> bool:
        return True

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, str) and not is_number(expected):
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        if is_number(expected):
            rank = self.rank(actual)
            if rank is None or rank.order != NUMBERS:
                return None
            return bool(expected == rank.position)
        expected_rank = self.rank(expected)
        rank = self.rank(actual)
        if expected_rank is not None and rank is not None and rank.order == TIMESTAMPS:
            return expected_rank == rank
        return equals_if(isinstance(actual, str), expected, actual)

    def orders(self) -> Sequence[str]:
        return (NUMBERS, TIMESTAMPS)

    def rank(self, value: Any) -> Rank | None:
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,9})?", value):
            return Rank(NUMBERS, float(value))
        return number_rank(value) or timestamp_rank(value) or http_date_rank(value)

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "number"]}
