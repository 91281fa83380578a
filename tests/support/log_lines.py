"""Formats log records of a test like the log on stderr, as text or as JSON.

If it is run as a program, this module logs in JSON, and then produces several kinds of failures.
"""

from __future__ import annotations

import logging
import threading
import warnings

from hosting_emulator.logs import JsonLines, TextLines, log_to_stderr
from hosting_emulator.settings import Settings


def as_text(record: logging.LogRecord, *, color: bool = False) -> str:
    """Return a log record as a line of text."""
    return TextLines(color=color).format(record)


def as_json(record: logging.LogRecord) -> str:
    """Return a log record as one JSON object."""
    return JsonLines().format(record)


class _FailsWhenDeleted:
    def __del__(self) -> None:
        raise ValueError("too late")


def main() -> None:
    """Log an error and a warning, fail in a thread and in a destructor, and raise an exception."""
    log_to_stderr(Settings(log_format="json"))
    logging.getLogger("asyncio").error("from a library")
    warnings.warn("old", DeprecationWarning, stacklevel=1)
    thread = threading.Thread(target=lambda: 1 / 0)
    thread.start()
    thread.join()
    _FailsWhenDeleted()
    raise LookupError("at last")


if __name__ == "__main__":
    main()
