"""The guide to checking a server names each change that a user can permit."""

from __future__ import annotations

import re
from pathlib import Path

from tests.support.judging_tables import check_permissions

PAGE = (Path(__file__).parents[2] / "docs" / "check-a-server.md").read_text(encoding="utf-8")


def test_the_guide_to_checking_a_server_explains_every_permission() -> None:
    rows = re.findall(r"^\| `(\w+)` \| ", PAGE, re.MULTILINE)

    assert check_permissions() <= set(rows)
