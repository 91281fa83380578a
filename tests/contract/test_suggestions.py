"""An error about an unknown name suggests the most similar name, or lists all names."""

from __future__ import annotations

import pytest

from hosting_emulator.contract.suggestions import nearest, unknown

NAMES = ["project", "organization"]


@pytest.mark.parametrize(
    ("word", "names", "text"),
    [
        ("projekt", NAMES, "there is no record 'projekt'; did you mean project?"),
        ("zzz", NAMES, "there is no record 'zzz'; there are project, organization"),
        ("zzz", [], "there is no record 'zzz'; there are none"),
        ("z" * 80, [], f"there is no record '{'z' * 80}'; there are none"),
        ("z" * 81, [], f"there is no record '{'z' * 80}'; there are none"),
    ],
)
def test_an_unknown_name_is_quoted_with_what_would_be_right(
    word: str, names: list[str], text: str
) -> None:
    assert unknown("record", word, names) == text


def test_a_name_is_suggested_only_if_it_is_similar() -> None:
    assert nearest("organisation", NAMES) == "; did you mean organization?"
    assert nearest("zzz", NAMES) == ""
    assert nearest("project" * 100, NAMES) == ""
