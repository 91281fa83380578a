"""The handle is cheap: it imports the standard library and itself, nothing else."""

import subprocess
import sys

LIST_IMPORTS = """
import sys
before = set(sys.modules)
import hosting_emulator.client
print(*sorted(set(sys.modules) - before), sep="\\n")
"""


def test_imports_only_the_standard_library_and_itself():
    run = subprocess.run(
        [sys.executable, "-c", LIST_IMPORTS], capture_output=True, text=True, check=True
    )

    foreign = [
        name
        for name in run.stdout.split()
        if name.partition(".")[0] not in sys.stdlib_module_names
        and name != "hosting_emulator"
        and not name.startswith("hosting_emulator.client")
    ]

    assert foreign == []
