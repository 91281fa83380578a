"""The commands in the tables of tasks exist, and those that need no file of the reader run."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.terminal import Terminals

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text(encoding="utf-8")
#: The commands in the second column of the tables.
COMMANDS = [
    command
    for row in re.findall(r"^\| [^|]+ \| ([^|]+) \| [^|]+ \|$", PAGE, re.MULTILINE)
    for command in re.findall(r"`([^`]+)`", row)
]
#: What a command needs or does that this test cannot provide.
UNSUITABLE = re.compile(
    r"CMD|FILE|…|\.yaml|127\.0\.0\.1|^pytest|^--|^exec|tail$|doctor$|open$|start |stop$|why N$"
)
#: Requests of a client that makes no mistake, so that `conduct` has no finding.
THREE_REQUESTS = """for limit in 1 2 3; do
curl -s -H "Authorization: Bearer $HOSTING_TOKEN" \\
  "$HOSTING_BASE_URL/v1/projects/$HOSTING_PROJECT_ID/deployments?limit=$limit"
done"""


@pytest.mark.slow
@pytest.mark.usefixtures("alone")
def test_the_commands_of_the_tasks_run(tmp_path: Path):
    commands = [command for command in COMMANDS if not UNSUITABLE.search(command)]
    assert len(commands) >= 18

    with Terminals(tmp_path) as terminals:
        terminals.start_emulator()
        terminals.type('eval "$(hosting-emulator env)"')
        for command in commands:
            if "resend 3" in command:
                terminals.type("hosting-emulator fault clear")
                terminals.type(THREE_REQUESTS)
            terminals.type(command)
