"""Starts an emulator in a background process, for `start --detach`.

The foreground process reads all settings and passes them to the background process. The background
process writes one line of JSON to its stdout: a report once it is ready, or the reason why it
cannot start. Until then, it logs to the foreground process's stderr, and after that to a file.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from contextlib import ExitStack, suppress
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hosting_emulator_cli.files import PRIVATE, ready_file
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.output import as_json

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready, Settings

#: Arguments for the Python process. `-P` prevents files in the working folder from shadowing
#: modules.
_SERVE = ("-P", "-c", "from hosting_emulator_cli.background import serve; serve()")


def start_in_background(settings: Settings, ready_path: Path | None) -> Ready:
    """Start an emulator in a new process and session, and return its report when it is ready.

    Raises StartError if the emulator cannot start, or Failure if the process exited without giving
    a reason.
    """
    from subprocess import DEVNULL, PIPE, Popen

    from hosting_emulator.settings import Ready, StartError

    # The process could not log to stderr if the parent process has closed it.
    stderr = DEVNULL if sys.__stderr__ is None else None
    process = Popen(
        [sys.executable, *_SERVE], stdin=PIPE, stdout=PIPE, stderr=stderr, start_new_session=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        # Ignore this error: the process may have exited already, in which case there is no report.
        with suppress(BrokenPipeError), process.stdin:
            pickle.dump((settings, ready_path), process.stdin)
        with process.stdout:
            report = _read_report(process.stdout.readline())
    except BaseException:
        # Terminate the process, because Ctrl-C does not reach processes in other sessions.
        process.terminate()
        process.wait()
        raise
    if report is None:
        raise Failure(f"the emulator's process ended with exit code {process.wait()}")
    if "error" in report:
        process.wait()
        raise StartError(report["error"])
    process.returncode = 0  # Otherwise, Popen would warn that the process is still running.
    return Ready(**report)


def _read_report(line: bytes) -> dict[str, Any] | None:
    """Return the report in a line, or None if the process exited without a report."""
    if not line:
        return None
    report: dict[str, Any] = json.loads(line)
    return report


def log_file(ready: Ready) -> Path:
    """Return the log file of an emulator in the background.

    The file is in the data directory or, if the emulator stores nothing, in the private folder that
    contains this user's registry.
    """
    if ready.data_dir is not None:
        return Path(ready.data_dir, "emulator.log")
    from hosting_emulator.running_emulators import registry_folder

    folder = registry_folder()
    if folder is None:
        return Path(os.devnull)
    return folder / f"{ready.pid}.log"


def serve() -> None:
    """Read the settings from stdin, and run the emulator in this background process."""
    from hosting_emulator.bootstrap import run
    from hosting_emulator.settings import StartError

    settings, ready_path = pickle.load(sys.stdin.buffer)
    with ExitStack() as stack:
        try:
            write = None
            if ready_path is not None:
                write = stack.enter_context(ready_file(ready_path))

            def announce(ready: Ready) -> None:
                path = log_file(ready)
                ready = replace(ready, log_file=str(path))
                log = _open_log(path)
                stack.callback(_remove_if_empty, path)
                if write is not None:
                    write(as_json(asdict(ready)) + "\n")
                _send(asdict(ready))
                _leave_terminal(log)

            run(settings, announce, is_published=True)
        except (StartError, Failure) as error:
            _send({"error": str(error)})


def _send(report: dict[str, Any]) -> None:
    print(json.dumps(report), flush=True)


def _open_log(path: Path) -> int:
    """Open the log file, and return its descriptor. Raises Failure."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
    try:
        return os.open(path, flags, PRIVATE)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror}") from error


def _remove_if_empty(log: Path) -> None:
    with suppress(OSError):
        if log.is_file() and log.stat().st_size == 0:
            log.unlink()


def _leave_terminal(log: int) -> None:
    """Redirect stdout and stderr to the log, so that the terminal can be closed."""
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)
