"""Summarizes a report of pip-audit.

Exits with 1 if a package is vulnerable, and with 3 if no lookup worked.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def main(service: str, report: Path) -> int:
    """Read a report, in which packages that the service does not know count as not looked up."""
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
            print(f"audit: {name}: {found['id']}, fixed in {fixed}")
    vulnerable = [package for package in known if package["vulns"]]
    missed = len(packages) - len(known)
    print(
        f"audit: {service}: {len(known)} packages looked up, {len(vulnerable)} vulnerable,", end=""
    )
    print(f" {missed} not known to the service")
    return 1 if vulnerable else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
