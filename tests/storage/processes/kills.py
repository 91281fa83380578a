"""Kills an emulator at random moments under concurrent writes, and compares what it promised.

Every kill is followed by a start, which must succeed, and by a look at everything: each answered
change is there, what was not answered is there whole or not at all. A third of the emulators kill
themselves at a random step of their work on files, which is how a kill falls into a fold, an import,
a fork, a reset or a deletion.
"""

from __future__ import annotations

import http.client
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

from hosting_emulator.storage.directory import COMPACT_BYTES
from tests.storage.processes.clients import PROJECTS, Builder, Hammer, Hand, Ledger, Writer
from tests.support.emulator_process import Client, DiedEarly, Process

#: More answers than this are not waited for before a kill.
MOST_ANSWERS = 60
#: A kill falls up to this long after the last of them, in seconds of real time.
MOST_DELAY_S = 0.004
#: Up to this step of its work on files an emulator kills itself.
MOST_STEPS = 80
ARGUMENTS = ("--assume", "source_generation=ignored")
#: Where time runs, something is due at nearly every request: ten minutes pass in a second.
CLOCKS = ("frozen", "scaled:600")
OPERATION_CALLS = ("apply_project_domains", "initialize_managed_source")
#: An emulator that folds its journal from so many bytes on, and may kill itself: `fold_bytes`, and
#: at which step of its work on files, 0 for none.
DYING = """
import os, signal, sys
from hosting_emulator.storage import directory as keeper
from hosting_emulator_cli.main import main

fold_bytes, left = int(sys.argv[1]), int(sys.argv[2])
STEPS = {"open", "os.rename", "os.remove", "os.truncate", "os.mkdir", "os.rmdir"}

def look(event, arguments):
    global left
    if event in STEPS and (event != "open" or arguments[2] & os.O_CREAT):
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)

keeper.DiskKeeper.__init__.__defaults__ = (fold_bytes, 0)
keeper._size = lambda path: 0
if left:
    sys.addaudithook(look)
sys.argv[:3] = ["hosting-emulator"]
main()
"""


@dataclass
class Tally:
    """What came of a round."""

    kills: int = 0
    at_a_step: int = 0
    before_ready: int = 0
    answered: int = 0
    unanswered: int = 0
    torn: int = 0


def kill_often(folder: Path, seed: str, kills: int, clock: str) -> Tally:
    """Kill an emulator so many times in a directory of its own; raises AssertionError for any loss."""
    random = Random(seed)
    ledger = Ledger()
    tally = Tally()
    tokens: dict[str, str] = {}
    data = ("--data-dir", str(folder / "data"), "--clock", clock, *ARGUMENTS)
    while tally.kills < kills:
        # By number: what is drawn depends on how many were answered, and that on the machine.
        step = random.randrange(1, MOST_STEPS) if tokens and tally.kills % 3 == 2 else None
        with life(data, ledger, tokens, random) as one:
            said = one.until_a_step(step, tally) if step else one.until_a_moment(tally)
        tally.torn += said.count("was cut off")
        assert said.count("\n") == said.count("was cut off"), said
    with life(data, ledger, tokens, random) as one:
        one.until_a_stop()
    tally.answered = sum(request.answer is not None for request in ledger.requests)
    return tally


@dataclass
class Life:
    """One emulator's life, from its start to its death."""

    data: tuple[str, ...]
    ledger: Ledger
    tokens: dict[str, str]
    random: Random
    process: Process | None = None

    def start(self, fold_bytes: int = COMPACT_BYTES, die_at: int = 0) -> Process:
        """Start it. Raises DiedEarly."""
        command = (sys.executable, "-c", DYING, str(fold_bytes), str(die_at))
        self.process = Process(*self.data, command=command)
        return self.process

    def until_a_moment(self, tally: Tally) -> str:
        """Look at everything, write from all sides, and kill; return what it said."""
        fold_bytes = self.random.choice((1, 30_000, None))
        process = self.start(fold_bytes or COMPACT_BYTES)
        self.look(process, every=False)
        hammers = start(process.base_url, self.ledger, self.tokens, f"{tally.kills}")
        for _ in range(self.random.randrange(MOST_ANSWERS)):
            assert self.ledger.answered.acquire(timeout=30)
        self.ledger.answered.acquire(timeout=self.random.random() * MOST_DELAY_S)
        tally.kills += 1
        return self.killed(process, hammers, tally)

    def until_a_step(self, step: int, tally: Tally) -> str:
        """Write from all sides until it kills itself, or has had its time."""
        tally.kills += 1
        tally.at_a_step += 1
        try:
            process = self.start(1, step)
        except DiedEarly as dead:
            tally.before_ready += 1
            if dead.code == -signal.SIGKILL:
                return dead.errors
            raise
        hammers = start(process.base_url, self.ledger, self.tokens, f"{tally.kills}")
        for _ in range(MOST_ANSWERS):
            if not self.ledger.answered.acquire(timeout=0.2):
                break
        return self.killed(process, hammers, tally)

    def killed(self, process: Process, hammers: list[Hammer], tally: Tally) -> str:
        said = process.kill()
        for hammer in hammers:
            hammer.join(30)
            assert hammer.failure is None, hammer.failure
        tally.unanswered += sum(request.answer is None for request in self.ledger.requests)
        return said

    def until_a_stop(self) -> None:
        process = self.start()
        self.look(process, every=True)
        assert process.stop() == (0, "")

    def look(self, process: Process, *, every: bool) -> None:
        """Compare all that was promised with what is there."""
        client = process.client()
        if not self.tokens:
            self.ledger.operations = len(client.state()["tables"]["operations"])
            people = sorted(set(PROJECTS.values()))
            self.tokens.update({who: client.token(who) for who in people})
            for project_id, row in client.state()["tables"]["projects"].items():
                self.ledger.flags[project_id] = [row.get("flag_enabled", False)]
        check(client, self.ledger, self.random, every=every)


