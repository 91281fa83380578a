"""Logs the activity of a running emulator to stderr, as text or as JSON.

All loggers are children of the `hosting_emulator` logger. Warnings and errors are about the
emulator itself. At level info, a line is also logged for each request (logger `requests`), and
whenever a world is created, replaced or deleted (loggers `worlds` and `storage`). At level debug, a
line is also logged for each commit (`commits`) and each time due events run (`due_events`).
Requests and commits are logged by listeners, which are added only at the levels that need them.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from datetime import datetime
from functools import partial
from typing import Any

from hosting_emulator.contract.timestamps import format_timestamp
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.explanations.commits import describe_changes
from hosting_emulator.engine.history import Commit
from hosting_emulator.engine.redaction import Redactor
from hosting_emulator.engine.request_views import exchange_summary
from hosting_emulator.engine.worlds import Worlds
from hosting_emulator.settings import Settings
from hosting_emulator.world.value import World

_log = logging.getLogger("hosting_emulator")
_requests_log = logging.getLogger("hosting_emulator.requests")
_commits_log = logging.getLogger("hosting_emulator.commits")
_due_events_log = logging.getLogger("hosting_emulator.due_events")
#: The members of a request's summary that are included as fields in its log record.
_REQUEST_FIELDS = (
    "n",
    "method",
    "path",
    "query",
    "call",
    "user",
    "status",
    "code",
    "idempotency_key",
    "replayed",
    "lost",
    "second_delivery_of",
    "varied",
    "duration_us",
    "why",
)
#: Harmless messages from asyncio about responses to clients that have disconnected.
_DISCONNECT_MESSAGES = ("SSL connection is closed", "socket.send() raised exception.")
#: The width of the column for calls, in which the longest call name fits.
_CALL_WIDTH = 27
_RESET = "\x1b[0m"
_DIM = "\x1b[2m"
_RED = "\x1b[31m"
_GREEN = "\x1b[32m"
_YELLOW = "\x1b[33m"


def log_to_stderr(settings: Settings) -> None:
    """Send this process's log records to stderr, at the level and in the format chosen in the
    settings.

    Records from other packages are written only from level warning upward.
    """
    handler = logging.StreamHandler(sys.stderr)
    if settings.log_format == "json":
        handler.setFormatter(JsonLines())
        _log_uncaught_exceptions()
    else:
        is_plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        handler.setFormatter(TextLines(color=sys.stderr.isatty() and not is_plain))
    handler.addFilter(lambda record: record.msg not in _DISCONNECT_MESSAGES)
    level = logging.getLevelNamesMapping()[settings.log_level.upper()]
    logging.basicConfig(handlers=[handler], level=max(level, logging.WARNING))
    _log.setLevel(level)
    if settings.log_requests:
        _requests_log.setLevel(logging.INFO)


def log_worlds(settings: Settings, worlds: Worlds) -> None:
    """Log these worlds' requests and commits, if the level in the settings includes them."""
    if settings.log_requests or settings.log_level in ("info", "debug"):
        worlds.tally.listener = _log_request
    if settings.log_level == "debug":
        worlds.tally.commit_listener = _log_commit


def _log_request(world: World, entry: Entry) -> None:
    summary = exchange_summary(world, entry)
    fields = {"world": world.name}
    for name in _REQUEST_FIELDS:
        fields[name] = getattr(summary, name)
    _requests_log.info("%s %s", summary.method, summary.path, extra={"fields": fields})


