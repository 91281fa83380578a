"""Installs the Node.js packages that tests use, once for all tests, worker processes and runs.

`node/package.json` and its lock file list the packages. The installation folder is named after a
digest of these files, so a changed lock file leads to a new installation.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.examples.programs import need

LOCKED = Path(__file__).with_name("node")
FILES = ("package.json", "package-lock.json", ".npmrc")
INSTALLATIONS = Path(sys.prefix) / "node-packages"


def node_modules() -> Path:
    """Return the installed `node_modules` folder.

    The first process that needs the folder installs the packages, while other processes wait. If
    npm is missing, the test is skipped, or fails in CI.
    """
    need("npm")
    need("node")
    content = b"".join((LOCKED / name).read_bytes() for name in FILES)
    installation = INSTALLATIONS / hashlib.sha256(content).hexdigest()[:16]
    INSTALLATIONS.mkdir(exist_ok=True)
    with (INSTALLATIONS / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not installation.exists():
            _install(installation)
    return installation / "node_modules"


def link_packages(folder: Path) -> Path:
    """Let programs in a folder import the packages. Return the folder with the packages' commands."""
    packages = node_modules()
    (folder / "node_modules").symlink_to(packages, target_is_directory=True)
    return packages / ".bin"


def link_package(folder: Path, name: str, package: str) -> None:
    """Let programs in a folder import an installed package as `name`."""
    (folder / "node_modules").mkdir()
    (folder / "node_modules" / name).symlink_to(node_modules() / package, target_is_directory=True)


def _install(installation: Path) -> None:
    """Install the packages in a temporary folder first, so that no incomplete installation is used."""
    unfinished = INSTALLATIONS / f"unfinished-{os.getpid()}"
    unfinished.mkdir()
    try:
        for name in FILES:
            shutil.copy(LOCKED / name, unfinished)
        command = ["npm", "ci", "--ignore-scripts", "--prefer-offline"]
        process = subprocess.run(
            command, cwd=unfinished, capture_output=True, text=True, check=False
        )
        assert process.returncode == 0, f"{command}\n{process.stdout}\n{process.stderr}"
        unfinished.rename(installation)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
