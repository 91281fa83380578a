"""Shortens a command's output to the few lines that fit in an `explore` report."""

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
    """Return at most twelve lines of a command's output, normally the last ones.

    If the last traceback has a frame in the user's own code, the excerpt contains the last such
    frame. If the frame is above the last lines, the excerpt starts with the frame and a `…` line.
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
    """Return the line index of the last frame in the user's own code in the last traceback.

    Return None if there is no such frame.
    """
    for index in range(len(lines) - 1, -1, -1):
        if _TRACEBACK in lines[index]:
            return None
        frame = _FRAME.match(lines[index])
        if frame is not None and not _FOREIGN_CODE.search(frame["path"]):
            return index
    return None
