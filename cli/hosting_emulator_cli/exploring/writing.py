"""Where an exploration's reports go: stdout, and the files that were asked for."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hosting_emulator_cli.files import write_whole
from hosting_emulator_cli.output import is_terminal, printable_lines, put, put_json

if TYPE_CHECKING:
    from hosting_emulator.explore.report import Exploration
    from hosting_emulator_cli.exploring.wanted import Wanted


def write_reports(wanted: Wanted, exploration: Exploration) -> None:
    """Write all that was asked for. Raises Failure."""
    if wanted.junit is not None:
        from hosting_emulator.explore.junit import junit

        write_whole(wanted.junit, junit(exploration))
    if wanted.html is not None:
        from hosting_emulator.explore.page import page

        write_whole(wanted.html, page(exploration))
    if wanted.json:
        from hosting_emulator.explore.report import document

        put_json(document(exploration))
        return
    from hosting_emulator.explore.telling import report_text

    color = is_terminal(sys.stdout) and "NO_COLOR" not in os.environ
    text = report_text(exploration, color=color)
    put(text if color else printable_lines(text))
