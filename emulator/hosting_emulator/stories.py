"""The entry point of commands that run a story without a server: the pages that a story visits.

It is separate from `bootstrap`, because running stories would make a start a fifth slower.
"""

from __future__ import annotations

from hosting_emulator.control.story_pages import respond_to_page as respond_to_page
