"""Jobs of CI recipes, read from their YAML as GitHub and GitLab would. Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML

from tests.docs.markdown import blocks

_IMAGE = "registry.example/hosting-emulator"


@dataclass(frozen=True, slots=True)
class Job:
    """A job's commands for each cell of its matrix, and the environment of it and of its emulator.

    `service` is None for a job that has no emulator beside it; `host` is the name it goes by.
    """

    name: str
    commands: tuple[str, ...]
    env: dict[str, str]
    service: dict[str, str] | None
    host: str


def jobs(page: str) -> Iterator[Job]:
    """Yield the jobs of all recipes of a page."""
    for block in blocks(page):
        if block.language == "yaml":
            file = block.text.splitlines()[0].removeprefix("# ")
            recipe = YAML(typ="safe", pure=True).load(block.text)
            read = _gitlab if file == ".gitlab-ci.yml" else _github
            yield from read(file, recipe)


def _github(file: str, recipe: dict[str, Any]) -> Iterator[Job]:
    for name, job in recipe["jobs"].items():
        cell = {
            f"matrix.{axis}": str(values[0])
            for axis, values in job.get("strategy", {}).get("matrix", {}).items()
        }
        commands = tuple(_filled(step["run"], cell) for step in job["steps"] if "run" in step)
        services = [s for s in job.get("services", {}).values() if s["image"].startswith(_IMAGE)]
        for service in services:
            assert service["ports"] == ["4620:4620"]
        yield Job(
            name=f"{file} {name}",
            commands=commands,
            env=recipe.get("env", {}) | job.get("env", {}),
            service=services[0].get("env", {}) if services else None,
            host="127.0.0.1",
        )


def _gitlab(file: str, recipe: dict[str, Any]) -> Iterator[Job]:
    for name, job in recipe.items():
        services = [s for s in job.get("services", ()) if s["name"].startswith(_IMAGE)]
        variables = job.get("variables", {})
        parallel = job.get("parallel", 1)
        cell = {}
        if isinstance(parallel, int):
            cell = {"CI_NODE_INDEX": "1", "CI_NODE_TOTAL": str(parallel)}
        else:
            cell = {axis: values[0] for axis, values in parallel["matrix"][0].items()}
        yield Job(
            name=f"{file} {name}",
            commands=tuple(job["script"]),
            env=variables | cell,
            service=variables if services else None,  # GitLab gives them to the service too
            host=services[0]["alias"] if services else "",
        )


def _filled(command: str, cell: dict[str, str]) -> str:
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda found: cell[found[1]], command)
