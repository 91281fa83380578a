"""The hook of the build: it writes the build id into the wheel and the source distribution.

The id is a digest of the packages' files, so it needs no git, and the same files give the same id.
"""

from __future__ import annotations

import tempfile
from hashlib import sha256
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PACKAGES = (
    "emulator/hosting_emulator",
    "emulator/hosting_emulator_lab",
    "scenarios/hosting_emulator_scenarios",
    "fixtures/pytest_hosting_emulator",
    "cli/hosting_emulator_cli",
)
FILE = "build-id.txt"


def build_id(root: Path) -> str:
    """Return the digest of all files of the packages below a folder, in hexadecimal digits."""
    total = sha256()
    for package in PACKAGES:
        for path in sorted((root / package).rglob("*")):
            if not path.is_file() or path.name == FILE or "__pycache__" in path.parts:
                continue
            total.update(f"{path.relative_to(root).as_posix()}\n".encode())
            total.update(sha256(path.read_bytes()).digest())
    return total.hexdigest()[:12]


class BuildIdHook(BuildHookInterface):  # type: ignore[type-arg]
    """Adds the file with the build id."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file, except to an editable install, whose files change."""
        if version == "editable":
            return
        folder = Path(tempfile.mkdtemp(prefix="hosting-emulator-build-"))
        written = folder / FILE
        written.write_text(build_id(Path(self.root)) + "\n", encoding="ascii")
        inside = f"hosting_emulator/{FILE}"
        if self.target_name == "sdist":
            inside = f"emulator/{inside}"
        build_data["force_include"][str(written)] = inside
