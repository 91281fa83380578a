"""The manual's pages, the files that they show, and the groups in its navigation."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

import hosting_emulator

#: The name under which README.md is served.
OVERVIEW: Final = "overview"
#: The folders in `docs` that users do not need or that are part of the documentation site.
_LEFT_OUT: Final = ("maintainers", "site")
#: The folders in `docs` whose files are served unchanged.
_FILE_FOLDERS: Final = ("examples", "pictures")
_HEADING: Final = re.compile(r"^# (.+)$", re.MULTILINE)
_TABLE: Final = re.compile(r"^```\{toctree\}\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_CAPTION: Final = re.compile(r"^:caption: (.+)$", re.MULTILINE)
_ENTRY: Final = re.compile(r"^[\w/-]+$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class ManualPage:
    """A page of the manual. `name` is its path relative to the path of the documentation."""

    name: str
    title: str
    path: Path


@dataclass(frozen=True, slots=True)
class Group:
    """A group of pages in the navigation."""

    title: str
    pages: tuple[ManualPage, ...]


@cache
def root() -> Path:
    """Return the folder that contains README.md and `docs`."""
    package = Path(hosting_emulator.__file__).parent
    shipped = package / "manual"
    if shipped.is_dir():
        return shipped
    return package.parents[1]


@cache
def pages() -> dict[str, ManualPage]:
    """Return all pages by name, or an empty mapping if the package was copied without its documents."""
    folder = root() / "docs"
    index = folder / "index.md"
    if not index.is_file():
        return {}
    pages_by_name = {OVERVIEW: ManualPage(OVERVIEW, "Overview", root() / "README.md")}
    for path in sorted(folder.rglob("*.md")):
        parts = path.relative_to(folder).with_suffix("").parts
        if path != index and parts[0] not in (*_LEFT_OUT, *_FILE_FOLDERS):
            name = "/".join(parts)
            pages_by_name[name] = ManualPage(name, _title_of(path), path)
    return pages_by_name


@cache
def files() -> dict[str, Path]:
    """Return the files that pages show or link to, by their URL path relative to the documentation."""
    folder = root() / "docs"
    return {
        path.relative_to(folder).as_posix(): path
        for name in _FILE_FOLDERS
        for path in sorted((folder / name).rglob("*"))
        if path.is_file()
    }


@cache
def groups() -> list[Group]:
    """Return the groups in the navigation, which are the same as on the documentation site.

    The groups are declared in `docs/index.md`. A page that is not listed there is in no group.
    """
    pages_by_name = pages()
    if not pages_by_name:
        return []
    text = (root() / "docs" / "index.md").read_text(encoding="utf-8")
    listed = []
    for table in _TABLE.findall(text):
        caption = _CAPTION.search(table)
        names = [name for name in _ENTRY.findall(table) if name in pages_by_name]
        if caption is not None and names:
            listed.append(Group(caption[1], tuple(pages_by_name[name] for name in names)))
    first = Group(listed[0].title, (pages_by_name[OVERVIEW], *listed[0].pages))
    return [first, *listed[1:]]


def _title_of(path: Path) -> str:
    match = _HEADING.search(path.read_text(encoding="utf-8"))
    if match is None:
        return path.stem
    return match[1]
