"""The kernel reads neither the machine's clock nor its randomness: both are passed in.

Read from the syntax tree, so that a forbidden name is found wherever it stands, called or only
handed on (`default_factory=datetime.now`), and under whatever name it was imported.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "emulator" / "hosting_emulator"
CORE_PACKAGES = ("contract", "criteria", "world", "calls", "variation", "engine", "conduct")

FORBIDDEN = {
    "time": "the world's clock is passed in",
    "random": "draw from a stream of the world's seed",
    "secrets": "draw from a stream of the world's seed",
    "uuid": "identifiers are ULIDs drawn from the world's seed",
    "os.urandom": "draw from a stream of the world's seed",
    "os.getrandom": "draw from a stream of the world's seed",
    "datetime.datetime.now": "the world's clock is passed in",
    "datetime.datetime.utcnow": "the world's clock is passed in",
    "datetime.datetime.today": "the world's clock is passed in",
    "datetime.date.today": "the world's clock is passed in",
    "ulid.ULID.from_timestamp": "fills up with the machine's randomness: use `make_ulid`",
    "ulid.ULID.from_datetime": "fills up with the machine's randomness: use `make_ulid`",
}
NEW_ULID = "`ULID()` reads the clock and the machine's randomness: use `make_ulid`"
NEW_KEY = "a generated key differs in each process: derive it from the world's seed"
SALTED = "`hash()` of a text differs in each process: use hashlib"

# (file under hosting_emulator/, forbidden name): why it is harmless there.
ALLOWED = {
    ("criteria/patterns.py", "time"): (
        "a time limit for a regular expression that a user wrote: it ends in an error, never in"
        " another result"
    ),
    ("engine/machine_clock.py", "time"): (
        "the one door to the machine's clock, above every rule of the service: a world's clock"
        " follows it, and the request log says how long an answer took"
    ),
}


def core_files() -> list[str]:
    folders = [PACKAGE / package for package in CORE_PACKAGES]
    assert all(folder.is_dir() for folder in folders), folders
    files = (path for folder in folders for path in folder.rglob("*.py"))
    return sorted(path.relative_to(PACKAGE).as_posix() for path in files)


def breaches(source: str) -> Iterator[tuple[int, str, str]]:
    """Yield (line, name, reason) for each thing in `source` that a pure core may not name."""
    tree = ast.parse(source)
    imported = imported_names(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            yield from forbidden_imports(node)
        elif isinstance(node, ast.Attribute):
            yield from forbidden_name(node, imported)
        elif isinstance(node, ast.Call):
            yield from forbidden_call(node, imported)


def imported_names(tree: ast.Module) -> dict[str, str]:
    """Map each name that an import binds to the dotted name it stands for."""
    names: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                bound = alias.asname or alias.name.partition(".")[0]
                names[bound] = alias.name if alias.asname else bound
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return names


def forbidden_imports(node: ast.Import | ast.ImportFrom) -> Iterator[tuple[int, str, str]]:
    if isinstance(node, ast.Import):
        names = [alias.name for alias in node.names]
    elif node.level:  # `from .random import …` is a neighbour, not the machine's
        names = []
    else:
        names = [f"{node.module}.{alias.name}" for alias in node.names]
    for name in names:
        reason = FORBIDDEN.get(name) or FORBIDDEN.get(name.partition(".")[0])
        if reason:
            yield node.lineno, name, reason


def forbidden_name(node: ast.Attribute, imported: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    name = dotted(node, imported)
    if name in FORBIDDEN:
        yield node.lineno, name, FORBIDDEN[name]


def forbidden_call(node: ast.Call, imported: dict[str, str]) -> Iterator[tuple[int, str, str]]:
    name = dotted(node.func, imported)
    last = name.rpartition(".")[2]
    if name == "ulid.ULID" and not (node.args or node.keywords):
        yield node.lineno, name, NEW_ULID
    elif last in {"generate", "generate_private_key"} and "." in name:
        yield node.lineno, name, NEW_KEY
    elif name == "hash":
        yield node.lineno, name, SALTED


def dotted(node: ast.expr, imported: dict[str, str]) -> str:
    """Return the full dotted name of an expression, or "" when it is no plain name."""
    if isinstance(node, ast.Name):
        return imported.get(node.id, node.id)
    if isinstance(node, ast.Attribute):
        owner = dotted(node.value, imported)
        return f"{owner}.{node.attr}" if owner else ""
    return ""


def test_the_kernel_reads_no_machine_clock_and_no_randomness():
    violations = [
        f"{file}:{line}: {name}: {reason}"
        for file in core_files()
        for line, name, reason in breaches((PACKAGE / file).read_text(encoding="utf-8"))
        if (file, name) not in ALLOWED
    ]

    assert not violations, "\n".join(violations)


def test_every_exception_to_purity_is_still_needed():
    for file, name in ALLOWED:
        source = (PACKAGE / file).read_text(encoding="utf-8")

        assert name in {breach for _, breach, _ in breaches(source)}, file


@pytest.mark.parametrize(
    "source",
    [
        "import time",
        "import random as dice",
        "from time import monotonic",
        "from secrets import token_bytes as fresh",
        "import os\nkey = os.urandom(32)",
        "import os as system\nkey = system.urandom(32)",
        "from os import urandom",
        "import datetime\nnow = datetime.datetime.now()",
        "import datetime as dt\nnow = dt.datetime.now(dt.UTC)",
        "from datetime import datetime\nfield(default_factory=datetime.now)",
        "from datetime import date\ntoday = date.today()",
        "from ulid import ULID\nid = str(ULID())",
        "from ulid import ULID\nid = ULID.from_timestamp(now)",
        "from x import Ed25519PrivateKey\nkey = Ed25519PrivateKey.generate()",
        "bucket = hash(name) % 8",
    ],
)
def test_the_purity_check_sees_every_disguised_violation(source: str):
    assert list(breaches(source))


@pytest.mark.parametrize(
    "source",
    [
        "from datetime import UTC, datetime\nmoment = datetime.fromtimestamp(seconds, UTC)",
        "from ulid import ULID\nid = ULID.from_bytes(raw)",
        "from .random import Stream",
        "from hosting_emulator.world.time import Clock",
        "now = world.clock.now()",
        "import hashlib\ndigest = hashlib.sha256(seed)",
    ],
)
def test_the_purity_check_accepts_pure_code(source: str):
    assert not list(breaches(source))
