"""Schemas of types contain what readers of JSON Schema understand, and descriptions without indentation."""

from __future__ import annotations

from typing import Annotated

import msgspec
import pytest

from hosting_emulator.contract.json_schema import schema_components, whole


class Documented(msgspec.Struct):
    """A type that is documented.

    This paragraph is indented in the source.
    """

    word: Annotated[str, whole("^[a-z]+$")]


def test_a_description_is_not_indented_and_a_pattern_has_no_part_for_python() -> None:
    _, components = schema_components([Documented], ref_template="#/{name}")

    schema = components["Documented"]
    assert schema["description"] == (
        "A type that is documented.\n\nThis paragraph is indented in the source."
    )
    assert schema["properties"]["word"]["pattern"] == "^[a-z]+$"


@pytest.mark.parametrize(("word", "is_allowed"), [("ab", True), ("ab\n", False), ("", False)])
def test_a_pattern_matches_up_to_the_very_end(word: str, is_allowed: bool) -> None:
    try:
        msgspec.convert({"word": word}, Documented)
    except msgspec.ValidationError:
        assert not is_allowed
    else:
        assert is_allowed
