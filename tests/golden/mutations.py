"""Ways to break a good scenario file, each by a seeded choice. Each knows the lines it touched.

A mutation returns the broken text and the lines (from 1) where an error may stand, or None where the
file has nothing of its kind to break.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random
from typing import NamedTuple

from hosting_emulator.scenario.document import ACTIONS


class Broken(NamedTuple):
    """A broken file: its text, and the lines from `first` to `last` that may be named."""

    text: str
    first: int
    last: int


Mutation = Callable[[str, Random], Broken | None]

#: Keys with a meaning of their own; others (saved names, bodies, queries) are the author's.
KEYS = (
    "name description seed clock assumptions world organizations people projects faults timeline "
    "story alias call poll redeem sign_in advance until intervene fault assume expect status code "
    "project times phase probability abort latency truncate gateway_error rate_limit at after_calls "
    "together request log check use parts steps form text remove_fault outcomes count"
).split()
WORDS = (
    "initialize_managed_source apply_project_domains create_user_api_key list_deployments "
    "set_project_powered_by_flag get_dns_authorization read_database_compute "
    "create_dev_access_ticket service_unavailable rate_limited unauthenticated invalid_request "
    "idempotency_key_reused resource_not_found stick_operation move_dns set_plan revoke_key "
    "cancel_operation set_database after_commit connection_reset empty_response member reader "
    "outsider authorized pending suspended labs blog garden"
).split()
DURATION = re.compile(r"(\b(?:advance|at|until|window): )(\d+(?:ms|s|m|h|d)[0-9a-z]*)")
BLOCK = re.compile(r"^(?P<indent> *(?:- )?)(?P<key>[a-z_]+): (?P<value>[^\s{\[>].*)$")


def _lines(text: str) -> list[str]:
    return text.splitlines()


def _one_line(text: str, number: int, line: str) -> Broken:
    lines = _lines(text)
    lines[number] = line
    return Broken("\n".join(lines) + "\n", number + 1, number + 1)


def _choose(
    text: str, random: Random, pattern: str | re.Pattern[str]
) -> tuple[int, re.Match] | None:
    """Choose a match in a line that is neither a comment nor part of the description."""
    found = [
        (number, match)
        for number, line in enumerate(_lines(text))
        if not line.startswith(("#", "  ")) or number > text[: text.index("\n\n")].count("\n")
        for match in re.finditer(pattern, line)
        if "note:" not in line and not line.startswith("#")
    ]
    return random.choice(found) if found else None


def _replaced(text: str, chosen: tuple[int, re.Match] | None, group: int, value: str):
    if chosen is None:
        return None
    number, match = chosen
    line = match.string
    return _one_line(text, number, line[: match.start(group)] + value + line[match.end(group) :])


def _misspelt(word: str, random: Random) -> str:
    at = random.randrange(1, len(word))
    return random.choice([word[:at] + word[at + 1 :], word[:at] + "x" + word[at:], word + "s"])


def renamed_key(text: str, random: Random) -> Broken | None:
    chosen = _choose(text, random, rf"(?:^|[ {{])({'|'.join(KEYS)}):(?=\s|$)")
    return _replaced(text, chosen, 1, _misspelt(chosen[1].group(1), random)) if chosen else None


def misspelt_word(text: str, random: Random) -> Broken | None:
    chosen = _choose(text, random, rf"\b({'|'.join(WORDS)})\b")
    return _replaced(text, chosen, 1, _misspelt(chosen[1].group(1), random)) if chosen else None


def misspelt_variable(text: str, random: Random) -> Broken | None:
    chosen = _choose(text, random, r"\$\{([a-z_]+)\}")
    return _replaced(text, chosen, 1, chosen[1].group(1) + "x") if chosen else None


def wrong_type(text: str, random: Random) -> Broken | None:
    chosen = _choose(text, random, BLOCK)
    wrong = random.choice(["[1]", "{a: b}", "[[]]", "{}", "[{x: 1}, 2]"])
    return _replaced(text, chosen, 3, wrong)


def wrong_number(text: str, random: Random) -> Broken | None:
    chosen = _choose(text, random, r"\b(?:status|times|items|after_calls|deployments|limit): (\d+)")
    return _replaced(text, chosen, 1, random.choice(["many", '"3"', "1.5", "-1", "yes", "99e99"]))


def bad_duration(text: str, random: Random) -> Broken | None:
    chosen = _choose(text, random, DURATION)
    return _replaced(
        text, chosen, 2, random.choice(["soon", "10 fortnights", "-5m", "1.5.5s", "P"])
    )


def duplicate_key(text: str, random: Random) -> Broken | None:
    chosen = _choose(text, random, BLOCK)
    if chosen is None:
        return None
    number, match = chosen
    lines = _lines(text)
    again = match.string.replace("- ", "  ", 1) if "- " in match["indent"] else match.string
    lines.insert(number + 1, again)
    return Broken("\n".join(lines) + "\n", number + 2, number + 2)


def deleted_required(text: str, random: Random) -> Broken | None:
    """Delete what a step does, an alias or the name; the error is at what lacks it."""
    lines = _lines(text)
    wanted = rf"^( *)- (?:{'|'.join((*ACTIONS, 'alias', 'at', 'after_calls'))}): "
    starts = [
        number
        for number, line in enumerate(lines[:-1])
        if (match := re.match(wanted, line))
        and lines[number + 1].startswith(match.group(1) + "  ")
        and lines[number + 1].strip()
    ]
    if not starts or random.random() < 0.1:
        return Broken(
            "\n".join(line for line in lines if not line.startswith("name:")) + "\n", 1, 3
        )
    start = random.choice(starts)
    depth = lines[start].index("- ")
    following = lines[start + 1]
    lines[start : start + 2] = [following[:depth] + "- " + following[depth + 2 :]]
    end = start
    while end + 1 < len(lines) and lines[end + 1].startswith(" " * (depth + 2)):
        end += 1
    return Broken("\n".join(lines) + "\n", start + 1, end + 1)


def broken_indentation(text: str, random: Random) -> Broken | None:
    """Shift a line; what no longer fits is that line or the next."""
    chosen = _choose(text, random, r"^ +[a-z_-]+:? ")
    if chosen is None:
        return None
    number, match = chosen
    line = match.string
    shifted = random.choice([" " + line, "   " + line, line[1:], "\t" + line.lstrip()])
    broken = _one_line(text, number, shifted)
    return broken._replace(first=number, last=number + 2)


def alias(text: str, random: Random) -> Broken | None:
    return _replaced(text, _choose(text, random, BLOCK), 3, random.choice(["*owner", "*x", "*a-1"]))


def tag(text: str, random: Random) -> Broken | None:
    chosen = _choose(text, random, BLOCK)
    wrong = random.choice(
        ["!!python/object/apply:os.system [ls]", "!include x", "!!binary aGk=", "!!set {a}"]
    )
    return _replaced(text, chosen, 3, wrong)


def deep_nesting(text: str, random: Random) -> Broken | None:
    depth = random.choice([21, 50, 5_000])
    opening, closing = random.choice([("[", "]"), ("{a: ", "}")])
    chosen = _choose(text, random, BLOCK)
    return _replaced(text, chosen, 3, opening * depth + closing * depth)


def unclosed(text: str, random: Random) -> Broken | None:
    """Leave out the end of a mapping or a quote; the error may be noticed in the next line."""
    chosen = _choose(text, random, r"(\}|\")$")
    return _replaced(text, chosen, 1, "")


MUTATIONS: tuple[Mutation, ...] = (
    renamed_key,
    misspelt_word,
    misspelt_variable,
    wrong_type,
    wrong_number,
    bad_duration,
    duplicate_key,
    deleted_required,
    broken_indentation,
    alias,
    tag,
    deep_nesting,
    unclosed,
)
