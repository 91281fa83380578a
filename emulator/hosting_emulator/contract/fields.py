"""Resources and their fields as plain values, read from the declarations in `resources.py`.

The OpenAPI document, the request body parser, the contract check, variation, conduct and the tests
all use `Resource` and `Field`.
"""

from __future__ import annotations

from types import UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from msgspec import Meta, Struct, UnsetType

from hosting_emulator.contract.declarations import (
    Component,
    FieldSpec,
    Format,
    ResourceSpec,
    Sentence,
)


class Kind(Struct, frozen=True):
    """A kind of value: its name and JSON Schema.

    If a kind has a separate schema in the OpenAPI document, `component` is the name of that schema.
    For an array, `items` is the kind of its items. If the value is an object or an array of
    objects, `part` is the name of the objects' resource.
    """

    name: str
    schema: dict[str, Any]
    component: str = ""
    items: Kind | None = None
    part: str = ""


class Field(Struct, frozen=True, kw_only=True):
    """A field of a resource.

    `sentence_key` is the key of the contract's sentence about the field. `nullable` is true if the
    value can be null. `optional` is true if the emulator omits the field when it has no value.
    `keywords` are schema keywords that the contract does not state. The other members are explained
    in `FieldSpec`.
    """

    name: str
    kind: Kind
    sentence_key: str = ""
    required: bool = False
    nullable: bool = False
    optional: bool = False
    essential: bool = False
    description: str = ""
    assumption: str = ""
    keywords: dict[str, Any] = {}
    may_differ: Literal["", "word", "value"] = ""
    meaningful_words: tuple[str, ...] = ()
    contract_word: str = ""
    related_keys: tuple[str, ...] = ()
    bound_key: str = ""


class Resource(Struct, frozen=True, kw_only=True):
    """An object that the contract describes: a request body, a response body, or a part of one.

    `sentences` are the contract's sentences about the fields, by key. If `closed` is true, the
    contract does not allow any other fields. If `presence_is_open` is true, the contract does not
    state which fields are required.
    """

    name: str
    description: str
    fields: tuple[Field, ...]
    sentences: dict[str, str]
    is_request: bool
    closed: bool
    presence_is_open: bool
    #: The names of all fields.
    names: frozenset[str]
    #: The fields that contain timestamps.
    timestamp_fields: tuple[str, ...]
    #: The fields that contain the id of a deployment.
    deployment_ids: tuple[str, ...]
    #: The fields that the `absent-fields` variation point can omit even if they have a value.
    omissible_fields: tuple[str, ...]
    #: For each field that contains an object or a list of objects, the name of the objects'
    #: resource.
    parts: dict[str, str]


def resource_name(declaration: type[Struct]) -> str:
    """Return the contract's name for a resource.

    The struct's name can have the suffix `Resource`, which is not part of the contract's name.
    """
    return declaration.__name__.removesuffix("Resource")


def read_resource(declaration: type[Struct], spec: ResourceSpec) -> Resource:
    """Convert a resource's declaration to a Resource."""
    sentences: dict[str, str] = {}
    if spec.sentence:
        sentences[spec.key] = spec.sentence
    fields = []
    for name, hint in get_type_hints(declaration, include_extras=True).items():
        field_spec, key = _read_spec(name, hint, spec)
        if isinstance(field_spec.sentence, Sentence):
            sentences[key] = field_spec.sentence.text
        elif field_spec.sentence:
            sentences[key] = field_spec.sentence
        fields.append(_read_field(name, hint, field_spec, key))
    id_fields = (
        ("id", "deployment_id")
        if resource_name(declaration) == "Deployment"
        else ("deployment_id",)
    )
    names = [field.name for field in fields]
    omissible = []
    if spec.presence == "open":
        omissible = [field.name for field in fields if not field.essential]
    return Resource(
        name=resource_name(declaration),
        description=" ".join((declaration.__doc__ or "").split()),
        fields=tuple(fields),
        sentences=sentences,
        is_request=spec.is_request,
        closed=declaration.__struct_config__.forbid_unknown_fields,
        presence_is_open=spec.presence != "stated",
        names=frozenset(names),
        timestamp_fields=tuple(field.name for field in fields if field.kind.name == "timestamp"),
        deployment_ids=tuple(name for name in id_fields if name in names),
        omissible_fields=tuple(omissible),
        parts={field.name: field.kind.part for field in fields if field.kind.part},
    )


