"""What many tests share: a client that speaks to one world as any of its users.

The server is the plugin's own (`hosting_emulator`): what users get is what the tests run on.
"""

from __future__ import annotations

import atexit
import gc
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Generator
from contextlib import suppress
from functools import cache
from pathlib import Path
from tempfile import gettempdir, mkdtemp

import pytest
from filelock import FileLock

from hosting_emulator.sdk import HostingEmulator
from tests.support import sampling
from tests.support.checked_world import CheckedWorld
from tests.support.http_world import close_idle_connections
from tests.support.sampling import SAMPLE_VARIABLE, sample_number

#: For the plugin's own tests; only the topmost conftest may name it.
pytest_plugins = ["pytester"]

with suppress(ModuleNotFoundError):  # the lowest versions are tried without it
    from hypothesis import HealthCheck, settings

    # A machine that is busy fails no test: neither an example nor what draws it has a time to keep. Else it
    # is Hypothesis' own profile, which under CI draws the same in every run.
    slow = [HealthCheck.too_slow]
    settings.register_profile("busy", settings(), deadline=None, suppress_health_check=slow)
    settings.load_profile("busy")

# A shell starts what it puts into the background with Ctrl-C ignored, and children inherit that: tests that
# press it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


HERE = Path(__file__).parent
#: Folders whose files take longest, in the order in which workers shall begin them: what is begun
#: last is short, so that no worker waits long for another.
LONGEST_FIRST = (
    "packaging",
    "storage/processes",
    "doors",
    "docs",
    "plugin",
    "browser",
    "openapi",
    "examples",
    "lab",
    "attacks",
)


def pytest_configure(config: pytest.Config) -> None:
    """Choose the sample once, so that the workers of a run all collect the same tests.

    Also set an empty runtime folder and an empty folder for temporary files, which the workers share.
    The developer's own emulators are registered in the usual ones, and are not found from here.
    """
    os.environ[SAMPLE_VARIABLE] = str(sample_number())
    sampling.omits_torture = "not torture" in config.getoption("markexpr")
    if "PYTEST_XDIST_WORKER" not in os.environ:
        os.environ.setdefault("PYTEST_DEBUG_TEMPROOT", gettempdir())
        os.environ["TMPDIR"] = mkdtemp(prefix="emulator-tests-")
        tempfile.tempdir = None
        # At the end of the process, because other things are cleaned up in this folder before.
        atexit.register(shutil.rmtree, os.environ["TMPDIR"], ignore_errors=True)
    os.environ["XDG_RUNTIME_DIR"] = mkdtemp(prefix="hosting-emulator-runtime-")


def pytest_report_header() -> str:
    """Say which rows of the sampled tables this run tries, and how to try the same ones again."""
    number = sample_number()
    return (
        f"samples: number {number} (to repeat them at another commit: {SAMPLE_VARIABLE}={number})"
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Put the files that take longest first."""

    @cache
    def place(path: Path) -> int:
        found = [name for name in LONGEST_FIRST if (HERE / name) in path.parents]
        return LONGEST_FIRST.index(found[0]) if found else len(LONGEST_FIRST)

    items.sort(key=lambda item: place(item.path))


#: Files that this worker has made, or waited for.
_WAITED_FOR: list[Path] = []


def _compiled(config: pytest.Config) -> Path | None:
    """Return the file that a worker of this run makes once the tests are compiled; None: they are."""
    run = getattr(config, "workerinput", {}).get("testrunuid")
    end = f".{sys.implementation.cache_tag}-pytest-{pytest.__version__}.pyc"
    there = (path.parent / "__pycache__" / f"{path.stem}{end}" for path in HERE.rglob("test_*.py"))
    if not run or all(path.exists() for path in there):
        return None
    return Path(gettempdir(), f"hosting-emulator-tests-{run}")


@pytest.hookimpl(wrapper=True)
def pytest_collection(session: pytest.Session) -> Generator[None, object, object]:
    """On a fresh machine let one worker compile the tests while the others wait.

    Nearly all that is made meanwhile stays: the garbage collector would look through it in vain.
    """
    compiled = _compiled(session.config)
    gc.disable()
    try:
        if compiled is not None:
            _WAITED_FOR.append(compiled)
            with FileLock(compiled.with_suffix(".lock")):
                if not compiled.exists():
                    found = yield
                    compiled.touch()
                    return found
        return (yield)
    finally:
        gc.enable()


def pytest_unconfigure() -> None:
    close_idle_connections()
    shutil.rmtree(os.environ["XDG_RUNTIME_DIR"], ignore_errors=True)
    for compiled in _WAITED_FOR:
        compiled.unlink(missing_ok=True)
        compiled.with_suffix(".lock").unlink(missing_ok=True)


def pytest_collection_finish() -> None:
    """What is collected stays: the garbage collector need not go through it over and over."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(20_000, 50, 100)


@pytest.fixture
def api(hosting_emulator: HostingEmulator) -> CheckedWorld:
    """Calls of a fresh world over HTTP, each response checked. Its clock is frozen."""
    return CheckedWorld(hosting_emulator)
