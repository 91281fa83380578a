"""Names say what a thing is, and docstrings are natural English: no package gets worse.

Each package has a budget: how many weak names and unnatural sentences it may still have. Lower the
number when you have removed some. Never raise it: say what the thing is.
"""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import PurePath

import pytest

from tests.architecture.test_docstrings import PACKAGES, modules

#: Participles, pronouns and question words, which qualify a noun but do not replace one.
WEAK_NAMES = frozenset(
    [
        "again",
        "answer",
        "answered",
        "asked",
        "begun",
        "done",
        "every",
        "found",
        "given",
        "how",
        "kept",
        "known",
        "made",
        "meant",
        "named",
        "one",
        "said",
        "says",
        "shown",
        "some",
        "told",
        "wanted",
        "what",
        "which",
        "who",
        "written",
        "wrong",
    ]
)
#: Sentences that an English-speaking engineer would not say to a colleague, with what to say.
UNNATURAL_SENTENCES = {
    r"(?:^|[.:;] )Of (?!course)": "start with the subject",
    r"\b[Ww]hoever\b": "the caller, the client, the user",
    r"\b(?:who|Who) asks\b": "the caller",
    r"(?<![Tt]here )\bis no (?!longer|more\b|less\b)": "is not a",
    r"\bso is\b|\bso are\b": "write a clause of its own",
    r"\bof its own\b": "its own",
    r"\bunless told otherwise\b": "by default",
    r"\bis to be\b|\bare to be\b": "must be",
    r"\bthe one (?:that|which)\b": "name the thing",
}
#: How many weak names a package may still define. A package that is not named may have none.
NAME_BUDGETS = {
    "faults": 1,
    "messages": 6,
    "scenario": 1,
    "sdk": 10,
    "storage": 1,
    "world": 8,
}
#: How many unnatural sentences the docstrings of a package may still have.
SENTENCE_BUDGETS: dict[str, int] = {}


def package_of(file: str) -> str:
    """Return the package whose budget a module uses: `engine`, or `cli` for all of the CLI."""
    parts = PurePath(file).parts
    if parts[1] == "hosting_emulator":
        return parts[2] if len(parts) > 3 else "hosting_emulator"
    return "lab" if parts[1] == "hosting_emulator_lab" else parts[0]


PACKAGE_NAMES = sorted({package_of(file) for file, _ in modules(*PACKAGES)})


def defined_names(tree: ast.Module) -> Iterator[str]:
    """Yield every variable, parameter, attribute, function and class that a module defines."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            yield node.id
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            yield node.attr
        elif isinstance(node, ast.arg):
            yield node.arg
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield node.name


def docstrings(tree: ast.Module) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield " ".join((ast.get_docstring(node) or "").split())


@cache
def weak_names() -> dict[str, Counter[str]]:
    """Return how often each weak name is defined, by package."""
    counts: dict[str, Counter[str]] = {}
    for file, source in modules(*PACKAGES):
        names = [name.strip("_").lower() for name in defined_names(ast.parse(source))]
        package_counts = counts.setdefault(package_of(file), Counter())
        package_counts.update(name for name in names if name in WEAK_NAMES)
    return counts


@cache
def unnatural_sentences() -> dict[str, list[str]]:
    """Return where docstrings have unnatural sentences, with what to say instead, by package."""
    places: dict[str, list[str]] = {}
    for file, source in modules(*PACKAGES):
        package_places = places.setdefault(package_of(file), [])
        for text in docstrings(ast.parse(source)):
            for pattern, advice in UNNATURAL_SENTENCES.items():
                for match in re.finditer(pattern, text):
                    excerpt = text[max(0, match.start() - 20) : match.end() + 30]
                    package_places.append(f"{file}: …{excerpt}… ({advice})")
    return places


@pytest.mark.parametrize("package", PACKAGE_NAMES)
def test_a_package_defines_no_more_names_that_do_not_say_what_a_thing_is(package: str) -> None:
    counts = weak_names()[package]

    assert counts.total() <= NAME_BUDGETS.get(package, 0), f"name what it is: {dict(counts)}"


@pytest.mark.parametrize("package", PACKAGE_NAMES)
def test_a_package_has_no_more_docstrings_in_unnatural_english(package: str) -> None:
    places = unnatural_sentences()[package]

    assert len(places) <= SENTENCE_BUDGETS.get(package, 0), "\n".join(places)
