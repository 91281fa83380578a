"""The jobs of CI recipes, read from their YAML as GitHub and GitLab do. Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from tests.docs.markdown import blocks, steps

EXAMPLES = Path(__file__).parents[2] / "docs" / "examples" / "ci"
GITLAB = ".gitlab-ci.yml"
_IMAGE = "registry.example/hosting-emulator"


@dataclass(frozen=True, slots=True)
class Job:
    """The commands of a job for one cell of its matrix, with the environments of job and emulator.

    `service` is None for a job without an emulator beside it.
    """

    name: str
    commands: tuple[str, ...]
    env: dict[str, str]
    service: dict[str, str] | None


def recipes(page: str) -> dict[str, str]:
    """Return the recipes of a page, and those in the folder of examples, by file name."""
    texts = [block.text for block in blocks(page) if block.language == "yaml"]
    texts += [path.read_text(encoding="utf-8") for path in sorted(EXAMPLES.glob("*.yml"))]
    return {text.splitlines()[0].removeprefix("# "): text for text in texts}


def jobs(page: str) -> Iterator[Job]:
    """Yield the jobs of all recipes of a page. The first is the one in plain shell."""
    commands = [
        step.command
        for block in blocks(page)
        if block.language == "console" and block.skipped is None
        for step in steps(block)
    ]
    yield Job(name="plain shell", commands=tuple(commands), env={}, service=None)
    for file, text in recipes(page).items():
        read = _gitlab if file == GITLAB else _github
        yield from read(file, YAML(typ="safe", pure=True).load(text))


def _github(file: str, recipe: dict[str, Any]) -> Iterator[Job]:
    for name, job in recipe["jobs"].items():
        cell = {
            f"matrix.{axis}": str(values[0])
            for axis, values in job.get("strategy", {}).get("matrix", {}).items()
        }
        commands = tuple(_filled(step["run"], cell) for step in job["steps"] if "run" in step)
        services = [
            service
            for service in job.get("services", {}).values()
            if service["image"].startswith(_IMAGE)
        ]
        for service in services:
            assert service["ports"] == ["4620:4620"]
        yield Job(
            name=f"{file} {name}",
            commands=commands,
            env=recipe.get("env", {}) | job.get("env", {}),
            service=services[0].get("env", {}) if services else None,
        )


def _gitlab(file: str, recipe: dict[str, Any]) -> Iterator[Job]:
    for name, job in recipe.items():
        yield Job(name=f"{file} {name}", commands=tuple(job["script"]), env={}, service=None)


def _filled(command: str, cell: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: cell[match[1]], command)
