"""Lists the modules that an import loads, in a separate process."""

from __future__ import annotations

import subprocess
import sys

_LIST_IMPORTS = """
import sys
before = set(sys.modules)
import {module}
print(*sorted(set(sys.modules) - before), sep="\\n")
"""


def modules_imported_by(module: str) -> set[str]:
    """Return the modules that importing `module` loads, including `module` itself."""
    run = subprocess.run(
        [sys.executable, "-c", _LIST_IMPORTS.format(module=module)],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(run.stdout.split())


def foreign_modules(modules: set[str], *own: str) -> list[str]:
    """Return the modules that belong neither to the standard library nor to the packages in `own`."""
    standard_modules = sys.stdlib_module_names
    return sorted(
        name
        for name in modules - {"hosting_emulator"}
        if name.partition(".")[0] not in standard_modules and not name.startswith(own)
    )
