"""The table of the page on varying is that of the emulator."""

from __future__ import annotations

from pathlib import Path

from tests.support.http_world import HttpWorld

PAGE = (Path(__file__).parents[2] / "docs" / "vary.md").read_text(encoding="utf-8")
BEGIN = "<!-- points -->\n"
END = "<!-- end of points -->"


def table_of_points(api: HttpWorld) -> str:
    """Return the table of points as the page must have it."""
    lines = ["| point | what varies | lasts for | leaves it open |", "|---|---|---|---|"]
    for point in api.emulator.control.contract("variation-points"):
        assumptions = ", ".join(f"`{name}`" for name in point["assumptions"])
        scope = f"{point['lasts_for']}: {assumptions}" if assumptions else point["lasts_for"]
        sentence = point["sentence"].replace("|", "\\|")
        lines.append(f"| `{point['id']}` | {point['about']} | {scope} | {sentence} |")
    return "\n".join(lines) + "\n"


def test_the_vary_guide_lists_every_variation_point(api: HttpWorld):
    assert PAGE.partition(BEGIN)[2].partition(END)[0] == table_of_points(api)
