"""Whether this system lets its users create namespaces, which `--sealed` needs."""

from __future__ import annotations

import shutil
import subprocess
from functools import cache

import pytest


def need_namespaces() -> None:
    """Skip the test if the system refuses a new user namespace or a new network namespace.

    The program `unshare` decides, because the product itself must not decide whether it is tested.
    The test is skipped in CI as well: whether namespaces are allowed depends on the machine.
    """
    reason = _refusal()
    if reason:
        pytest.skip(f"no namespaces: {reason}")


@cache
def _refusal() -> str:
    """Return why there are no namespaces, or an empty text."""
    if shutil.which("unshare") is None:
        return "there is no program `unshare`"
    command = ["unshare", "--user", "--net", "--map-root-user", "true"]
    result = subprocess.run(command, capture_output=True, text=True)
    return "" if result.returncode == 0 else result.stderr.strip()
