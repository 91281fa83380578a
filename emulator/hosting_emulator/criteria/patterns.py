"""Compiles and runs all regular expressions that users write.

A pattern must be valid for Python's `re`. It runs in the `regex` engine, which can be interrupted.
`re` has no time limit, so a pattern such as `^(a+)+$` would block the whole process. A pattern that
reaches the time limit raises an error, and never counts as a match or a mismatch.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

#: The time limit of a search, in seconds of its thread's CPU time. Ordinary patterns take
#: microseconds.
SEARCH_LIMIT_S: Final = 0.05
#: The number of times that a search must reach its limit. A pause of a virtual machine can make a
#: single search look long.
LONG_SEARCHES: Final = 2
#: The limits of a pattern: its length in characters, the depth of nested groups, and the product of
#: its repetition counts. The engine's compiler takes exponential memory beyond such limits.
LONGEST_PATTERN: Final = 1000
DEEPEST_GROUP: Final = 8
MOST_REPETITIONS: Final = 1000
_LONGEST_QUOTE: Final = 80

#: An escape, a character class, or a character that the checks below examine.
_TOKEN: Final = re.compile(
    r"\\N\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<count>\{(?:\d+(?:,\d*)?|,\d+)\})|[(){]",
    re.DOTALL,
)


class PatternError(ValueError):
    """A regular expression is invalid or too complex, or has reached its time limit."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A user's regular expression, compiled by `compile_pattern`."""

    pattern: str
    _compiled: Any

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a string, or None if there is no match.

        Raises PatternError if the search takes longer than SEARCH_LIMIT_S. The load of the machine
        and of other threads does not count.
        """
        timeout_s = SEARCH_LIMIT_S
        long_searches = 0
        while long_searches < LONG_SEARCHES:
            began_s = time.thread_time()
            try:
                # Otherwise the engine would let other threads run during the search.
                match: re.Match[str] | None = self._compiled.search(
                    text, timeout=timeout_s, concurrent=False
                )
                return match
            except TimeoutError:
                # The engine counts the CPU time of the whole process, including other threads.
                if time.thread_time() - began_s >= SEARCH_LIMIT_S:
                    long_searches += 1
                else:
                    timeout_s *= 2
        limit_ms = round(SEARCH_LIMIT_S * 1000)
        raise PatternError(
            f"the regular expression {_quoted(self.pattern)} takes more than {limit_ms} ms on "
            f"a string of {len(text)} characters: write it without a repetition inside a "
            "repetition"
        )


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Expression:
    """Compile a regular expression. Raises PatternError if it is invalid or beyond the limits."""
    import regex  # imported here because most worlds use no pattern

    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(
            f"the regular expression {_quoted(pattern)} has {len(pattern)} characters: "
            f"at most {LONGEST_PATTERN} are allowed"
        )
    try:
        # Python's syntax decides whether a pattern is valid. The other engine has more syntax, such
        # as fuzzy matching, which is not intended here.
        re.compile(pattern)
        return Expression(pattern, regex.compile(_within_limits(pattern)))
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        raise PatternError(
            f"{_quoted(pattern)} is not a valid regular expression: {error}"
        ) from None


def _within_limits(pattern: str) -> str:
    """Return the pattern with each literal `{` escaped. Raises PatternError beyond the limits."""
    depth = 0
    repetitions = 1
    pieces: list[str] = []
    end = 0
    for token in _TOKEN.finditer(pattern):
        text = token[0]
        if text == "(":
            depth += 1
        elif text == ")":
            depth -= 1
        elif token["count"]:
            repetitions *= max(int(count) for count in re.findall(r"\d+", text)) or 1
        elif text == "{":  # in the other engine it could start a fuzzy match
            pieces += [pattern[end : token.start()], "\\"]
            end = token.start()
        if depth > DEEPEST_GROUP:
            raise PatternError(
                f"the regular expression {_quoted(pattern)} has more than {DEEPEST_GROUP} groups "
                "inside each other"
            )
        if repetitions > MOST_REPETITIONS:
            raise PatternError(
                f"the repetition counts of the regular expression {_quoted(pattern)} multiply to more "
                f"than {MOST_REPETITIONS}"
            )
    return "".join([*pieces, pattern[end:]])


def _quoted(pattern: str) -> str:
    """Quote a pattern for a message, shortened if it is long."""
    if len(pattern) > _LONGEST_QUOTE:
        pattern = pattern[: _LONGEST_QUOTE - 1] + "…"
    return repr(pattern)
