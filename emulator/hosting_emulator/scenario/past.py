"""What happened in a world: requests and turns of a hand, in the order in which they made it what it is."""

from __future__ import annotations

from typing import NamedTuple

from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry
from hosting_emulator.engine.history import CAPACITY, Commit
from hosting_emulator.world.value import World


class NotRecordable(ValueError):
    """What was done cannot be written as a scenario; the message says what, and what would be right."""


class Happened(NamedTuple):
    """A request, or a turn of a hand, at a moment of world time; `first` and `last` are its commits."""

    first: int
    last: int
    at_ms: int
    entry: Entry | None = None
    commit: Commit | None = None

    @property
    def before(self) -> World:
        """The world as it found it."""
        if self.entry is not None:
            return self.entry.world
        assert self.commit is not None
        return self.commit.before

    @property
    def title(self) -> str:
        """What to call it."""
        if self.entry is not None:
            return f"request {self.entry.n} ({self.entry.method} {self.entry.call or 'no call'})"
        assert self.commit is not None
        return f"commit {self.commit.number} ({self.commit.title})"


class WorldPast(NamedTuple):
    """What happened until `world` since `base`: as it began, unless that is not kept any more."""

    world: World
    base: World
    happened: list[Happened]


def past_of(engine: Engine) -> WorldPast:
    """Return what happened in a world as it is now; what was rewound is not part of it.

    Raises NotRecordable: it was put back to the middle of a request.
    """
    engine.run_due()
    line = _line(engine)
    base = line[0].before if line[0].writes else line[0].world
    numbers = {base.commit, *(commit.number for commit in line)}
    saved_ms = {one.world.commit: one.at_ms for one in (c.restored for c in line) if one}
    entries = []
    for entry in engine.log.after(0):
        kept = [commit.number in numbers for commit in entry.commits]
        if kept and kept[0] and not kept[-1]:
            raise NotRecordable(f"the world was rewound to the middle of request {entry.n}")
        # One that changed nothing may have come after the state that was put back.
        late = not kept and entry.at_ms > saved_ms.get(entry.world.commit, entry.at_ms)
        if entry.world.commit in numbers and all(kept) and not late:
            entries.append(entry)
    if entries and engine.log.count > len(engine.log):
        base = entries[0].world  # of what was before, the log keeps no more
    found = [_asked(entry) for entry in entries]
    found += [
        Happened(one.number, one.number, one.world.at_ms, commit=one)
        for one in line
        if one.turn is not None and one.number > base.commit
    ]
    # A request comes behind the commit that made the world it found.
    return WorldPast(engine.world, base, sorted(found, key=_place))


def _line(engine: Engine) -> list[Commit]:
    """Return the commits that led to a world as it is, oldest first, as far as they are kept."""
    kept = {commit.number: commit for commit in engine.history.newest(CAPACITY)}
    began = max((n for n, one in kept.items() if not one.writes and not one.restored), default=0)
    line, number = list[Commit](), engine.world.commit
    while number >= began and number in kept:
        line.append(commit := kept[number])
        number = commit.restored.world.commit if commit.restored else commit.before.commit
        if number == commit.number:
            break
    return line[::-1]


def _asked(entry: Entry) -> Happened:
    numbers = [commit.number for commit in entry.commits] or [entry.world.commit]
    return Happened(numbers[0], numbers[-1], entry.at_ms, entry=entry)


def _place(one: Happened) -> tuple[int, int]:
    return (one.first, 0) if one.entry is None else (one.entry.world.commit, one.entry.n)


def find_span(found: list[Happened], first: str | None, last: str | None) -> tuple[int, int]:
    """Return the places where a span begins and ends. Raises NotRecordable."""
    start, end = 0, len(found)
    if first is not None:
        number, by_commit = _number(first, "from")
        fits = (one.last >= number if by_commit else _n(one) == number for one in found)
        start = next((place for place, fit in enumerate(fits) if fit), -1)
    if last is not None:
        number, by_commit = _number(last, "to")
        fit_to = [one.first <= number if by_commit else _n(one) == number for one in found]
        end = max((place + 1 for place, fit in enumerate(fit_to) if fit), default=-1)
    if start < 0 or end < 0:
        asked = [n for one in found if (n := _n(one)) is not None]
        kept = f"requests {asked[0]} to {asked[-1]}" if asked else "no request"
        raise NotRecordable(f"there is nothing at {first if start < 0 else last}: kept are {kept}")
    if start >= end:
        raise NotRecordable("nothing was done in this span: no request and no manual change")
    return start, end


def _n(one: Happened) -> int | None:
    return None if one.entry is None else one.entry.n


def _number(text: str, name: str) -> tuple[int, bool]:
    by_commit = text.startswith("commit:")
    number = text.removeprefix("commit:")
    if not number.isascii() or not number.isdigit() or len(number) > 9:
        raise NotRecordable(f"{name} must be a request's number (12) or a commit's (commit:40)")
    return int(number), by_commit
