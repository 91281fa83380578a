"""Each module says what it is for, and the contract's floor says what its functions promise."""

import ast
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[2]
PACKAGES = (
    "emulator/hosting_emulator",
    "scenarios/hosting_emulator_scenarios",
    "fixtures/pytest_hosting_emulator",
    "cli/hosting_emulator_cli",
)
# Shorter ones are a line of re-exports or data: their names say enough.
LONGEST_WITHOUT_DOCSTRING = 15

Documented = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


def modules(*folders: str) -> list[str]:
    files = (path for folder in folders for path in (REPOSITORY / folder).rglob("*.py"))
    return sorted(path.relative_to(REPOSITORY).as_posix() for path in files)


@pytest.mark.parametrize("module", modules(*PACKAGES))
def test_module_says_what_it_is_for(module: str):
    source = (REPOSITORY / module).read_text(encoding="utf-8")

    documented = ast.get_docstring(ast.parse(source)) is not None

    assert documented or len(source.splitlines()) <= LONGEST_WITHOUT_DOCSTRING


@pytest.mark.parametrize("module", modules("emulator/hosting_emulator/contract"))
def test_contract_documents_what_is_public(module: str):
    tree = ast.parse((REPOSITORY / module).read_text(encoding="utf-8"))

    silent = [
        f"{module}:{node.lineno}: {node.name}"
        for node in public_parts(tree)
        if not ast.get_docstring(node)
    ]

    assert not silent, "\n".join(silent)


def public_parts(parent: ast.Module | ast.ClassDef) -> list[Documented]:
    """Return the public functions and classes of a module, with the public methods of these."""
    found: list[Documented] = []
    for node in parent.body:
        if isinstance(node, Documented) and not node.name.startswith("_"):
            found.append(node)
            if isinstance(node, ast.ClassDef):
                found.extend(public_parts(node))
    return found
