"""The declared resources say what the rows say that they quote, and those rows are the contract's."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from hosting_emulator.contract.assumption_table import describe
from hosting_emulator.contract.assumptions import DEFAULTS
from hosting_emulator.contract.fields import Field, Resource
from hosting_emulator.contract.resources import RESOURCES, STATES, TERMINAL

CONTRACT = (Path(__file__).parents[1] / "support" / "contract.txt").read_text(encoding="utf-8")
REDEEM_URL = (
    "https://dev-olive-seal-harbor.dev.localhost/.service/dev-access/redeem?stage=dev&ticket="
)
#: The bounds that the contract states for a field, other than those of a Ulid.
BOUNDS: dict[str, dict[str, int]] = {
    "CreateUserApiKeyRequest.name": {"minLength": 1, "maxLength": 64},
    "DnsAuthorization.zone": {"minLength": 4, "maxLength": 253},
    "DnsAuthorization.scopes": {"maxItems": 2},
    "DatabasePlacement.suspend_timeout_seconds": {"minimum": -1},
    "ProblemDetails.title": {"minLength": 1},
    "ProblemDetails.status": {"minimum": 400, "maximum": 599},
    "ProblemDetails.request_id": {"minLength": 1, "maxLength": 128},
    "ProblemDetails.retry_after_seconds": {"minimum": 1, "maximum": 86_400},
    "ProblemDetails.suggested_action": {"minLength": 1},
}
#: Texts of the form that the contract states for a field, and texts of another form.
FORMS: dict[str, tuple[list[str], list[str]]] = {
    "DeploymentPage.next_cursor": (["a", "AZaz09_-"], ["", "a b", "a.b", "a=", "a\u00e9"]),
    "DnsAuthorization.zone": (
        ["a.io", "shop.example", "www.my-shop.example"],
        ["example", "Shop.example", "shop.e", "shop.example.", "shop.ex4", ".example", "a_b.io"],
    ),
    "DevAccessTicket.origin": (
        ["https://dev-olive-seal-harbor.dev.localhost"],
        [
            "http://dev-olive-seal-harbor.dev.localhost",
            "https://dev-olive-seal.dev.localhost",
            "https://dev-Olive-seal-harbor.dev.localhost",
            "https://dev-olive-seal-harbor.dev.localhost/",
            "https://olive-seal-harbor.dev.localhost",
        ],
    ),
    "DevAccessTicket.redeem_url": (
        [f"{REDEEM_URL}{'aZ09_-' * 7}x"],
        [
            f"{REDEEM_URL}{'a' * 42}",
            f"{REDEEM_URL}{'a' * 44}",
            f"{REDEEM_URL}{'.' * 43}",
            f"{REDEEM_URL}{'a' * 43}".replace("stage=dev", "stage=prod"),
            f"{REDEEM_URL}{'a' * 43}".replace("/.service", "/service"),
        ],
    ),
}
#: The first words by which the contract calls a kind of value, by our name for it.
CONTRACT_WORDS = {
    "ulid": {"Ulid"},
    "timestamp": {"timestamp"},
    "text": {"string", "Ulid-like"},
    "boolean": {"boolean"},
    "integer": {"integer"},
    "number": {"number"},
    "object": {"object"},
    "enum": {"enum", "string"},  # the contract lists the problem codes apart from their field
    "array": {"array"},
    # Forms of a text for which the contract check has rules.
    "cursor": {"string"},
    "origin": {"string"},
    "redeem_url": {"string"},
    "secret": {"string"},
    "uri_reference": {"string"},
    "zone": {"string"},
}


def quoted_fields(resource: Resource) -> Iterator[tuple[Field, str, str]]:
    """Yield each field with the words for its kind, and the sentence that names it."""
    for field in resource.fields:
        sentence = resource.sentences.get(field.sentence_key)
        if sentence is not None:
            yield field, kind_words(field.name, sentence), sentence


def declared_fields() -> Iterator[tuple[str, Field]]:
    """Yield each field of each resource, with its name in the form `Resource.field`."""
    for resource in RESOURCES.values():
        for field in resource.fields:
            yield f"{resource.name}.{field.name}", field


def kind_words(name: str, sentence: str) -> str:
    """Return what a row or a sentence says that a field is; empty if it does not name the field."""
    if sentence.startswith("|"):
        names, words, *_ = (cell.strip() for cell in sentence.strip("|").split("|"))
        return words if name in names.split(", ") else ""
    named = re.search(rf"(?:^|[ :]){name} \(([^);,]*)", sentence)
    return named[1] if named else ""


FIELDS = [
    pytest.param(resource, field, words, sentence, id=f"{resource.name}.{field.name}")
    for resource in RESOURCES.values()
    for field, words, sentence in quoted_fields(resource)
]


@pytest.mark.parametrize("resource", RESOURCES.values(), ids=lambda resource: resource.name)
def test_every_quoted_sentence_is_in_the_contract(resource: Resource) -> None:
    missing = [text for text in resource.sentences.values() if text not in CONTRACT]

    assert missing == [], "quote the contract's text in tests/support/contract.txt exactly"


def test_every_field_of_a_response_quotes_a_sentence() -> None:
    responses = [resource for resource in RESOURCES.values() if not resource.is_request]
    fields = [(resource, field) for resource in responses for field in resource.fields]

    without = [f"{r.name}.{f.name}" for r, f in fields if f.sentence_key not in r.sentences]

    assert without == [], "give the field a FieldSpec with the sentence of the contract about it"


@pytest.mark.parametrize(("resource", "field", "words", "sentence"), FIELDS)
def test_a_field_is_what_its_sentence_says(
    resource: Resource, field: Field, words: str, sentence: str
) -> None:
    assert words, f"the sentence does not name {field.name}: {sentence}"
    assert field.nullable == words.endswith(" or null")
    assert re.split("[ ,(:]", words)[0] in CONTRACT_WORDS[field.kind.name]
    if words.startswith("enum "):
        assert field.kind.schema["enum"] == words.removeprefix("enum ").split(", ")
    if sentence.startswith("|"):
        cells = [cell.strip() for cell in sentence.strip("|").split("|")]
        assert field.required or "yes" not in cells
        assert field.optional or "no" not in cells


def test_a_field_has_the_bounds_that_the_contract_states() -> None:
    words = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems")
    declared = {
        path: {word: field.kind.schema[word] for word in words if word in field.kind.schema}
        for path, field in declared_fields()
        if field.kind.name != "ulid"
    }

    assert {path: bounds for path, bounds in declared.items() if bounds} == BOUNDS


def test_a_ulid_has_the_form_that_the_contract_states() -> None:
    stated = re.search(r"exactly (\d+) characters matching ([^ ;|]+)", CONTRACT)
    assert stated is not None
    length = int(stated[1])
    schemas = [field.kind.schema for _, field in declared_fields() if field.kind.name == "ulid"]

    assert schemas
    for schema in schemas:
        assert (schema["minLength"], schema["maxLength"]) == (length, length)
        assert schema["pattern"] == stated[2]


@pytest.mark.parametrize("path", FORMS)
def test_a_pattern_accepts_the_form_that_the_contract_states_and_no_other(path: str) -> None:
    pattern = dict(declared_fields())[path].kind.schema["pattern"]
    valid, invalid = FORMS[path]

    assert [text for text in valid if not re.search(pattern, text)] == []
    assert [text for text in invalid if re.search(pattern, text)] == []


def test_each_field_with_a_pattern_has_texts_of_its_form() -> None:
    fields = {path for path, field in declared_fields() if "pattern" in field.kind.schema}
    ulids = {path for path, field in declared_fields() if field.kind.name == "ulid"}

    assert fields - ulids == FORMS.keys()


@pytest.mark.parametrize(("resource", "field", "words", "sentence"), FIELDS)
def test_an_open_set_names_the_contracts_word(
    resource: Resource, field: Field, words: str, sentence: str
) -> None:
    word = re.search(r"An open set: (\w+) is one value", field.description)

    assert (word is not None) == bool(field.contract_word)
    if word is not None:
        pattern = rf"\b{field.name}\b[^;]*?[(;|] ?.*?\b{word[1]}\b"
        assert re.search(pattern, sentence), "the sentence does not give this word"


def test_every_assumption_that_a_field_names_exists() -> None:
    names = {row["name"] for row in describe(DEFAULTS)}
    fields = [(resource, field) for resource in RESOURCES.values() for field in resource.fields]

    unknown = {f"{r.name}.{f.name}": f.assumption for r, f in fields if f.assumption not in names}

    assert {path: name for path, name in unknown.items() if name} == {}, (
        "declare it in contract/assumptions.py, or in contract/fixed_assumptions.py"
    )


def test_the_terminal_states_are_states() -> None:
    assert set(TERMINAL) < set(STATES)
