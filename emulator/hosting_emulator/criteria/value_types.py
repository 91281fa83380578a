"""The base class of value types, and the type of undeclared values.

A value type defines the possible values, their equality and their order. The other types are in
`simple_types` and `compound_types`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, ClassVar, NamedTuple, TypeAlias

from hosting_emulator.contract.ids import id_number, is_ulid
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.criteria.patterns import Expression

Path: TypeAlias = tuple[str | int, ...]
#: The result of a comparison: True, False, or None if the values cannot be compared.
Result: TypeAlias = bool | None
ABSENT = "(absent)"
#: A sentinel that stands for the value of a missing field.
MISSING: Any = type("Missing", (), {"__repr__": lambda _: ABSENT})()
VARIABLE_START = "${"
_VARIABLE_SCHEMA: dict[str, Any] = {"type": "string", "pattern": r"\$\{"}
#: A reference to the JSON Schema of a comparison such as `{at_least: 3}`.
COMPARISON_SCHEMA: dict[str, Any] = {"$ref": "#/$defs/Comparison"}


#: The kinds of values that have an order. Values of different kinds cannot be compared.
NUMBERS = "numbers"
TIMESTAMPS = "timestamps"
IDS = "ids"
ORDERED_VALUES = f"{NUMBERS}, {TIMESTAMPS} and {IDS}"


_HTTP_DATE = re.compile(r"[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT")


class Rank(NamedTuple):
    """The position of a value among values of the same kind.

    `order` is the kind: NUMBERS, TIMESTAMPS or IDS. `position` is a number, a time in milliseconds
    since 1970, or an id as an integer.
    """

    order: str
    position: float


class Impossible(ValueError):
    """An expected value can never match. The message gives the reason.

    `path` is the path of the value in the document. If `key` is true, the error is about the key at
    this path instead of the value.
    """

    def __init__(self, message: str, path: Path = (), *, key: bool = False) -> None:
        super().__init__(message)
        self.path = path
        self.key = key


@dataclass(frozen=True)
class ValueType:
    """The base class of value types. A subclass defines the possible values and their equality."""

    #: A noun phrase that messages use for a value of the type, possibly with an example.
    form: str = "a value"
    nullable: bool = False
    #: The JSON type of a plain value in a JSON Schema, or None if there is no single type.
    json_type: ClassVar[str | None] = None

    def is_text(self) -> bool:
        """Tell whether values of the type are strings, so that a `/pattern/` can match them."""
        return False

    def is_list(self) -> bool:
        """Tell whether values of the type are lists.

        For a type that is not a list, an expected list contains alternatives.
        """
        return False

    def is_mapping(self) -> bool:
        """Tell whether an expected mapping may name fields or items of the value."""
        return False

    def is_pattern(self, text: str) -> bool:
        """Tell whether an expected string is a `/pattern/`."""
        return len(text) > 2 and text[0] == text[-1] == "/"

    def is_null_when_absent(self) -> bool:
        """Tell whether an expected null matches a missing value."""
        return False

    def means_nothing(self, expected: Any) -> bool:
        """Tell whether an expected value, such as null, means that there must be no value."""
        return expected is None

    def check_plain(self, expected: Any, path: Path) -> None:
        """Raise Impossible if no value of the type equals a plain expected value."""
        raise NotImplementedError

    def equals(self, expected: Any, actual: Any) -> Result:
        """Compare a plain expected value with an actual value. Neither value may be null."""
        raise NotImplementedError

    def orders(self) -> Sequence[str]:
        """Return the kinds of ordered values that the type includes, such as NUMBERS.

        The result is empty if no value of the type has an order.
        """
        return ()

    def rank(self, value: Any) -> Rank | None:
        """Return the rank of a value, or None if the value has no order in this type."""
        return None

    def limits(self) -> tuple[float, float]:
        """Return the lowest and the highest position that the rank of a value can have."""
        return float("-inf"), float("inf")

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        """Raise Impossible if no value of the type can match a regular expression."""
        if not self.is_text():
            raise Impossible(f"a pattern matches only strings, but this is {self.form}", path)

    def search(self, pattern: Expression, actual: Any) -> Result:
        """Tell whether a regular expression matches any part of an actual value.

        Return None if the value is not a string.
        """
        if not isinstance(actual, str):
            return None
        return pattern.search(actual) is not None

    def items(self) -> ValueType | None:
        """Return the type of a list's items, or None if the value is not a list."""
        return None

    def field(self, name: str) -> ValueType | None:
        """Return the type of a field or a list item by its name or index.

        Return None if the type has no such field.
        """
        return None

    def field_names(self) -> Sequence[str]:
        """Return the names of the type's fields, for messages and checks."""
        return ()

    def possible_values(self) -> Sequence[Any] | None:
        """Return all possible values except null, or None if there are too many to list."""
        return None

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a plain value."""
        if self.json_type is None:
            return {}
        return {"type": self.json_type}

    def expected_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of an expectation: a value, alternatives, or a comparison."""
        choices = [self.schema(), _VARIABLE_SCHEMA, {"const": "*"}, COMPARISON_SCHEMA]
        if self.is_text():
            choices.append({"type": "string", "pattern": "^/.+/$"})
        if self.nullable:
            choices.append({"type": "null"})
        return {"anyOf": [*choices, {"type": "array", "minItems": 1, "items": {"anyOf": choices}}]}


