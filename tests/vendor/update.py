"""Fetches the files of other projects that the emulator ships, and checks that they are as fetched.

`python -m tests.vendor.update` fetches what `vendored.json` names, with npm, and writes down the
hash of each file; `--check` fetches nothing and compares. A browser finds a module by its address
alone, so imports by a package's name become imports of the file beside (`imports`), and the line
that names a source map, which is not shipped, is left out. Nothing else is changed.
"""

from __future__ import annotations

import hashlib
import json
import re
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
TABLE = Path(__file__).with_name("vendored.json")


def main(arguments: list[str]) -> int:
    """Fetch, or check; return the exit code."""
    table = json.loads(TABLE.read_text())
    if arguments == ["--check"]:
        wrong = differing(table)
        print("\n".join(wrong) or f"{len(table['sha256'])} vendored files are as they were fetched")
        return 1 if wrong else 0
    table["sha256"] = dict(sorted(fetched(table).items()))
    TABLE.write_text(json.dumps(table, indent=2) + "\n")
    return 0


def differing(table: dict[str, Any]) -> list[str]:
    """Return a line for each vendored file that is missing, changed or not written down."""
    wrong = []
    named = {path for row in table["packages"] for path in _targets(row)}
    for path in sorted(named | set(table["sha256"])):
        file = ROOT / path
        known = table["sha256"].get(path)
        if not file.exists():
            wrong.append(f"{path} is missing")
        elif known != hashlib.sha256(file.read_bytes()).hexdigest():
            wrong.append(f"{path} is not as it was fetched")
    return wrong


def _targets(row: dict[str, Any]) -> list[str]:
    return [f"{row['into']}/{name}" for name in row["files"].values()]


def fetched(table: dict[str, Any]) -> dict[str, str]:
    """Fetch and write every file; return their hashes by path."""
    hashes = {}
    for row in table["packages"]:
        with tempfile.TemporaryDirectory() as folder:
            members = _fetch(f"{row['package']}@{row['version']}", Path(folder))
            for member, name in row["files"].items():
                path = f"{row['into']}/{name}"
                content = _fitted(members[f"package/{member}"], name, row.get("imports", {}))
                (ROOT / path).parent.mkdir(parents=True, exist_ok=True)
                (ROOT / path).write_bytes(content)
                hashes[path] = hashlib.sha256(content).hexdigest()
    return hashes


def _fetch(wanted: str, folder: Path) -> dict[str, bytes]:
    """Return a package's files by name. npm checks them against the registry's own hash."""
    subprocess.run(
        ["npm", "pack", "--silent", wanted], cwd=folder, check=True, stdout=subprocess.DEVNULL
    )
    (found,) = folder.glob("*.tgz")
    with tarfile.open(found) as archive:
        return {
            member.name: content.read()
            for member in archive
            if (content := archive.extractfile(member)) is not None
        }


def _fitted(content: bytes, name: str, imports: dict[str, str]) -> bytes:
    if not name.endswith((".js", ".css")):
        return content
    text = re.sub(r"\s*(//|/\*)# sourceMappingURL=.*\s*$", "\n", content.decode())
    for package, file in imports.items():
        text = re.sub(rf'\b(from|import) ?"{re.escape(package)}"', rf'\1"{file}"', text)
    return text.encode()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
