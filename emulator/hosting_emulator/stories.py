"""The entry point of commands that run a story without a server: the pages that a story visits.

It stands apart from `bootstrap`, because running stories would add a fifth to the time of a start.
"""

from __future__ import annotations

from hosting_emulator.control.story_pages import respond_to_page as respond_to_page
