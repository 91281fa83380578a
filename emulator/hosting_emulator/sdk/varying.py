"""How answers are to vary, as it is asked for: by arguments, or by the environment where none say."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

SEED_VARIABLE = "HOSTING_EMULATOR_VARY"
ONLY_VARIABLE = "HOSTING_EMULATOR_VARY_ONLY"
#: A seed, or seed and points as a scenario writes them: {"seed": 7, "only": ["page-size"]}.
VaryLike: TypeAlias = str | int | Mapping[str, Any]


def asked_variation(
    vary: VaryLike | None, only: str | Sequence[str] | None
) -> tuple[str | None, list[str] | None]:
    """Return seed and points as the control API takes them; without a seed the environment's.

    Raises ValueError for points without a seed, and for what is no seed.
    """
    if vary is None:
        if only:
            raise ValueError("vary_only belongs to vary: give a seed as well")
        vary = os.environ.get(SEED_VARIABLE) or None
        only = os.environ.get(ONLY_VARIABLE) or None
    return (None, None) if vary is None else read_vary(vary, only)


def read_vary(
    vary: VaryLike, only: str | Sequence[str] | None = None
) -> tuple[str, list[str] | None]:
    """Return the seed and the points that are said. Raises ValueError in one line."""
    if isinstance(vary, Mapping):
        unknown = [name for name in vary if name not in ("seed", "only")]
        if unknown or "seed" not in vary:
            raise ValueError(f"{_NO_SEED}, not {_shown(vary)}")
        points = vary.get("only")
        if points is not None and only:
            raise ValueError("the points of vary are said twice: give only or vary_only")
        if points is not None and not points:
            raise ValueError("only of vary: name at least one point, or leave it out for all")
        vary, only = vary["seed"], only if points is None else points
    if isinstance(vary, bool) or not isinstance(vary, str | int):
        raise ValueError(f"{_NO_SEED}, not {_shown(vary)}")
    named = isinstance(only, str | Sequence) and all(isinstance(name, str) for name in only)
    if only is not None and not named:
        raise ValueError(f"the points of vary are a list of names, not {_shown(only)}")
    return str(vary), read_only(only)


_NO_SEED = 'vary is a seed, a text or a whole number, or {"seed": …, "only": […]}'


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 80 else f"{text[:79]}…"


def read_only(only: str | Sequence[str] | None) -> list[str] | None:
    """Return points given one by one or in a text, divided by commas or spaces; None: all."""
    if not only:
        return None
    return (
        [name for name in re.split(r"[,\s]+", only) if name] if isinstance(only, str) else [*only]
    )


def variation_lines(variation: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Say how a world's answers varied and how to have that again, as rows: a word and what it says."""
    seed, only = str(variation.get("seed")), variation.get("only")
    varied = variation.get("varied") or {}
    points = ", ".join(varied) or "nothing yet"
    confined = f", confined to {', '.join(only)}" if only else ""
    again = f"--vary {shlex.quote(seed)}"
    pytests = f"--hosting-emulator-vary={shlex.quote(seed)}"
    if only:
        again += "".join(f" --only {point}" for point in only)
        pytests += f" --hosting-emulator-vary-only={','.join(only)}"
    return [
        ("varied", f"by seed {seed}{confined}: {points}"),
        ("again", f"{again} (start, exec), or {pytests} (pytest)"),
    ]
