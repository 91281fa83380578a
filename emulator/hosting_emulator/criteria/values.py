"""Types of values, the comparisons between an expected and an actual value, and where they differ.

A comparison has three results: True, False, and None where the two values cannot be compared, such as
a number and a text. A claim holds only if the result is True, and the negation of None is None.
"""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, TypeAlias

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.criteria import patterns
from hosting_emulator.criteria.patterns import Expression, PatternError

Path: TypeAlias = tuple[str | int, ...]
#: True, False, or None: the two cannot be compared.
Result: TypeAlias = bool | None
ABSENT = "(absent)"
#: Stands for a field that is not there.
MISSING: Any = type("Missing", (), {"__repr__": lambda _: ABSENT})()
_VARIABLE = "${"
#: A number type with at most so many values is checked value by value.
_FEW_VALUES = 1000
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


class Mismatch(NamedTuple):
    """Where a response differs: a path in it, the expected value and the actual one."""

    at: str
    expected: Any
    found: Any


# --- Types ---------------------------------------------------------------------------------------


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

    def means_nothing(self, wanted: Any) -> bool:
        """Tell whether an expected value means that there is no value."""
        return wanted is None

    def check_plain(self, wanted: Any, path: Path) -> None:
        """Raise Impossible if no value of the type equals `wanted`."""
        raise NotImplementedError

    def equals(self, wanted: Any, actual: Any) -> Result:
        """Compare a plain wanted value with an actual one. Neither is null."""
        raise NotImplementedError

    def rank(self, value: Any) -> float | None:
        """Return the place of a value in the order of its type. None: it has none."""
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
        return pattern.search(actual) is not None if isinstance(actual, str) else None

    def items(self) -> ValueType | None:
        """Return the type of the items of a list. None: the value is no list."""
        return None

    def field(self, name: str) -> ValueType | None:
        """Return the type of a field, or of an item of a list. None: there is none of that name."""
        return None

    def field_names(self) -> Sequence[str]:
        """Return the names of the fields, for messages."""
        return ()

    def possible_values(self) -> Sequence[Any] | None:
        """Return all values but null, if they are few. None: they are not."""
        return None

    def schema(self) -> dict[str, Any]:
        """Return the JSON Schema of a plain value."""
        return {"type": self.json_type} if self.json_type else {}

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
    """A value whose type nobody declares: the body of a page, a saved value."""

    form: str = "a value"
    nullable: bool = True

    def is_text(self) -> bool:
        return True

    def is_mapping(self) -> bool:
        return True

    def check_plain(self, wanted: Any, path: Path) -> None:
        """Accept every value: nothing is known that it could contradict."""

    def equals(self, wanted: Any, actual: Any) -> Result:
        if _is_number(wanted) and _is_number(actual):
            return bool(wanted == actual)
        if isinstance(wanted, str) and isinstance(actual, str):
            moments = _moment_ms(wanted), _moment_ms(actual)
            return moments[0] == moments[1] if None not in moments else wanted == actual
        return wanted == actual if type(wanted) is type(actual) else None

    def rank(self, value: Any) -> float | None:
        return value if _is_number(value) else _moment_ms(value)

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

    def check_plain(self, wanted: Any, path: Path) -> None:
        if not isinstance(wanted, bool):
            raise Impossible(f"it must be {self.form}, not {shown(wanted)}", path)

    def equals(self, wanted: Any, actual: Any) -> Result:
        comparable = isinstance(wanted, bool) and isinstance(actual, bool)
        return wanted == actual if comparable else None

    def possible_values(self) -> Sequence[bool]:
        return (True, False)


