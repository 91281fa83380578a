"""The product's modules, its functions and the names of its mutants."""

from __future__ import annotations

import ast
import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from pathlib import Path

from mutants.operators import Change, changes, definitions

ROOTS = {
    "emulator/hosting_emulator": "hosting_emulator",
    "emulator/hosting_emulator_lab": "hosting_emulator_lab",
    "cli/hosting_emulator_cli": "hosting_emulator_cli",
    "fixtures/pytest_hosting_emulator": "pytest_hosting_emulator",
    "scenarios/hosting_emulator_scenarios": "hosting_emulator_scenarios",
}


@dataclass(frozen=True, order=True)
class Identity:
    """The name of a mutant, which does not change when code above or below it changes."""

    function: str  #: `MODULE:QUALIFIED_NAME`
    operator: str
    ordinal: int

    def __str__(self) -> str:
        return f"{self.function} [{self.operator} {self.ordinal}]"


@dataclass(frozen=True)
class Mutant:
    """A change of one module."""

    identity: Identity
    package: str
    file: str  #: relative to the repository
    change: Change
    source: str  #: the module before the change

    @property
    def changed_source(self) -> str:
        return self.change.apply(self.source)

    def diff(self) -> str:
        """Return the changed lines."""
        before = self.source.splitlines()
        after = self.changed_source.splitlines()
        lines = list(difflib.unified_diff(before, after, self.file, self.file, n=0, lineterm=""))
        return "\n".join(lines[2:])

    def is_valid(self) -> bool:
        """Whether the changed module compiles, and means something different from the original."""
        try:
            changed = ast.parse(self.changed_source)
        except SyntaxError:
            return False
        return ast.dump(changed) != _dump(self.source)


@cache
def _dump(source: str) -> str:
    return ast.dump(ast.parse(source))


class Product:
    """The product's source below a root folder."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._mutants: dict[str, list[Mutant]] = {}

    def files(self) -> list[str]:
        """Return the product's Python files, relative to the root."""
        paths = (path for folder in ROOTS for path in (self.root / folder).rglob("*.py"))
        return sorted(str(path.relative_to(self.root)) for path in paths)

    def mutants(self, file: str) -> list[Mutant]:
        """Return every mutant of a file."""
        if file not in self._mutants:
            source = (self.root / file).read_text("utf-8")
            module = module_name(file)
            self._mutants[file] = [
                Mutant(
                    Identity(f"{module}:{change.function}", change.operator, change.ordinal),
                    package_name(module),
                    file,
                    change,
                    source,
                )
                for change in changes(source)
            ]
        return self._mutants[file]

    def all_mutants(self) -> Iterator[Mutant]:
        for file in self.files():
            yield from self.mutants(file)

    def find(self, identity: Identity) -> Mutant | None:
        """Return the mutant with this name, or None if its code no longer exists."""
        file = file_name(identity.function.partition(":")[0])
        for name in (f"{file}.py", f"{file}/__init__.py"):
            if (self.root / name).is_file():
                matches = [m for m in self.mutants(name) if m.identity == identity]
                if matches:
                    return matches[0]
        return None


@dataclass(frozen=True)
class FunctionSource:
    """A function in the source of a module."""

    name: str
    first_line: int
    text: str
    #: The lines that run when the function is called.
    body_lines: range
    mentioned_names: frozenset[str]


@lru_cache(maxsize=4096)
def functions_of(source: str) -> dict[str, FunctionSource]:
    """Return the functions of a module by the qualified names that `operators` uses."""
    lines = source.splitlines()
    functions: dict[str, FunctionSource] = {}
    for name, node in definitions(source):
        assert node.end_lineno is not None
        first_line = min([node.lineno, *(item.lineno for item in node.decorator_list)])
        functions[name] = FunctionSource(
            name,
            first_line,
            "\n".join(lines[first_line - 1 : node.end_lineno]),
            range(node.body[0].lineno, node.end_lineno + 1),
            frozenset(_names_in(node)),
        )
    return functions


@lru_cache(maxsize=4096)
def constants_of(source: str) -> dict[str, frozenset[str]]:
    """Return the constants of a module, each with the names that its value mentions."""
    constants = {}
    for statement in ast.parse(source).body:
        targets: list[ast.expr] = []
        if isinstance(statement, ast.Assign):
            targets = statement.targets
        elif isinstance(statement, ast.AnnAssign):
            targets = [statement.target]
        for target in targets:
            if isinstance(target, ast.Name):
                constants[target.id] = frozenset(_names_in(statement))
    return constants


def _names_in(function: ast.AST) -> Iterator[str]:
    for node in ast.walk(function):
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Attribute):
            yield node.attr


def module_name(file: str) -> str:
    """Return the name of the module in a file, such as `hosting_emulator.engine.log`."""
    _, _, inside = file.partition("/")
    return inside.removesuffix(".py").removesuffix("/__init__").replace("/", ".")


def file_name(module: str) -> str:
    """Return the path of a module's file, without its suffix."""
    top = module.partition(".")[0]
    (folder,) = (folder for folder, name in ROOTS.items() if name == top)
    return str(Path(folder).parent / module.replace(".", "/"))


def package_name(module: str) -> str:
    """Return the package of a module, such as `hosting_emulator.engine`, or the root package."""
    parts = module.split(".")
    is_divided = parts[0] in ("hosting_emulator", "hosting_emulator_lab") and len(parts) > 2
    return ".".join(parts[:2]) if is_divided else parts[0]


class Renames:
    """A map from old names to new names.

    An entry applies to all names that begin with the old name.

    The file contains one entry per line: `hosting_emulator.conduct.log =
    hosting_emulator.engine.log`.
    """

    def __init__(self, names: Mapping[str, str]) -> None:
        self._names = dict(names)

    @classmethod
    def read(cls, path: Path) -> Renames:
        """Read a file. Raises ValueError with the first invalid line."""
        names = {}
        for number, line in enumerate(path.read_text("utf-8").splitlines(), 1):
            text = line.partition("#")[0].strip()
            if not text:
                continue
            old, equals, new = (part.strip() for part in text.partition("="))
            if not (old and equals and new):
                raise ValueError(f"{path}:{number}: expected OLD_NAME = NEW_NAME, not {text!r}")
            names[old] = new
        return cls(names)

    def new_name(self, function: str) -> str:
        """Return the current name of a function, according to the longest matching old name."""
        for old in sorted(self._names, key=len, reverse=True):
            rest = function.removeprefix(old)
            if function.startswith(old) and (not rest or rest[0] in ".:"):
                return self._names[old] + rest
        return function

    def old_name(self, function: str) -> str:
        """Return the former name of a function."""
        return Renames({new: old for old, new in self._names.items()}).new_name(function)
