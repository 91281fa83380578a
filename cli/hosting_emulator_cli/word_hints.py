"""Hints for words that users type because other tools have commands with these names."""

from __future__ import annotations

_LISTS = (
    "`world list` lists the worlds, `requests list` the requests, `operations` the operations, "
    "`scenario list` the scenarios, and `fault list` the faults"
)
#: For words that are not commands, the command to use instead.
ROOT_HINTS = {
    "add": "`world add` adds to a world, and `fault add` arms a fault",
    "advance": "`clock advance 10m` advances the clock",
    "apply": "`scenario load` loads a scenario into a world",
    "assumptions": "`contract assumptions` lists the assumptions",
    "browser": "`open` opens the page in a browser",
    "check": (
        "`contract check` checks a server, `scenario check` checks a scenario, and `judge -- CMD` "
        "judges a client"
    ),
    "config": "`doctor` shows the settings of `start` and where each one comes from",
    "create": "`world create` creates a world",
    "dashboard": "`open` opens the page in a browser",
    "delete": "`world delete` deletes a world",
    "down": "`stop` stops the emulator",
    "export": "`world export` writes a world to a file, and `env` prints the variables that a client needs",
    "fail": "`fault add` makes requests fail, and `outcome add fail` makes the next operation fail",
    "follow": "`requests tail` shows requests as they arrive",
    "fork": "`world fork` copies a world",
    "freeze": "`clock freeze` stops the clock",
    "health": "`status` shows the running emulator, and `wait` waits until it responds",
    "help": "`--help` lists the commands, and each command has its own --help",
    "history": "`world history` lists the commits of a world, and `requests list` lists its requests",
    "import": "`world import` reads a world from a file, and `start --import` starts with it",
    "info": "`status` shows the running emulator and its worlds",
    "init": "`start` runs the emulator, and creates its data directory",
    "inspect": (
        "`status` shows the worlds, `requests show N` shows a request, and `why` explains the "
        "operations in progress"
    ),
    "kill": "`stop` stops the emulator",
    "list": _LISTS,
    "load": "`scenario load` loads a scenario into a world",
    "log": "`requests list` shows the request log, and `requests tail` follows it",
    "login": "`token` prints an access token",
    "logs": "`requests list` shows the request log, and `requests tail` follows it",
    "ls": _LISTS,
    "mock": "`fault add respond` makes a call respond with what you specify",
    "now": "`clock show` shows the world time",
    "openapi": "`contract openapi` prints the OpenAPI document",
    "page": "`open` opens the page in a browser",
    "person": "`world add user` adds a user, and `token --user` prints a token for a user",
    "problems": "`contract problems` lists the problem codes",
    "project": "`world add project` adds a project",
    "projects": "`world add project` adds a project, and `status --json` lists the projects",
    "ps": "`status` shows the running emulator, and `doctor` shows all emulators of this user",
    "quit": "`stop` stops the emulator",
    "record": "`scenario record` writes a scenario that reproduces a world's history",
    "reload": "`start --scenario FILE --watch` reloads a file whenever it changes",
    "replay": "`requests replay FILE` replays a recording, and `requests resend N` resends one request",
    "resend": "`requests resend N` resends a request from the log",
    "reset": "`world reset` resets a world",
    "restart": "`stop` and then `start` restart the emulator",
    "rewind": "`world rewind` returns to an earlier commit",
    "rm": "`world delete` deletes a world, and `fault remove` removes a fault",
    "run": (
        "`start` runs the emulator, `exec -- CMD` runs a command with its own emulator, and "
        "`scenario run` runs a scenario"
    ),
    "seed": "`world add` adds to a world, and `start --scenario FILE` starts with the world in a file",
    "serve": "`start` runs the emulator",
    "server": "`start` runs the emulator",
    "settings": "`doctor` shows the settings of `start` and where each one comes from",
    "setup": "`env` prints the variables that a client needs, and `doctor` finds problems",
    "shell": "`exec -- bash` starts a shell with its own emulator",
    "show": (
        "`requests show N` shows a request, `scenario show` shows a scenario, and `status` shows the "
        "worlds"
    ),
    "signin": "`token` prints an access token",
    "snapshot": "`world export` writes a world to a file, and `world fork` copies a world",
    "stub": "`fault add respond` makes a call respond with what you specify",
    "tail": "`requests tail` shows requests as they arrive",
    "test": "`exec -- CMD` runs tests with their own emulator, and `judge -- CMD` judges the client",
    "time": "`clock show` shows the world time, and `clock advance 10m` advances the clock",
    "ui": "`open` opens the page in a browser",
    "up": "`start` runs the emulator, and `start --detach` runs it in the background",
    "url": "`env` prints the addresses, and `status` shows them",
    "user": "`world add user` adds a user, and `token --user` prints a token for a user",
    "users": "`world add user` adds a user, and `status --json` lists the users",
    "vars": "`env` prints the variables that a client needs",
    "version": "`--version` prints the version",
    "watch": (
        "`requests tail` shows requests as they arrive, and `triggers --follow` shows what is waiting "
        "to act"
    ),
}
_CLOCK = {
    "set": "`clock advance --to TIMESTAMP` advances the clock, and `world rewind` moves it back",
    "move": "`clock advance 10m` advances the clock",
    "now": "`clock show` shows the world time",
    "get": "`clock show` shows the world time",
    "mode": "`clock run`, `clock freeze`, `clock scale` and `clock skip` set the clock's mode",
    "resume": "`clock run` starts the clock again",
    "unfreeze": "`clock run` starts the clock again",
    "rewind": "`world rewind` returns to an earlier commit, and to its time",
}
_REQUESTS = {
    "follow": "`requests tail` shows requests as they arrive",
    "log": "`requests list` shows the request log",
    "export": "`requests har` writes the requests as an HTTP Archive",
    "repeat": "`requests resend N` resends one request",
    "retry": "`requests resend N` resends one request",
    "send": "`requests resend N` resends one request",
}
_WORLD = {
    "copy": "`world fork` copies a world",
    "show": "`status` shows the worlds",
    "remove": "`world delete` deletes a world",
    "new": "`world create` creates a world",
    "load": "`scenario load` loads a scenario into a world, and `world import` an exported world",
    "restore": "`world rewind` returns to an earlier commit, and `world import` reads a file",
    "save": "`world export` writes a world to a file",
    "undo": "`world rewind` returns to an earlier commit",
}
_ARMED = {
    "arm": "write `add`",
    "create": "write `add`",
    "delete": "write `remove`",
    "rm": "write `remove`",
    "types": "write `kinds`",
    "show": "write `list --json`",
}
_SCENARIO = {
    "start": "`scenario load` loads a scenario, and `start --scenario` starts with it",
    "validate": "`scenario check` checks a scenario without an emulator",
    "test": "`scenario check` checks a scenario without an emulator",
    "minimize": "`scenario shrink` makes a scenario smaller",
}
#: The hints for each group, by the name of the group.
GROUP_HINTS = {
    "clock": _CLOCK,
    "requests": _REQUESTS,
    "world": _WORLD,
    "fault": _ARMED,
    "outcome": _ARMED,
    "scenario": _SCENARIO,
}


def word_hint(group: str, word: str) -> str | None:
    """Return the hint for a word that is not a command in a group, or None."""
    return GROUP_HINTS.get(group, ROOT_HINTS).get(word.lower())