@dataclass(frozen=True)
class Number(ValueType):
    """A number within bounds; a whole one if `whole`."""

    form: str = "a number"
    whole: bool = False
    least: float = float("-inf")
    greatest: float = float("inf")

    def check_plain(self, wanted: Any, path: Path) -> None:
        whole = isinstance(wanted, int) or (isinstance(wanted, float) and wanted.is_integer())
        if not _is_number(wanted) or (self.whole and not whole):
            raise Impossible(f"it must be {self.form}, not {shown(wanted)}", path)
        if not self.least <= wanted <= self.greatest or math.isinf(wanted):
            raise Impossible(f"it must be {self.form}, and {wanted} can never be", path)

    def equals(self, wanted: Any, actual: Any) -> Result:
        return bool(wanted == actual) if _is_number(wanted) and _is_number(actual) else None

    def rank(self, value: Any) -> float | None:
        return value if _is_number(value) else None

    def limits(self) -> tuple[float, float]:
        return self.least, self.greatest

    def possible_values(self) -> Sequence[int] | None:
        if not self.whole or not self.greatest - self.least <= _FEW_VALUES:
            return None
        return range(int(self.least), int(self.greatest) + 1)

    def schema(self) -> dict[str, Any]:
        bounds = {"minimum": self.least, "maximum": self.greatest}
        finite = {name: int(value) for name, value in bounds.items() if abs(value) != float("inf")}
        return {"type": "integer" if self.whole else "number", **finite}


@dataclass(frozen=True)
class Text(ValueType):
    """Any text, or one that matches `pattern` from its beginning to its end."""

    form: str = "text"
    pattern: str | None = None
    json_type: ClassVar[str] = "string"

    def is_text(self) -> bool:
        return True

    def check_plain(self, wanted: Any, path: Path) -> None:
        if not isinstance(wanted, str):
            hint = "; put it in quotes" if isinstance(wanted, int | float) else ""
            raise Impossible(f"it must be {self.form}, not {shown(wanted)}{hint}", path)
        if self.pattern is not None and re.fullmatch(self.pattern, wanted) is None:
            raise Impossible(f"it must be {self.form}, not {shown(wanted)}", path)

    def equals(self, wanted: Any, actual: Any) -> Result:
        comparable = isinstance(wanted, str) and isinstance(actual, str)
        return wanted == actual if comparable else None


@dataclass(frozen=True)
class Word(Text):
    """One of some words. `aliases` are other spellings of them."""

    form: str = "a word"
    words: tuple[str, ...] = ()
    aliases: Callable[[str], str] = str

    def check_plain(self, wanted: Any, path: Path) -> None:
        if not isinstance(wanted, str):
            raise Impossible(f"it must be {self.form}, not {shown(wanted)}", path)
        if self.aliases(wanted) not in self.words:
            raise Impossible(unknown_word(self.form, wanted, self.words), path)

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        if not any(pattern.search(word) for word in self.words):
            raise Impossible(f"no word here matches /{pattern.pattern}/: {self.choices()}", path)

    def equals(self, wanted: Any, actual: Any) -> Result:
        comparable = isinstance(wanted, str) and isinstance(actual, str)
        return self.aliases(wanted) == actual if comparable else None

    def possible_values(self) -> Sequence[str] | None:
        return self.words

    def schema(self) -> dict[str, Any]:
        return {"enum": [*self.words, *self.other_spellings()]}

    def other_spellings(self) -> Sequence[str]:
        """Return other spellings of the words that the type accepts."""
        return ()

    def choices(self) -> str:
        """Return the words, or the first of many."""
        return ", ".join(self.words[:12]) + (", …" if len(self.words) > 12 else "")


@dataclass(frozen=True)
class Timestamp(Text):
    """A moment, however it is written."""

    form: str = "a timestamp such as 2026-01-31T09:30:00Z"

    def check_plain(self, wanted: Any, path: Path) -> None:
        if not isinstance(wanted, str) or _moment_ms(wanted) is None:
            raise Impossible(f"it must be {self.form}, not {shown(wanted)}", path)

    def equals(self, wanted: Any, actual: Any) -> Result:
        wanted_ms, actual_ms = _moment_ms(wanted), _moment_ms(actual)
        return None if wanted_ms is None or actual_ms is None else wanted_ms == actual_ms

    def rank(self, value: Any) -> float | None:
        return _moment_ms(value)


