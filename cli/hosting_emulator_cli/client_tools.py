"""What the tools that run a command repeatedly share besides their runs: failures and reports."""

from __future__ import annotations

import os
import traceback
from collections.abc import Callable, Coroutine, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from click import ClickException

from hosting_emulator.sdk import ControlError, JsonObject
from hosting_emulator.supervisor import become_subreaper, descendants, end_orphans
from hosting_emulator_cli import output as out
from hosting_emulator_cli.execution import run_logged
from hosting_emulator_cli.files import remove_report, write_whole
from hosting_emulator_cli.main import Failure, failing
from hosting_emulator_cli.outside_connections import ConnectionWatch
from hosting_emulator_cli.printable import printable, printable_lines
from hosting_emulator_lab.judge.run_observation import JudgeFailed, TooManyRequests

if TYPE_CHECKING:
    from hosting_emulator.settings import Settings
    from hosting_emulator_lab.judge.run_results import CleanRunFailed, RunEnd


@dataclass(frozen=True, kw_only=True)
class ToolOptions:
    """A command to run repeatedly, its emulator's settings, and the reports to write.

    `limit_s` limits each run, in real seconds. If `limit_s` is None, the limit depends on the
    duration of the clean run. `jobs` is the maximum number of parallel runs, or None for the
    default. If `sealed` is true, this process already has a network without other machines, so
    connections to them need no watch.
    """

    command: Sequence[str]
    settings: Settings
    user: str | None
    exports: Sequence[tuple[str, str]]
    limit_s: float | None
    jobs: int | None
    junit_file: Path | None
    html_file: Path | None
    as_json: bool
    sealed: bool

    @property
    def report_files(self) -> tuple[Path | None, ...]:
        """The files to which the requested reports are written."""
        return (self.junit_file, self.html_file)


@dataclass(frozen=True, kw_only=True)
class ReportWriters:
    """The functions that write the result of a tool in each form. `text` gets whether to use color."""

    junit: Callable[[], str]
    page: Callable[[], str]
    document: Callable[[], JsonObject]
    text: Callable[[bool], str]


def run_tool(
    settings: Settings,
    run: Callable[[], Coroutine[Any, Any, int]],
    report_files: Iterable[Path | None] = (),
    *,
    tool: str,
    result: str,
) -> int:
    """Run a tool that runs a command repeatedly, and return the exit code.

    Earlier report files are removed first, so that none remains if the tool produces no result.
    Processes that the runs left behind are terminated. Raises Failure. If the tool itself crashes,
    the message names the `tool` and the missing `result`.
    """
    not_ours = descendants()
    become_subreaper()
    for path in report_files:
        remove_report(path)
    try:
        with failing(ControlError):
            return run_logged(settings, run)
    except OSError as error:
        raise Failure(f"cannot start a process: {error.strerror or error}") from error
    except (Failure, ClickException):
        raise
    except Exception as error:
        out.say(traceback.format_exc())
        raise Failure(
            f"{tool} itself failed ({type(error).__name__}), so there is no {result}. "
            "Please report the traceback above"
        ) from error
    finally:
        end_orphans(not_ours)


@contextmanager
def observation_failures(verb: str) -> Iterator[None]:
    """Raise Failure if a run's requests cannot be observed. `verb` says what cannot be done in that
    case.
    """
    try:
        yield
    except JudgeFailed as error:
        raise Failure(f"the requests of a run could not be judged: {error}") from error
    except TooManyRequests as error:
        raise Failure(f"cannot {verb} the command: {error}") from error


def watch_connections(options: ToolOptions) -> AbstractContextManager[ConnectionWatch | None]:
    """Return a watch for connections to other machines, or None in a network without them."""
    return nullcontext() if options.sealed else ConnectionWatch()


def connections_remark(watch: ConnectionWatch | None) -> list[str]:
    """Return a list with the sentence about connections to other machines.

    The list is empty if there is nothing to report.
    """
    if watch is None or not watch.sentence():
        return []
    return [watch.sentence()]


def show_output(end: RunEnd) -> None:
    """Print the last lines of a run's output to stderr."""
    for line in end.output:
        out.say(f"| {printable(line)}")


def clean_run_failure(error: CleanRunFailed, tool: str, *, limit_option: str) -> Failure:
    """Print the output of a clean run that failed, and return the error of the tool.

    `limit_option` is the option that lets a clean run take longer.
    """
    show_output(error.end)
    if error.end.hung:
        return Failure(
            f"the command {error} even without failures. If it is a server, run it in "
            f"the background: hosting-emulator {tool} -- sh -c './server & ./check'. If it takes "
            f"longer, give a larger {limit_option}"
        )
    occasion = " when it runs a second time" if error.is_second else ""
    return Failure(
        f"the command {error}{occasion} even without failures; {tool} needs clean runs that succeed. "
        "The command's output is above"
    )


def write_reports(options: ToolOptions, writers: ReportWriters) -> None:
    """Write the requested files, and print the report. Raises Failure if a file cannot be written."""
    if options.junit_file is not None:
        write_whole(options.junit_file, writers.junit())
    if options.html_file is not None:
        write_whole(options.html_file, writers.page())
    if options.as_json:
        out.put_json(writers.document())
    elif out.has_color():
        out.put(writers.text(True))
    else:
        out.put(printable_lines(writers.text(False)))


def default_jobs(per_processor: int, *, least: int, most: int) -> int:
    """Return the default number of parallel runs on this machine.

    It exceeds the number of processors, because runs spend most of their time waiting for a delay
    that a response requests, or for a response that never arrives.
    """
    return max(least, min(most, per_processor * (os.cpu_count() or 1)))