@dataclass(frozen=True)
class AnyValue(ValueType):
    """A value without a declared type, such as the body of a page or a saved value."""

    form: str = "a value"
    nullable: bool = True

    def is_text(self) -> bool:
        return True

    def is_mapping(self) -> bool:
        return True

    def check_plain(self, expected: Any, path: Path) -> None:
        """Accept every value, because there is no declared type to contradict."""

    def equals(self, expected: Any, actual: Any) -> Result:
        if is_number(expected) and is_number(actual):
            return bool(expected == actual)
        if isinstance(expected, str) and isinstance(actual, str):
            expected_ms = moment_ms(expected)
            actual_ms = moment_ms(actual)
            if expected_ms is None or actual_ms is None:
                return expected == actual
            return expected_ms == actual_ms
        return equals_if(type(expected) is type(actual), expected, actual)

    def orders(self) -> Sequence[str]:
        return (NUMBERS, TIMESTAMPS, IDS)

    def rank(self, value: Any) -> Rank | None:
        ranks = (number_rank(value), timestamp_rank(value), id_rank(value))
        return next((rank for rank in ranks if rank is not None), None)

    def items(self) -> ValueType:
        return ANY

    def field(self, name: str) -> ValueType:
        return ANY


ANY = AnyValue()


def any_result(results: Iterable[Result]) -> Result:
    """Tell whether any result is True.

    Return None if there are no results, or if all results are None.
    """
    distinct = set(results)
    if True in distinct:
        return True
    if False in distinct:
        return False
    return None


def equals_if(comparable: bool, expected: Any, actual: Any) -> Result:
    """Tell whether two values are equal, or return None if `comparable` is false."""
    if not comparable:
        return None
    return bool(expected == actual)


def is_number(value: Any) -> bool:
    """Tell whether a value is a number. A boolean is not a number."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def number_rank(value: Any) -> Rank | None:
    """Return the rank of a number, or None if the value is not a number."""
    if not is_number(value):
        return None
    return Rank(NUMBERS, value)


def timestamp_rank(value: Any) -> Rank | None:
    """Return the rank of a timestamp by time, or None if the value is not a timestamp."""
    value_ms = moment_ms(value)
    if value_ms is None:
        return None
    return Rank(TIMESTAMPS, value_ms)


def http_date_rank(value: Any) -> Rank | None:
    """Return the rank of an HTTP date (RFC 9110, section 5.6.7), or None if the value is not an HTTP date."""
    if not isinstance(value, str) or _HTTP_DATE.fullmatch(value) is None:
        return None
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return Rank(TIMESTAMPS, int(date.timestamp()) * 1000)


def id_rank(value: Any) -> Rank | None:
    """Return the rank of a Ulid by creation time, or None if the value is not a Ulid."""
    if not isinstance(value, str) or not is_ulid(value):
        return None
    return Rank(IDS, id_number(value))


def moment_ms(value: Any) -> int | None:
    """Parse a timestamp to milliseconds since 1970. Return None if the value is not a timestamp."""
    if not isinstance(value, str):
        return None
    try:
        return parse_timestamp(value)
    except ValueError:
        return None
