"""Reads and writes files for commands. A file is written completely or not at all."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import Any

from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.output import as_json, put, say

#: The mode of a file that contains a secret, which other users of the machine must not read.
PRIVATE = 0o600
#: The mode of other files. The umask restricts this mode.
PLAIN = 0o666


def write_whole(path: Path, text: str, *, mode: int = PLAIN) -> None:
    """Write a file completely, or leave the old file unchanged.

    A pipe or a device is written to directly. A PRIVATE file replaces a symbolic link, because
    another user may have created the link. With any other `mode`, a symbolic link is followed.
    Raises Failure if the file cannot be written.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
        elif mode == PRIVATE:
            _replace_file(path, text, mode)
        else:
            _replace_file(path.resolve(), text, mode)
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror or error}") from error


def _replace_file(path: Path, text: str, mode: int) -> None:
    """Write a temporary file in the folder of `path`, and rename it to `path`. Raises OSError."""
    temporary = path.with_name(f".{path.name}.{token_hex(8)}.tmp")
    # Use O_EXCL, because in a shared folder, another user may already have created a file with this
    # name.
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        temporary.replace(path)
    except BaseException:
        with suppress(OSError):
            temporary.unlink()
        raise


def remove_report(path: Path | None) -> None:
    """Remove the report of an earlier run, unless `path` is a pipe or a device. Raises Failure."""
    if path is None or not path.is_file():
        return
    try:
        path.unlink()
    except OSError as error:
        raise Failure(f"cannot replace {path}: {error.strerror or error}") from error


def check_folder_of(path: Path | None) -> None:
    """Raise Failure if a file's folder does not exist."""
    if path is not None and not path.absolute().parent.is_dir():
        raise Failure(f"cannot write {path}: no such directory")


def put_document(document: Any, output: Path | None, message: str) -> None:
    """Print a document, which is either a string or a value to print as JSON.

    If `output` is a file, write the document to this file instead, and print `message` and the path
    on stderr. The path `-` is stdout. Raises Failure if the file cannot be written.
    """
    text = document
    if not isinstance(document, str):
        text = as_json(document)
    if output is None or str(output) == "-":
        put(text)
        return
    write_whole(output, text + "\n")
    say(f"{message} {output}.")


@contextmanager
def ready_file(path: Path) -> Iterator[Callable[[str], None]]:
    """Yield a function that writes the ready file, which tells scripts that the emulator is ready.

    The file is removed when the emulator stops. If the emulator does not become ready, the old file
    is restored, unless it was a symbolic link. Only the file's owner may read the file, because it
    contains a token. Raises Failure if the file cannot be replaced.
    """
    check_folder_of(path)
    old_text = None
    new_text = ""
    if path.is_symlink():
        path.unlink()
    elif path.is_file():
        try:
            old_text = path.read_text(encoding="utf-8", errors="surrogateescape")
            path.unlink()
        except OSError as error:
            raise Failure(f"cannot replace {path}: {error.strerror}") from error

    def write(text: str) -> None:
        nonlocal new_text
        write_whole(path, text, mode=PRIVATE)
        new_text = text

    try:
        yield write
    finally:
        # If this start failed, restore the old file, because an emulator that is still running may
        # have written it.
        with suppress(OSError, Failure):
            if new_text and path.read_text(encoding="utf-8") == new_text:
                path.unlink()
            elif not new_text and old_text is not None:
                write_whole(path, old_text, mode=PRIVATE)


def read_bytes(path: str) -> tuple[bytes, str]:
    """Return the content of a file, and its name for error messages.

    The path `-` is stdin. Raises Failure if the file cannot be read.
    """
    name = path
    try:
        if path == "-":
            name = "stdin"
            return sys.stdin.buffer.read(), name
        return Path(path).read_bytes(), name
    except OSError as error:
        raise Failure(f"cannot read {name}: {error.strerror or error}") from error


def read_json(path: str) -> tuple[Any, str]:
    """Return the JSON document in a file, and the file's name for error messages.

    The path `-` is stdin. Raises Failure if the file cannot be read or is not JSON.
    """
    content, name = read_bytes(path)
    try:
        return json.loads(content), name
    except json.JSONDecodeError as error:
        position = f"{name}:{error.lineno}:{error.colno}"
        raise Failure(f"{position}: not JSON: {error.msg.lower()}") from error
    except RecursionError as error:
        raise Failure(f"{name}: the JSON is nested too deeply") from error
    except ValueError as error:
        raise Failure(f"{name}: not JSON: {error}") from error