@dataclass(frozen=True)
class HeaderText(Text):
    """The value of a header. A wanted number is compared with the number that the header holds."""

    form: str = "text or a number"
    nullable: bool = True

    def is_null_when_absent(self) -> bool:
        return True

    def check_plain(self, wanted: Any, path: Path) -> None:
        if not isinstance(wanted, str) and not _is_number(wanted):
            raise Impossible(f"it must be {self.form}, not {shown(wanted)}", path)

    def equals(self, wanted: Any, actual: Any) -> Result:
        if _is_number(wanted):
            number = self.rank(actual)
            return None if number is None else number == wanted
        return wanted == actual if isinstance(actual, str) else None

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
    """Several names of one thing (its id, its alias), or several things: a claim is about any of them.

    `not` means that none of them is like that.
    """

    form: str = "a name"
    item: ValueType = Text()

    def is_text(self) -> bool:
        return True

    def check_plain(self, wanted: Any, path: Path) -> None:
        self.item.check_plain(wanted, path)

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        self.item.check_pattern(pattern, path)

    def equals(self, wanted: Any, actual: Any) -> Result:
        return any(self.item.equals(wanted, name) is True for name in actual)

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

    def check_plain(self, wanted: Any, path: Path) -> None:
        raise Impossible(f"it must be {self.form}, not {shown(wanted)}", path)

    def equals(self, wanted: Any, actual: Any) -> Result:
        return None

    def items(self) -> ValueType:
        return self.item

    def field(self, name: str) -> ValueType | None:
        if re.fullmatch("0|[1-9][0-9]{0,8}", name) is None:
            return None
        return self.item if self.most is None or int(name) < self.most else None


@dataclass(frozen=True)
class Fields(ValueType):
    """An object with declared fields."""

    form: str = "an object"
    fields: Mapping[str, ValueType] = dataclasses.field(default_factory=dict)
    json_type: ClassVar[str] = "object"

    def is_mapping(self) -> bool:
        return True

    def check_plain(self, wanted: Any, path: Path) -> None:
        raise Impossible(f"it must be {self.form}, not {shown(wanted)}", path)

    def equals(self, wanted: Any, actual: Any) -> Result:
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

    def check_plain(self, wanted: Any, path: Path) -> None:
        self._any(lambda kind: kind.check_plain(wanted, path))

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

    def equals(self, wanted: Any, actual: Any) -> Result:
        return _any_of(kind.equals(wanted, actual) for kind in self.types)

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
    if len(distinct) < 2:
        return distinct[0] if distinct else None
    nullable = any(kind.nullable for kind in distinct)
    form = " or ".join(dict.fromkeys(kind.form for kind in distinct))
    return Either(form, nullable, tuple(distinct))


def or_null(kind: ValueType) -> ValueType:
    """Return the same type with null as a value."""
    return replace(kind, nullable=True)


# --- Comparisons ---------------------------------------------------------------------------------


def _above(limit: float, actual: float) -> bool:
    return actual > limit


def _at_least(limit: float, actual: float) -> bool:
    return actual >= limit


def _below(limit: float, actual: float) -> bool:
    return actual < limit


def _at_most(limit: float, actual: float) -> bool:
    return actual <= limit


_ORDERS: dict[str, Callable[[float, float], bool]] = {
    "at_least": _at_least,
    "at_most": _at_most,
    "above": _above,
    "below": _below,
}
#: The words of a comparison, such as `{at_least: 3, below: 10}`. All words of one mapping must hold.
COMPARISONS = (*_ORDERS, "not", "one_of", "has", "optional")


def is_comparison(wanted: Any) -> bool:
    """Tell whether an expected value is a comparison by words."""
    return isinstance(wanted, Mapping) and bool(wanted) and all(w in COMPARISONS for w in wanted)