def _log_commit(commit: Commit) -> None:
    world = commit.world
    changes = Redactor(world).text("; ".join(describe_changes(commit)))
    fields = {
        "world": world.name,
        "commit": world.commit,
        "title": commit.title,
        "request": commit.request,
        "at": format_timestamp(world.at_ms),
        "rows": {name: len(rows) for name, rows in commit.writes.items() if rows},
    }
    if commit.title == "due events":
        log = _due_events_log
        message = f"due events up to {fields['at']} in commit {world.commit}"
    else:
        log = _commits_log
        message = f"commit {world.commit}, {commit.title}"
    if commit.request is not None:
        message += f", by request #{commit.request}"
    if changes:
        message += f": {changes}"
    log.debug("%s", message, extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Formats records as one JSON object per line, in ASCII.

    The members are time (RFC 3339), level, logger, message, the fields, and `exception`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line."""
        line: dict[str, Any] = {
            "time": format_timestamp(int(record.created * 1000)),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line, default=str)


class TextLines(logging.Formatter):
    """Formats records for users: warnings with the program's name, all other records with the time."""

    def __init__(self, *, color: bool) -> None:
        super().__init__("hosting-emulator: %(message)s")
        self._color = color

    def format(self, record: logging.LogRecord) -> str:
        """Format a record as one line, or as several if it has a traceback."""
        fields = getattr(record, "fields", None)
        if fields is not None and "method" in fields:
            return self._request_line(record, fields)
        if record.levelno >= logging.WARNING or record.exc_info:
            return super().format(record)
        world = (fields or {}).get("world", "")
        name = record.name.rpartition(".")[2]
        head = self._colored(_DIM, f"{_clock_time(record)}  {world:<10}  {name:<10}")
        return f"{head}  {_printable(record.getMessage())}"

    def _request_line(self, record: logging.LogRecord, fields: dict[str, Any]) -> str:
        """Format a request as one line: first the columns with a fixed width, then the longer ones."""
        head = f"{_clock_time(record)}  {fields['world']:<10}  #{fields['n']:<5}"
        target = fields["path"]
        if fields["query"]:
            target += f"?{fields['query']}"
        columns = [
            f"{fields['method']:<4}",
            f"{fields['duration_us'] / 1000:>7.2f} ms",
            f"{fields['user'] or '-':<9}",
            f"{fields['call'] or '-':<{_CALL_WIDTH}}",
            target,
        ]
        if fields["idempotency_key"]:
            columns.append(f"key={fields['idempotency_key']}")
        if fields["code"]:
            columns.append(fields["code"])
        if fields["replayed"]:
            columns.append("replayed")
        if fields["lost"]:
            columns.append(f"lost={fields['lost']}")
        if fields["second_delivery_of"]:
            columns.append(f"second delivery of #{fields['second_delivery_of']}")
        if fields["why"]:
            columns.append("; ".join(fields["why"]))
        status = str(fields["status"] or "---")
        line = _printable("  ".join(columns))
        return f"{self._colored(_DIM, head)}  {self._colored(_color_of(fields), status)} {line}"

    def _colored(self, color: str, text: str) -> str:
        if not self._color:
            return text
        return f"{color}{text}{_RESET}"


def _color_of(fields: dict[str, Any]) -> str:
    """Return the color for a request's status."""
    status = fields["status"]
    if fields["lost"] or not status or status >= 500:
        return _RED
    if status >= 400:
        return _YELLOW
    return _GREEN


def _clock_time(record: logging.LogRecord) -> str:
    """Return a record's time in the machine's time zone, with milliseconds."""
    moment = datetime.fromtimestamp(record.created).astimezone()
    return f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03}"


def _printable(text: str) -> str:
    """Escape characters with which a client could forge a line or control a terminal."""
    if text.isprintable():
        return text
    return "".join(map(_escape, text))


def _escape(character: str) -> str:
    if character.isprintable():
        return character
    return character.encode("unicode_escape").decode()


def _log_uncaught_exceptions() -> None:
    """Log warnings and uncaught exceptions, which Python would otherwise write to stderr in its own
    format.
    """
    logging.captureWarnings(True)

    def log_exception(level: int, message: str, exception: Any) -> None:
        if exception[1] is not None:
            _log.log(level, message, exc_info=tuple(exception[:3]))

    sys.excepthook = lambda *exception: log_exception(
        logging.CRITICAL, "the emulator crashed", exception
    )
    threading.excepthook = partial(log_exception, logging.ERROR, "a thread crashed")
    sys.unraisablehook = lambda exception: log_exception(
        logging.ERROR, exception.err_msg or "an exception was ignored", exception
    )
