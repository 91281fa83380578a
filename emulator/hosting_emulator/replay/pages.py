"""Pages whose record was not kept whole: which new cursor stands for the one that was cut off."""

from __future__ import annotations

import json
import re
from urllib.parse import unquote

from hosting_emulator.replay.names import Names
from hosting_emulator.replay.record import Answered, Recorded

#: What may be a cursor: opaque, and no page size.
_OPAQUE = re.compile("(?!\\d+$)[A-Za-z0-9_-]{6,}")


class CutPages:
    """The next cursors of pages of which the record has only a part, by the page's path."""

    def __init__(self, names: Names) -> None:
        self._names = names
        self._next: dict[str, str] = {}

    def answered(self, recorded: Recorded, new: Answered | None) -> None:
        """Take up the cursor of a new page where the recorded one is not known."""
        before = recorded.answer
        if before is None or before.text is not None or new is None or new.text is None:
            return
        try:
            document = json.loads(new.text)
        except ValueError:
            return
        cursor = document.get("next_cursor") if isinstance(document, dict) else None
        if isinstance(cursor, str):
            self._next[_path(recorded)] = cursor

    def asking(self, recorded: Recorded) -> None:
        """Pair a recorded cursor that nobody has seen with the one of the page before."""
        path, _, query = recorded.target.partition("?")
        if path not in self._next:
            return
        for field in query.split("&"):
            value = unquote(field.partition("=")[2])
            if _OPAQUE.fullmatch(value) and self._names.new_for(value) == value:
                self._names.learn(value, self._next.pop(path))
                return


def _path(recorded: Recorded) -> str:
    return recorded.target.partition("?")[0]
