"""Looks up ids by alias. The error for an unknown name suggests the closest alias."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.messages import WorldMember

#: Makes pytest show the line in the test instead of lines in this module.
__tracebackhide__ = True


class NoSuchName(KeyError):
    """Raised if a name does not exist in the world. The message suggests the closest name."""

    def __str__(self) -> str:
        return str(self.args[0])  # KeyError would put the message in quotes


class Aliases(dict[str, str]):
    """Maps aliases to ids. An unknown alias raises `NoSuchName`, which is a KeyError."""

    def __init__(self, kind: str, members: Iterable[WorldMember]) -> None:
        super().__init__((member.alias, member.id) for member in members)
        self._kind = kind

    def __missing__(self, alias: str) -> str:
        raise NoSuchName(unknown_name_text(self._kind, alias, self))

    def id_of(self, name: str) -> str:
        """Return the id for a name, which is an id or an alias. Raises NoSuchName if the name is unknown."""
        if name in self.values():
            return name
        return self[name]

    def alias_of(self, id_: str | None) -> str | None:
        """Return the alias for an id, or the id itself if it has no alias."""
        for alias, member_id in self.items():
            if member_id == id_:
                return alias
        return id_


def unknown_name_text(kind: str, name: object, known_names: Iterable[str]) -> str:
    """Return an error message for an unknown name, with the closest name and all known names."""
    names = sorted(known_names)
    all_names = f"the world has no {kind}"
    if names:
        all_names = f"the {kind}s are {', '.join(names)}"
    lower = str(name).lower()
    hint = nearest(lower.replace("-", "_"), names) or nearest(lower, names) or ";"
    return f"there is no {kind} {name!r}{hint} {all_names}"