def match(kind: ValueType, wanted: Any, actual: Any) -> Result:
    """Compare an expected value with an actual one. None: they cannot be compared."""
    if is_comparison(wanted):
        results = [_compare_word(kind, word, operand, actual) for word, operand in wanted.items()]
        if None in results:
            return None
        return all(results)
    if actual is MISSING and not isinstance(wanted, list | tuple):
        return kind.is_null_when_absent() and kind.means_nothing(wanted)
    if isinstance(wanted, list | tuple) and not isinstance(actual, list):
        return None if kind.is_list() else _any_of(match(kind, one, actual) for one in wanted)
    if isinstance(wanted, list | tuple | Mapping):
        return _match_parts(kind, wanted, actual)
    if isinstance(wanted, str) and wanted == "*":
        return actual is not None
    if actual is None or kind.means_nothing(wanted):
        return actual is None and kind.means_nothing(wanted)
    if isinstance(wanted, str) and kind.is_pattern(wanted):
        return kind.search(compile_pattern(wanted), actual)
    return kind.equals(wanted, actual)


def _match_parts(kind: ValueType, wanted: Any, actual: Any) -> Result:
    """Compare a list, or a mapping of the fields that matter."""
    if isinstance(wanted, Mapping):
        parts = _parts(wanted, actual)
        if parts is None:
            return None
        pairs = [
            (kind.field(name), value, parts.get(name, MISSING)) for name, value in wanted.items()
        ]
    elif len(wanted) != len(actual):
        return False
    else:
        pairs = [(kind.items(), *pair) for pair in zip(wanted, actual, strict=True)]
    results = [match(inner or ANY, value, found) for inner, value, found in pairs]
    return None if None in results else all(results)


def _parts(wanted: Mapping[str, Any], actual: Any) -> Mapping[str, Any] | None:
    """Return the fields of an object, or the items of a list by their numbers. None: it is neither."""
    if isinstance(actual, Mapping):
        return actual
    if isinstance(actual, list) and wanted and all(str(name).isdecimal() for name in wanted):
        return {str(index): item for index, item in enumerate(actual)}
    return None


def _compare_word(kind: ValueType, word: str, operand: Any, actual: Any) -> Result:
    if word == "optional":
        return True if actual is MISSING else match(kind, operand, actual)
    if word == "one_of":
        return _any_of(match(kind, choice, actual) for choice in operand)
    if word == "not":
        result = match(kind, operand, actual)
        # What is not there is not something else.
        is_undecided = result is None or (actual is MISSING and not result)
        return None if is_undecided else not result
    if actual is MISSING:
        return None
    if word == "has":
        if not isinstance(actual, list):
            return None
        return _any_of(match(kind.items() or ANY, operand, item) for item in actual) or False
    limit, rank = kind.rank(operand), kind.rank(actual)
    return None if limit is None or rank is None else _ORDERS[word](limit, rank)


def _any_of(results: Iterable[Result]) -> Result:
    """Return whether any result is True. None: none of them could be decided."""
    known = list(results)
    if any(result is True for result in known):
        return True
    return False if False in known else None


def compare(kind: ValueType, wanted: Any, actual: Any, at: str) -> list[Mismatch]:
    """List where an actual value differs from an expected one; only what is expected matters."""
    parts = None
    if isinstance(wanted, Mapping) and wanted and not is_comparison(wanted):
        parts = _parts(wanted, actual)
    if parts is not None:
        differences = []
        for name, value in wanted.items():
            inner = kind.field(name) or ANY
            where = f"{at}.{name}" if at else str(name)
            differences += compare(inner, value, parts.get(str(name), MISSING), where)
        return differences
    if _are_lists_of_one_length(wanted, actual):
        pairs = enumerate(zip(wanted, actual, strict=True))
        item = kind.items() or ANY
        return [one for n, pair in pairs for one in compare(item, *pair, f"{at}[{n}]")]
    if match(kind, wanted, actual) is True:
        return []
    return [Mismatch(at, wanted, ABSENT if actual is MISSING else actual)]


