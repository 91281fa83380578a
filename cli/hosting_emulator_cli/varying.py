"""How `--vary` is asked for, and the command line that shows the same answers again."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])
#: What a command is handed on by, so that worlds made elsewhere vary too.
SEED_VARIABLE = "HOSTING_EMULATOR_VARY"
ONLY_VARIABLE = "HOSTING_EMULATOR_VARY_ONLY"
_RAW = "hosting_emulator_cli.varying.raw"


class RawCommand(click.Command):
    """A command that remembers its words as they were typed."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Keep the words, and read them."""
        ctx.meta[_RAW] = list(args)
        return super().parse_args(ctx, args)


def _points(
    ctx: click.Context, param: click.Parameter, texts: tuple[str, ...]
) -> tuple[str, ...] | None:
    """Read points, given one by one or divided by commas; None: all."""
    names = [name for text in texts for name in text.replace(",", " ").split()]
    if not names:
        return None
    from hosting_emulator.variation.points import VariationRefused, read_points

    try:
        return read_points(names)
    except VariationRefused as error:
        raise click.BadParameter(str(error), ctx=ctx, param=param) from error


def vary_options(command: F) -> F:
    """Add `--vary` and `--only`, which arrive as `vary` and `vary_only`."""
    return _vary_option(_only_option(command))


_vary_option = click.option(
    "--vary",
    envvar=SEED_VARIABLE,
    show_envvar=True,
    metavar="SEED",
    help="Answer differently wherever the contract leaves freedom, as this text draws; never as it "
    "forbids. `contract variation-points` lists where.",
)
_only_option = click.option(
    "--only",
    "vary_only",
    multiple=True,
    callback=_points,
    envvar=ONLY_VARIABLE,
    show_envvar=True,
    metavar="POINT",
    help="Vary at this point only; repeatable.",
)


def check_only(ctx: click.Context) -> None:
    """Refuse `--only` without `--vary`. Raises UsageError."""
    if ctx.params["vary_only"] and ctx.params["vary"] is None:
        raise click.UsageError("--only belongs to --vary: give a seed as well")


def line_again(ctx: click.Context, seed: str, points: Sequence[str] | None) -> str:
    """Return the command line that runs the same command with these answers again."""
    command: Sequence[str] = ctx.params["command"]
    typed = ctx.meta[_RAW]
    options = _without_ours(typed[: len(typed) - len(command)])
    only = [word for point in points or () for word in ("--only", point)]
    words = ["hosting-emulator", "exec", *options, "--vary", seed, *only, "--", *command]
    return shlex.join(words)


def _without_ours(words: Sequence[str]) -> list[str]:
    """Return options as they were typed, but for those that say how answers vary."""
    kept: list[str] = []
    left = iter(words)
    for word in left:
        if word in ("--vary", "--only"):
            next(left, None)
        elif word not in ("--", "--shrink") and not word.startswith(("--vary=", "--only=")):
            kept.append(word)
    return kept
