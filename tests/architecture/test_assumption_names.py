"""Each assumption that the code names exists, so an explanation never leads to an unknown name."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import hosting_emulator
from hosting_emulator.contract.assumptions import Assumptions
from hosting_emulator.contract.fixed_assumptions import FIXED

EMULATOR = Path(hosting_emulator.__file__).parent


def named_assumptions() -> Iterator[tuple[str, str]]:
    """Yield each assumption that a call passes as `assumption=`, with the place of the call."""
    for path in EMULATOR.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.keyword) or node.arg != "assumption":
                continue
            if isinstance(node.value, ast.Constant) and node.value.value is not None:
                place = f"{path.relative_to(EMULATOR)}:{node.value.lineno}"
                yield place, str(node.value.value)


def test_every_assumption_that_the_code_names_exists() -> None:
    names = {*Assumptions.__struct_fields__, *FIXED}
    named = dict(named_assumptions())

    assert len(named) > 20
    assert {place: name for place, name in named.items() if name not in names} == {}
