"""How a fresh world begins, as people write it: scenario, clock, variation.

It must not know pytest: the same words serve `HostingEmulator.fresh`, `hosting_scenario` and fixtures.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

from hosting_emulator.control_api import ClockRequest
from hosting_emulator.sdk.control import ScenarioChoice, WorldRequest

SEED_VARIABLE = "HOSTING_EMULATOR_VARY"
ONLY_VARIABLE = "HOSTING_EMULATOR_VARY_ONLY"
#: A name in the library, a file, or the document itself (all of its keys may be left out).
ScenarioLike: TypeAlias = str | Path | Mapping[str, Any]
#: `frozen`, `real`, `skip`, `scaled:60`, or as the control API takes it: {"mode": …, "rate": …}.
ClockLike: TypeAlias = str | ClockRequest | Mapping[str, Any]
#: A seed, or seed and points as a scenario writes them: {"seed": 7, "only": ["page-size"]}.
VaryLike: TypeAlias = str | int | Mapping[str, Any]


class WorldOptions(TypedDict, total=False):
    """What is laid over how a fresh world begins: over a scenario's own, where there is one.

    `clock` is `frozen`, `real`, `skip`, `scaled:60` or {mode, rate}. `vary` is a seed that its answers
    vary by, at the points in `vary_only` or at all, or both: {"seed": 7, "only": […]};
    HOSTING_EMULATOR_VARY and HOSTING_EMULATOR_VARY_ONLY hold where it is not given. `ttl`, a span like
    `6h` (None for ever), is how long the world stays when nobody asks anything of it any more, if what
    made it was killed.
    """

    clock: ClockLike | None
    seed: str | None
    assumptions: Mapping[str, Any] | None
    vary: VaryLike | None
    vary_only: str | Sequence[str] | None
    ttl: str | None


#: How long a world stays that nobody closes: longer than anybody looks at one in a debugger.
_TTL = "6h"
#: What a library needs to list a scenario is nothing to ask of one that is written in place.
_NAMED = {"name": "inline", "description": "Written where it is used."}
_NO_SEED = 'vary is a seed, a text or a whole number, or {"seed": …, "only": […]}'


def world_request(
    scenario: ScenarioLike | None,
    document_name: str,
    state: Mapping[str, Any] | None,
    *,
    clock: ClockLike | None = None,
    seed: str | None = None,
    assumptions: Mapping[str, Any] | None = None,
    vary: VaryLike | None = None,
    vary_only: str | Sequence[str] | None = None,
    ttl: str | None = _TTL,
) -> WorldRequest:
    """Return how a world begins as the control API takes it. Raises ValueError, OSError."""
    if clock is None and scenario is None and state is None:
        clock = "frozen"
    text, only = chosen_variation(vary, vary_only)
    return {
        "scenario": None if scenario is None else _choice(scenario, document_name),
        "state": state,
        "seed": seed,
        "clock": None if clock is None else clock_request(clock),
        "assumptions": assumptions,
        "ephemeral": True,
        "vary": text,
        "only": only,
        "ttl": ttl,
    }


def _choice(scenario: ScenarioLike, document_name: str) -> ScenarioChoice:
    if isinstance(scenario, Mapping):
        document = {**scenario, **_NAMED, **scenario}  # what it says itself holds
        if isinstance(document.get("clock"), str):
            document["clock"] = clock_request(document["clock"])
        try:
            return {"text": json.dumps(document), "file": document_name}
        except (TypeError, ValueError) as error:
            raise ValueError(f"the scenario cannot be written as JSON: {error}") from None
    if isinstance(scenario, Path) or is_file_name(scenario):
        path = find_file(scenario)
        return {"text": path.read_text(encoding="utf-8"), "file": str(path)}
    return {"name": scenario}


def is_file_name(text: str) -> bool:
    """Whether a scenario is named by its file; names in the library have no dot and no slash."""
    return "/" in text or os.sep in text or text.endswith((".yaml", ".yml", ".json"))


def find_file(path: str | Path, folders: Sequence[Path] = ()) -> Path:
    """Return a file in the first of some folders that has it; without any, where the process runs.

    Raises ValueError.
    """
    tried = list(dict.fromkeys(folder / path for folder in folders)) or [Path(path)]
    for found in tried:
        if found.is_file():
            return found
    raise ValueError(f"there is no file {' and no '.join(map(str, tried))}")


def clock_request(clock: ClockLike) -> ClockRequest:
    """Read `frozen`, `real`, `skip` or `scaled:RATE`. Raises ValueError with what to write."""
    if not isinstance(clock, str):
        return clock  # type: ignore[return-value] # the emulator says what is wrong with it
    mode, _, rate = clock.partition(":")
    if mode == "scaled" and rate:
        try:
            return {"mode": "scaled", "rate": float(rate)}
        except ValueError:
            pass
    elif mode in {"frozen", "real", "skip"} and not rate:
        return {"mode": mode}  # type: ignore[typeddict-item] # mypy does not narrow by `in`
    raise ValueError(f"clock {clock!r}: use frozen, real, skip or scaled:RATE, such as scaled:60")


def chosen_variation(
    vary: VaryLike | None, only: str | Sequence[str] | None
) -> tuple[str | None, list[str] | None]:
    """Return seed and points as the control API takes them; without a seed the environment's.

    Raises ValueError for points without a seed, and for what is no seed.
    """
    if vary is None:
        if only:
            raise ValueError("vary_only needs vary: give a seed")
        vary = os.environ.get(SEED_VARIABLE) or None
        only = os.environ.get(ONLY_VARIABLE) or None
    return (None, None) if vary is None else read_vary(vary, only)


def read_vary(
    vary: VaryLike, only: str | Sequence[str] | None = None
) -> tuple[str, list[str] | None]:
    """Return seed and points; points in a text are divided by commas or spaces.

    Raises ValueError in one line.
    """
    if isinstance(vary, Mapping):
        if "seed" not in vary or not vary.keys() <= {"seed", "only"}:
            raise ValueError(f"{_NO_SEED}, not {_shown(vary)}")
        points = vary.get("only")
        if points is not None and only:
            raise ValueError("the points of vary are given twice: give only or vary_only")
        if points is not None and not points:
            raise ValueError("only of vary: name at least one point, or leave it out for all")
        vary, only = vary["seed"], only if points is None else points
    if isinstance(vary, bool) or not isinstance(vary, str | int):
        raise ValueError(f"{_NO_SEED}, not {_shown(vary)}")
    named = isinstance(only, str | Sequence) and all(isinstance(name, str) for name in only)
    if only is not None and not named:
        raise ValueError(f"the points of vary are a list of names, not {_shown(only)}")
    if isinstance(only, str):
        only = [name for name in re.split(r"[,\s]+", only) if name]
    return str(vary), list(only) if only else None


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"
