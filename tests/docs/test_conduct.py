"""The guide to conduct names every rule."""

from __future__ import annotations

from pathlib import Path

from tests.support.http_world import HttpWorld

GUIDE = (Path(__file__).parents[2] / "docs" / "conduct.md").read_text(encoding="utf-8")
BEGIN = "<!-- rules -->\n"
END = "<!-- end of rules -->"


def table_of_rules(api: HttpWorld) -> str:
    """Return the table of rules as the page must have it."""
    lines = ["| rule | severity | what it finds | because | instead |", "|---|---|---|---|---|"]
    for rule in api.emulator.control.contract("conduct-rules"):
        because = rule["because"].replace("|", "\\|")
        lines.append(
            f"| `{rule['id']}` | {rule['severity']} | {rule['title']}. {rule['matters']} "
            f"| “{because}” ({rule['place']}) | {rule['instead']} |"
        )
    return "\n".join(lines) + "\n"


def test_the_conduct_guide_lists_every_rule(api: HttpWorld):
    assert GUIDE.partition(BEGIN)[2].partition(END)[0] == table_of_rules(api)
