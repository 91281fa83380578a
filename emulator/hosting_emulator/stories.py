"""Lets commands run a story without a server, by responding when the story visits a page.

This module is separate from `bootstrap`, because loading the code that runs stories would make a
start about 20% slower.
"""

from __future__ import annotations

from hosting_emulator.control.story_pages import respond_to_page as respond_to_page
