"""The pictures of the documentation can be drawn from a running emulator."""

from __future__ import annotations

from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests import pictures
from tests.browser.chromium import Chromium

REPOSITORY = pictures.FOLDER.parents[1]
NAMES = {*(f"{name}.png" for name in pictures.PANELS), f"{pictures.TERMINAL}.svg"}


@pytest.mark.slow
def test_every_picture_of_the_documentation_can_be_drawn(chromium: Chromium, tmp_path: Path):
    drawn = {file.name: file.read_bytes() for file in pictures.draw(chromium, tmp_path)}

    assert set(drawn) == NAMES
    assert all(len(content) > 5000 for content in drawn.values())
    svg = drawn[f"{pictures.TERMINAL}.svg"].decode()
    ElementTree.fromstring(svg)
    assert "connection_reset" in svg
    assert "url(http" not in svg.replace('"', "")


def test_the_picture_folder_holds_exactly_the_drawn_pictures():
    assert {file.name for file in pictures.FOLDER.iterdir()} == NAMES


def test_the_readme_shows_one_picture_and_a_guide_the_terminal():
    readme = (REPOSITORY / "README.md").read_text(encoding="utf-8")
    guide = (REPOSITORY / "docs" / "what-happened.md").read_text(encoding="utf-8")

    assert sum(f"docs/pictures/{name})" in readme for name in NAMES) == 1
    assert f"pictures/{pictures.TERMINAL}.svg)" in guide
