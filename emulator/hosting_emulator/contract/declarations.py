"""Declarations of the contract's resources: frozen msgspec structs with metadata on their fields.

A field's type includes `None` if the value may be null. The type also includes `UnsetType`, with
the default `UNSET`, if the field may be absent. `forbid_unknown_fields` means that the contract
allows no further fields. Bounds that the contract states are declared as `Meta` in the type.
`FieldSpec` declares a field's other properties. `fields.py` reads the declarations. The metadata
classes are structs, not dataclasses, because every start imports this file. Defining a struct takes
a thirtieth of the time that defining a dataclass takes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal, TypeVar

from msgspec import Meta, Struct

S = TypeVar("S", bound=type[Struct])

#: What the contract says about the presence of a resource's fields. `stated` means that the
#: contract states which fields are required. `open` means that the contract is silent. `assumed`
#: also means that the contract is silent, but no variation omits a field.
Presence = Literal["stated", "open", "assumed"]


class Sentence(Struct, frozen=True, kw_only=True):
    """A sentence or table row in the contract that is about several fields."""

    key: str
    text: str


class Component(Struct, frozen=True, kw_only=True):
    """Gives a type its own schema in the OpenAPI document. Fields refer to the schema by `name`."""

    name: str
    description: str = ""


class Format(Struct, frozen=True):
    """The name of a string format, such as `ulid`.

    `value_checks.py` has a rule for each format.
    """

    name: str


class FieldSpec(Struct, frozen=True, kw_only=True):
    """The properties of a field that its type does not express.

    `sentence` quotes the sentence or table row in the contract that describes the field. If
    `sentence` is empty, the resource's sentence covers the field. `required` means that the
    contract requires the field. `description` is our text for the OpenAPI document. If the contract
    names only one word of an open set, `contract_word` is this word, and the description is built
    from it. `essential` means that a client needs the field, so the `absent-fields` variation point
    does not omit it. `assumption` names the assumption that sets the field's value or lists the
    words of an open set. `our_bounds` are bounds that the contract does not state.

    `may_differ` says how the value in a single response may differ: `word` allows another word of
    an open set, and `value` allows any other value of the type. `may_differ` is empty if other
    responses show the same value, because a single changed response would contradict the others.
    The contract gives each word in `meaningful_words` a meaning, so a change can neither replace
    nor introduce such a word. A change cannot introduce `contract_word` either.

    The contract check uses `related_keys` and `bound_key`. `related_keys` are the keys of further
    sentences that an incorrect value breaks. `bound_key` is the key of the sentence that states the
    bounds.
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

    `key` is the prefix for the keys of sentences about fields. `sentence` is the contract's
    sentence for all fields that have no sentence of their own. `is_request` is true for a request
    body.
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

    The struct's docstring becomes the description in the OpenAPI document. The struct must have the
    resource's name, with the suffix `Resource` if a stored record already has that name.
    """
    spec = ResourceSpec(key=key, sentence=sentence, is_request=is_request, presence=presence)

    def declare(struct: S) -> S:
        ResourceSpec.declared[struct] = spec
        return struct

    return declare
