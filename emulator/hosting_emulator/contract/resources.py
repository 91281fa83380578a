"""The resources of the contract, each declared once: `resources.md`, the contract's own rows annotated.

Names, types, what is required and what may be null are read from the quoted rows; what is ours of a
field stands below its row. The OpenAPI document, the reading of request bodies, the contract check,
variation, conduct and the tests all read these declarations.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Struct
from msgspec.structs import replace

from hosting_emulator.contract.ids import ULID_PATTERN
from hosting_emulator.contract.problems import PROBLEMS, RETRY_AFTER_MAX, RETRY_AFTER_MIN

if TYPE_CHECKING:
    from pydantic import BaseModel


class Kind(Struct, frozen=True):
    """A kind of value: its name and JSON Schema.

    `component` names the schema that fields refer to, for kinds that have one of their own; `items`
    is the kind of an array's items; `part` names the resource that an object, or each item, is.
    """

    name: str
    schema: dict[str, Any]
    component: str = ""
    items: Kind | None = None
    part: str = ""


class Field(Struct, frozen=True):
    """A field of a resource.

    `key` is that of the contract's sentence about it, `required` and `nullable` are what that says;
    `also` and `bound` are keys of others that a wrong value breaks, or that bound it. `optional`: we
    leave it out when it has no value; `kept`: a client cannot go on without it, so no variation does.
    `assumption` decides its value, or the words of its open set; `about` and `keywords` are ours.
    """

    name: str
    kind: Kind
    key: str = ""
    required: bool = False
    nullable: bool = False
    optional: bool = False
    kept: bool = False
    about: str = ""
    assumption: str = ""
    keywords: dict[str, Any] = {}
    also: str = ""
    bound: str = ""


class Resource(Struct, frozen=True):
    """An object of the contract.

    `clauses` are the contract's sentences about its fields, by key. A `request` is what a call is
    sent. A `closed` one has no further properties. `open_presence`: the contract does not say which
    of its fields are required. `assumed_presence`: neither does it, but no variation leaves one out.
    """

    name: str
    about: str
    fields: tuple[Field, ...]
    clauses: dict[str, str] = {}
    request: bool = False
    closed: bool = False
    open_presence: bool = False
    assumed_presence: bool = False

    #: The names of its fields; those that hold timestamps, that hold the id of a deployment, and that an
    #: answer may leave out although they have a value; the resources that fields or their items are.
    names: frozenset[str] = frozenset()
    times: tuple[str, ...] = ()
    deployment_ids: tuple[str, ...] = ()
    may_lack: tuple[str, ...] = ()
    parts: dict[str, str] = {}


# --- Kinds ---------------------------------------------------------------------------------------


def _text(name: str = "text", **keywords: Any) -> Kind:
    return Kind(name, {"type": "string", **keywords})


def _enum(component: str, *words: str, **keywords: str) -> Kind:
    return Kind("enum", {"type": "string", "enum": list(words), **keywords}, component)


def _array(items: Kind, **keywords: Any) -> Kind:
    return Kind("array", {"type": "array", **keywords}, items=items, part=items.part)


_LENGTH: dict[str, Any] = {"minLength": 1, "maxLength": 128}
_WAIT = {"minimum": RETRY_AFTER_MIN, "maximum": RETRY_AFTER_MAX}
_ORIGIN = r"https://dev-[a-z]+-[a-z]+-[a-z]+\.[a-z0-9.-]+"
_REDEEM_URL = _ORIGIN + r"/\.service/dev-access/redeem\?stage=dev&ticket=[A-Za-z0-9_-]{43}"
_RESULT = {
    "type": "object",
    "additionalProperties": True,
    "description": "Outcome payload. The contract does not show what it holds.",
}
#: By the contract's word for them, and by ours where it has none.
_KINDS = {
    "string": _text(),
    "string (URI reference)": _text("uri_reference", format="uri-reference"),
    "boolean": Kind("boolean", {"type": "boolean"}),
    "integer": Kind("integer", {"type": "integer"}),
    "number": Kind("number", {"type": "number"}),
    "Ulid": _text("ulid", minLength=26, maxLength=26, pattern=ULID_PATTERN),
    "Ulid-like identifier string": _text(),
    "timestamp": _text("timestamp", format="date-time", **{"x-assumption": "timestamp_form"}),
    "array of string": _array(_text()),
    "array of Deployment": _array(Kind("object", {}, "Deployment", part="Deployment")),
    "filled": _text(minLength=1),
    "secret": _text("secret"),
    "request_id": _text(**_LENGTH),
    "cursor": _text("cursor", pattern="^[A-Za-z0-9_-]+$"),
    "zone": _text("zone", minLength=4, maxLength=253, pattern=r"^([a-z0-9-]{1,63}\.)+[a-z]{2,63}$"),
    "origin": _text("origin", pattern=f"^{_ORIGIN}$"),
    "redeem_url": _text("redeem_url", pattern=f"^{_REDEEM_URL}$"),
    "error_status": Kind("integer", {"type": "integer", "minimum": 400, "maximum": 599}),
    "wait": Kind("integer", {"type": "integer", **_WAIT}),
    "suspend_timeout": Kind("integer", {"type": "integer", "minimum": -1}),
    "result": Kind("object", _RESULT, "OperationResult"),
    "dns_scopes": _array(_enum("DnsScope", "dns.write", "zone.read"), maxItems=2),
    "environment": _enum("Environment", "dev", "prod"),
    "problem_code": _enum("ProblemCode", *PROBLEMS),
}

# --- Reading the declarations --------------------------------------------------------------------

_OURS = re.compile(r"- (\w+):\s?(.*)")
_NAMED = re.compile(r"(\w+) \(([\w -]+)")
_OPEN_SET = re.compile(r"(\w+) is one value|a value (?:such as )?([a-z_]+) appears")
_ATTRIBUTES = frozenset(Field.__struct_fields__)


def _read_resources() -> Iterator[Resource]:
    text = Path(__file__).with_name("resources.md").read_text(encoding="utf-8")
    for section in text.replace("\n  ", " ").split("\n## ")[1:]:
        name, head, *lines = (line for line in section.splitlines() if line)
        about, attributes = _annotation(head.removeprefix("> "))
        key = attributes.pop("key", "")
        clauses: dict[str, str] = {}
        fields: dict[str, Field] = {}
        for line in lines:
            if ours := _OURS.fullmatch(line):
                field = fields.get(ours[1]) or Field(ours[1], _KINDS["string"])
                fields[ours[1]] = _annotate(field, *_annotation(ours[2]))
                continue
            found = list(_fields(line))
            several = f"{key}.times" if line.startswith("|") else key
            clause_key = f"{key}.{found[0].name}" if len(found) == 1 else several
            clauses[clause_key] = line
            fields |= {field.name: replace(field, key=clause_key) for field in found}
        every = fields.values()
        ids = ("id", "deployment_id") if name == "Deployment" else ("deployment_id",)
        lack = [one.name for one in every if "open_presence" in attributes and not one.kept]
        yield Resource(
            name,
            about,
            tuple(every),
            clauses,
            names=frozenset(fields),
            times=tuple(one.name for one in every if one.kind.name == "timestamp"),
            deployment_ids=tuple(id_ for id_ in ids if id_ in fields),
            may_lack=tuple(lack),
            parts={one.name: one.kind.part for one in every if one.kind.part},
            **attributes,
        )


def _fields(clause: str) -> Iterator[Field]:
    """Yield each field that a row or sentence of the contract names."""
    if clause.startswith("|"):
        names, kind, *_ = (cell.strip() for cell in clause.strip("|").split("|"))
        found = [(name, kind, clause) for name in names.split(", ")]
    else:
        parts = re.split(r"(?=\b\w+ \()", clause)
        found = [(m[1], m[2], part) for part in parts if (m := _NAMED.match(part))]
    for name, kind, text in found:
        word = kind.removesuffix(" or null")
        word = word if word in _KINDS else word.partition(" (")[0]
        closed = _enum("", *word[5:].split(", ")) if word.startswith("enum ") else _KINDS["string"]
        named = _OPEN_SET.search(text)
        yield Field(
            name,
            _KINDS.get(word, closed),
            required="| yes |" in clause,
            optional="| no |" in clause,
            nullable=word + " or null" == kind,
            about=f"An open set: {named[1] or named[2]} is one value." if named else "",
        )


def _annotation(text: str) -> tuple[str, dict[str, Any]]:
    """Split an annotation into what is said, and the attributes between brackets behind it."""
    about, _, words = f" {text}".rpartition(" [") if text.endswith("]") else (text, "", "")
    attributes: dict[str, Any] = {}
    for word in words[:-1].split():
        name, _, value = word.partition("=")
        number = value[:1] in [*"[-0123456789"]
        attributes[name] = json.loads(value) if number else value or True
    return about.strip(), attributes


def _annotate(field: Field, about: str, attributes: dict[str, Any]) -> Field:
    part, kind = attributes.pop("part", None), attributes.pop("kind", None)
    named = field.kind
    if "component" in attributes:  # what is said of such a field stands with the schema of its own
        schema = {**named.schema, **({"description": about} if about else {})}
        named, about = replace(named, schema=schema, component=attributes.pop("component")), ""
    ours = {name: value for name, value in attributes.items() if name in _ATTRIBUTES}
    return replace(
        field,
        kind=Kind("object", {}, part, part=part) if part else _KINDS[kind] if kind else named,
        about=about or field.about,
        keywords={name: attributes[name] for name in attributes.keys() - ours.keys()},
        **ours,
    )


#: What calls send and answer, and the objects in that, by name.
RESOURCES: Mapping[str, Resource] = {found.name: found for found in _read_resources()}
_STATE = next(f.kind.schema for f in RESOURCES["Operation"].fields if f.name == "state")
#: The states of an operation; those that their description calls terminal; and of these, failures.
STATES: tuple[str, ...] = tuple(_STATE["enum"])
TERMINAL = tuple(state for state in STATES if state in _STATE["description"])
FAILURES = tuple(state for state in TERMINAL if state != "succeeded")


def with_states(text: str) -> str:
    """Write a sentence with the states of an operation for {states}, the terminal ones for {ends}."""
    ends = f"{', '.join(TERMINAL[:-1])} or {TERMINAL[-1]}"
    return text.replace("{states}", ", ".join(STATES)).replace("{ends}", ends)


_BOUNDS = {
    "minimum": "ge",
    "maximum": "le",
    "minLength": "min_length",
    "maxLength": "max_length",
    "maxItems": "max_length",
    "pattern": "pattern",
}
_TYPES = {"string": str, "integer": int, "number": float, "boolean": bool, "object": dict}


@cache
def model(name: str) -> type[BaseModel]:
    """Return a resource as a pydantic model: an open one allows more fields, as clients must."""
    # Imported here: it takes a while, and nothing on the way to a first answer needs it.
    from pydantic import ConfigDict, create_model

    resource = RESOURCES[name]
    fields: dict[str, Any] = {}
    for field in resource.fields:
        kind = _type(field.kind, field.keywords)
        fields[field.name] = (
            kind | None if field.nullable else kind,
            None if field.optional else ...,
        )
    config = ConfigDict(extra="forbid" if resource.closed else "allow")
    return create_model(name, __config__=config, **fields)


def _type(kind: Kind, keywords: dict[str, Any]) -> Any:
    from pydantic import Field as Bounds

    schema = kind.schema | keywords
    if kind.items is not None:
        found: Any = list[_type(kind.items, {})]  # type: ignore[misc]
    elif kind.part:
        return model(kind.part)
    elif "enum" in schema:
        return Literal[tuple(schema["enum"])]
    else:
        found = _TYPES[schema["type"]]
    bounds = {ours: schema[theirs] for theirs, ours in _BOUNDS.items() if theirs in schema}
    return Annotated[found, Bounds(**bounds)] if bounds else found