@contextmanager
def life(*parts: Any) -> Iterator[Life]:
    """Have an emulator live for the time of a block; whatever happens, it is dead afterwards."""
    one = Life(*parts)
    try:
        yield one
    finally:
        if one.process is not None:
            one.process.kill()


def start(base_url: str, ledger: Ledger, tokens: dict[str, str], seed: str) -> list[Hammer]:
    client = Client(base_url)
    try:
        projects = {p["alias"]: p for p in client.control("GET", "worlds/default")["projects"]}
    except (OSError, http.client.HTTPException):
        return []  # it is dead already
    finally:
        client.close()
    hammers: list[Hammer] = [
        Writer(base_url, ledger, f"{seed}-{alias}", projects[alias], tokens[who])
        for alias, who in PROJECTS.items()
    ]
    hammers.append(Builder(base_url, ledger, f"{seed}-worlds"))
    hammers.append(Hand(base_url, ledger, f"{seed}-hand"))
    for hammer in hammers:
        hammer.start()
    return hammers


def check(client: Client, ledger: Ledger, random: Random, *, every: bool) -> None:
    now = client.control("GET", "worlds/default/clock")["now"]
    assert now >= ledger.shown
    ledger.shown = now
    tables = client.state()["tables"]
    check_whole(tables, ledger)
    check_worlds(client, ledger, random, every=every)
    for project_id, possible in ledger.flags.items():
        assert tables["projects"][project_id].get("flag_enabled", False) in possible
    answered = [request for request in ledger.requests if request.answer is not None]
    for request in answered:
        assert request.answer is not None
        check_there(tables, request.answer.json)
    # A few again and again: replaying all each time would take most of the run.
    chosen = answered if every else random.sample(answered, min(10, len(answered)))
    for request in chosen:
        check_replay(request.answer, request.send(client))
    for request in [request for request in ledger.requests if request.answer is None]:
        # Whoever was not answered asks again, as clients should; it is answered once and for all.
        request.answer = request.send(client)
        assert request.answer.status in (200, 201, 202), request.answer
        if "enabled" in (request.body or {}):
            answer = request.answer.json
            ledger.flags[answer["project_id"]] = [True, False]
    if any(len(possible) > 1 for possible in ledger.flags.values()):
        now = client.state()["tables"]["projects"]
        for project_id in ledger.flags:
            ledger.flags[project_id] = [now[project_id].get("flag_enabled", False)]


def check_there(tables: Any, body: Any) -> None:
    if "state" in body:
        assert body["id"] in tables["operations"]
        assert body.get("deployment_id") in {None, *tables["deployments"]}
    if "key" in body:
        assert body["key"]["id"] in tables["user_api_keys"]


def check_replay(first: Any, again: Any) -> None:
    if "key" not in first.json:
        assert (again.status, again.body) == (first.status, first.body)
        return
    assert again.json["key"] == first.json["key"]
    assert (again.json["value"], again.json["replayed"]) == (None, True)


def check_whole(tables: Any, ledger: Ledger) -> None:
    """Every change writes its rows together with the answer that is remembered for it."""
    remembered = [row["call_id"] for row in tables["remembered_answers"].values()]
    keys = remembered.count("create_user_api_key")
    assert len(tables["user_api_keys"]) == keys
    operations = tables["operations"].values()
    assert ledger.operations is not None
    added = len(operations) - ledger.operations - sum(map(remembered.count, OPERATION_CALLS))
    assert ledger.added[0] <= added <= ledger.added[1]
    ledger.added = (added, added)
    made = {row["deployment_id"] for row in operations if "deployment_id" in row}
    assert made <= set(tables["deployments"])


def check_worlds(client: Client, ledger: Ledger, random: Random, *, every: bool) -> None:
    there = {world["name"] for world in client.control("GET", "worlds")["items"]}
    for name, possible in ledger.worlds.items():
        found = "there" if name in there else "gone"
        assert found in possible, (name, found, possible)
        ledger.worlds[name] = {found}
    kept = sorted(name for name, found in ledger.worlds.items() if found == {"there"})
    for name in kept if every else random.sample(kept, min(1, len(kept))):
        # Importing checks that everything in it fits together.
        client.control("PUT", "worlds/copy/state", client.state(name))
    assert there - set(ledger.worlds) <= {"default", "copy"}
