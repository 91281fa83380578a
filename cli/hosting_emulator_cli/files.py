"""Files written whole or not at all, and read with one clear line when they cannot be."""

from __future__ import annotations

import json
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.output import put, say

#: For what holds a token: nobody else on the machine may read it.
PRIVATE = 0o600
PLAIN = 0o666


def write_whole(path: Path, text: str, *, mode: int = PLAIN) -> None:
    """Write `text` to a temporary file beside `path` and rename it over `path`.

    A reader sees the old content or the new, never a part; a failure leaves the old. `mode` is
    narrowed by the umask. A pipe or device is written to directly. Raises Failure.
    """
    try:
        if path.exists() and not path.is_file() and not path.is_dir():
            path.write_text(text, encoding="utf-8")
        else:
            _replace(path.resolve(), text.encode(), mode)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror or error}") from error


def put_document(text: str, output: Path | None, words: str) -> None:
    """Print a document, or write it to a file (`-` being stdout) and then say `words`."""
    if output is None or str(output) == "-":
        put(text)
        return
    write_whole(output, text + "\n")
    say(f"{words} {output}.")


def _replace(path: Path, content: bytes, mode: int) -> None:
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def read_json(path: str) -> Any:
    """Read a JSON document from a file, `-` being stdin. Raises Failure."""
    name = "stdin" if path == "-" else path
    try:
        content = sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes()
        return json.loads(content)
    except OSError as error:
        raise Failure(f"cannot read {name}: {error.strerror or error}") from error
    except json.JSONDecodeError as error:
        where = f"{name}:{error.lineno}:{error.colno}"
        raise Failure(f"{where}: not JSON: {error.msg.lower()}") from error
    except ValueError as error:
        raise Failure(f"{name}: not JSON: {error}") from error
