"""The workflows of this repository, and those of the guide to CI.

Schemas check their form; the other tests check rules that no schema states.
"""

import re
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tests.docs.recipes import GITLAB, recipes
from tests.packaging.conftest import REPOSITORY, run

OURS = {path.name: path.read_text("utf-8") for path in (REPOSITORY / ".github/workflows").iterdir()}
COPIED = recipes((REPOSITORY / "docs" / "ci.md").read_text(encoding="utf-8"))
WORKFLOWS = {**OURS, **{name: text for name, text in COPIED.items() if name != GITLAB}}
COMMAND = Path(sys.executable).with_name("check-jsonschema")


def load(text: str) -> Any:
    return YAML(typ="safe", pure=True).load(text)


def steps(text: str) -> list[dict[str, Any]]:
    return [step for job in load(text)["jobs"].values() for step in job["steps"]]


@pytest.mark.parametrize(
    ("schema", "files"),
    [("github-workflows", WORKFLOWS), ("gitlab-ci", {GITLAB: COPIED[GITLAB]})],
    ids=["github", "gitlab"],
)
def test_every_workflow_follows_its_schema(schema: str, files: dict[str, str], tmp_path: Path):
    paths = [tmp_path / name.replace("/", "-") for name in files]
    for path, text in zip(paths, files.values(), strict=True):
        path.write_text(text, encoding="utf-8")

    run(
        [COMMAND, "--builtin-schema", f"vendor.{schema}", *paths],
        cwd=tmp_path,
    )


@pytest.mark.parametrize("name", WORKFLOWS)
def test_a_job_that_installs_sets_up_python_and_keys_its_cache_by_a_lock(name: str):
    for job in load(WORKFLOWS[name])["jobs"].values():
        python = [s["with"] for s in job["steps"] if "/setup-python@" in s.get("uses", "")]
        installs = [s for s in job["steps"] if re.search(r"\bpip\b|\.ci/run", s.get("run", ""))]

        assert python or not installs
        for options in python:
            assert ("cache" in options) == ("cache-dependency-path" in options)


@pytest.mark.parametrize("name", COPIED)
def test_a_failed_job_uploads_the_worlds_that_it_keeps(name: str):
    """Each job of a recipe that keeps worlds uploads their file or folder."""
    location_by_option = {
        "--failed-world failed.json": "failed*.json",
        "--hosting-emulator-keep=": "hosting-emulator-worlds",
    }
    document = load(COPIED[name])
    for job in document.get("jobs", document).values():
        text = str(job)
        for option, location in location_by_option.items():
            assert (option in text) == (location in text.replace(option, ""))
        if "keep" in text:
            assert "failure()" in text or "on_failure" in text


@pytest.mark.parametrize("name", OURS)
def test_ci_tests_every_promised_python_version(name: str):
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text("utf-8"))["project"]
    promised = re.findall(r"Python :: (3\.\d+)", "\n".join(project["classifiers"]))

    assert load(OURS[name])["jobs"]["test"]["strategy"]["matrix"]["python"] == promised


def test_only_the_publishing_job_has_permissions_and_it_builds_nothing():
    release = load(OURS["release.yml"])
    jobs = release["jobs"]

    assert release["permissions"] == {"contents": "read"}
    assert {name for name, job in jobs.items() if "permissions" in job} == {"publish"}
    assert jobs["publish"]["permissions"] == {"id-token": "write"}
    assert not [step for step in jobs["publish"]["steps"] if "run" in step]
    assert (jobs["test"]["needs"], jobs["publish"]["needs"]) == ("build", "test")
    assert not re.search(r"secrets\.|cache:", OURS["release.yml"])


@pytest.mark.parametrize("name", WORKFLOWS)
def test_every_third_party_action_is_pinned_to_a_commit(name: str):
    actions = [step["uses"] for step in steps(WORKFLOWS[name]) if "uses" in step]

    assert [
        action
        for action in actions
        if not re.fullmatch(r"actions/[a-z-]+@v\d+|.+@[0-9a-f]{40}", action)
    ] == []


def test_ci_runs_an_existing_executable():
    commands = [step["run"] for step in steps(OURS["ci.yml"]) if "run" in step]

    assert ".ci/run" in commands
    assert (REPOSITORY / ".ci" / "run").stat().st_mode & 0o111
