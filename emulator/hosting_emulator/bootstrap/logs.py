"""What a running emulator says on stderr, as text for people or as one JSON object a line.

Times are the machine's. Exchanges come in the form of the request log, which holds no secret.
"""

from __future__ import annotations

import json
import logging
import os
import sys
import threading
from datetime import UTC, datetime
from functools import partial
from typing import Any

from hosting_emulator.engine.engine import Worlds
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.request_log import entry_view
from hosting_emulator.settings import Settings
from hosting_emulator.world.value import World

#: Its records are exchanges; they carry their `fields` beside a message.
REQUESTS = "hosting_emulator.requests"
_FIELDS = (
    *("n", "method", "path", "query", "call", "who", "status", "code"),
    *("idempotency_key", "replayed", "lost", "varied", "duration_us", "why"),
)
#: What asyncio says of each answer to a client that has already gone: nothing is wrong then.
_ABOUT_GONE_CLIENTS = ("SSL connection is closed", "socket.send() raised exception.")
#: Wide enough for the longest name of a call.
_CALL_WIDTH = 27
_RESET, _DIM, _RED, _GREEN, _YELLOW = (f"\x1b[{n}m" for n in (0, 2, 31, 32, 33))


def log_to_stderr(settings: Settings) -> None:
    """Send warnings, and with `log_requests` every exchange, to stderr in the wanted format."""
    handler = logging.StreamHandler(sys.stderr)
    if settings.log_format == "json":
        handler.setFormatter(JsonLines())
        _catch_what_is_not_logged()
    else:
        plain = "NO_COLOR" in os.environ or os.environ.get("TERM") == "dumb"
        handler.setFormatter(TextLines(color=sys.stderr.isatty() and not plain))
    handler.addFilter(lambda record: record.msg not in _ABOUT_GONE_CLIENTS)
    logging.basicConfig(handlers=[handler], level=logging.WARNING)
    if settings.log_requests:
        logging.getLogger(REQUESTS).setLevel(logging.INFO)


def log_requests(settings: Settings, worlds: Worlds) -> None:
    """Log each exchange of these worlds from now on, if the settings ask for it."""

    def log(world: World, entry: Entry) -> None:
        view = entry_view(world, entry)
        fields = {"world": world.name, **{name: view[name] for name in _FIELDS}}
        message = f"{view['method']} {view['path']}"
        logging.getLogger(REQUESTS).info("%s", message, extra={"fields": fields})

    if settings.log_requests:
        worlds.tally.listener = log


class JsonLines(logging.Formatter):
    """One JSON object a line: time (RFC 3339), level, logger, message, the record's fields, `exception`.

    It is plain ASCII, so that no reader takes a character within for the end of a line.
    """

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as one line."""
        moment = datetime.fromtimestamp(record.created, UTC)
        line: dict[str, Any] = {
            "time": moment.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, "fields", {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        if record.stack_info:
            line["stack"] = record.stack_info
        return json.dumps(line, default=str)


class TextLines(logging.Formatter):
    """One short line for people: warnings as they are, exchanges in columns."""

    def __init__(self, *, color: bool) -> None:
        super().__init__("hosting-emulator: %(message)s")
        self._color = color

    def format(self, record: logging.LogRecord) -> str:
        """Write a record as people read it; only a traceback takes more than its line."""
        exchange = getattr(record, "fields", None)
        if exchange is None:
            return super().format(record)
        moment = datetime.fromtimestamp(record.created).astimezone()
        # What has a width of its own first, then what is long.
        head = f"{moment:%H:%M:%S}.{moment.microsecond // 1000:03}  {exchange['world']:<10}"
        head += f"  #{exchange['n']:<5}"
        status, lost, key = exchange["status"], exchange["lost"], exchange["idempotency_key"]
        rest = [
            f"{exchange['method']:<4}",
            f"{exchange['duration_us'] / 1000:>7.2f} ms",
            f"{exchange['who'] or '-':<9}",
            f"{exchange['call'] or '-':<{_CALL_WIDTH}}",
            exchange["path"] + (f"?{exchange['query']}" if exchange["query"] else ""),
            f"key={key}" if key else "",
            exchange["code"] or "",
            "replayed" if exchange["replayed"] else "",
            f"lost={lost}" if lost else "",
            "; ".join(exchange["why"]),
        ]
        # What a client sent can neither begin a line nor steer a terminal.
        line = "  ".join(filter(None, rest))
        line = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)
        shown = str(status or "---")
        if self._color:
            bad = lost or not status or status >= 500
            color = _RED if bad else _YELLOW if status >= 400 else _GREEN
            head, shown = f"{_DIM}{head}{_RESET}", f"{color}{shown}{_RESET}"
        return f"{head}  {shown} {line}"


def _catch_what_is_not_logged() -> None:
    """Log warnings and what nobody caught, which Python would write to stderr in its own way."""
    logging.captureWarnings(True)
    log = logging.getLogger("hosting_emulator")

    def log_raised(level: int, message: str, args: Any) -> None:
        if args[1] is not None:
            log.log(level, message, exc_info=tuple(args[:3]))

    sys.excepthook = lambda *args: log_raised(logging.CRITICAL, "the emulator crashed", args)
    threading.excepthook = partial(log_raised, logging.ERROR, "a thread crashed")
    sys.unraisablehook = lambda args: log_raised(
        logging.ERROR, args.err_msg or "an error nobody could catch", args
    )
