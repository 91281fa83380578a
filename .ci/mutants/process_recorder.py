"""Records which lines a process runs, and for which test.

A `.pth` file in a working copy's environment imports this module into each process of that
environment. Therefore the module imports as little as possible: nothing from the product, and no
other module of this package.

The `current-test` file contains the name of the running test. If a process ends during a later test
than the one that started it, its lines are recorded for the range `FIRST|LAST` of these tests, and
count for every test in the range.
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
#: The folder in which each process stores its recording.
RECORDS = ENVIRONMENT / "records"
SOURCES = [str(ENVIRONMENT.parent / root) for root in ("emulator", "cli", "fixtures", "scenarios")]


def new_coverage(data_file: str | None) -> Coverage:
    """Return a recorder for the product's lines, which is not started yet."""
    coverage = Coverage(data_file=data_file, config_file=False, source=SOURCES, messages=False)
    # Choose this core, because other cores cannot switch between tests. They would emit a warning
    # about it, which would fail the tests that forbid warnings.
    coverage.set_option("run:core", "ctrace")
    coverage.set_option("run:disable_warnings", ["module-not-imported", "no-data-collected"])
    return coverage


class ProcessRecorder:
    """Records the lines of this process."""

    def __init__(self) -> None:
        self._coverage = new_coverage(None)
        self._first_test = _current_test()
        self._is_saved = False
        #: True if this process forks other processes. It only prepares them, so the code that it
        #: runs does not count for any test.
        self.has_forked = False
        self._coverage.start()

    def stop(self) -> None:
        """Stop recording."""
        self._coverage.stop()

    def save(self) -> None:
        """Stop recording, and write the lines if they have not been written yet."""
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
    """Start recording this process and the processes that it forks."""
    os.register_at_fork(after_in_parent=_note_fork, after_in_child=_restart_in_child)
    os._exit = _save_and_exit
    _start()


def end() -> None:
    """Stop and save the recording of this process. Another recorder then takes over."""
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
    """Discard the recording of the parent process."""
    if _recorder is not None:
        _recorder.stop()
        atexit.unregister(_recorder.save)
    _start()


def _save_and_exit(status: int) -> NoReturn:
    if _recorder is not None:
        _recorder.save()
    _exit(status)
