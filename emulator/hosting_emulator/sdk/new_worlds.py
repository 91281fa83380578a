"""Builds the request that creates a world from a scenario, a clock and a variation."""

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

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True

#: The name of a library scenario, the path of a file, or a document. In a document, all keys are
#: optional.
ScenarioLike: TypeAlias = str | Path | Mapping[str, Any]
#: A clock: `frozen`, `real`, `skip`, `scaled:60`, or a mapping {"mode": …, "rate": …}.
ClockLike: TypeAlias = str | messages.ClockRequest | Mapping[str, Any]
#: A seed, or a mapping with a seed and variation points, such as {"seed": 7, "only": ["page-size"]}.
VaryLike: TypeAlias = str | int | Mapping[str, Any]


class ScenarioChoice(TypedDict, total=False):
    """A scenario: the `name` of a library scenario, or a document in `text`.

    `text` is YAML or JSON. `file` is the file name to use for it in error messages.
    """

    name: str
    text: str
    file: str


class WorldRequest(TypedDict, total=False):
    """The world to create: from a `scenario`, from an exported `state`, or with default content.

    `clock` and `assumptions` override those in a scenario, and are not allowed with a `state`.
    `vary` is the seed of a variation. With `vary_only`, responses vary only at these points. With
    `token`, the world's summary includes an access token. `token` is a mapping that can contain
    `user`, `organization` and `lifetime`. With `ttl`, the world is deleted after it has received no
    requests for this long in real time. A restart of the emulator removes this limit. `observation`
    is the id of an observation that will watch the world from its first request.
    """

    scenario: ScenarioChoice | None
    state: Mapping[str, Any] | None
    seed: str | None
    clock: messages.ClockRequest | None
    assumptions: Mapping[str, Any] | None
    ephemeral: bool | None
    vary: str | None
    ttl: str | None
    vary_only: Sequence[str] | None
    token: Mapping[str, Any] | None
    observation: str | None


class WorldOptions(TypedDict, total=False):
    """The options for a fresh world. They take precedence over the scenario.

    `clock` is `frozen`, `real`, `skip`, `scaled:60` or a mapping with `mode` and `rate`. `vary` is
    the seed of a variation. With `vary_only`, responses vary only at these points. `vary` can also
    be a mapping with a seed and points, such as {"seed": 7, "only": ["page-size"]}. Without `vary`,
    HOSTING_EMULATOR_VARY and HOSTING_EMULATOR_VARY_ONLY are used. `ttl` is a span such as `6h`. The
    world is deleted after it has received no requests for this long in real time, because the
    program that created it may have been killed. A restart of the emulator removes this limit. If
    `ttl` is None, there is no time limit.
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
    # The default is longer than a debugging session, during which a world may receive no requests.
    ttl: str | None = "6h",
) -> WorldRequest:
    """Return a control API request that creates a world.

    Raises ValueError if an option is invalid, or OSError if a file cannot be read.
    """
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
        "vary_only": None,
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
        request["vary_only"] = points
    return request


def _scenario_choice(scenario: ScenarioLike, document_name: str) -> ScenarioChoice:
    if isinstance(scenario, Mapping):
        # Every scenario must have a name and a description, so add them. They are shown only for
        # library scenarios.
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
    """Return whether a string is a file name.

    Names of library scenarios have neither a slash nor the suffix .yaml, .yml or .json.
    """
    return "/" in text or os.sep in text or text.endswith((".yaml", ".yml", ".json"))


def find_file(path: str | Path, folders: Sequence[Path] = ()) -> Path:
    """Return the path of a file in the first of `folders` that contains it.

    Without `folders`, `path` is relative to the working folder. Raises ValueError if the file does
    not exist.
    """
    candidates = list(dict.fromkeys(folder / path for folder in folders)) or [Path(path)]
    for candidate in candidates:
        if candidate.is_file():
            return candidate
    raise ValueError(f"there is no file {' and no '.join(map(str, candidates))}")


def clock_request(clock: ClockLike) -> messages.ClockRequest:
    """Parse `frozen`, `real`, `skip` or `scaled:RATE`. Mappings are returned unchanged.

    Raises ValueError for any other string.
    """
    if not isinstance(clock, str):
        return clock  # type: ignore[return-value] # the emulator refuses an invalid mapping
    mode, _, rate = clock.partition(":")
    if mode == "scaled" and rate:
        return {"mode": "scaled", "rate": read_rate(rate)}
    if clock in {"frozen", "real", "skip"}:
        return {"mode": mode}  # type: ignore[typeddict-item] # mypy does not narrow by `in`
    raise ValueError(
        f"{clock!r} is not a clock: use real, frozen, skip or scaled:RATE, such as scaled:60"
    )


def read_rate(text: str) -> float:
    """Parse a rate in world seconds per real second.

    Raises ValueError unless the rate is a finite number greater than 0.
    """
    with suppress(ValueError):
        rate = float(text)
        if 0 < rate < float("inf"):
            return rate
    raise ValueError(f"{text!r} is not a rate: write a number above 0, such as 60 or 0.5")


def read_vary(
    vary: VaryLike, only: str | Sequence[str] | None = None
) -> tuple[str, list[str] | None]:
    """Return a variation's seed and the names of its points, or None for all points.

    In a string, points are separated by commas or spaces. Raises ValueError, with a one-line
    message.
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
    """Return the names of points, or None for all points. Raises ValueError for any other value."""
    if points is None:
        return None
    if isinstance(points, str):
        return [name for name in re.split(r"[,\s]+", points) if name] or None
    if isinstance(points, Sequence) and all(isinstance(name, str) for name in points):
        return list(points) or None
    raise ValueError(
        f"the points of vary must be a list of names, not {one_line(repr(points), 80)}"
    )
