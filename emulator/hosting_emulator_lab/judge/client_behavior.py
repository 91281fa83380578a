"""The behavior of a client in a run, as a value that can be compared.

Behavior is how the run ends and which requests it sends. The output of a client is not behavior,
but a difference in the output shows that the client reads a part. Differences between two unaltered
runs do not count. In this case, texts are compared without ids, numbers and times.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

#: The effect of an alteration on a client: it changes the behavior, only the output, or nothing.
Effect: TypeAlias = Literal["depends", "shows", "ignores"]

#: A word that may differ by chance between runs.
_CHANGING_WORD = re.compile(r"[\w:.-]*\d[\w:.-]*")


@dataclass(frozen=True, slots=True)
class ClientBehavior:
    """What a client did in one run.

    `requests` are the texts of all requests in the order of their arrival. `lines` are the lines
    that the client printed, or None if they are unknown. `hung` means that the run had to be
    stopped.
    """

    exit_code: int
    hung: bool
    requests: tuple[str, ...]
    lines: tuple[str, ...] | None = None


def sent_request_text(method: str, url: str, body: str, caller: str) -> str:
    """Return a request as text that is the same for equal requests, however their JSON is written.

    `url` is the path with the query. `caller` is the id of the user or the key that sends it.
    """
    path, _, query = url.partition("?")
    text = f"{method} {path}"
    if query:
        text += "?" + "&".join(sorted(query.split("&")))
    if caller:
        text += f" as {caller}"
    if not body:
        return text
    try:
        return f"{text} {json.dumps(json.loads(body), sort_keys=True)}"
    except ValueError:
        return f"{text} {body}"


def effect_of(altered: ClientBehavior, first: ClientBehavior, second: ClientBehavior) -> Effect:
    """Return the effect of an alteration, compared with two unaltered runs."""
    if (altered.exit_code, altered.hung) != (first.exit_code, first.hung):
        return "depends"
    # Requests may be sent concurrently, so their order does not count.
    if _differs(altered.requests, first.requests, second.requests):
        return "depends"
    if altered.lines is None or first.lines is None or second.lines is None:
        return "ignores"
    if first.lines == second.lines:
        return "ignores" if altered.lines == first.lines else "shows"
    return "shows" if _differs(altered.lines, first.lines, second.lines) else "ignores"


def behavior_difference(altered: ClientBehavior, first: ClientBehavior) -> str:
    """Describe how the behavior of an altered run differs from that of an unaltered run."""
    if altered.hung:
        return "it did not end in time"
    if altered.exit_code != first.exit_code:
        return f"exit code {altered.exit_code}"
    usual = Counter(first.requests)
    counts = Counter(altered.requests)
    missing = list((usual - counts).elements())
    new = list((counts - usual).elements())
    if missing:
        return f"it does not send {missing[0]}"
    if new:
        return f"it also sends {new[0]}"
    return "its output differs"


def _differs(altered: Sequence[str], first: Sequence[str], second: Sequence[str]) -> bool:
    """Return whether texts differ from two unaltered runs more than these runs differ from each other."""
    stable = Counter(first) & Counter(second)
    counts = Counter(altered)
    if stable - counts:
        return True
    first_rest = _without_chance((Counter(first) - stable).elements())
    second_rest = _without_chance((Counter(second) - stable).elements())
    altered_rest = _without_chance((counts - stable).elements())
    return any(
        altered_rest[text] != first_rest[text]
        for text in altered_rest.keys() | first_rest.keys()
        if first_rest[text] == second_rest[text]
    )


def _without_chance(texts: Iterable[str]) -> Counter[str]:
    return Counter(_CHANGING_WORD.sub("#", text) for text in texts)
