"""The state file of an exploration: what is known so far, so that one that was cut off can go on."""

from __future__ import annotations

import json
from collections.abc import Iterable
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
    from hosting_emulator.explore.runs import CleanRun, PointResult
    from hosting_emulator_cli.exploration import ExploreOptions

_FORMAT = "hosting-emulator exploration 1"
_LONGEST_FILE = 16 * 1024 * 1024


def load_results(path: Path, key: str, plan: Plan) -> tuple[list[PointResult], str]:
    """Return what a file holds of the points of a plan, and in a sentence what becomes of it.

    There may be no file yet. Raises Failure.
    """
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["format"] != _FORMAT:
            raise ValueError
        results = [read_result(result) for result in found["results"]]
    except FileNotFoundError:
        return [], ""
    except OSError as error:
        raise Failure(f"cannot read {path}: {error}") from error
    except (ValueError, TypeError, LookupError):
        raise Failure(f"{path} is no state of an exploration: name another file") from None
    done = [result for result in results if result.point in plan.points]
    if found["key"] != key:
        return [], f"{path} is of another command or another clean run: beginning anew."
    if len(done) == len(plan.points):
        return [], f"{path} is of an exploration that was finished: beginning anew."
    return done, f"Going on: {len(done)} of {len(plan.points)} are done, says {path}."


def save_results(path: Path, key: str, results: Iterable[PointResult]) -> None:
    """Write what is known so far. Raises Failure."""
    documents = [result_document(result) for result in results]
    write_whole(path, as_json({"format": _FORMAT, "key": key, "results": documents}) + "\n")


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
        "requests": [
            (r.name, r.exchange["method"], r.exchange["status"]) for r in clean.seen.requests
        ],
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
