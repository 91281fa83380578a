"""Hints for options that a command does not have."""

from __future__ import annotations

from difflib import get_close_matches

import click

#: For words that other tools use, the options with the same meaning.
_OTHER_WORDS = {
    "after": ("--since", "--from"),
    "as": ("--user",),
    "count": ("--limit", "--times", "--lines"),
    "end": ("--before", "--until"),
    "from": ("--since", "--first"),
    "n": ("--limit", "--lines"),
    "out": ("--output",),
    "principal": ("--user",),
    "since": ("--from",),
    "start": ("--since", "--from"),
    "until": ("--before", "--to"),
}
#: The least similarity at which an option is suggested, from 0 to 1. At 0.65, `usr` suggests
#: `user`, but `wrld` does not suggest `url`.
_LEAST_SIMILARITY = 0.65
#: The least length at which the beginning of an option's name suggests the option.
_SHORTEST_BEGINNING = 3


def option_hint(typed_name: str, command: click.Command) -> str:
    """Return `did you mean …?` for the option that the user probably meant, or an empty string.

    `typed_name` is the unknown option, with its leading hyphens.
    """
    options = [name for param in command.params for name in _long_names(param)]
    word = typed_name.lstrip("-").lower()
    for option in _OTHER_WORDS.get(word, ()):
        if option in options:
            return f"did you mean {option}?"
    by_word = {option[2:]: option for option in options}
    matches = get_close_matches(word, by_word, n=1, cutoff=_LEAST_SIMILARITY)
    if not matches and len(word) >= _SHORTEST_BEGINNING:
        matches = [name for name in by_word if name.startswith(word)]
    if not matches:
        return ""
    return f"did you mean {by_word[matches[0]]}?"


def _long_names(param: click.Parameter) -> list[str]:
    return [name for name in [*param.opts, *param.secondary_opts] if name.startswith("--")]
