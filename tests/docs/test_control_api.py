"""The guide to the control API: every command of it runs, and prints what is shown.

Its program in TypeScript is compiled and run in tests/openapi.
"""

from __future__ import annotations

from pathlib import Path

from tests.docs.terminal import Terminals

GUIDE = (Path(__file__).parents[2] / "docs" / "control-api.md").read_text(encoding="utf-8")


def test_every_command_runs_and_prints_what_is_shown(tmp_path: Path):
    with Terminals(tmp_path) as terminals:
        terminals.follow(GUIDE)
