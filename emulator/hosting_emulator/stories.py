"""Makes it possible for commands to run stories that request pages, without a server.

This module is separate from `bootstrap`, because loading the code that runs stories would make
starting the emulator about 20% slower.
"""

from __future__ import annotations

from hosting_emulator.control.story_pages import respond_to_page as respond_to_page