def _are_lists_of_one_length(wanted: Any, actual: Any) -> bool:
    return isinstance(wanted, list) and isinstance(actual, list) and len(wanted) == len(actual)


# --- What can never match ------------------------------------------------------------------------


def has_variable(wanted: Any) -> bool:
    """Tell whether a value contains a variable such as `${operation}`."""
    if isinstance(wanted, Mapping):
        return any(map(has_variable, wanted.values()))
    if isinstance(wanted, list | tuple):
        return any(map(has_variable, wanted))
    return isinstance(wanted, str) and _VARIABLE in wanted


def check(kind: ValueType, wanted: Any, path: Path = (), *, variables: bool = False) -> None:
    """Raise Impossible if no value of a type can ever match.

    With `variables`, a text may contain variables whose values are unknown, and so it may match.
    """
    if variables and isinstance(wanted, str) and _VARIABLE in wanted:
        return
    if isinstance(wanted, Mapping):
        _check_mapping(kind, wanted, path, variables=variables)
    elif isinstance(wanted, list | tuple):
        _check_list(kind, wanted, path, variables=variables)
    elif wanted is None:
        if not kind.nullable:
            raise Impossible(f"it must be {kind.form}: it is never null", path)
    elif isinstance(wanted, str) and wanted == "*":
        return
    elif isinstance(wanted, str) and kind.is_pattern(wanted):
        kind.check_pattern(compile_pattern(wanted, path), path)
    else:
        kind.check_plain(wanted, path)


def compile_pattern(text: str, path: Path = ()) -> Expression:
    """Compile the regular expression of a `/pattern/`. Raises Impossible."""
    try:
        return patterns.compile_pattern(text[1:-1])
    except PatternError as error:
        raise Impossible(str(error), path) from None


def _check_list(kind: ValueType, wanted: Sequence[Any], path: Path, *, variables: bool) -> None:
    items = kind.items()
    if items is None and not wanted:
        raise Impossible("an empty list has no value that could match", path)
    most = getattr(kind, "most", None)
    if most is not None and len(wanted) > most:
        raise Impossible(f"the list never has more than {most} items", path)
    for index, item in enumerate(wanted):
        check(kind if items is None else items, item, (*path, index), variables=variables)


def _check_mapping(
    kind: ValueType, wanted: Mapping[str, Any], path: Path, *, variables: bool
) -> None:
    words = [name for name in wanted if name in COMPARISONS]
    declared = bool(kind.field_names()) and all(kind.field(str(name)) for name in wanted)
    if words and not declared:
        for name in wanted:
            if name not in COMPARISONS:
                hint = nearest(str(name), COMPARISONS) or f"; those are {', '.join(COMPARISONS)}"
                message = f"{name!r} is next to {words[0]} but is not a comparison{hint}"
                raise Impossible(message, (*path, name), key=True)
        for word, operand in wanted.items():
            _check_word(kind, word, operand, (*path, word), variables=variables)
        _check_range(kind, wanted, path)
        if not (variables and has_variable(wanted)):
            _check_together(kind, wanted, path)
        return
    if not kind.is_mapping():
        for name in wanted:
            hint = nearest(str(name), COMPARISONS) or f"; those are {', '.join(COMPARISONS)}"
            raise Impossible(f"there is no comparison {str(name)!r}{hint}", (*path, name), key=True)
        raise Impossible(f"it must be {kind.form}, not a mapping", path)
    if not wanted and isinstance(kind, Array):
        raise Impossible(f"it must be {kind.form}, not a mapping", path)
    for name, value in wanted.items():
        inner = kind.field(str(name))
        if inner is None:
            known = (*kind.field_names(), *COMPARISONS)
            hint = nearest(str(name), known) or f"; there are {', '.join(kind.field_names())}"
            message = f"there is no field {str(name)!r} here{hint}"
            raise Impossible(message, (*path, name), key=True)
        check(inner, value, (*path, name), variables=variables)


