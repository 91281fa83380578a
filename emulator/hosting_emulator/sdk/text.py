"""How exchanges and counts are written, the same in assertions, reports and commands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from hosting_emulator.sdk.records import Exchange

_ULID = re.compile(r"[0-9A-HJKMNP-TV-Z]{22}([0-9A-HJKMNP-TV-Z]{4})")
_COLORS = {"bold": "1", "dim": "2", "red": "31", "yellow": "33"}


class ExchangeCells(NamedTuple):
    """An exchange as a line of the log tells it, part by part; an empty part has nothing to tell."""

    number: str
    at: str
    status: str
    method: str
    asked: str
    about: str
    who: str
    took: str
    answer: str
    why: str


def exchange_cells(exchange: Exchange, projects: Mapping[str, str]) -> ExchangeCells:
    """Write an exchange; `projects` are aliases by id. What is out of reach says who could see it."""
    scope = [step["says"] for step in exchange.get("trail", ()) if step["step"] == "scope"]
    project = exchange.project
    return ExchangeCells(
        number=f"#{exchange.n}",
        at=exchange.at,
        status=str(exchange.status or "---"),
        method=exchange.method,
        asked=exchange.call or exchange.path,
        about=projects.get(project, project) if project else exchange.operation or "",
        who=exchange.who or "",
        took=f"{exchange.duration_us / 1000:.2f} ms",
        answer=", ".join(_answer(exchange, "lost: {}")),
        why=scope[0] if exchange.status == 404 and scope else "; ".join(exchange.why),
    )


def exchange_row(exchange: Mapping[str, Any]) -> list[str]:
    """Write an exchange in short: number, what was asked (ids cut to their ends), who, the answer."""
    asked = exchange["call"] or _ULID.sub(r"…\1", exchange["path"])
    return [
        f"  #{exchange['n']}",
        f"{exchange['method']:<4} {asked}",
        exchange["who"] or "-",
        answer_text(exchange),
    ]


def answer_text(exchange: Mapping[str, Any]) -> str:
    """Say what came back: `409 idempotency_key_reused`, `202 replayed`, `lost (timeout)`."""
    status = [str(exchange["status"])] if exchange["status"] else []
    return " ".join([*status, *_answer(exchange, "lost ({})")]) or "no answer"


def _answer(exchange: Mapping[str, Any], lost: str) -> list[str]:
    parts = (
        exchange["code"],
        "replayed" if exchange["replayed"] else None,
        lost.format(exchange["lost"]) if exchange["lost"] else None,
    )
    return [part for part in parts if part]


# --- Words -----------------------------------------------------------------------------------


def align(rows: Sequence[Sequence[str]]) -> list[str]:
    """Write rows as lines whose columns begin below each other, two spaces apart.

    The last cell of a row is as long as it is. Rows may differ in length.
    """
    widths: dict[int, int] = {}
    for row in rows:
        for place, cell in enumerate(row[:-1]):
            widths[place] = max(widths.get(place, 0), len(cell))
    return [
        "  ".join(
            [*(cell.ljust(widths[place]) for place, cell in enumerate(row[:-1])), *row[-1:]]
        ).rstrip()
        for row in rows
    ]


def count_text(count: int, thing: str) -> str:
    """Say how many things there are: `1 request`, `2 requests`."""
    return f"{count:,} {thing}{'' if count == 1 else 's'}"


def one_line(text: str, longest: int) -> str:
    """Return text on one line, cut to so many characters."""
    line = " ".join(text.split())
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


def paint(style: str, text: str, *, color: bool) -> str:
    """Return a text in bold, dim, red or yellow, if `color`."""
    return f"\x1b[{_COLORS[style]}m{text}\x1b[0m" if color and text else text


# --- Names that people write -----------------------------------------------------------------


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

    def alias_of(self, id_: str | None) -> str | None:
        """Return the alias of an id, or the id itself where it has none."""
        return next((alias for alias, known in self.items() if known == id_), id_)


def unknown(kind: str, name: object, known: Iterable[str]) -> str:
    """Say that no `kind` is called so, which name is nearest, and what names there are."""
    from difflib import get_close_matches  # only for a mistake

    names, lower = sorted(known), str(name).lower()
    there_are = f"there are {', '.join(names)}" if names else f"there is no {kind} at all"
    close = get_close_matches(lower.replace("-", "_"), names, 1) or get_close_matches(
        lower, names, 1
    )
    near = f"did you mean {close[0]}? " if close else ""
    return f"no {kind} is {name!r}; {near}{there_are}"
