"""Reads and writes the `--results` file, from which `explore` continues an interrupted exploration."""

from __future__ import annotations

import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hosting_emulator import __version__
from hosting_emulator_cli.files import write_whole
from hosting_emulator_cli.main import Failure
from hosting_emulator_cli.output import as_json
from hosting_emulator_lab.judge.exploration_document import read_result, result_document
from hosting_emulator_lab.judge.fault_points import FaultPoint
from hosting_emulator_lab.judge.point_plan import PointPlan
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.trial_results import TrialResult

if TYPE_CHECKING:
    from hosting_emulator.settings import Settings

_FORMAT = "hosting-emulator exploration 1"
#: The settings that determine the world in which a run starts.
_WORLD_SETTINGS = ("seed", "clock", "at", "assumptions", "scenario", "state")
#: The maximum size in bytes of a file whose content is compared. Larger files are compared only by
#: name.
_LONGEST_FILE = 16 * 1024 * 1024


class ResultsFile:
    """The results by fault point. If `path` is not None, the results are stored in this file.

    `key` is the `exploration_key` of the results.
    """

    def __init__(self, path: Path | None, key: str) -> None:
        self.results: dict[FaultPoint, TrialResult] = {}
        self._path = path
        self._key = key

    def load(self, planned: PointPlan) -> str:
        """Load the stored results of a plan's points, and return a message about the results.

        Results are not loaded if they are from another command, another clean run or a finished
        exploration. The message is empty if `--results` is not set or the file does not exist.
        Raises Failure if the file cannot be read or contains no exploration.
        """
        if self._path is None:
            return ""
        path = self._path
        try:
            document = json.loads(path.read_text(encoding="utf-8"))
            if document["format"] != _FORMAT:
                raise ValueError
            stored = [read_result(result) for result in document["results"]]
        except FileNotFoundError:
            return ""
        except OSError as error:
            raise Failure(f"cannot read {path}: {error}") from error
        except (ValueError, TypeError, LookupError):
            message = f"{path} does not contain the results of an exploration: name another file"
            raise Failure(message) from None
        if document["key"] != self._key:
            return (
                f"{path} is from a different command or clean run, so the exploration starts over."
            )
        results = {result.point: result for result in stored if result.point in planned.points}
        if len(results) == len(planned.points):
            return f"{path} is from a finished exploration, so the exploration starts over."
        self.results = results
        return f"Continuing from {path}: {len(results)} of {len(planned.points)} runs are done."

    def add(self, result: TrialResult) -> None:
        """Add a result and store all results. Raises Failure if the file cannot be written."""
        self.results[result.point] = result
        if self._path is None:
            return
        documents = [result_document(stored) for stored in self.results.values()]
        document = {"format": _FORMAT, "key": self._key, "results": documents}
        write_whole(self._path, as_json(document) + "\n")


def exploration_key(
    clean: CleanRun,
    *,
    command: Sequence[str],
    settings: Settings,
    user: str | None,
    exports: Sequence[tuple[str, str]],
    limit_s: float | None,
    conduct: str,
) -> str:
    """Return a hexadecimal hash by which an exploration recognizes its own stored results.

    It depends on the command line, the content of the files that the command line names, the
    options that affect results, and the clean run. A change to any other file does not change it.
    """
    all_settings = asdict(settings)
    document: dict[str, Any] = {
        "version": __version__,
        "command": [[word, _content_digest(word)] for word in command],
        "settings": {name: str(all_settings[name]) for name in _WORLD_SETTINGS},
        "user": user,
        "exports": exports,
        "limit": limit_s,
        "conduct": conduct,
        "requests": [
            (request.name, request.exchange.method, request.exchange.status)
            for request in clean.observation.requests
        ],
        "start": {kind: sorted(rows.items()) for kind, rows in clean.start.items()},
    }
    return sha256(json.dumps(document, sort_keys=True, default=str).encode()).hexdigest()


def _content_digest(word: str) -> str | None:
    """Return the SHA-256 digest of the file that a word of the command line names.

    Returns None if the word names no readable file of at most 16 MiB.
    """
    path = Path(word)
    with suppress(OSError, ValueError):
        if path.is_file() and path.stat().st_size <= _LONGEST_FILE:
            return sha256(path.read_bytes()).hexdigest()
    return None
