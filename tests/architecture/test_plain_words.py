"""Phrases that users asked us to drop do not come back. Each is listed with its replacement."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.architecture.test_docstrings import PACKAGES, modules

REPOSITORY = Path(__file__).parents[2]
#: Unnatural phrases and their replacements. See `docs/maintainers/words.md`.
PLAIN = {
    "all is well": "works, succeeds",
    "answers otherwise": "responds differently",
    "as by default": "is the default",
    "begins anew": "starts over",
    "beginning anew": "starting over",
    "by turn of a hand": "manually",
    "client is done": "client has finished",
    "did not go well": "failed",
    "ends well": "succeeds",
    "goes on": "continues",
    "is gone again": "is temporary",
    "is no call": "is not a call",
    "is no JSON": "is not JSON",
    "is no number": "is not a number",
    "is no text": "is not text",
    "is none of this world": "is not from this world",
    "is not to be had": "is not available",
    "it bears": "it accepts",
    "mend ": "fix, correct",
    "moves again": "continues",
    "must be had": "is needed",
    "nobody asks": "no request comes",
    "the person": "the user",
    "throw-away": "temporary",
    "told beforehand": "set in advance",
    "turns of a hand": "manual changes",
    "under way": "in progress",
    "unless you say": "by default",
    "so long ago": "this long ago",
    "so many": "this many",
    "stands for what is left out": "stands for omitted text",
    "what is lost": "what the client loses",
    "would not bear": "would not accept",
}
#: Files for people, and what they see; the contract's own sentences are quoted in none with such a word.
TEXTS = (
    "*.md",
    "docs/**/*.md",
    "emulator/**/*.md",
    "emulator/hosting_emulator/dashboard/static/**/*.js",
    "scenarios/hosting_emulator_scenarios/*.yaml",
)


def literals(source: str) -> Iterator[str]:
    """Yield what a module may print: its strings, but for those that are statements, as docstrings are."""
    tree = ast.parse(source)
    silent = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and id(node) not in silent
        ):
            yield node.value


@cache
def texts_by_file() -> dict[str, str]:
    """Return the texts for users by file, each on one line and in lower case."""
    texts = {name: " ".join(literals(source)) for name, source in modules(*PACKAGES)}
    for pattern in TEXTS:
        for path in REPOSITORY.glob(pattern):
            if "vendor" not in path.parts:
                texts[str(path.relative_to(REPOSITORY))] = path.read_text("utf-8")
    return {name: " ".join(text.split()).lower() for name, text in texts.items()}


@pytest.mark.parametrize("word", PLAIN)
def test_no_text_for_users_contains_an_unnatural_phrase(word: str) -> None:
    files = [name for name, text in texts_by_file().items() if word.lower() in text]

    assert files == [], f"say {PLAIN[word]!r} instead of {word!r}"
