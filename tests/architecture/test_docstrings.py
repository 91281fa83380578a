"""Every module has a docstring, and so has every public part of the package `contract`."""

import ast
from pathlib import Path

REPOSITORY = Path(__file__).parents[2]
PACKAGES = (
    "emulator/hosting_emulator",
    "emulator/hosting_emulator_lab",
    "scenarios/hosting_emulator_scenarios",
    "fixtures/pytest_hosting_emulator",
    "cli/hosting_emulator_cli",
)
# Shorter modules only re-export names or hold data.
LONGEST_WITHOUT_DOCSTRING = 15

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def modules(*folders: str) -> list[tuple[str, str]]:
    files = sorted(path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))
    return [(str(path.relative_to(REPOSITORY)), path.read_text("utf-8")) for path in files]


def test_every_module_has_a_docstring():
    silent = [
        name
        for name, source in modules(*PACKAGES)
        if len(source.splitlines()) > LONGEST_WITHOUT_DOCSTRING
        and not ast.get_docstring(ast.parse(source))
    ]

    assert silent == []


def test_every_public_part_of_the_contract_has_a_docstring():
    silent = [
        f"{name}:{node.lineno}: {node.name}"
        for name, source in modules("emulator/hosting_emulator/contract")
        for node in public_parts(ast.parse(source))
        if not ast.get_docstring(node)
    ]

    assert silent == []


def public_parts(parent: ast.Module | ast.ClassDef) -> list[Documented]:
    """Return the public functions and classes of a module, with the public methods of these."""
    parts: list[Documented] = []
    for node in parent.body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            parts.append(node)
            if isinstance(node, ast.ClassDef):
                parts.extend(public_parts(node))
    return parts
