"""Summarizes a report from pip-audit.

Exits with 1 if a package is vulnerable, and with 3 if no package could be looked up.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(service: str, report: Path) -> int:
    """Print a summary of the report, and return the exit code."""
    try:
        packages = json.loads(report.read_text(encoding="utf-8"))["dependencies"]
    except (ValueError, KeyError):
        return 3
    known = [package for package in packages if "vulns" in package]
    if not known:
        return 3
    for package in known:
        for found in package["vulns"]:
            fixed = ", ".join(found.get("fix_versions", [])) or "no version yet"
            name = f"{package['name']} {package['version']}"
            print(f"audit: {name}: {found['id']}, fixed in: {fixed}")
    vulnerable = [package for package in known if package["vulns"]]
    missed = len(packages) - len(known)
    print(
        f"audit: {service}: {len(known)} packages looked up, {len(vulnerable)} vulnerable,", end=""
    )
    print(f" {missed} unknown to the service")
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
