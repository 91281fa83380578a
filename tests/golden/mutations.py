"""Mutations that break a valid scenario file, each by a seeded choice.

A mutation returns the broken text and the lines (from 1) where an error may stand. It returns None if
the file contains nothing of its kind.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from tests.support.scenario_files import step_actions


class BrokenFile(NamedTuple):
    """A broken file: its text, and the first and last line that its error may name."""

    text: str
    first: int
    last: int


@dataclass(frozen=True)
class Choice:
    """A match in one line of a file, whose index counts from 0."""

    index: int
    match: re.Match[str]


Mutation = Callable[[str, Random], BrokenFile | None]

#: Keys of the language. Other keys (saved names, bodies, queries) are the author's own.
KEYS = (
    "name|description|seed|clock|assumptions|world|organizations|users|projects|faults"
    "|timeline|story|alias|call|poll|redeem|sign_in|advance|until|intervene|fault|assume"
    "|expect|status|code|project|times|phase|probability|abort|latency|truncate|gateway_error"
    "|rate_limit|at|after_calls|together|request|log|check|use|parts|steps|form|text"
    "|remove_fault|outcomes|count"
)
#: Words of the contract and of the default world.
WORDS = (
    "initialize_managed_source|apply_project_domains|create_user_api_key|list_deployments"
    "|set_project_powered_by_flag|get_dns_authorization|read_database_compute"
    "|create_dev_access_ticket|service_unavailable|rate_limited|unauthenticated"
    "|invalid_request|idempotency_key_reused|resource_not_found|stick_operation|move_dns"
    "|set_plan|revoke_key|cancel_operation|set_database|after_commit|connection_reset"
    "|empty_response|member|reader|outsider|authorized|pending|suspended|labs|blog|garden"
)
DURATION = re.compile(r"(\b(?:advance|at|until|window): )(\d+(?:ms|s|m|h|d)[0-9a-z]*)")
BLOCK = re.compile(r"^(?P<indent> *(?:- )?)(?P<key>[a-z_]+): (?P<value>[^\s{\[>].*)$")


def _text_of(lines: list[str]) -> str:
    return "\n".join(lines) + "\n"


def _replace_line(text: str, index: int, line: str) -> BrokenFile:
    lines = text.splitlines()
    lines[index] = line
    return BrokenFile(_text_of(lines), index + 1, index + 1)


def _choose(text: str, random: Random, pattern: str | re.Pattern[str]) -> Choice | None:
    """Choose a match in a line that is neither a comment nor part of the description."""
    head_length = text[: text.index("\n\n")].count("\n")
    choices: list[Choice] = []
    for index, line in enumerate(text.splitlines()):
        is_description = line.startswith("  ") and index <= head_length
        if line.startswith("#") or is_description or "note:" in line:
            continue
        choices += [Choice(index, match) for match in re.finditer(pattern, line)]
    return random.choice(choices) if choices else None


def _replace_group(
    text: str, choice: Choice | None, group: int, replacement: str
) -> BrokenFile | None:
    if choice is None:
        return None
    line = choice.match.string
    start = choice.match.start(group)
    end = choice.match.end(group)
    return _replace_line(text, choice.index, line[:start] + replacement + line[end:])


def _misspelled(word: str, random: Random) -> str:
    index = random.randrange(1, len(word))
    return random.choice(
        [word[:index] + word[index + 1 :], word[:index] + "x" + word[index:], word + "s"]
    )


def _misspell(text: str, random: Random, pattern: str) -> BrokenFile | None:
    """Misspell the first group of a match of a pattern."""
    choice = _choose(text, random, pattern)
    if choice is None:
        return None
    return _replace_group(text, choice, 1, _misspelled(choice.match.group(1), random))


def misspelled_key(text: str, random: Random) -> BrokenFile | None:
    return _misspell(text, random, rf"(?:^|[ {{])({KEYS}):(?=\s|$)")


def misspelled_word(text: str, random: Random) -> BrokenFile | None:
    return _misspell(text, random, rf"\b({WORDS})\b")


def misspelled_variable(text: str, random: Random) -> BrokenFile | None:
    choice = _choose(text, random, r"\$\{([a-z_]+)\}")
    if choice is None:
        return None
    return _replace_group(text, choice, 1, choice.match.group(1) + "x")


def value_of_another_type(text: str, random: Random) -> BrokenFile | None:
    choice = _choose(text, random, BLOCK)
    value = random.choice(["[1]", "{a: b}", "[[]]", "{}", "[{x: 1}, 2]"])
    return _replace_group(text, choice, 3, value)


def invalid_number(text: str, random: Random) -> BrokenFile | None:
    choice = _choose(text, random, r"\b(?:status|times|items|after_calls|deployments|limit): (\d+)")
    value = random.choice(["many", '"3"', "1.5", "-1", "yes", "99e99"])
    return _replace_group(text, choice, 1, value)


def invalid_duration(text: str, random: Random) -> BrokenFile | None:
    choice = _choose(text, random, DURATION)
    value = random.choice(["soon", "10 fortnights", "-5m", "1.5.5s", "P"])
    return _replace_group(text, choice, 2, value)


def duplicate_key(text: str, random: Random) -> BrokenFile | None:
    choice = _choose(text, random, BLOCK)
    if choice is None:
        return None
    line = choice.match.string
    if "- " in choice.match["indent"]:
        line = line.replace("- ", "  ", 1)
    lines = text.splitlines()
    lines.insert(choice.index + 1, line)
    return BrokenFile(_text_of(lines), choice.index + 2, choice.index + 2)


def missing_key(text: str, random: Random) -> BrokenFile | None:
    """Delete what a step does, an alias or the name. The error is at what lacks it."""
    lines = text.splitlines()
    keys = "|".join((*step_actions(), "alias", "at", "after_calls"))
    starts: list[int] = []
    for index, line in enumerate(lines[:-1]):
        match = re.match(rf"^( *)- (?:{keys}): ", line)
        next_line = lines[index + 1]
        if match and next_line.startswith(match.group(1) + "  ") and next_line.strip():
            starts.append(index)
    if not starts or random.random() < 0.1:
        return BrokenFile(_text_of([line for line in lines if not line.startswith("name:")]), 1, 3)
    start = random.choice(starts)
    depth = lines[start].index("- ")
    next_line = lines[start + 1]
    lines[start : start + 2] = [next_line[:depth] + "- " + next_line[depth + 2 :]]
    end = start
    while end + 1 < len(lines) and lines[end + 1].startswith(" " * (depth + 2)):
        end += 1
    return BrokenFile(_text_of(lines), start + 1, end + 1)


def wrong_indentation(text: str, random: Random) -> BrokenFile | None:
    """Shift a line. The error is in that line or the next."""
    choice = _choose(text, random, r"^ +[a-z_-]+:? ")
    if choice is None:
        return None
    line = choice.match.string
    shifted_line = random.choice([" " + line, "   " + line, line[1:], "\t" + line.lstrip()])
    broken = _replace_line(text, choice.index, shifted_line)
    return broken._replace(last=broken.first + 1)


def alias(text: str, random: Random) -> BrokenFile | None:
    choice = _choose(text, random, BLOCK)
    return _replace_group(text, choice, 3, random.choice(["*owner", "*x", "*a-1"]))


def tag(text: str, random: Random) -> BrokenFile | None:
    choice = _choose(text, random, BLOCK)
    value = random.choice(
        ["!!python/object/apply:os.system [ls]", "!include x", "!!binary aGk=", "!!set {a}"]
    )
    return _replace_group(text, choice, 3, value)


def deep_nesting(text: str, random: Random) -> BrokenFile | None:
    depth = random.choice([21, 50, 5_000])
    opening, closing = random.choice([("[", "]"), ("{a: ", "}")])
    choice = _choose(text, random, BLOCK)
    return _replace_group(text, choice, 3, opening * depth + closing * depth)


def unclosed(text: str, random: Random) -> BrokenFile | None:
    """Leave out the end of a mapping or a quote. The error may be in the next line."""
    choice = _choose(text, random, r"(\}|\")$")
    return _replace_group(text, choice, 1, "")


MUTATIONS: tuple[Mutation, ...] = (
    misspelled_key,
    misspelled_word,
    misspelled_variable,
    value_of_another_type,
    invalid_number,
    invalid_duration,
    duplicate_key,
    missing_key,
    wrong_indentation,
    alias,
    tag,
    deep_nesting,
    unclosed,
)