def _check_word(kind: ValueType, word: str, operand: Any, path: Path, *, variables: bool) -> None:
    if variables and isinstance(operand, str) and _VARIABLE in operand:
        return
    if word in _ORDERS:
        if isinstance(operand, bool) or kind.rank(operand) is None:
            raise Impossible(f"{word} needs a number or a timestamp, not {shown(operand)}", path)
        if isinstance(kind, Either):
            kind = next(one for one in kind.types if one.rank(operand) is not None)
        least, most = kind.limits()
        is_met = _ORDERS[word](
            kind.rank(operand) or 0, most if word in ("at_least", "above") else least
        )
        if not is_met:
            raise Impossible(f"it must be {kind.form}: it is never {word} {operand}", path)
    elif word == "one_of":
        if not isinstance(operand, list | tuple) or not operand:
            raise Impossible("one_of needs a list of the values that it may be", path)
        for index, choice in enumerate(operand):
            check(kind, choice, (*path, index), variables=variables)
    elif word == "has":
        items = kind.items()
        if items is None:
            raise Impossible(f"has looks for an item of a list; this is {kind.form}", path)
        check(items, operand, path, variables=variables)
    else:
        if word == "not" and operand == "*" and not kind.nullable:
            raise Impossible(f"it must be {kind.form}: it is never null", path)
        check(kind, operand, path, variables=variables)
        if word == "not" and operand == {} and not kind.nullable:
            raise Impossible("an empty mapping matches every object", path)


def _check_together(kind: ValueType, wanted: Mapping[str, Any], path: Path) -> None:
    """Refuse comparisons of which each can hold, but not all of them for one value."""
    values = kind.possible_values()
    if values is None:
        return
    possible = [*values, MISSING]
    if kind.nullable:
        possible.append(None)
    if not any(match(kind, wanted, value) is True for value in possible):
        raise Impossible(f"it must be {kind.form}, and none is like that", path)


def _check_range(kind: ValueType, wanted: Mapping[str, Any], path: Path) -> None:
    """Refuse two limits between which no value lies."""
    lows = [kind.rank(wanted[word]) for word in ("at_least", "above") if word in wanted]
    highs = [kind.rank(wanted[word]) for word in ("at_most", "below") if word in wanted]
    if None in lows or None in highs or not lows or not highs:
        return
    low = max(rank for rank in lows if rank is not None)
    high = min(rank for rank in highs if rank is not None)
    is_low_open = "above" in wanted and kind.rank(wanted["above"]) == low
    is_high_open = "below" in wanted and kind.rank(wanted["below"]) == high
    nothing_between = low > high or (low == high and (is_low_open or is_high_open))
    if getattr(kind, "whole", False) and is_low_open and is_high_open:
        nothing_between = nothing_between or high - low <= 1
    if nothing_between:
        raise Impossible("no value lies between these limits", path)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _moment_ms(value: Any) -> int | None:
    if not isinstance(value, str):
        return None
    try:
        return parse_timestamp(value)
    except ValueError:
        return None


def shown(value: Any) -> str:
    """Write a refused value into a message."""
    if isinstance(value, Mapping):
        return "a mapping"
    if isinstance(value, list | tuple | set | frozenset):
        return "a list"
    if value is None or isinstance(value, bool):
        return "null" if value is None else str(value).lower()
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def unknown_word(form: str, word: str, words: Sequence[str]) -> str:
    """Say that a word does not exist: the nearest word, or all of them."""
    listed = ", ".join(words) or "none"
    hint = nearest(word, words) or f"; there are {listed}"
    noun = form.removeprefix("a ").removeprefix("an ")
    return f"there is no {noun} {word[:80]!r}{hint}"
