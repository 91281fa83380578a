"""Compiles and runs all regular expressions that users write.

A pattern must be valid for Python's `re`. The `regex` package runs the pattern, because it can
limit the time of a search. In `re`, a pattern such as `^(a+)+$` would block the whole process. A
search that takes too long raises an error, and counts neither as a match nor as a mismatch.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

#: The time limit of a search, in seconds of CPU time used by the searching thread. Ordinary
#: searches take microseconds.
SEARCH_LIMIT_S: Final = 0.05
#: The number of times that a search must reach the time limit before the search is refused. If a
#: virtual machine pauses, a single short search can look long.
LONG_SEARCHES: Final = 2
#: The limits of a pattern are its length in characters, the depth of its nested groups, and the
#: product of its repetition counts. Beyond such limits, the `regex` compiler can use exponential
#: memory.
LONGEST_PATTERN: Final = 1000
DEEPEST_GROUP: Final = 8
MOST_REPETITIONS: Final = 1000
_LONGEST_QUOTE: Final = 80

#: A token is an escape, a character class, a repetition count, or one of the characters `(){`.
_TOKEN: Final = re.compile(
    r"\\N\{[^}]*\}|\\.|\[\^?\]?(?:\\.|[^\]\\])*\]|(?P<count>\{(?:\d+(?:,\d*)?|,\d+)\})|[(){]",
    re.DOTALL,
)


class PatternError(ValueError):
    """A regular expression is invalid or too complex, or a search reached the time limit."""


@dataclass(frozen=True, slots=True)
class Expression:
    """A user's regular expression, compiled by `compile_pattern`."""

    pattern: str
    _compiled: Any

    def search(self, text: str) -> re.Match[str] | None:
        """Return the first match in a string, or None if there is no match.

        Raises PatternError if the search uses more CPU time than SEARCH_LIMIT_S in LONG_SEARCHES
        attempts. Load on the machine, or from other threads, does not count toward the limit.
        """
        timeout_s = SEARCH_LIMIT_S
        long_searches = 0
        while long_searches < LONG_SEARCHES:
            began_s = time.thread_time()
            try:
                # `concurrent=False` keeps the interpreter lock, so that no other thread runs during
                # the search.
                match: re.Match[str] | None = self._compiled.search(
                    text, timeout=timeout_s, concurrent=False
                )
                return match
            except TimeoutError:
                # `regex` measures the CPU time of the whole process. The search reached the limit
                # only if this thread itself used that much CPU time.
                if time.thread_time() - began_s >= SEARCH_LIMIT_S:
                    long_searches += 1
                else:
                    timeout_s *= 2
        limit_ms = round(SEARCH_LIMIT_S * 1000)
        raise PatternError(
            f"the regular expression {_quoted(self.pattern)} takes more than {limit_ms} ms on "
            f"a string of {len(text)} characters: rewrite the expression without a repetition "
            "inside a repetition"
        )


@lru_cache(maxsize=256)
def compile_pattern(pattern: str) -> Expression:
    """Compile a regular expression.

    Raises PatternError if the expression is invalid or exceeds a limit.
    """
    import regex  # imported lazily, because most worlds use no pattern

    if len(pattern) > LONGEST_PATTERN:
        raise PatternError(
            f"the regular expression {_quoted(pattern)} has {len(pattern)} characters: "
            f"at most {LONGEST_PATTERN} are allowed"
        )
    try:
        # Compile with `re` first, because `regex` accepts additional syntax, such as fuzzy matching,
        # that patterns must not use.
        re.compile(pattern)
        return Expression(pattern, regex.compile(_within_limits(pattern)))
    except (re.error, regex.error, OverflowError, RecursionError) as error:
        raise PatternError(
            f"{_quoted(pattern)} is not a valid regular expression: {error}"
        ) from None


def _within_limits(pattern: str) -> str:
    """Return the pattern with each literal `{` escaped.

    Raises PatternError if the pattern has too many nested groups or repetitions.
    """
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
        elif text == "{":  # in `regex`, a literal brace could start a fuzzy match
            pieces += [pattern[end : token.start()], "\\"]
            end = token.start()
        if depth > DEEPEST_GROUP:
            raise PatternError(
                f"the regular expression {_quoted(pattern)} has more than {DEEPEST_GROUP} nested "
                "groups"
            )
        if repetitions > MOST_REPETITIONS:
            raise PatternError(
                f"the product of the repetition counts in the regular expression "
                f"{_quoted(pattern)} is greater than {MOST_REPETITIONS}"
            )
    return "".join([*pieces, pattern[end:]])


def _quoted(pattern: str) -> str:
    """Return the repr of a pattern, which is first truncated to 80 characters."""
    if len(pattern) > _LONGEST_QUOTE:
        pattern = pattern[: _LONGEST_QUOTE - 1] + "…"
    return repr(pattern)
