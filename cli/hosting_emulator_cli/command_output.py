"""The output of a command that `explore` runs, cut to the lines of a report."""

from __future__ import annotations

import re
from collections.abc import Sequence

#: The maximum number of output lines in a report.
_LINES = 12
_TRACEBACK = "Traceback (most recent call last):"
_FRAME = re.compile(r'^[\s|]*File "(?P<path>[^"]+)", line [0-9]+')
#: Matches paths in the standard library and in installed packages.
_FOREIGN_CODE = re.compile(
    r"(?:^|[/\\])(?:site-packages|dist-packages)[/\\]"
    r"|[/\\]lib(?:64)?[/\\](?:python|pypy)[0-9][0-9.t]*[/\\]"
    r"|[/\\]python[0-9]+(?:\.zip|[/\\]lib)[/\\]"
    r"|^<frozen ",
    re.IGNORECASE,
)


def excerpt(lines: Sequence[str]) -> tuple[str, ...]:
    """Return the last lines of an output, at most twelve.

    If the output ends with a Python traceback, the last frame of the user's own code is always
    shown. A frame above the last lines comes first.
    """
    begin = len(lines) - _LINES
    frame_index = _last_own_frame(lines)
    if frame_index is None or frame_index >= begin:
        return tuple(lines[-_LINES:])
    frame = [lines[frame_index]]
    source_line = lines[frame_index + 1]
    if not _FRAME.match(source_line):
        frame.append(source_line)
    return (*frame, "…", *lines[len(frame) + 1 - _LINES :])


def _last_own_frame(lines: Sequence[str]) -> int | None:
    """Return the index of the last traceback's last frame in the user's own code, or None."""
    for index in range(len(lines) - 1, -1, -1):
        if _TRACEBACK in lines[index]:
            return None
        frame = _FRAME.match(lines[index])
        if frame is not None and not _FOREIGN_CODE.search(frame["path"]):
            return index
    return None
