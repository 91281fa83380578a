"""How a resource of the contract is declared: a frozen msgspec struct with metadata on its fields.

A type says what a value is: `| None` if it may be null, `| UnsetType` with the default `UNSET` if it
may be absent, and `forbid_unknown_fields` if the contract allows no further fields. Bounds that the
contract states are `Meta` of the type. `FieldSpec` says the rest. `fields.py` reads the declarations.

The metadata are structs too: making a class of them takes a thirtieth of the time of a dataclass, and
every start imports this file.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Meta, Struct

S = TypeVar("S", bound=type[Struct])

#: What the contract says of the presence of a resource's fields: `stated`, which of them are required;
#: `open`, nothing; `assumed`, nothing either, but no variation leaves one out.
Presence = Literal["stated", "open", "assumed"]


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence of the contract, or a row of one of its tables, that is about several fields."""

    key: str
    text: str


class Component(Struct, frozen=True, kw_only=True):
    """Gives a type its own schema in the OpenAPI document, to which fields refer by `name`."""

    name: str
    description: str = ""


class Format(Struct, frozen=True):
    """Names the form of a text, such as `ulid`. Readers, such as the contract check, have rules for each."""

    name: str


class FieldSpec(Struct, frozen=True, kw_only=True):
    """What the type of a field does not say.

    `sentence` is the contract's row about the field; the sentence of the resource if it is left out.
    `required`: the contract says that the field is required. `description` is ours, for the OpenAPI
    document; `contract_word` takes its place for an open set of which the contract names one word.
    `essential`: a client cannot continue without the field, so no variation leaves it out.
    `assumption` names what decides the value, or the words of an open set. `our_bounds` are bounds
    that the contract does not state. `may_differ` says which other values the contract leaves open for
    one response, beside all others: another `word` of an open set, or any `value` of the type; neither for
    a fact, which other responses show too. A word in `meaningful_words` has a meaning in the
    contract, so no other word takes its place; nor does it, or `contract_word`, take that of another.
    For the contract check, `related_keys` are keys of further sentences that a wrong value breaks, and
    `bound_key` that of the sentence that bounds the value.
    """

    sentence: str | Sentence = ""
    required: bool = False
    description: str = ""
    contract_word: str = ""
    essential: bool = False
    assumption: str = ""
    examples: tuple[Any, ...] = ()
    our_bounds: Meta | None = None
    may_differ: Literal["", "word", "value"] = ""
    meaningful_words: tuple[str, ...] = ()
    related_keys: tuple[str, ...] = ()
    bound_key: str = ""


class ResourceSpec(Struct, frozen=True, kw_only=True):
    """What the struct of a resource does not say.

    `key` begins the keys of the contract's sentences about its fields. `sentence` is about all fields
    that have none of their own. `is_request`: a call is sent it.
    """

    key: str = ""
    sentence: str = ""
    is_request: bool = False
    presence: Presence = "stated"

    #: The declared structs with what was said of them, in the order of their declaration.
    declared: ClassVar[dict[type[Struct], ResourceSpec]] = {}


def resource(
    *,
    key: str = "",
    sentence: str = "",
    is_request: bool = False,
    presence: Presence = "stated",
) -> Callable[[S], S]:
    """Declare a struct as a resource.

    Its docstring is its description in the OpenAPI document. Its name is that of the resource, with
    `Resource` behind it where a stored record has the same name.
    """
    spec = ResourceSpec(key=key, sentence=sentence, is_request=is_request, presence=presence)

    def declare(struct: S) -> S:
        ResourceSpec.declared[struct] = spec
        return struct

    return declare