def _read_spec(name: str, hint: Any, resource_spec: ResourceSpec) -> tuple[FieldSpec, str]:
    """Return a field's specification, and the key of the contract's sentence about the field."""
    for part in getattr(hint, "__metadata__", ()):
        if isinstance(part, FieldSpec):
            if isinstance(part.sentence, Sentence):
                return part, part.sentence.key
            if part.sentence:
                return part, f"{resource_spec.key}.{name}"
            return part, resource_spec.key
    return FieldSpec(), resource_spec.key


def _read_field(name: str, hint: Any, spec: FieldSpec, sentence_key: str) -> Field:
    value_types = _value_types(hint)
    keywords = _schema_of(spec.our_bounds) if spec.our_bounds is not None else {}
    if spec.examples:
        keywords["examples"] = list(spec.examples)
    description = spec.description
    if spec.contract_word:
        description = f"An open set: {spec.contract_word} is one value."
    return Field(
        name=name,
        kind=_read_kind(value_types[0], hint),
        sentence_key=sentence_key,
        required=spec.required,
        nullable=type(None) in value_types,
        optional=UnsetType in value_types,
        essential=spec.essential,
        description=description,
        assumption=spec.assumption,
        keywords=keywords,
        may_differ=spec.may_differ,
        meaningful_words=spec.meaningful_words,
        contract_word=spec.contract_word,
        related_keys=spec.related_keys,
        bound_key=spec.bound_key,
    )


def _value_types(hint: Any) -> list[Any]:
    """Return the types in a union, or the type itself if it is not a union."""
    bare = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if get_origin(bare) in (Union, UnionType):
        return list(get_args(bare))
    return [bare]


def _read_kind(value_type: Any, hint: Any = None) -> Kind:
    """Return the kind of a type. If the type itself has no metadata, that of `hint` is used."""
    metadata: tuple[Any, ...] = getattr(value_type, "__metadata__", ())
    if not metadata:
        metadata = getattr(hint, "__metadata__", ())
    bare = get_args(value_type)[0] if get_origin(value_type) is Annotated else value_type
    name, schema = _bare_schema(bare)
    component = ""
    for part in metadata:
        if isinstance(part, Meta):
            schema |= _schema_of(part, is_array=get_origin(bare) is list)
        elif isinstance(part, Component):
            component = part.name
            if part.description:
                schema["description"] = part.description
        elif isinstance(part, Format):
            name = part.name
    if isinstance(bare, type) and issubclass(bare, Struct):
        part_name = resource_name(bare)
        return Kind("object", {}, part_name, part=part_name)
    if get_origin(bare) is list:
        items = _read_kind(get_args(bare)[0])
        return Kind(name, schema, component, items=items, part=items.part)
    return Kind(name, schema, component)


def _bare_schema(bare: Any) -> tuple[str, dict[str, Any]]:
    """Return the name of the kind and the JSON Schema for a type without metadata."""
    origin = get_origin(bare)
    if origin is Literal:
        return "enum", {"type": "string", "enum": list(get_args(bare))}
    if origin is list:
        return "array", {"type": "array"}
    if origin is dict or (isinstance(bare, type) and issubclass(bare, Struct)):
        return "object", {"type": "object"}
    name, type_word = _PLAIN_KINDS[bare]
    return name, {"type": type_word}


def _schema_of(meta: Meta, *, is_array: bool = False) -> dict[str, Any]:
    """Return the JSON Schema keywords for the bounds of a value."""
    schema: dict[str, Any] = {}
    if is_array:
        return {"maxItems": meta.max_length}
    for attribute, keyword in _KEYWORDS.items():
        bound = getattr(meta, attribute)
        if bound is not None:
            schema[keyword] = bound
    return schema | (meta.extra_json_schema or {})


_PLAIN_KINDS = {
    str: ("text", "string"),
    int: ("integer", "integer"),
    float: ("number", "number"),
    bool: ("boolean", "boolean"),
}
_KEYWORDS = {
    "ge": "minimum",
    "le": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
}
