"""Creating a world: reads scenario, clock and variation, and writes the request."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias, TypedDict

from hosting_emulator import messages
from hosting_emulator.sdk.text import one_line

#: A name in the library, a file, or the document itself (all of its keys are optional).
ScenarioLike: TypeAlias = str | Path | Mapping[str, Any]
#: `frozen`, `real`, `skip`, `scaled:60`, or the form of the control API: {"mode": …, "rate": …}.
ClockLike: TypeAlias = str | messages.ClockRequest | Mapping[str, Any]
#: A seed, or a mapping with a seed and variation points, as in a scenario: {"seed": 7, "only":
#: ["page-size"]}.
VaryLike: TypeAlias = str | int | Mapping[str, Any]


class ScenarioChoice(TypedDict, total=False):
    """A scenario: the `name` of a library scenario, or YAML or JSON `text`, which errors call `file`."""

    name: str
    text: str
    file: str


class WorldRequest(TypedDict, total=False):
    """A world to create: from a `scenario`, from an exported `state`, or the default world.

    Clock and assumptions override those of a scenario; with a `state` they are not allowed. `vary`
    is the seed of the variation. With `only`, responses vary only at these points. With `token`,
    which may be {}, the summary includes an access token: {"user": …, "organization": …,
    "expires_in_seconds": …}. With `ttl`, the world is deleted after this much time without a
    request. `observation` is the id of an observation that watches the world from the first
    request.
    """

    scenario: ScenarioChoice | None
    state: Mapping[str, Any] | None
    seed: str | None
    clock: messages.ClockRequest | None
    assumptions: Mapping[str, Any] | None
    ephemeral: bool | None
    vary: str | None
    ttl: str | None
    only: Sequence[str] | None
    token: Mapping[str, Any] | None
    observation: str | None


class WorldOptions(TypedDict, total=False):
    """Options of a fresh world. Each overrides the scenario.

    `clock` is `frozen`, `real`, `skip`, `scaled:60` or {mode, rate}. `vary` is the seed of the
    variation, at the points in `vary_only` or at all points, or both: {"seed": 7, "only": […]}.
    Without it, HOSTING_EMULATOR_VARY and HOSTING_EMULATOR_VARY_ONLY apply. `ttl` is a span such as
    `6h`, or None for no limit: the world is deleted after this much time without a request, in case
    its creator was killed.
    """

    clock: ClockLike | None
    seed: str | None
    assumptions: Mapping[str, Any] | None
    vary: VaryLike | None
    vary_only: str | Sequence[str] | None
    ttl: str | None


_NO_SEED = 'vary must be a seed (a string or a whole number) or {"seed": …, "only": […]}'


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
    # Longer than anybody inspects a world in a debugger, in case nothing closes it.
    ttl: str | None = "6h",
) -> WorldRequest:
    """Return the request of the control API that creates a world. Raises ValueError, OSError."""
    if clock is None and scenario is None and state is None:
        clock = "frozen"
    request: WorldRequest = {
        "scenario": None,
        "state": state,
        "seed": seed,
        "clock": None,
        "assumptions": assumptions,
        "ephemeral": True,
        "vary": None,
        "only": None,
        "ttl": ttl,
    }
    if scenario is not None:
        request["scenario"] = _scenario_choice(scenario, document_name)
    if clock is not None:
        request["clock"] = clock_request(clock)
    if vary is None:
        if vary_only:
            raise ValueError("vary_only needs vary: give a seed")
        vary = os.environ.get("HOSTING_EMULATOR_VARY") or None
        vary_only = os.environ.get("HOSTING_EMULATOR_VARY_ONLY") or None
    if vary is not None:
        variation_seed, points = read_vary(vary, vary_only)
        request["vary"] = variation_seed
        request["only"] = points
    return request


def _scenario_choice(scenario: ScenarioLike, document_name: str) -> ScenarioChoice:
    if isinstance(scenario, Mapping):
        # Only a library needs these, to list a scenario. Members of the scenario itself override
        # them.
        defaults = {"name": "inline", "description": "Written where it is used."}
        document = defaults | dict(scenario)
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
    """Return whether a string is the file name of a scenario. Library names have no dot or slash."""
    return "/" in text or os.sep in text or text.endswith((".yaml", ".yml", ".json"))


def find_file(path: str | Path, folders: Sequence[Path] = ()) -> Path:
    """Return a file in the first of the folders that has it, by default in the working folder.

    Raises ValueError.
    """
    candidates = list(dict.fromkeys(folder / path for folder in folders)) or [Path(path)]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ValueError(f"there is no file {' and no '.join(map(str, candidates))}")


def clock_request(clock: ClockLike) -> messages.ClockRequest:
    """Parse `frozen`, `real`, `skip` or `scaled:RATE`.

    The message of a ValueError lists these forms.
    """
    if not isinstance(clock, str):
        return clock  # type: ignore[return-value] # the emulator refuses what is wrong with it
    mode, _, rate = clock.partition(":")
    if mode == "scaled" and rate:
        return {"mode": "scaled", "rate": read_rate(rate)}
    if clock in {"frozen", "real", "skip"}:
        return {"mode": mode}  # type: ignore[typeddict-item] # mypy does not narrow by `in`
    raise ValueError(f"{clock!r} is not real, frozen, skip or scaled:RATE, such as scaled:60")


def read_rate(text: str) -> float:
    """Parse a rate, which is a finite number of world seconds per real second above 0.

    Raises ValueError.
    """
    with suppress(ValueError):
        rate = float(text)
        if 0 < rate < float("inf"):
            return rate
    raise ValueError(f"{text!r} is not a rate: write a number above 0, such as 60 or 0.5")


def read_vary(
    vary: VaryLike, only: str | Sequence[str] | None = None
) -> tuple[str, list[str] | None]:
    """Return the seed and the points. In a string, points are separated by commas or spaces.

    Raises ValueError with a one-line message.
    """
    seed: object = vary
    points: object = only
    if isinstance(vary, Mapping):
        if "seed" not in vary or not vary.keys() <= {"seed", "only"}:
            raise ValueError(f"{_NO_SEED}, not {one_line(repr(vary), 80)}")
        seed = vary["seed"]
        own_points = vary.get("only")
        if own_points is not None:
            if only:
                raise ValueError("the points are given twice: use either only or vary_only")
            if not own_points:
                raise ValueError(
                    "vary: only must name at least one point; leave it out to vary all points"
                )
            points = own_points
    if isinstance(seed, bool) or not isinstance(seed, str | int):
        raise ValueError(f"{_NO_SEED}, not {one_line(repr(seed), 80)}")
    return str(seed), _read_points(points)


def _read_points(points: object) -> list[str] | None:
    """Return the names of points, or None for all points. Raises ValueError."""
    if points is None:
        return None
    if isinstance(points, str):
        return [name for name in re.split(r"[,\s]+", points) if name] or None
    if isinstance(points, Sequence) and all(isinstance(name, str) for name in points):
        return list(points) or None
    raise ValueError(
        f"the points of vary must be a list of names, not {one_line(repr(points), 80)}"
    )
