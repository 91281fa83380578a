"""A trial in which one part of the responses to a call is altered.

As text, such a trial reads `alter/CALL/CLASS/CHANGE` or `alter/CALL/CLASS/CHANGE:PART`, for example
`alter/list_deployments/2xx/remove:/items/*/url`, `alter/list_deployments/2xx/reorder:/items`,
`alter/list_deployments/2xx/header:Cache-Control` or `alter/create_user_api_key/2xx/status`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal, Self, TypeAlias, get_args

from hosting_emulator.contract.json_text import read_pointer
from hosting_emulator_lab.judge.fault_points import check_calls
from hosting_emulator_lab.run_conditions import USUAL_CONDITIONS, RunConditions

#: How a part is altered: a field is removed or gets a different value, a list is reversed, a header
#: is removed, or the status is replaced with a different status of the same class.
AlterationChange: TypeAlias = Literal["remove", "set", "reorder", "header", "status"]
_CHANGES: tuple[AlterationChange, ...] = get_args(AlterationChange)
_STATUS_CLASS = re.compile("[2-5]xx")
_EXAMPLE = "alter/list_deployments/2xx/remove:/items/*/url"


@dataclass(frozen=True, slots=True)
class AlteredTrial:
    """A run in which one part of the responses to a call with a status of one class is altered.

    `status_class` is a text such as `2xx`. `part` is a JSON Pointer in which `*` stands for every item
    of a list, or the name of a header. It is empty for the status.
    """

    call: str
    status_class: str
    change: AlterationChange
    part: str = ""

    def __str__(self) -> str:
        change = f"{self.change}:{self.part}" if self.part else self.change
        return f"alter/{self.call}/{self.status_class}/{change}"

    @classmethod
    def read(cls, text: str) -> Self:
        """Parse a trial. Raises ValueError with a correct example or the nearest name."""
        words = text.split("/", 3)
        if len(words) < 4:
            raise ValueError(
                f"{text!r} is not a trial: write alter/CALL/CLASS/CHANGE, such as {_EXAMPLE}"
            )
        call = check_calls([words[1]])[0]
        if not _STATUS_CLASS.fullmatch(words[2]):
            raise ValueError(
                f"{words[2]!r} is not a class of statuses: write 2xx, such as {_EXAMPLE}"
            )
        word, _, part = words[3].partition(":")
        for change in _CHANGES:
            if change == word:
                _check_part(change, part)
                return cls(call, words[2], change, part)
        raise ValueError(f"{word!r} is not a change: write {', '.join(_CHANGES)}, as in {_EXAMPLE}")

    @property
    def conditions(self) -> RunConditions:
        """The conditions of the run, which are the same as for the first clean run."""
        return USUAL_CONDITIONS

    @property
    def part_name(self) -> str:
        """The name of the altered part for readers, such as `items[].url` or `the order of deployments`."""
        if self.change == "status":
            return "the status"
        if self.change == "header":
            return f"the header {self.part}"
        name = self.part.replace("/*", "[]").replace("/", ".").removeprefix(".")
        if self.change == "reorder":
            return f"the order of {'deployments' if name == 'items' else name}"
        return name

    @property
    def place(self) -> str:
        """The responses that have the part: the call, with the class of statuses unless it is 2xx."""
        return self.call if self.status_class == "2xx" else f"{self.call} {self.status_class}"


def _check_part(change: AlterationChange, part: str) -> None:
    """Raise ValueError if a change needs a different kind of part."""
    if change == "status":
        if part:
            raise ValueError("status needs no part: write alter/CALL/CLASS/status")
    elif change == "header":
        if not part:
            raise ValueError("header needs a name, such as header:Content-Type")
    elif not part or not read_pointer(part):
        raise ValueError(f"{change} needs a JSON Pointer, such as {_EXAMPLE}")
