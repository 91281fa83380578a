"""Versions: Python's and the dependencies', against the least that the package asks for."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable

from hosting_emulator_cli.doctor.finding import Finding, ok, problem

_REQUIREMENT = re.compile(r"([A-Za-z0-9._-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9.]+)\s*$")
_INSTALL = (
    "Install again: `pip install --upgrade hosting-emulator`, or `make install` in a checkout"
)


def check_python(version: str, wanted: str) -> Finding:
    """Hold Python's version against what the package asks for, such as `>=3.11`."""
    least = wanted.removeprefix(">=").strip()
    if release(version) < release(least):
        return problem(
            "python",
            f"This is Python {version}; the emulator needs {least} or newer.",
            f"Make an environment with a newer Python and install into that: `python{least} -m venv`.",
        )
    return ok("python", f"Python {version}; {least} or newer is needed.")


def check_dependencies(
    requirements: Iterable[str], installed: Callable[[str], str | None]
) -> list[Finding]:
    """Hold each dependency against its least version; what belongs to an extra does not count."""
    findings, fine = [], 0
    for text in requirements:
        wanted = _REQUIREMENT.match(text)
        if wanted is None:
            continue
        name, least = wanted.groups()
        version = installed(name)
        if version is not None and release(version) >= release(least):
            fine += 1
            continue
        found = "is not installed" if version is None else f"is {version}"
        findings.append(
            problem("dependencies", f"{name} {found}; {least} or newer is needed.", f"{_INSTALL}.")
        )
    return findings or [ok("dependencies", f"All {fine} are there and new enough.")]


def release(version: str) -> tuple[int, ...]:
    """Return a version's numbers, to be compared; zeros at the end and `rc1` do not count."""
    numbers = re.match(r"\d+(\.\d+)*", version)
    found = [int(number) for number in numbers.group().split(".")] if numbers else []
    while found and not found[-1]:
        found.pop()
    return tuple(found)
