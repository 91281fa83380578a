"""Words: naming what was probably meant; and tables of prose, in Markdown beside the code."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, get_args, get_type_hints

from hosting_emulator import DEFAULT_PORT, DEFAULT_WORLD

if TYPE_CHECKING:
    import msgspec

S = TypeVar("S", bound="msgspec.Struct")


def nearest(word: str, known: Iterable[str]) -> str:
    """Return `; did you mean …?` when a known word is near `word`, else nothing."""
    from difflib import get_close_matches  # only a mistake needs it

    # No word of ours is half as long, and to compare a whole MiB takes a third of a second.
    found = get_close_matches(word[:200], list(known), n=1, cutoff=0.55)
    return f"; did you mean {found[0]}?" if found else ""


def unknown(what: str, word: str, known: Iterable[str]) -> str:
    """Say that there is no such thing of this name: the nearest there is, or all of them."""
    known = list(known)
    hint = nearest(word, known) or f"; there are {', '.join(known) or 'none'}"
    return f"there is no {what} {word[:80]!r}{hint}"


def each_text(found: Any, act: Callable[[str], Any]) -> Any:
    """Return a JSON value with what is made of each text in it."""
    if isinstance(found, dict):
        return {name: each_text(value, act) for name, value in found.items()}
    if isinstance(found, list):
        return [each_text(item, act) for item in found]
    return act(found) if isinstance(found, str) else found


def command_line(words: str, base_url: str, world: str) -> str:
    """Return a line of our command that works as it is typed, for a server and a world."""
    where = "" if world == DEFAULT_WORLD else f" --world {world}"
    if base_url not in (f"http://{host}:{DEFAULT_PORT}" for host in ("127.0.0.1", "localhost")):
        where += f" --url {shlex.quote(base_url)}"
    return f"hosting-emulator {words}{where}"


#: What Python's `$` needs behind it to be the end alone, as it is in JSON Schema, and not a line's end.
_THE_END = r"(?!\n)"


def whole(pattern: str) -> msgspec.Meta:
    """Return the constraint that a text matches a pattern, which ends with `$`, to its very end."""
    import msgspec  # here: the tables that are read from here too need nothing of it

    return msgspec.Meta(pattern=pattern + _THE_END)


def schema_components(
    kinds: Iterable[Any], **options: Any
) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return what msgspec's function of this name does, with patterns as JSON Schema has them."""
    import msgspec

    text = msgspec.json.encode(msgspec.json.schema_components(kinds, **options))
    found, parts = msgspec.json.decode(text.replace(msgspec.json.encode(_THE_END)[1:-1], b""))
    return found, parts


class DocumentRefused(ValueError):
    """A fault or an intervention that cannot be: why and, if that can be told, in which `field`."""

    def __init__(self, message: str, field: str = "") -> None:
        super().__init__(message)
        self.field = field


def read_fields(document: Mapping[str, Any], kind: type[S]) -> S:
    """Return what people wrote as a `kind`. Raises DocumentRefused, whose field is one of `kind`."""
    import msgspec

    from hosting_emulator.contract.conversion import convert

    try:
        return convert(dict(document), kind)
    except msgspec.ValidationError as error:
        message = str(error)
        if path := re.findall(r"\.?([a-z_]+|\d+)", message.partition(" - at `$")[2]):
            names = [name for name in path if not name.isdecimal()]
            reason = plainly(message, part_at(kind, names), names[-1])
            raise DocumentRefused(reason, ".".join(path)) from None
        # A check of the kind's own: it names the text that it refuses.
        texts = [name for name, value in document.items() if isinstance(value, str)]
        field = next((name for name in texts if repr(document[name]) in message), "")
        raise DocumentRefused(plainly(message, kind, field), field) from None


def read_options(word: str, options: Any, kind: type[S], noun: str, joint: str) -> S:
    """Return what people wrote behind a word as a `kind`; None is nothing. Raises DocumentRefused.

    Its field is one of `kind`, or empty; `noun` is what those are called, `joint` stands before one.
    """
    options = {} if options is None else options
    if not isinstance(options, Mapping):
        raise DocumentRefused(f"{word} takes an object of {noun}s, such as {{}}")
    known = kind.__struct_encode_fields__
    for name in options:
        if name not in known:
            takes = ", ".join(sorted(known)) or "nothing"
            message = f"{word} has no {noun} {name!r} (it takes {takes}){nearest(str(name), known)}"
            raise DocumentRefused(message, str(name))
    try:
        return read_fields(options, kind)
    except DocumentRefused as refused:
        where = f"{word}{joint}{refused.field}" if refused.field else word
        raise DocumentRefused(f"{where}: {refused}", refused.field) from None


def part_at(kind: type[Any], path: Iterable[str | int]) -> type[Any]:
    """Return the type that a path of fields leads to, or into, from another."""
    for name in path:
        leaves = _leaves(get_type_hints(kind).get(str(name)))
        kind = next((one for one in leaves if hasattr(one, "__struct_fields__")), kind)
    return kind


def words_of(kind: type[Any], field: str) -> list[str]:
    """Return the words that a field of a type may take, if it takes only some."""
    leaves = _leaves(get_type_hints(kind).get(field))
    return list(dict.fromkeys(str(leaf) for leaf in leaves if isinstance(leaf, str | int)))


def _leaves(hint: Any) -> list[Any]:
    """Return the types and words that a type hint is made of."""
    parts = get_args(hint)
    return [leaf for part in parts for leaf in _leaves(part)] if parts else [hint]


def plainly(reason: str, kind: type[Any], field: str) -> str:
    """Return msgspec's reason in the words of people, with the nearest word or all there are."""
    reason = re.sub(r" - at `\$.*`$", "", reason)
    reason = reason.replace("Expected `str` matching regex", "it must match")
    reason = reason.replace(repr(_THE_END)[1:-1], "")
    if other := re.search("unknown field `(.*)`", reason):
        return unknown("field", other.group(1), kind.__struct_encode_fields__)
    if missing := re.search("missing required field `(.*)`", reason):
        return f"the field {missing.group(1)!r} is missing"
    words = words_of(kind, field)
    if wrong := re.search("Invalid enum value (.*)", reason):
        found = wrong.group(1)
        hint = nearest(found.strip("'"), words) or f"; it is one of {', '.join(words)}"
        return f"it cannot be {found}{hint}"
    if other := re.fullmatch(r"Expected `([^`]*)`(?:, got `[^`]*`)?(.*)", reason):
        right = f"one of {', '.join(words)}" if words else kinds_in_words(other.group(1))
        return f"it must be {right}{other.group(2)}"
    return reason


#: What msgspec calls the kinds of values, in the words of people who write YAML.
_KINDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "true or false",
    "object": "a mapping",
    "array": "a list",
}


def kinds_in_words(found: str) -> str:
    """Return the kinds that msgspec names, `int | null`, in the words of people."""
    kinds = [kind for kind in found.split(" | ") if kind != "null"]
    return " or ".join(_KINDS.get(kind, kind) for kind in kinds)


def read_sections(path: Path) -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """Yield the heading of each section of a file, and its items `- name: text`, on more lines or not."""
    text = path.read_text(encoding="utf-8").replace("\n  ", " ")
    for section in text.split("\n## ")[1:]:
        heading, _, rest = section.partition("\n")
        yield heading, re.findall(r"^- ([^:\n]+):? ?(.*)", rest, re.MULTILINE)
