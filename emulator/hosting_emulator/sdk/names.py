"""Looks up ids by alias. Errors for unknown names suggest the nearest alias."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.messages import WorldMember

#: pytest shows the line of the test instead of the lines of this module.
__tracebackhide__ = True


class NoSuchName(KeyError):
    """A name does not exist in the world. The message suggests the nearest name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would put quotes around the message


class Aliases(dict[str, str]):
    """Maps aliases to ids. An unknown alias raises `NoSuchName`, which is a KeyError."""

    def __init__(self, kind: str, members: Iterable[WorldMember]) -> None:
        super().__init__((member.alias, member.id) for member in members)
        self._kind = kind

    def __missing__(self, alias: str) -> str:
        raise NoSuchName(unknown_name_text(self._kind, alias, self))

    def id_of(self, name: str) -> str:
        """Return the id for `name`, which is an id or an alias. Raises NoSuchName for an unknown name."""
        if name in self.values():
            return name
        return self[name]

    def alias_of(self, id_: str | None) -> str | None:
        """Return the alias for an id, or the id itself if there is no alias."""
        for alias, member_id in self.items():
            if member_id == id_:
                return alias
        return id_


def unknown_name_text(kind: str, name: object, known_names: Iterable[str]) -> str:
    """Return an error message for an unknown name, with the nearest name and all known names."""
    names = sorted(known_names)
    all_names = f"the world has no {kind}"
    if names:
        all_names = f"the {kind}s are {', '.join(names)}"
    lower = str(name).lower()
    hint = nearest(lower.replace("-", "_"), names) or nearest(lower, names) or ";"
    return f"there is no {kind} {name!r}{hint} {all_names}"
