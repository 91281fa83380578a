"""Only public names of other packages are used, because private names change between versions."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
from collections.abc import Iterable, Iterator
from types import ModuleType

import pytest

PACKAGES = (
    "hosting_emulator",
    "hosting_emulator_cli",
    "hosting_emulator_lab",
    "hosting_emulator_scenarios",
    "pytest_hosting_emulator",
)
#: Names with an underscore that are promised: of named tuples, and of the module `os`.
PROMISED = {"_asdict", "_fields", "_make", "_replace", "_exit"}

#: Nothing public does what these do, and pytest's own plugins use them.
ALLOWED = {
    "from _pytest.runner: _pytest": "runs one test by pytest's own protocol, again for explore",
    "._setupstate": "tears down what the next test does not need, after the last of those runs",
}


def modules() -> list[str]:
    return [
        module.name
        for package in PACKAGES
        for module in pkgutil.walk_packages(
            importlib.import_module(package).__path__, f"{package}."
        )
        if not module.name.endswith("__main__")
    ]


def is_private(name: str) -> bool:
    return name.startswith("_") and not name.endswith("__") and name not in PROMISED


def is_ours(module: str) -> bool:
    return module.partition(".")[0] in PACKAGES


def private_imports(nodes: list[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.ImportFrom) and node.module and not is_ours(node.module):
            parts = [*node.module.split("."), *(alias.name for alias in node.names)]
            yield from (f"from {node.module}: {part}" for part in parts if is_private(part))
        elif isinstance(node, ast.Import):
            for alias in node.names:
                if not is_ours(alias.name) and any(map(is_private, alias.name.split("."))):
                    yield f"import {alias.name}"


def attributes(nodes: Iterable[ast.AST]) -> Iterator[ast.Attribute]:
    return (node for node in nodes if isinstance(node, ast.Attribute) and is_private(node.attr))


def names_made_in(nodes: list[ast.AST]) -> Iterator[str]:
    """Yield every name that these nodes of a module define."""
    for node in nodes:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr


@pytest.fixture(scope="module")
def nodes() -> dict[str, list[ast.AST]]:
    sources = {name: inspect.getsource(importlib.import_module(name)) for name in modules()}
    return {name: list(ast.walk(ast.parse(source))) for name, source in sources.items()}


def test_no_package_uses_a_private_name_of_another(
    nodes: dict[str, list[ast.AST]],
):
    own_names = {
        name for tree in nodes.values() for name in names_made_in(tree) if is_private(name)
    }

    used = {
        (module, name)
        for module, tree in nodes.items()
        for name in (
            *private_imports(tree),
            *(f".{node.attr}" for node in attributes(tree) if node.attr not in own_names),
        )
    }

    assert [(module, name) for module, name in sorted(used) if name not in ALLOWED] == []


def test_no_subclass_defines_a_private_name_of_a_class_of_another_package():
    """Such a name would read or overwrite the state of the other class."""
    uses = []
    for name in modules():
        module = importlib.import_module(name)
        for kind in classes_of(module):
            foreign_names = {
                slot
                for base in kind.__mro__[1:]
                if not is_ours(base.__module__)
                and base.__module__ not in ("builtins", "typing", "abc")
                for slot in (*vars(base), *getattr(base, "__slots__", ()))
                if is_private(slot)
            }
            if not foreign_names:
                continue
            used = {node.attr for node in attributes(ast.walk(source_of(kind))) if reads_self(node)}
            uses += [f"{name}.{kind.__name__}: {slot}" for slot in sorted(used & foreign_names)]

    assert uses == []


def classes_of(module: ModuleType) -> list[type]:
    return [
        value
        for value in vars(module).values()
        if isinstance(value, type) and value.__module__ == module.__name__
    ]


def source_of(kind: type) -> ast.AST:
    try:
        return ast.parse(inspect.cleandoc("\n" + inspect.getsource(kind)))
    except (OSError, TypeError, SyntaxError):  # made by a call, not written as a class
        return ast.Module([], [])


def reads_self(node: ast.Attribute) -> bool:
    return isinstance(node.value, ast.Name) and node.value.id in ("self", "cls")
