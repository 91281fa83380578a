"""Checking a scenario without a running emulator: its world, its story, and the pages that it visits."""

from __future__ import annotations

from typing import Any

from hosting_emulator.scenario.story import check_text


def check_story(text: str, file: str) -> dict[str, Any]:
    """Run a story in a world of its own (see `check_text`). Raises ScenarioError."""
    return check_text(text, file, visit_page)


def visit_page(*given: Any) -> Any:
    """Answer a request to a page, as the server does (see `visit`)."""
    # Imported here: few stories visit a page, and the others need no server.
    from hosting_emulator.server.control.visits import visit

    return visit(*given)
