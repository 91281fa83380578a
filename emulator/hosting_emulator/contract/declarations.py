"""Declarations of the contract's resources: frozen msgspec structs with metadata on their fields.

A field's type includes `None` if the value can be null, and `UnsetType`, with the default `UNSET`,
if the field can be absent. `forbid_unknown_fields` means that the contract does not allow any other
fields. Bounds that the contract states are declared as `Meta` in the type. A field's other
properties are declared in its `FieldSpec`. `fields.py` reads these declarations. The metadata
classes are structs rather than dataclasses, because this file is imported at every start, and
defining a struct takes a thirtieth of the time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Meta, Struct

S = TypeVar("S", bound=type[Struct])

#: What the contract says about which of a resource's fields are required. `stated` means that the
#: contract specifies it. `open` means that the contract does not. `assumed` means that the contract
#: does not either, but that no variation omits a field.
Presence = Literal["stated", "open", "assumed"]


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence or table row in the contract that describes several fields."""

    key: str
    text: str


class Component(Struct, frozen=True, kw_only=True):
    """Gives a type a separate schema in the OpenAPI document. Fields refer to that schema by `name`."""

    name: str
    description: str = ""


class Format(Struct, frozen=True):
    """The name of a string format, such as `ulid`.

    `value_checks.py` contains a rule for each format.
    """

    name: str


class FieldSpec(Struct, frozen=True, kw_only=True):
    """The properties of a field that its type does not express.

    `sentence` quotes the sentence or table row in the contract that describes the field. If it is
    empty, the resource's sentence covers the field. `required` is true if the contract requires the
    field. `description` is our own text for the OpenAPI document. If the contract names only one
    word of an open set, `contract_word` is that word, and the description is generated from it.
    `essential` is true if a client needs the field, so that the `absent-fields` variation point
    must not omit it. `assumption` names the assumption that sets the field's value or lists the
    words of an open set. `our_bounds` are bounds that the contract does not state.

    `may_differ` says how the value can differ in a single response: `word` allows another word from
    an open set, and `value` allows any other value of the type. `may_differ` is empty if other
    responses show the same value, which a single changed response would contradict. The words in
    `meaningful_words` have a meaning in the contract, so a change must not replace or introduce
    them. A change must not introduce `contract_word` either.

    `related_keys` and `bound_key` are used by the contract check. `related_keys` are the keys of
    other sentences that an incorrect value violates. `bound_key` is the key of the sentence that
    states the bounds.
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

    `key` is the prefix for the keys of sentences about its fields. `sentence` is the contract's
    sentence about all fields that have no sentence of their own. `is_request` is true if the
    resource is a request body.
    """

    key: str = ""
    sentence: str = ""
    is_request: bool = False
    presence: Presence = "stated"

    #: The declared structs and their specifications, in the order of declaration.
    declared: ClassVar[dict[type[Struct], ResourceSpec]] = {}


def resource(
    *,
    key: str = "",
    sentence: str = "",
    is_request: bool = False,
    presence: Presence = "stated",
) -> Callable[[S], S]:
    """Declare a struct as a resource.

    The struct's docstring is used as the description in the OpenAPI document. The struct must be
    named after the resource, with the suffix `Resource` if a stored record already has that name.
    """
    spec = ResourceSpec(key=key, sentence=sentence, is_request=is_request, presence=presence)

    def declare(struct: S) -> S:
        ResourceSpec.declared[struct] = spec
        return struct

    return declare
