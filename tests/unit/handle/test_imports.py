"""The handle is cheap: it imports the standard library, the client and itself, nothing else."""

import subprocess
import sys

LIST_IMPORTS = """
import sys
before = set(sys.modules)
import hosting_emulator.handle
print(*sorted(set(sys.modules) - before), sep="\\n")
"""


def test_imports_only_the_standard_library_the_client_and_itself():
    run = subprocess.run(
        [sys.executable, "-c", LIST_IMPORTS], capture_output=True, text=True, check=True
    )

    foreign = [
        name
        for name in run.stdout.split()
        if name.partition(".")[0] not in sys.stdlib_module_names
        and name != "hosting_emulator"
        and not name.startswith(("hosting_emulator.client", "hosting_emulator.handle"))
    ]

    assert foreign == []


def test_does_not_import_what_few_need():
    run = subprocess.run(
        [sys.executable, "-c", LIST_IMPORTS], capture_output=True, text=True, check=True
    )

    assert not {"http.client", "email", "ssl", "asyncio", "difflib"} & set(run.stdout.split())
