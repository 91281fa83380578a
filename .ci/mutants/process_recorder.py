"""Records which lines a process runs, for the test that started it.

A `.pth` file of a working copy's environment imports this module in each process of that
environment: so it imports no more than it needs, nothing of the product, and no other module here.

The file `current-test` names the test that runs. A process that ends during another test than the one
that started it is recorded for both (`FIRST|LAST`), and so counts for all tests between them.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from pathlib import Path
from typing import NoReturn

from coverage import Coverage, CoverageData

ENVIRONMENT = Path(sys.prefix)
CURRENT_TEST = ENVIRONMENT / "current-test"
#: Where each process leaves what it recorded.
RECORDS = ENVIRONMENT / "records"
SOURCES = [str(ENVIRONMENT.parent / root) for root in ("emulator", "cli", "fixtures", "scenarios")]


def new_coverage(data_file: str | None) -> Coverage:
    """Return a recorder of the product's lines that is not started yet."""
    coverage = Coverage(data_file=data_file, config_file=False, source=SOURCES, messages=False)
    # Other cores cannot switch from test to test. A warning would fail the tests that forbid warnings.
    coverage.set_option("run:core", "ctrace")
    coverage.set_option("run:disable_warnings", ["module-not-imported", "no-data-collected"])
    return coverage


class ProcessRecorder:
    """Records the lines of this process."""

    def __init__(self) -> None:
        self._coverage = new_coverage(None)
        self._first_test = _current_test()
        self._is_saved = False
        #: A process that others are forked from prepares them: what it runs belongs to no test.
        self.has_forked = False
        self._coverage.start()

    def stop(self) -> None:
        """Record no more."""
        self._coverage.stop()

    def save(self) -> None:
        """Stop, and write the lines once."""
        if self._is_saved:
            return
        self._is_saved = True
        self.stop()
        data = self._coverage.get_data()
        lines = {name: data.lines(name) or [] for name in data.measured_files()}
        written = CoverageData(str(RECORDS / f"process-{os.getpid()}-{time.monotonic_ns()}"))
        written.set_context(self._context())
        written.add_lines(lines)
        written.close()

    def _context(self) -> str:
        if self.has_forked:
            return ""
        last_test = _current_test()
        if last_test == self._first_test:
            return last_test
        return f"{self._first_test}|{last_test}"


def _current_test() -> str:
    try:
        return CURRENT_TEST.read_text("utf-8")
    except OSError:
        return ""


_recorder: ProcessRecorder | None = None
_exit = os._exit


def install() -> None:
    """Record this process and those that it forks."""
    os.register_at_fork(after_in_parent=_note_fork, after_in_child=_restart_in_child)
    os._exit = _save_and_exit
    _start()


def end() -> None:
    """Save what this process ran so far, and leave the rest of it to another recorder."""
    global _recorder
    if _recorder is not None:
        _recorder.save()
        _recorder = None


def _start() -> None:
    global _recorder
    _recorder = ProcessRecorder()
    atexit.register(_recorder.save)


def _note_fork() -> None:
    if _recorder is not None:
        _recorder.has_forked = True


def _restart_in_child() -> None:
    """Forget what the parent ran."""
    if _recorder is not None:
        _recorder.stop()
        atexit.unregister(_recorder.save)
    _start()


def _save_and_exit(status: int) -> NoReturn:
    if _recorder is not None:
        _recorder.save()
    _exit(status)
