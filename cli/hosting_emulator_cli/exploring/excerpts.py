"""What is shown of a long output: its last lines, and where in the user's own code it broke."""

from __future__ import annotations

import re
from collections.abc import Sequence

_LINES = 12
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^[\s|]*File "(?P<path>[^"]+)", line [0-9]+')
#: Code that came with Python, or was installed.
_NOT_THEIRS = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages)[/\\]"
    r"|[/\\]lib(?:64)?[/\\](?:python|pypy)[0-9][0-9.t]*[/\\]"
    r"|[/\\]python[0-9]+(?:\.zip|[/\\]lib)[/\\]"
    r"|^<frozen ",
    re.IGNORECASE,
)


def excerpt(lines: Sequence[str]) -> tuple[str, ...]:
    """Return twelve lines of an output at most.

    They are the last ones; where these hide the last frame of the user's own code, in the Python
    traceback that the output ends with, that frame stands above them.
    """
    begin = len(lines) - _LINES
    own = _own_frame(lines)
    if begin <= 0 or own is None or own >= begin:
        return tuple(lines[-_LINES:])
    frame = [lines[own]]
    if not _FRAME.match(lines[own + 1]):
        frame.append(lines[own + 1])
    return (*frame, "…", *lines[len(frame) + 1 - _LINES :])


def _own_frame(lines: Sequence[str]) -> int | None:
    """Return where the last frame of the user's own code is, in the last traceback."""
    for place in range(len(lines) - 1, -1, -1):
        if _TRACEBACK in lines[place]:
            return None
        found = _FRAME.match(lines[place])
        if found is not None and not _NOT_THEIRS.search(found["path"]):
            return place
    return None
