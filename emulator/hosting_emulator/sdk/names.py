"""Names that people write, and what to say when one is wrong."""

from __future__ import annotations

from collections.abc import Iterable


class NoSuchName(KeyError):
    """A name that nothing in the world goes by; its text says which is nearest."""

    def __str__(self) -> str:
        return str(self.args[0])  # a KeyError would show its text in quotes


class Aliases(dict[str, str]):
    """Ids by alias. An alias that is not there is a `NoSuchName`, which is a KeyError."""

    def __init__(self, kind: str, ids: Iterable[tuple[str, str]]) -> None:
        super().__init__(ids)
        self._kind = kind

    def __missing__(self, alias: str) -> str:
        raise NoSuchName(unknown(self._kind, alias, self))

    def id_of(self, name: str) -> str:
        """Return the id that `name` is, or is the alias of. Raises NoSuchName."""
        return name if name in self.values() else self[name]


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that no `kind` is called so, which name is nearest, and what names there are."""
    names = sorted(known)
    there_are = f"there are {', '.join(names)}" if names else f"there is no {kind} at all"
    return f"no {kind} is {name!r}; {_did_you_mean(str(name), names)}{there_are}"


def _did_you_mean(name: str, names: list[str]) -> str:
    from difflib import get_close_matches  # only for a mistake

    close = get_close_matches(name.lower().replace("-", "_"), names, 1, 0.6)
    close = close or get_close_matches(name.lower(), names, 1, 0.6)
    return f"did you mean {close[0]}? " if close else ""
