"""The types of compound values: lists, objects, sets of names, and alternatives."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

from hosting_emulator.criteria.patterns import Expression
from hosting_emulator.criteria.simple_types import Text
from hosting_emulator.criteria.type_messages import display_value
from hosting_emulator.criteria.value_types import (
    ANY,
    Impossible,
    Path,
    Rank,
    Result,
    ValueType,
    any_result,
)

_ANY_TEXT = Text()


@dataclass(frozen=True)
class NameSet(ValueType):
    """A set of names, such as the id and the alias of a project.

    An expected value matches the set if it matches any of the names. A comparison with `not`
    matches only if none of the names matches its operand.
    """

    form: str = "a name"
    item: ValueType = _ANY_TEXT

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
    """A list of at most `most` items of the same type."""

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
    """A value of one of several types, such as a body that is a resource or a problem.

    None of the types is itself an Either.
    """

    types: tuple[ValueType, ...] = ()

    def is_text(self) -> bool:
        return any(kind.is_text() for kind in self.types)

    def is_list(self) -> bool:
        return any(kind.is_list() for kind in self.types)

    def is_mapping(self) -> bool:
        return any(kind.is_mapping() for kind in self.types)

    def check_plain(self, expected: Any, path: Path) -> None:
        self._any(lambda kind: kind.check_plain(expected, path), is_text=isinstance(expected, str))

    def check_pattern(self, pattern: Expression, path: Path) -> None:
        self._any(lambda kind: kind.check_pattern(pattern, path), is_text=True)

    def _any(self, check_one: Callable[[ValueType], None], *, is_text: bool) -> None:
        """Check a value with each type. If all types refuse it, raise the error of a type that has
        strings if `is_text` is true, and otherwise the error of a type that has none.
        """
        errors: list[tuple[bool, Impossible]] = []
        for kind in self.types:
            try:
                return check_one(kind)
            except Impossible as error:
                errors.append((kind.is_text() != is_text, error))
        _, first_error = min(errors, key=lambda pair: pair[0])
        raise first_error

    def equals(self, expected: Any, actual: Any) -> Result:
        return any_result(kind.equals(expected, actual) for kind in self.types)

    def orders(self) -> Sequence[str]:
        return tuple(dict.fromkeys(order for kind in self.types for order in kind.orders()))

    def rank(self, value: Any) -> Rank | None:
        ranks = (kind.rank(value) for kind in self.types)
        return next((rank for rank in ranks if rank is not None), None)

    def items(self) -> ValueType | None:
        return either(kind.items() for kind in self.types)

    def field(self, name: str) -> ValueType | None:
        return either(kind.field(name) for kind in self.types)

    def field_names(self) -> Sequence[str]:
        return tuple(dict.fromkeys(name for kind in self.types for name in kind.field_names()))


def either(types: Iterable[ValueType | None]) -> ValueType | None:
    """Return the type of a value that has any of the types, or None if all the types are None."""
    kinds = [kind for kind in types if kind is not None]
    distinct: list[ValueType] = []
    for kind in kinds:
        for member in kind.types if isinstance(kind, Either) else (kind,):
            if member not in distinct:
                distinct.append(member)
    if not distinct:
        return None
    if len(distinct) == 1:
        return distinct[0]
    nullable = any(kind.nullable for kind in kinds)
    form = " or ".join(dict.fromkeys(kind.form for kind in distinct))
    return Either(form, nullable, tuple(distinct))


def or_null(kind: ValueType) -> ValueType:
    """Return a copy of the type that also allows null."""
    return replace(kind, nullable=True)
