"""The state file of an exploration: what is known so far, so that one that was cut off can go on."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hosting_emulator import __version__
from hosting_emulator.explore.report import read_result, result_document
from hosting_emulator_cli.files import write_whole
from hosting_emulator_cli.groups import Failure
from hosting_emulator_cli.output import as_json

if TYPE_CHECKING:
    from hosting_emulator.explore.plan import Plan
    from hosting_emulator.explore.points import FaultPoint
    from hosting_emulator.explore.runs import CleanRun, PointResult
    from hosting_emulator_cli.exploration import ExploreOptions

_FORMAT = "hosting-emulator exploration 1"
_LONGEST_FILE = 16 * 1024 * 1024


class SavedResults:
    """Results by their points, in a file (or nowhere) that is written anew with each.

    `says` tells in a sentence what became of what the file held before.
    """

    def __init__(self, path: Path | None, key: str, plan: Plan) -> None:
        self._path, self._key = path, key
        self.results: dict[FaultPoint, PointResult] = {}
        self.says = ""
        if path is None:
            return
        try:
            text = path.read_text(encoding="utf-8")
        except FileNotFoundError:
            return
        except (OSError, ValueError) as error:
            raise Failure(f"cannot read {path}: {error}") from error
        self._take_in(path, text, plan)

    def add(self, result: PointResult) -> None:
        """Take a result in, and write the file. Raises Failure."""
        self.results[result.point] = result
        if self._path is not None:
            results = [result_document(result) for result in self.results.values()]
            found = {"format": _FORMAT, "key": self._key, "results": results}
            write_whole(self._path, as_json(found) + "\n")

    def in_order(self, points: Iterable[FaultPoint]) -> Sequence[PointResult]:
        """Return the results of points, in their order."""
        return [self.results[point] for point in points if point in self.results]

    def _take_in(self, path: Path, text: str, plan: Plan) -> None:
        try:
            found = json.loads(text)
            if found["format"] != _FORMAT:
                raise ValueError
            results = [read_result(result) for result in found["results"]]
        except (ValueError, TypeError, LookupError):
            raise Failure(f"{path} is no state of an exploration: name another file") from None
        done = {result.point: result for result in results if result.point in plan.points}
        if found["key"] != self._key:
            self.says = f"{path} is of another command or another clean run: beginning anew."
        elif len(done) == len(plan.points):
            self.says = f"{path} is of an exploration that was finished: beginning anew."
        else:
            self.results = done
            self.says = f"Going on: {len(done)} of {len(plan.points)} are done, says {path}."


def key_of(options: ExploreOptions, clean: CleanRun) -> str:
    """Return a text that differs when anything differs that the results rest upon.

    Files that the command names count by their content.
    """
    settings = asdict(options.settings)
    shaping = ("seed", "clock", "at", "assumptions", "scenario", "state")
    found: dict[str, Any] = {
        "version": __version__,
        "command": [[word, _content(word)] for word in options.command],
        "settings": {name: str(settings[name]) for name in shaping},
        "as": options.principal,
        "exports": options.exports,
        "limit": options.limit_s,
        "conduct": options.conduct,
        "requests": [(r.name, r.method, r.status) for r in clean.seen.requests],
        "start": {kind: sorted(rows.items()) for kind, rows in clean.start.items()},
    }
    return sha256(json.dumps(found, sort_keys=True, default=str).encode()).hexdigest()


def _content(word: str) -> str | None:
    path = Path(word)
    try:
        if path.is_file() and path.stat().st_size <= _LONGEST_FILE:
            return sha256(path.read_bytes()).hexdigest()
    except (OSError, ValueError):
        pass
    return None
