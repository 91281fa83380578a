"""`vary` has two forms, and any other value is refused in one line."""

from __future__ import annotations

from typing import Any

import pytest

from hosting_emulator.sdk.new_worlds import world_request


@pytest.fixture(autouse=True)
def nothing_said(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOSTING_EMULATOR_VARY", "HOSTING_EMULATOR_VARY_ONLY"):
        monkeypatch.delenv(name, raising=False)


@pytest.mark.parametrize(
    ("vary", "only", "expected"),
    [
        (2, None, ("2", None)),
        ("a b", "page-size,key-order", ("a b", ["page-size", "key-order"])),
        ({"seed": 2, "only": ["scope-order"]}, None, ("2", ["scope-order"])),
        ({"seed": "x"}, None, ("x", None)),
        ({"seed": "x", "only": None}, ["key-order"], ("x", ["key-order"])),
        (None, None, (None, None)),
    ],
)
def test_vary_accepts_a_seed_with_or_without_points(vary: Any, only: Any, expected: Any):
    request = world_request(None, "", None, vary=vary, vary_only=only)

    assert (request["vary"], request["vary_only"]) == expected


@pytest.mark.parametrize(
    ("vary", "only", "message"),
    [
        ({"seeds": 2}, None, "not {'seeds': 2}"),
        ({"seed": 2, "points": []}, None, "vary must be a seed"),
        ({"seed": [2]}, None, "not [2]"),
        ({"seed": 2, "only": []}, None, "name at least one point"),
        ({"seed": 2, "only": [3]}, None, "a list of names, not [3]"),
        ({"seed": 2, "only": 3}, None, "a list of names, not 3"),
        ({"seed": 2, "only": ["key-order"]}, "page-size", "given twice"),
        (True, None, "not True"),
        (1.5, None, "not 1.5"),
        (["7"], None, "not ['7']"),
        (None, "page-size", "vary_only needs vary"),
    ],
)
def test_vary_refuses_other_values_in_one_line(vary: Any, only: Any, message: str):
    with pytest.raises(ValueError, match="vary") as refused:
        world_request(None, "", None, vary=vary, vary_only=only)

    assert message in str(refused.value)
    assert "\n" not in str(refused.value)
