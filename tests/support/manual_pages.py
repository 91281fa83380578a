"""The pages of the manual, and the files that they show, as a running emulator serves them."""

from __future__ import annotations

from pathlib import Path

from hosting_emulator.dashboard.manual.files import files, pages


def page_names() -> list[str]:
    """Return the names of the pages, in their order."""
    return list(pages())


def served_files() -> list[Path]:
    """Return the files of the pages, and the files that pages show or link."""
    return [page.path for page in pages().values()] + list(files().values())
