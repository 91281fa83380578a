"""Declarations of the contract's resources: frozen msgspec structs with metadata on their fields.

A field's type is `| None` if the value may be null, and `| UnsetType` with the default `UNSET` if
it may be absent. `forbid_unknown_fields` means that the contract allows no further fields. Bounds
stated by the contract are `Meta` of the type. `FieldSpec` declares everything else. `fields.py`
reads the declarations. The metadata are structs too, because every start imports this file and
defining a struct takes a thirtieth of the time of a dataclass.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Meta, Struct

S = TypeVar("S", bound=type[Struct])

#: The contract's rules about the presence of a resource's fields. With `stated`, it states which
#: fields are required. With `open`, it is silent. With `assumed`, it is also silent, but no
#: variation omits a field.
Presence = Literal["stated", "open", "assumed"]


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence or table row of the contract about several fields."""

    key: str
    text: str


class Component(Struct, frozen=True, kw_only=True):
    """Gives a type a separate schema in the OpenAPI document. Fields refer to it by `name`."""

    name: str
    description: str = ""


class Format(Struct, frozen=True):
    """The name of a string format, such as `ulid`.

    Readers such as the contract check have rules for each format.
    """

    name: str


class FieldSpec(Struct, frozen=True, kw_only=True):
    """The properties of a field that its type does not express.

    `sentence` is the contract's row about the field, by default the sentence of the resource.
    `required` means that the contract requires the field. `description` is our text for the OpenAPI
    document. For an open set of which the contract names only one word, `contract_word` is set
    instead. `essential` means that a client cannot continue without the field, so no variation
    omits it. `assumption` names the assumption that sets the value, or the words of an open set.
    `our_bounds` are bounds that the contract does not state. `may_differ` names the values that may
    differ in a single response: another `word` of an open set, or any `value` of the type. It is
    empty if other responses show the same value, because one changed response would contradict
    them. A word in `meaningful_words` has a meaning in the contract, so no other word can replace
    it. Neither such a word nor `contract_word` can replace another word. For the contract check,
    `related_keys` are keys of further sentences that an incorrect value breaks, and `bound_key` is
    the key of the sentence with the bounds.
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
    """The properties of a resource that its struct does not express.

    `key` is the prefix of the keys of the contract's sentences about the fields. `sentence` covers
    all fields without a separate sentence. `is_request` is true for a request body.
    """

    key: str = ""
    sentence: str = ""
    is_request: bool = False
    presence: Presence = "stated"

    #: The declared structs with their specifications, in the order of declaration.
    declared: ClassVar[dict[type[Struct], ResourceSpec]] = {}


def resource(
    *,
    key: str = "",
    sentence: str = "",
    is_request: bool = False,
    presence: Presence = "stated",
) -> Callable[[S], S]:
    """Declare a struct as a resource.

    The docstring is the description in the OpenAPI document. The struct has the name of the
    resource, with the suffix `Resource` if a stored record has the same name.
    """
    spec = ResourceSpec(key=key, sentence=sentence, is_request=is_request, presence=presence)

    def declare(struct: S) -> S:
        ResourceSpec.declared[struct] = spec
        return struct

    return declare
