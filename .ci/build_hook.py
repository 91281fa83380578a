"""The build hooks, which add the build id, the manual and the project's links to a package.

The build id is a digest of the packages' files, so it does not need git, and the same files always
have the same id. The manual consists of README.md and the `docs` folder, without the pages for
maintainers and the files of the documentation site. A source distribution contains README.md and
`docs` at their usual paths.

The links point to the repository whose workflow builds the release. Any other build does not know
its repository.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface
from hatchling.metadata.plugin.interface import MetadataHookInterface

PACKAGES = (
    "emulator/hosting_emulator",
    "emulator/hosting_emulator_lab",
    "scenarios/hosting_emulator_scenarios",
    "fixtures/pytest_hosting_emulator",
    "cli/hosting_emulator_cli",
)
FILE = "build-id.txt"
#: Patterns for the files in `docs` that a wheel contains, and their folder in the wheel.
MANUAL_FILES = ("*.md", "reference/*.md", "examples/**/*", "pictures/*")
MANUAL_FOLDER = "hosting_emulator/manual"


def build_id(root: Path) -> str:
    """Return the digest of all package files below `root`, as 12 hexadecimal digits."""
    total = sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if not path.is_file() or path.name == FILE or "__pycache__" in path.parts:
                continue
            total.update(f"{path.relative_to(root).as_posix()}\n".encode())
            total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()[:12]


def manual_files(root: Path) -> dict[str, str]:
    """Return the files of the manual below `root`, each mapped to its path in a wheel."""
    docs = root / "docs"
    paths = [path for pattern in MANUAL_FILES for path in docs.glob(pattern) if path.is_file()]
    return {
        str(path): f"{MANUAL_FOLDER}/{path.relative_to(root).as_posix()}"
        for path in (root / "README.md", *sorted(paths))
    }


class BuildHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the build id and the manual to a package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the files. An editable install gets none, because its sources keep changing."""
        if version == "editable":
            return
        folder = Path(tempfile.mkdtemp(prefix="hosting-emulator-build-"))
        written = folder / FILE
        written.write_text(build_id(Path(self.root)) + "\n", encoding="ascii")
        inside = f"hosting_emulator/{FILE}"
        if self.target_name == "sdist":
            inside = f"emulator/{inside}"
        build_data["force_include"][str(written)] = inside
        if self.target_name == "wheel":
            build_data["force_include"].update(manual_files(Path(self.root)))


#: The address at which an emulator on the default port serves the manual.
LOCAL_MANUAL = "http://127.0.0.1:4620/_emulator/docs"


def project_links(variables: Mapping[str, str]) -> dict[str, str]:
    """Return the project's links. `variables` is the environment of the workflow that builds it."""
    links = {"Manual of a running emulator": LOCAL_MANUAL}
    server = variables.get("GITHUB_SERVER_URL")
    repository = variables.get("GITHUB_REPOSITORY")
    if not server or not repository:
        return links
    home = f"{server}/{repository}"
    files = f"{home}/blob/{variables.get('GITHUB_REF_NAME', 'main')}"
    return {
        "Homepage": home,
        "Documentation": f"{files}/docs/tasks.md",
        "Reference": f"{files}/docs/reference/index.md",
        "Changelog": f"{files}/CHANGELOG.md",
        "Issues": f"{home}/issues",
        "Security": f"{files}/SECURITY.md",
        **links,
    }


class ProjectLinksHook(MetadataHookInterface):
    """Adds the project's links to the metadata."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the metadata's `urls`."""
        metadata["urls"] = project_links(os.environ)
