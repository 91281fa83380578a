"""`msgspec.structs.replace` takes any name, and type checkers do not see a field that is not there."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages

import msgspec

import hosting_emulator

ROOT = Path(hosting_emulator.__file__).parent


def struct_types(kind: type[msgspec.Struct] = msgspec.Struct) -> Iterator[type[msgspec.Struct]]:
    for child in kind.__subclasses__():
        yield child
        yield from struct_types(child)


def replaced_names(source: str) -> Iterator[tuple[int, str]]:
    """Yield the line and the name of each field that a module replaces."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "replace":
            yield from ((node.lineno, word.arg) for word in node.keywords if word.arg)


def test_every_field_that_is_replaced_exists():
    for module in walk_packages(hosting_emulator.__path__, "hosting_emulator."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    fields = {name for kind in struct_types() for name in kind.__struct_fields__}

    missing = [
        f"{path.relative_to(ROOT)}:{line}: {name}"
        for path in sorted(ROOT.rglob("*.py"))
        if "import replace" in path.read_text("utf-8") and "structs" in path.read_text("utf-8")
        for line, name in replaced_names(path.read_text("utf-8"))
        if name not in fields
    ]

    assert missing == []


def test_a_replaced_field_is_found_in_a_source():
    assert list(replaced_names("x = replace(entry, status=0)")) == [(1, "status")]
