"""Names of a world: ids by alias, and errors that name the nearest alias."""

from __future__ import annotations

from collections.abc import Iterable

from hosting_emulator.contract.suggestions import nearest
from hosting_emulator.messages import WorldMember


class NoSuchName(KeyError):
    """A name that nothing in the world has; its text suggests the nearest."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show its text in quotes


class Aliases(dict[str, str]):
    """Ids by alias. An alias that is not there is a `NoSuchName`, which is a KeyError."""

    def __init__(self, kind: str, members: Iterable[WorldMember]) -> None:
        super().__init__((member.alias, member.id) for member in members)
        self._kind = kind

    def __missing__(self, alias: str) -> str:
        raise NoSuchName(unknown_name_text(self._kind, alias, self))

    def id_of(self, name: str) -> str:
        """Return the id that `name` is, or is the alias of. Raises NoSuchName."""
        if name in self.values():
            return name
        return self[name]

    def alias_of(self, id_: str | None) -> str | None:
        """Return the alias of an id, or the id itself where it has none."""
        for alias, member_id in self.items():
            if member_id == id_:
                return alias
        return id_


def unknown_name_text(kind: str, name: object, known_names: Iterable[str]) -> str:
    """Say that no `kind` has this name, which name is nearest, and which names there are."""
    names = sorted(known_names)
    all_names = f"there is no {kind} at all"
    if names:
        all_names = f"there are {', '.join(names)}"
    lower = str(name).lower()
    hint = nearest(lower.replace("-", "_"), names) or nearest(lower, names) or ";"
    return f"no {kind} is {name!r}{hint} {all_names}"
