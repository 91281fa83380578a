"""One module converts values to types with msgspec: elsewhere, two threads could crash the process."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import hosting_emulator

ROOT = Path(hosting_emulator.__file__).parent
CONVERSION = ROOT / "contract" / "conversion.py"
#: What examines a type when it is used for the first time.
EXAMINING = {"convert", "Decoder"}


def uses(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in EXAMINING:
            if ast.unparse(node.value).startswith("msgspec"):
                yield ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("msgspec"):
            yield from (alias.name for alias in node.names if alias.name in EXAMINING)


def test_only_one_module_converts_values_with_msgspec():
    modules = {path: ast.parse(path.read_text()) for path in ROOT.rglob("*.py")}

    assert list(uses(modules.pop(CONVERSION)))
    assert {str(path): list(uses(tree)) for path, tree in modules.items() if any(uses(tree))} == {}
