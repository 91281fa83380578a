"""Formats log records of a test like the log on stderr, as text or as JSON.

If it is run as a program, this module logs in JSON, and then produces several kinds of failures.
"""

from __future__ import annotations

import logging
import sys
import threading
import warnings
from io import StringIO
from typing import TYPE_CHECKING

from hosting_emulator.logs import JsonLines, TextLines, log_to_stderr
from hosting_emulator.settings import Settings

if TYPE_CHECKING:
    import pytest


def as_text(record: logging.LogRecord, *, color: bool = False) -> str:
    """Return a log record as a line of text."""
    return TextLines(color=color).format(record)


def as_json(record: logging.LogRecord) -> str:
    """Return a log record as one JSON object."""
    return JsonLines().format(record)


class _Stderr(StringIO):
    """Output on stderr, which may be a terminal."""

    def __init__(self, *, is_terminal: bool) -> None:
        super().__init__()
        self._is_terminal = is_terminal

    def isatty(self) -> bool:
        return self._is_terminal


def line_on_stderr(monkeypatch: pytest.MonkeyPatch, *, is_terminal: bool) -> str:
    """Log an event of a world to stderr, and return the line."""
    stderr = _Stderr(is_terminal=is_terminal)
    handlers: list[logging.Handler] = []
    logger = logging.getLogger("hosting_emulator")
    with monkeypatch.context() as patch:
        patch.setattr(sys, "stderr", stderr)
        patch.setattr(
            logging, "basicConfig", lambda **options: handlers.extend(options["handlers"])
        )
        patch.setattr(logger, "setLevel", lambda level: None)
        log_to_stderr(Settings())
    [handler] = handlers
    handler.handle(logging.LogRecord("some.log", logging.INFO, __file__, 1, "said", None, None))
    return stderr.getvalue()


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
