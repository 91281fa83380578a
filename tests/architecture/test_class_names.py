"""A class name means one class, so that a reader need not look up its file."""

from __future__ import annotations

import ast
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).parents[2]
SOURCES = ("emulator", "cli", "fixtures", "scenarios")


def test_no_two_classes_have_the_same_name():
    places: dict[str, list[str]] = defaultdict(list)
    for source in SOURCES:
        for path in (ROOT / source).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    places[node.name].append(str(path.relative_to(ROOT)))

    assert places
    assert {name: files for name, files in places.items() if len(files) > 1} == {}
