"""Converts documents written by users to typed values, and explains mistakes in plain English."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar, get_args, get_type_hints

import msgspec

from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.json_schema import END_OF_TEXT
from hosting_emulator.contract.suggestions import nearest

S = TypeVar("S", bound=msgspec.Struct)

_MISSING_FIELD = re.compile("the field '[a-z_]+' is missing")
#: For the beginnings of some reasons, the verb that follows the subject of a sentence.
_VERBS = {"it must ": "must ", "there is no field ": "has no field "}


class DocumentRefused(ValueError):
    """A user's document was refused.

    `field` is the path to the invalid field, or an empty string if the mistake is not in a
    particular field.
    """

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def read_fields(document: Mapping[str, Any], kind: type[S]) -> S:
    """Convert a document to `kind`. Raises DocumentRefused if this is not possible."""
    try:
        return convert(dict(document), kind)
    except msgspec.ValidationError as error:
        raise _refused(error, document, kind) from None


def sentence_about(subject: str, reason: str) -> str:
    """Return the reason of a refusal as a sentence about its subject.

    For example, the subject `times` and the reason `it must be a whole number` result in `times
    must be a whole number`.
    """
    for beginning, verb in _VERBS.items():
        if reason.startswith(beginning):
            return f"{subject} {verb}{reason.removeprefix(beginning)}"
    if _MISSING_FIELD.fullmatch(reason):
        return f"{reason} in {subject}"
    return f"{subject}: {reason}"


def _refused(error: Exception, document: Mapping[str, Any], kind: type[Any]) -> DocumentRefused:
    """Return a DocumentRefused that explains an error raised by msgspec."""
    message = str(error)
    path = re.findall(r"\.?([a-z_]+|\d+)", message.partition(" - at `$")[2])
    if path:
        names = [name for name in path if not name.isdecimal()]
        reason = plain_reason(message, part_at(kind, names), names[-1])
        if message.endswith("[...]`"):  # the error is about a value in a mapping
            reason = re.sub("^it must ", "each value must ", reason)
        return DocumentRefused(reason, ".".join(path))
    # The error was raised by the type's own check, so look for the field with the value that the
    # message quotes.
    for name, value in document.items():
        if isinstance(value, str) and repr(value) in message:
            return DocumentRefused(plain_reason(message, kind, name), name)
    return DocumentRefused(plain_reason(message, kind, ""), "")


def read_options(
    word: str,
    options: Any,
    kind: type[S],
    noun: str,
    separator: str,
    *,
    example: str,
    name_hint: Callable[[str, Sequence[str]], str] = nearest,
) -> S:
    """Convert the options of `word`, such as the name of a kind of fault, to the type `kind`.

    `options` is None if there are no options. Raises DocumentRefused, with the invalid option, if
    any, as its `field`. In messages, an option is called a `noun`, and `separator` is written
    between `word` and an option. `example` shows valid options in JSON. `name_hint` returns the end
    of the message about an unknown name. It receives the unknown name and the valid names.
    """
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise DocumentRefused(f"{word} takes an object of {noun}s, such as {example}")
    names = kind.__struct_encode_fields__
    for name in options:
        if name not in names:
            takes = ", ".join(sorted(names)) or "nothing"
            message = (
                f"{word} has no {noun} {name!r} (it takes {takes}){name_hint(str(name), names)}"
            )
            raise DocumentRefused(message, str(name))
    try:
        return read_fields(options, kind)
    except DocumentRefused as refused:
        where = f"{word}{separator}{refused.field}" if refused.field else word
        message = sentence_about(where, str(refused))
        if not refused.field and _MISSING_FIELD.fullmatch(str(refused)):
            message += f", as in {example}"
        raise DocumentRefused(message, refused.field) from None


def part_at(kind: type[Any], path: Iterable[str | int]) -> type[Any]:
    """Return the struct at a path of field names, starting from `kind`.

    If the path leads to a value that is not a struct, return the last struct along the path.
    """
    for name in path:
        for leaf in _leaves(get_type_hints(kind).get(str(name))):
            if hasattr(leaf, "__struct_fields__"):
                kind = leaf
                break
    return kind


def words_of(kind: type[Any], field: str) -> list[str]:
    """Return the allowed words of a field, or an empty list if any word is allowed."""
    leaves = _leaves(get_type_hints(kind).get(field))
    return list(dict.fromkeys(str(leaf) for leaf in leaves if isinstance(leaf, str | int)))


def type_name(kind: type[Any], field: str) -> str | None:
    """Return the phrase with which messages describe the values of a field, such as `a duration`.

    Return None if the field's type has no such name.
    """
    types = {part.encode_name: part.type for part in msgspec.structs.fields(kind)}
    return _name_in(types.get(field))


def _name_in(hint: Any) -> str | None:
    for meta in getattr(hint, "__metadata__", ()):
        extra = getattr(meta, "extra", None)
        if extra is not None and "name" in extra:
            return str(extra["name"])
    names = (_name_in(part) for part in get_args(hint))
    return next(filter(None, names), None)


def _leaves(hint: Any) -> list[Any]:
    """Return all the types and literal words in a type hint."""
    parts = get_args(hint)
    if not parts:
        return [hint]
    return [leaf for part in parts for leaf in _leaves(part)]


def plain_reason(reason: str, kind: type[Any], field: str) -> str:
    """Return msgspec's reason in plain English.

    If a word is not allowed, the reason suggests the nearest allowed word, or lists all allowed
    words.
    """
    reason = re.sub(r" - at `\$.*`$", "", reason)
    name = type_name(kind, field)
    if name is not None and "matching regex" in reason:
        return f"it must be {name}"
    reason = reason.replace("Expected `str` matching regex", "it must match")
    reason = reason.replace(_ESCAPED_END_OF_TEXT, "")
    unknown_field = re.search("unknown field `(.*)`", reason)
    if unknown_field:
        name = unknown_field.group(1)
        names = kind.__struct_encode_fields__
        hint = nearest(name, names) or f"; the fields are {', '.join(names) or 'none'}"
        return f"there is no field {name[:80]!r}{hint}"
    missing_field = re.search("missing required field `(.*)`", reason)
    if missing_field:
        return f"the field {missing_field.group(1)!r} is missing"
    words = words_of(kind, field)
    invalid_word = re.search("Invalid enum value (.*)", reason)
    if invalid_word:
        word = invalid_word.group(1)
        hint = nearest(word.strip("'"), words) or f"; the allowed values are {', '.join(words)}"
        return f"{word} is not allowed{hint}"
    wrong_type = re.fullmatch(r"Expected `([^`]*)`(?:, got `[^`]*`)?(.*)", reason)
    if wrong_type:
        expected = name or plain_types(wrong_type.group(1))
        if words:
            expected = f"one of {', '.join(words)}"
        return f"it must be {expected}{wrong_type.group(2)}"
    return reason


#: The end of a pattern, escaped as in msgspec's messages.
_ESCAPED_END_OF_TEXT = repr(END_OF_TEXT)[1:-1]
#: For each of msgspec's type names, words that make sense to users who write YAML.
_PLAIN_TYPES = {
    "str": "a string",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
}


def plain_types(types: str) -> str:
    """Return msgspec's name for a type in plain English, without null.

    For example, `int | null` becomes `a whole number`.
    """
    names = [name for name in types.split(" | ") if name != "null"]
    return " or ".join(_PLAIN_TYPES.get(name, name) for name in names)
