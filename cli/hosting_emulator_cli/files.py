"""Files: written whole or not at all, read with one clear line where they cannot be, and scenarios."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any

from hosting_emulator_cli.main import Failure, failing, near
from hosting_emulator_cli.output import as_json, put, say

if TYPE_CHECKING:
    from hosting_emulator.sdk import ScenarioChoice

#: For what holds a token: nobody else on the machine may read it.
PRIVATE = 0o600
PLAIN = 0o666


def write_whole(path: Path, text: str, *, mode: int = PLAIN) -> None:
    """Write a file whole, or leave the old one, by renaming a temporary file beside it. Raises Failure.

    `mode` is narrowed by the umask. A pipe or device is written to directly. What is PRIVATE takes
    the place of a symbolic link, which somebody else may have laid; else a link is followed.
    """
    try:
        if path.exists() and not path.is_file():
            path.write_text(text, encoding="utf-8")
            return
        target = path if mode == PRIVATE else path.resolve()
        temporary = target.with_name(f".{target.name}.{token_hex(8)}.tmp")
        # It is made anew: in a folder of many people nobody can have laid it there, or a link.
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(text.encode())
                file.flush()
                os.fsync(file.fileno())
            temporary.replace(target)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise Failure(f"cannot write {path}: {error.strerror or error}") from error


def remove_report(path: Path | None) -> None:
    """Remove the report of an earlier run; pipes and devices stay. Raises Failure."""
    if path is None or not path.is_file():
        return
    try:
        path.unlink()
    except OSError as error:
        raise Failure(f"cannot replace {path}: {error.strerror or error}") from error


def check_folder_of(path: Path | None) -> None:
    """Refuse a file that cannot be written because its folder is not there. Raises Failure."""
    if path is not None and not path.absolute().parent.is_dir():
        raise Failure(f"cannot write {path}: no such directory")


def put_document(document: Any, output: Path | None, words: str) -> None:
    """Print text, or another value as JSON, or write it to a file (`-` is stdout) and say `words`."""
    text = document if isinstance(document, str) else as_json(document)
    if output is None or str(output) == "-":
        put(text)
        return
    write_whole(output, text + "\n")
    say(f"{words} {output}.")


@contextmanager
def ready_file(path: Path) -> Iterator[Callable[[str], None]]:
    """Give what writes the file by which a script learns that the emulator is ready. Raises Failure.

    It is there exactly while the emulator it describes is up; what lay there before comes back if
    nothing became ready. It holds a token, so only its owner may read it.
    """
    check_folder_of(path)
    before, written = None, ""
    if path.is_symlink():
        path.unlink()
    elif path.is_file():
        try:
            before = path.read_text(encoding="utf-8", errors="surrogateescape")
            path.unlink()
        except OSError as error:
            raise Failure(f"cannot replace {path}: {error.strerror}") from error

    def write(text: str) -> None:
        nonlocal written
        write_whole(path, text, mode=PRIVATE)
        written = text

    try:
        yield write
    finally:
        # A failed start (the port is taken, say by the one whose file this is) changes nothing.
        with suppress(OSError, Failure):
            if written and path.read_text(encoding="utf-8") == written:
                path.unlink()
            elif not written and before is not None:
                write_whole(path, before, mode=PRIVATE)


def _read(path: str) -> tuple[bytes, str]:
    """Return what is in a file, `-` being stdin, and what errors call it. Raises Failure."""
    name = "stdin" if path == "-" else path
    try:
        return sys.stdin.buffer.read() if path == "-" else Path(path).read_bytes(), name
    except OSError as error:
        raise Failure(f"cannot read {name}: {error.strerror or error}") from error


def read_json(path: str) -> tuple[Any, str]:
    """Read a JSON document from a file, `-` being stdin; with what errors call it. Raises Failure."""
    content, name = _read(path)
    try:
        return json.loads(content), name
    except json.JSONDecodeError as error:
        where = f"{name}:{error.lineno}:{error.colno}"
        raise Failure(f"{where}: not JSON: {error.msg.lower()}") from error
    except RecursionError as error:
        raise Failure(f"{name}: it is nested too deeply") from error
    except ValueError as error:
        raise Failure(f"{name}: not JSON: {error}") from error


def choose_scenario(named: str) -> ScenarioChoice:
    """Return what to send: a `name` in the library, or a `text` and what errors call its `file`."""
    if not is_scenario_file(named):
        return {"name": named}
    text, file = read_scenario_file(named)
    return {"text": text, "file": file}


def scenario_text(named: str) -> tuple[str, str]:
    """Return the text of a scenario, of the library or a file, and what errors call it."""
    if is_scenario_file(named):
        return read_scenario_file(named)
    return library_text(named), f"{named}.yaml"


def is_scenario_file(named: str) -> bool:
    """Tell whether a file is meant: it ends in .yaml or .yml, has a slash, lies there, or is `-`."""
    path = Path(named)
    return named == "-" or "/" in named or path.suffix in (".yaml", ".yml") or path.is_file()


def read_scenario_file(path: str) -> tuple[str, str]:
    """Return a file's text, `-` being stdin, and what errors call it. Raises Failure."""
    content, name = _read(path)
    try:
        return content.decode("utf-8-sig"), name
    except UnicodeDecodeError as error:
        raise Failure(f"{name}: not UTF-8 text") from error


def read_world_file(path: str) -> dict[str, Any]:
    """Return the `world` of a scenario file, or what stands alone as in one. Raises Failure."""
    from hosting_emulator.scenario.errors import ScenarioError
    from hosting_emulator.scenario.yaml_text import read_yaml

    text, name = read_scenario_file(path)
    with failing(ScenarioError):
        found = read_yaml(text, name).data
    if isinstance(found, dict) and ("world" in found or "name" in found):
        found = found.get("world")
    if not isinstance(found, dict):
        raise Failure(f"{name} has no `world`: write it as a scenario file has it")
    return {name: value for name, value in found.items() if name != "extends"}


def library_names() -> list[str]:
    """Return the names of the library that is shipped, sorted."""
    from hosting_emulator_scenarios import FOLDER

    return sorted(path.stem for path in FOLDER.glob("*.yaml"))


def library_text(name: str) -> str:
    """Return a shipped scenario's text. Raises Failure, naming what is near."""
    from hosting_emulator_scenarios import FOLDER

    if name not in (names := library_names()):
        hint = near(name, names, "`hosting-emulator scenario list` shows them")
        raise Failure(f"the library has no scenario {name!r}{hint}")
    return (FOLDER / f"{name}.yaml").read_text(encoding="utf-8")
