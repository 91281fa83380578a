"""Starts an emulator in a background process, for `start --detach`.

The process of the command reads all settings, and passes them to the background process. The
background process writes one JSON line to its stdout: the report when it is ready, or the reason
why it cannot start. Until then, its log goes to the stderr of the command, and afterwards to a
file.
"""

from __future__ import annotations

import json
import os
import pickle
import sys
from contextlib import ExitStack, suppress
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hosting_emulator_cli.files import PRIVATE, ready_file
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.output import as_json

if TYPE_CHECKING:
    from hosting_emulator.settings import Ready, Settings

#: Python's arguments for the process. `-P` keeps files in the working folder from shadowing modules.
_SERVE = ("-P", "-c", "from hosting_emulator_cli.background import serve; serve()")


def start_in_background(settings: Settings, ready_path: Path | None) -> Ready:
    """Start an emulator in a new process and session, and return its report when it is ready.

    If the emulator cannot start, raises StartError, or Failure if the process ended without a
    reason.
    """
    from subprocess import PIPE, Popen

    from hosting_emulator.settings import Ready, StartError

    process = Popen([sys.executable, *_SERVE], stdin=PIPE, stdout=PIPE, start_new_session=True)
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        # Ignore this error, because the process may have ended already, and then there is no
        # report.
        with suppress(BrokenPipeError), process.stdin:
            pickle.dump((settings, ready_path), process.stdin)
        with process.stdout:
            report = _read_report(process.stdout.readline())
    except BaseException:
        # End the process, because Ctrl-C does not reach a process in another session.
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
    """Return the report in a line, or None if the process ended without a report."""
    if not line:
        return None
    report: dict[str, Any] = json.loads(line)
    return report


def log_file(ready: Ready) -> Path:
    """Return the file to which an emulator in the background writes its log.

    The file is in the data directory. If nothing is stored, it is in the private folder of this
    user's registry.
    """
    if ready.data_dir is not None:
        return Path(ready.data_dir, "emulator.log")
    from hosting_emulator.running_emulators import registry_folder

    folder = registry_folder()
    if folder is None:
        return Path(os.devnull)
    return folder / f"{ready.pid}.log"


def serve() -> None:
    """Run the emulator in the background process. Settings come from stdin."""
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
    """Let stdout and stderr write to the log, so that the terminal can be closed."""
    for descriptor in (1, 2):
        os.dup2(log, descriptor)
    os.close(log)
