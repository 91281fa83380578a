"""The jobs of CI recipes, read from their YAML as GitHub and GitLab do. Runs nothing."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ruamel.yaml import YAML

from tests.docs.markdown import blocks

GITLAB = ".gitlab-ci.yml"
_IMAGE = "registry.example/hosting-emulator"
#: The keys of a GitLab file that are not jobs.
_COMMON_KEYS = ("variables", "default")


@dataclass(frozen=True, slots=True)
class Job:
    """The commands of a job for one cell of its matrix, with the environments of job and emulator.

    `service` is None for a job without an emulator beside it; `host` is the host name of the emulator.
    """

    name: str
    commands: tuple[str, ...]
    env: dict[str, str]
    service: dict[str, str] | None
    host: str


def recipes(page: str) -> dict[str, str]:
    """Return the recipes of a page as written, by file name."""
    texts = [block.text for block in blocks(page) if block.language == "yaml"]
    return {text.splitlines()[0].removeprefix("# "): text for text in texts}


def jobs(page: str) -> Iterator[Job]:
    """Yield the jobs of all recipes of a page."""
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
            host="127.0.0.1",
        )


def _gitlab(file: str, recipe: dict[str, Any]) -> Iterator[Job]:
    common_variables = recipe.get("variables", {})
    for name, job in recipe.items():
        if name in _COMMON_KEYS:
            continue
        services = [s for s in job.get("services", ()) if s["name"].startswith(_IMAGE)]
        variables = common_variables | job.get("variables", {})
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
    return re.sub(r"\$\{\{ (\S+) \}\}", lambda match: cell[match[1]], command)
