"""CI and the image install pinned versions with hashes that satisfy pyproject.toml.

These tests only read files; `make install` and the image have pip check that nothing is missing.
"""

import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from tests.packaging.conftest import REPOSITORY

LOCKS = REPOSITORY / ".ci" / "locks"
ADVICE = "run `make lock`"
_PIN = re.compile(r"^([a-z0-9.-]+)==(\S+)(.*(?:\n    .*)*)", re.MULTILINE)


def pins(text: str) -> dict[str, str]:
    """Return the version of each package that a lock pins; each must have a hash."""
    versions = {}
    for name, version, rest in _PIN.findall(text):
        assert "--hash=sha256:" in rest, f"{name} has no hash: {ADVICE}"
        assert name not in versions, f"{name} is pinned twice: {ADVICE}"
        versions[name] = version
    return versions


def unsatisfied(requirements: Iterable[str], pinned: dict[str, str]) -> list[str]:
    """Return the requirements that no pin satisfies."""
    parsed = {text: Requirement(text) for text in requirements}
    return [
        text
        for text, requirement in parsed.items()
        if not requirement.specifier.contains(pinned.get(canonicalize_name(requirement.name), "0"))
    ]


def read(path: Path) -> dict[str, str]:
    return pins(path.read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def pyproject() -> dict:
    return tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))


def test_the_image_lock_satisfies_the_dependencies_of_the_emulator(pyproject: dict):
    pinned = read(LOCKS / "image.txt")

    assert unsatisfied(pyproject["project"]["dependencies"], pinned) == [], ADVICE


def test_the_test_lock_satisfies_the_tests_and_the_build(pyproject: dict):
    image = read(LOCKS / "image.txt")
    tests = read(LOCKS / "tests.txt")
    extras = pyproject["project"]["optional-dependencies"]
    requirements = [*pyproject["build-system"]["requires"], *extras["dev"], *extras["pytest"]]

    assert unsatisfied(requirements, image | tests) == [], ADVICE
    assert image.keys() & tests.keys() == set(), "one version of each: " + ADVICE
    assert "pip" in tests


def test_the_documentation_tools_are_pinned_in_a_lock_of_their_own(pyproject: dict):
    tests = read(LOCKS / "tests.txt")
    docs = read(LOCKS / "docs.txt")

    assert unsatisfied(pyproject["project"]["optional-dependencies"]["docs"], docs) == [], ADVICE
    assert "sphinx" not in tests
    assert {name for name in docs.keys() & tests.keys() if docs[name] != tests[name]} == set()


def test_the_locks_are_resolved_for_the_oldest_python(pyproject: dict):
    oldest = pyproject["project"]["requires-python"].removeprefix(">=")

    assert f"--python-version {oldest} " in (REPOSITORY / ".ci" / "lock").read_text("utf-8")


@pytest.mark.parametrize("requirement", ["aiohttp>=4", "aiohttp<3.14", "nothing-of-this-name>=1"])
def test_an_outdated_lock_is_reported(requirement: str):
    pinned = pins(
        "aiohttp==3.14.5 \\\n    --hash=sha256:00\n    # via us\nattrs==1 \\\n    --hash=sha256:0"
    )

    assert unsatisfied([requirement, "aiohttp>=3.11", "ATTRS"], pinned) == [requirement]


def test_a_pin_without_a_hash_is_reported():
    with pytest.raises(AssertionError, match="aiohttp has no hash"):
        pins("aiohttp==3.14.5\nattrs==1 \\\n    --hash=sha256:0")
