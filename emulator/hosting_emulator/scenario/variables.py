"""Variables of a story: `${…}` stands for a saved value, or for an id such as `${project.shop}`."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

#: What an id can be asked for by alias.
INDEXES = ("project", "organization", "person")
_VARIABLE = re.compile(r"\$\{([^}]*)\}")


def names_in(found: Any) -> Iterator[tuple[tuple[str | int, ...], str]]:
    """Walk all variables in a value: the path to the text each stands in, and its name."""
    if isinstance(found, dict):
        for name, value in found.items():
            yield from (((name, *path), variable) for path, variable in names_in(value))
    elif isinstance(found, list):
        for number, value in enumerate(found):
            yield from (((number, *path), variable) for path, variable in names_in(value))
    elif isinstance(found, str):
        yield from (((), name) for name in _VARIABLE.findall(found))


def fill(found: Any, look_up: Callable[[str], Any]) -> Any:
    """Put values in the place of variables. A text that is one variable takes the value's type."""
    if isinstance(found, dict):
        return {name: fill(value, look_up) for name, value in found.items()}
    if isinstance(found, list):
        return [fill(item, look_up) for item in found]
    if not isinstance(found, str) or "${" not in found:
        return found
    whole = _VARIABLE.fullmatch(found)
    if whole:
        return look_up(whole.group(1))
    return _VARIABLE.sub(lambda match: str(look_up(match.group(1))), found)
