"""The types of values: which values are possible, which ones are equal, and how they are ordered."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, TypeAlias

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.criteria.patterns import Expression

Path: TypeAlias = tuple[str | int, ...]
#: True, False, or None: the two cannot be compared.
Result: TypeAlias = bool | None
ABSENT = "(absent)"
#: Stands for a field that is not there.
MISSING: Any = type("Missing", (), {"__repr__": lambda _: ABSENT})()
VARIABLE_START = "${"
#: A number type with at most so many values is checked value by value.
_FEW_VALUES = 1000
#: How many words of a type a message lists.
_MOST_CHOICES = 12
#: How many characters of a refused value a message quotes.
_LONGEST_QUOTE = 60
_VARIABLE_SCHEMA: dict[str, Any] = {"type": "string", "pattern": r"\$\{"}
#: Refers to the schema of a comparison by words.
COMPARISON_SCHEMA: dict[str, Any] = {"$ref": "#/$defs/Comparison"}


class Impossible(ValueError):
    """An expected value that can never match: why, and the path to it within what was written.

    `key` says that the name at the path is wrong, and not the value.
    """

    def __init__(self, message: str, path: Path = (), *, key: bool = False) -> None:
        super().__init__(message)
        self.path = path
        self.key = key


@dataclass(frozen=True)
class ValueType:
    """Base of the types. A subclass says which values are possible and which ones are equal."""

    #: What a value of the type is called in messages, with an example.
    form: str = "a value"
    nullable: bool = False
    #: The names of the JSON types that a schema gives to a plain value.
    json_type: ClassVar[str | None] = None

    def is_text(self) -> bool:
        """Tell whether a value is text, which a `/pattern/` can match."""
        return False

    def is_list(self) -> bool:
        """Tell whether an expected list is compared as a whole. Otherwise it holds alternatives."""
        return False

    def is_mapping(self) -> bool:
        """Tell whether an expected mapping may name the parts of a value."""
        return False

    def is_pattern(self, text: str) -> bool:
        """Tell whether an expected text is a `/pattern/`."""
        return len(text) > 2 and text[0] == text[-1] == "/"

    def is_null_when_absent(self) -> bool:
        """Tell whether an expected null means that the value is not there."""
        return False

    def means_nothing(self, expected: Any) -> bool:
        """Tell whether an expected value means that there is no value."""
        return expected is None

    def check_plain(self, expected: Any, path: Path) -> None:
        """Raise Impossible if no value of the type equals a plain expected value."""
        raise NotImplementedError

    def equals(self, expected: Any, actual: Any) -> Result:
        """Compare a plain expected value with an actual one. Neither is null."""
        raise NotImplementedError

    def rank(self, value: Any) -> float | None:
        """Return the position of a value in the order of its type. None: it has none."""
        return None

    def limits(self) -> tuple[float, float]:
        """Return the least and the greatest rank that a value can have."""
        return float("-inf"), float("inf")

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        """Raise Impossible if no value of the type can match a regular expression."""
        if not self.is_text():
            raise Impossible(f"a pattern matches only text; this is {self.form}", path)

    def search(self, pattern: Expression, actual: Any) -> Result:
        """Search an actual value for a regular expression."""
        if not isinstance(actual, str):
            return None
        return pattern.search(actual) is not None

    def items(self) -> ValueType | None:
        """Return the type of the items of a list. None: the value is not a list."""
        return None

    def field(self, name: str) -> ValueType | None:
        """Return the type of a field, or of an item of a list. None: there is none of that name."""
        return None

    def field_names(self) -> Sequence[str]:
        """Return the names of the fields, for messages."""
        return ()

    def possible_values(self) -> Sequence[Any] | None:
        """Return all values but null, if they are few. None: they are many."""
        return None

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a plain value."""
        if self.json_type is None:
            return {}
        return {"type": self.json_type}

    def expected_schema(self) -> dict[str, Any]:
        """Return the JSON Schema of what may be expected: a value, alternatives, a comparison."""
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
        """Accept every value, because no type is declared that it could contradict."""

    def equals(self, expected: Any, actual: Any) -> Result:
        if _is_number(expected) and _is_number(actual):
            return bool(expected == actual)
        if isinstance(expected, str) and isinstance(actual, str):
            expected_ms = _moment_ms(expected)
            actual_ms = _moment_ms(actual)
            if expected_ms is None or actual_ms is None:
                return expected == actual
            return expected_ms == actual_ms
        return _equals_if(type(expected) is type(actual), expected, actual)

    def rank(self, value: Any) -> float | None:
        number = _number_or_none(value)
        if number is None:
            return _moment_ms(value)
        return number

    def items(self) -> ValueType:
        return ANY

    def field(self, name: str) -> ValueType:
        return ANY


