"""The entry point for commands that run a story without a server. It serves the pages of the story.

This module is separate from `bootstrap`, because importing it would make a start a fifth slower.
"""

from __future__ import annotations

from hosting_emulator.control.story_pages import respond_to_page as respond_to_page