ANY = AnyValue()


@dataclass(frozen=True)
class Boolean(ValueType):
    """true or false."""

    form: str = "true or false"
    json_type: ClassVar[str] = "boolean"

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, bool):
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        are_booleans = isinstance(expected, bool) and isinstance(actual, bool)
        return _equals_if(are_booleans, expected, actual)

    def possible_values(self) -> Sequence[bool]:
        return (True, False)


@dataclass(frozen=True)
class Number(ValueType):
    """A number within bounds; a whole one if `whole`."""

    form: str = "a number"
    whole: bool = False
    least: float = float("-inf")
    greatest: float = float("inf")

    def check_plain(self, expected: Any, path: Path) -> None:
        is_whole = isinstance(expected, int) or (
            isinstance(expected, float) and expected.is_integer()
        )
        if not _is_number(expected) or (self.whole and not is_whole):
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)
        if not self.least <= expected <= self.greatest or math.isinf(expected):
            raise Impossible(f"it must be {self.form}, and {expected} can never be", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        are_numbers = _is_number(expected) and _is_number(actual)
        return _equals_if(are_numbers, expected, actual)

    def rank(self, value: Any) -> float | None:
        return _number_or_none(value)

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
    """Any text, or one that matches `pattern` from its beginning to its end."""

    form: str = "text"
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
        return _equals_if(are_texts, expected, actual)


@dataclass(frozen=True)
class Word(Text):
    """One of some words. `aliases` are other spellings of them."""

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
            raise Impossible(f"no word here matches /{pattern.pattern}/: {self.choices()}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        if not isinstance(expected, str) or not isinstance(actual, str):
            return None
        return self.aliases(expected) == actual

    def possible_values(self) -> Sequence[str] | None:
        return self.words

    def schema(self) -> dict[str, Any]:
        return {"enum": [*self.words, *self.other_spellings()]}

    def other_spellings(self) -> Sequence[str]:
        """Return other spellings of the words that the type accepts."""
        return ()

    def choices(self) -> str:
        """Return the words, or the first of many."""
        if len(self.words) <= _MOST_CHOICES:
            return ", ".join(self.words)
        return ", ".join([*self.words[:_MOST_CHOICES], "…"])


@dataclass(frozen=True)
class Timestamp(Text):
    """A moment, however it is written."""

    form: str = "a timestamp such as 2026-01-31T09:30:00Z"

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, str) or _moment_ms(expected) is None:
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        expected_ms = _moment_ms(expected)
        actual_ms = _moment_ms(actual)
        if expected_ms is None or actual_ms is None:
            return None
        return expected_ms == actual_ms

    def rank(self, value: Any) -> float | None:
        return _moment_ms(value)


@dataclass(frozen=True)
class HeaderText(Text):
    """The value of a header. An expected number is compared with the number in the header."""

    form: str = "text or a number"
    nullable: bool = True

    def is_null_when_absent(self) -> bool:
        return True

    def check_plain(self, expected: Any, path: Path) -> None:
        if not isinstance(expected, str) and not _is_number(expected):
            raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        if _is_number(expected):
            number = self.rank(actual)
            return _equals_if(number is not None, expected, number)
        return _equals_if(isinstance(actual, str), expected, actual)

    def rank(self, value: Any) -> float | None:
        if _is_number(value):
            return float(value)
        if isinstance(value, str) and re.fullmatch(r"-?[0-9]{1,15}(\.[0-9]{1,9})?", value):
            return float(value)
        return _moment_ms(value)

    def schema(self) -> dict[str, Any]:
        return {"type": ["string", "number"]}


@dataclass(frozen=True)
class NameSet(ValueType):
    """Several names of one thing, such as its id and its alias, or the names of several things.

    An expected value matches if it matches any of the names, and `not` if it matches none of them.
    """

    form: str = "a name"
    item: ValueType = Text()

    def is_text(self) -> bool:
        return True

    def check_plain(self, expected: Any, path: Path) -> None:
        self.item.check_plain(expected, path)

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        self.item.check_pattern(pattern, path)

    def equals(self, expected: Any, actual: Any) -> Result:
        return any(self.item.equals(expected, name) is True for name in actual)

    def search(self, pattern: Expression, actual: Any) -> Result:
        return any(self.item.search(pattern, name) is True for name in actual)

    def schema(self) -> dict[str, Any]:
        return self.item.schema()


@dataclass(frozen=True)
class Array(ValueType):
    """A list of items of one type."""

    form: str = "a list"
    item: ValueType = ANY
    most: int | None = None
    json_type: ClassVar[str] = "array"

    def is_list(self) -> bool:
        return True

    def is_mapping(self) -> bool:
        return True

    def check_plain(self, expected: Any, path: Path) -> None:
        raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        return None

    def items(self) -> ValueType:
        return self.item

    def field(self, name: str) -> ValueType | None:
        if re.fullmatch("0|[1-9][0-9]{0,8}", name) is None:
            return None
        if self.most is not None and int(name) >= self.most:
            return None
        return self.item


@dataclass(frozen=True)
class Fields(ValueType):
    """An object with declared fields."""

    form: str = "an object"
    fields: Mapping[str, ValueType] = dataclasses.field(default_factory=dict)
    json_type: ClassVar[str] = "object"

    def is_mapping(self) -> bool:
        return True

    def check_plain(self, expected: Any, path: Path) -> None:
        raise Impossible(f"it must be {self.form}, not {display_value(expected)}", path)

    def equals(self, expected: Any, actual: Any) -> Result:
        return None

    def field(self, name: str) -> ValueType | None:
        return self.fields.get(name)

    def field_names(self) -> Sequence[str]:
        return tuple(self.fields)


@dataclass(frozen=True)
class Either(ValueType):
    """A value of one of several types, such as a body that is a resource or a problem."""

    types: tuple[ValueType, ...] = ()

    def is_text(self) -> bool:
        return any(kind.is_text() for kind in self.types)

    def is_list(self) -> bool:
        return any(kind.is_list() for kind in self.types)

    def is_mapping(self) -> bool:
        return any(kind.is_mapping() for kind in self.types)

    def check_plain(self, expected: Any, path: Path) -> None:
        self._any(lambda kind: kind.check_plain(expected, path))

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        self._any(lambda kind: kind.check_pattern(pattern, path))

    def _any(self, check_one: Callable[[ValueType], None]) -> None:
        errors = []
        for kind in self.types:
            try:
                return check_one(kind)
            except Impossible as error:
                errors.append(error)
        raise errors[0]

    def equals(self, expected: Any, actual: Any) -> Result:
        return any_result(kind.equals(expected, actual) for kind in self.types)

    def rank(self, value: Any) -> float | None:
        ranks = (kind.rank(value) for kind in self.types)
        return next((rank for rank in ranks if rank is not None), None)

    def limits(self) -> tuple[float, float]:
        limits = [kind.limits() for kind in self.types]
        return min(least for least, _ in limits), max(most for _, most in limits)

    def items(self) -> ValueType | None:
        return either(kind.items() for kind in self.types)

    def field(self, name: str) -> ValueType | None:
        return either(kind.field(name) for kind in self.types)

    def field_names(self) -> Sequence[str]:
        return tuple(dict.fromkeys(name for kind in self.types for name in kind.field_names()))


def either(types: Iterable[ValueType | None]) -> ValueType | None:
    """Return the type of a value that is of one of these types. None: there is none."""
    distinct: list[ValueType] = []
    for kind in types:
        if kind is not None and kind not in distinct:
            distinct.append(kind)
    if not distinct:
        return None
    if len(distinct) == 1:
        return distinct[0]
    nullable = any(kind.nullable for kind in distinct)
    form = " or ".join(dict.fromkeys(kind.form for kind in distinct))
    return Either(form, nullable, tuple(distinct))


def or_null(kind: ValueType) -> ValueType:
    """Return the same type with null as a value."""
    return replace(kind, nullable=True)


def any_result(results: Iterable[Result]) -> Result:
    """Return whether any result is True. None: none of them could be decided."""
    distinct = set(results)
    if True in distinct:
        return True
    if False in distinct:
        return False
    return None


def _equals_if(comparable: bool, expected: Any, actual: Any) -> Result:
    """Compare two values. None: they are not comparable."""
    if not comparable:
        return None
    return bool(expected == actual)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _number_or_none(value: Any) -> float | None:
    if not _is_number(value):
        return None
    number: float = value
    return number


def _moment_ms(value: Any) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_timestamp(value)
    except ValueError:
        return None


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
    return f"there is no {noun} {word[:80]!r}{hint}"
