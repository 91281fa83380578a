"""Kills an emulator at random moments under concurrent writes, and compares what it acknowledged.

After every kill the emulator must start, and everything is checked: each acknowledged change exists,
and each change without a response exists in full or not at all. A third of the emulators kill
themselves at a random step of their work on files. In this way a kill also hits a fold, an import,
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

from hosting_emulator.storage.keeper import COMPACT_BYTES
from tests.storage.processes.clients import (
    PROJECTS,
    DeploymentAdder,
    Ledger,
    ProjectWriter,
    WorldEditor,
    WritingClient,
)
from tests.support.calls import Response
from tests.support.emulator_process import Client, Process, StartFailed

#: A kill waits for at most so many acknowledged changes.
MOST_ACKNOWLEDGED = 60
#: A kill comes up to this long after the last of them, in seconds of real time.
MOST_DELAY_S = 0.004
#: An emulator that kills itself does so at one of its first steps on files, up to this number.
MOST_STEPS = 80
ARGUMENTS = ("--assume", "source_generation=ignored")
#: With the scaled clock, events are due at nearly every request: ten minutes pass in a second.
CLOCKS = ("frozen", "scaled:600")
OPERATION_CALLS = ("apply_project_domains", "initialize_managed_source")
#: An emulator with two arguments before its own: the size in bytes from which it folds its journal,
#: and the step of its work on files at which it kills itself (0: never).
SELF_KILLING_EMULATOR = """
import os, signal, sys
from hosting_emulator.storage import keeper
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
    """Counts of a round of kills."""

    kills: int = 0
    at_a_step: int = 0
    before_ready: int = 0
    answered: int = 0
    unanswered: int = 0
    torn: int = 0


def kill_often(folder: Path, seed: str, kills: int, clock: str) -> Tally:
    """Kill an emulator that often in its own directory. Raises AssertionError for any loss."""
    random = Random(seed)
    ledger = Ledger()
    tally = Tally()
    tokens: dict[str, str] = {}
    options = ("--data-dir", str(folder / "data"), "--clock", clock, *ARGUMENTS)
    while tally.kills < kills:
        # Every third kill is at a step. A random choice would differ between machines: the random
        # stream depends on how many changes were acknowledged.
        step = random.randrange(1, MOST_STEPS) if tokens and tally.kills % 3 == 2 else None
        with emulator_run(options, ledger, tokens, random) as run:
            errors = run.kill_at_step(step, tally) if step else run.kill_at_a_moment(tally)
        tally.torn += errors.count("its last line is incomplete")
        assert errors.count("\n") == errors.count("its last line is incomplete"), errors
    with emulator_run(options, ledger, tokens, random) as run:
        run.check_and_stop()
    tally.answered = sum(request.response is not None for request in ledger.requests)
    return tally


@dataclass
class EmulatorRun:
    """One run of an emulator, from its start to its end."""

    options: tuple[str, ...]
    ledger: Ledger
    tokens: dict[str, str]
    random: Random
    process: Process | None = None

    def start(self, fold_bytes: int = COMPACT_BYTES, kill_at: int = 0) -> Process:
        """Start the emulator. Raises StartFailed."""
        command = (sys.executable, "-c", SELF_KILLING_EMULATOR, str(fold_bytes), str(kill_at))
        self.process = Process(*self.options, command=command)
        return self.process

    def kill_at_a_moment(self, tally: Tally) -> str:
        """Check everything, write with all clients, kill the emulator, and return its stderr."""
        fold_bytes = self.random.choice((1, 30_000, None))
        process = self.start(fold_bytes or COMPACT_BYTES)
        self.check(process, replay_all=False)
        clients = start_clients(process.base_url, self.ledger, self.tokens, f"{tally.kills}")
        for _ in range(self.random.randrange(MOST_ACKNOWLEDGED)):
            assert self.ledger.acknowledged.acquire(timeout=30)
        self.ledger.acknowledged.acquire(timeout=self.random.random() * MOST_DELAY_S)
        tally.kills += 1
        return self.kill(process, clients, tally)

    def kill_at_step(self, step: int, tally: Tally) -> str:
        """Write with all clients until the emulator kills itself or enough was acknowledged."""
        tally.kills += 1
        tally.at_a_step += 1
        try:
            process = self.start(1, step)
        except StartFailed as dead:
            tally.before_ready += 1
            if dead.code == -signal.SIGKILL:
                return dead.errors
            raise
        clients = start_clients(process.base_url, self.ledger, self.tokens, f"{tally.kills}")
        for _ in range(MOST_ACKNOWLEDGED):
            if not self.ledger.acknowledged.acquire(timeout=0.2):
                break
        return self.kill(process, clients, tally)

    def kill(self, process: Process, clients: list[WritingClient], tally: Tally) -> str:
        errors = process.kill()
        for client in clients:
            client.join(30)
            assert client.failure is None, client.failure
        tally.unanswered += sum(request.response is None for request in self.ledger.requests)
        return errors

    def check_and_stop(self) -> None:
        process = self.start()
        self.check(process, replay_all=True)
        assert process.stop() == (0, "")

    def check(self, process: Process, *, replay_all: bool) -> None:
        """Compare the state of the emulator with the ledger."""
        client = process.client()
        if not self.tokens:
            tables = client.state()["tables"]
            self.ledger.operations = len(tables["operations"])
            self.ledger.flags = {
                project_id: [row.get("flag_enabled", False)]
                for project_id, row in tables["projects"].items()
            }
            for user in sorted(set(PROJECTS.values())):
                self.tokens[user] = client.token(user)
        check(client, self.ledger, self.random, replay_all=replay_all)


@contextmanager
def emulator_run(
    options: tuple[str, ...], ledger: Ledger, tokens: dict[str, str], random: Random
) -> Iterator[EmulatorRun]:
    """Run an emulator during a block. It is killed at the end, whatever happens."""
    run = EmulatorRun(options, ledger, tokens, random)
    try:
        yield run
    finally:
        if run.process is not None:
            run.process.kill()


def start_clients(
    base_url: str, ledger: Ledger, tokens: dict[str, str], seed: str
) -> list[WritingClient]:
    """Start all clients; return none if the emulator has already killed itself."""
    client = Client(base_url)
    try:
        rows = client.control("GET", "worlds/default")["projects"]
    except (OSError, http.client.HTTPException):
        return []
    finally:
        client.close()
    projects = {row["alias"]: row for row in rows}
    clients: list[WritingClient] = [
        ProjectWriter(base_url, ledger, f"{seed}-{alias}", projects[alias], tokens[user])
        for alias, user in PROJECTS.items()
    ]
    clients.append(WorldEditor(base_url, ledger, f"{seed}-worlds"))
    clients.append(DeploymentAdder(base_url, ledger, f"{seed}-deployments"))
    for writing_client in clients:
        writing_client.start()
    return clients


def check(client: Client, ledger: Ledger, random: Random, *, replay_all: bool) -> None:
    check_time(client, ledger)
    tables = client.state()["tables"]
    check_added_rows(tables, ledger)
    check_worlds(client, ledger, random, import_all=replay_all)
    for project_id, values in ledger.flags.items():
        assert tables["projects"][project_id].get("flag_enabled", False) in values
    check_acknowledged(client, tables, ledger, random, replay_all=replay_all)
    retry_unanswered(client, ledger)
    if any(len(values) > 1 for values in ledger.flags.values()):
        projects = client.state()["tables"]["projects"]
        for project_id in ledger.flags:
            ledger.flags[project_id] = [projects[project_id].get("flag_enabled", False)]


def check_time(client: Client, ledger: Ledger) -> None:
    now = client.control("GET", "worlds/default/clock")["now"]
    assert now >= ledger.latest_time
    ledger.latest_time = now


def check_acknowledged(
    client: Client, tables: Any, ledger: Ledger, random: Random, *, replay_all: bool
) -> None:
    """Check the rows of every acknowledged change, and replay all of them or a few."""
    exchanges = [
        (request, request.response) for request in ledger.requests if request.response is not None
    ]
    for _, response in exchanges:
        check_rows(tables, response.json)
    # Replaying all of them after each kill would take most of the run.
    sample = exchanges if replay_all else random.sample(exchanges, min(10, len(exchanges)))
    for request, response in sample:
        check_replay(response, request.send(client))


def retry_unanswered(client: Client, ledger: Ledger) -> None:
    """Send each request without a response again, with its key, as clients should."""
    for request in ledger.requests:
        if request.response is not None:
            continue
        request.response = request.send(client)
        assert request.response.status in (200, 201, 202), request.response
        if request.flag() is not None:
            ledger.flags[request.response.json["project_id"]] = [True, False]


def check_rows(tables: Any, body: Any) -> None:
    if "state" in body:
        assert body["id"] in tables["operations"]
        assert body.get("deployment_id") in {None, *tables["deployments"]}
    if "key" in body:
        assert body["key"]["id"] in tables["user_api_keys"]


def check_replay(first: Response, replay: Response) -> None:
    if "key" not in first.json:
        assert (replay.status, replay.body) == (first.status, first.body)
        return
    assert replay.json["key"] == first.json["key"]
    assert (replay.json["value"], replay.json["replayed"]) == (None, True)


def check_added_rows(tables: Any, ledger: Ledger) -> None:
    """Check that every change wrote its rows together with its remembered response."""
    remembered_calls = [row["call_id"] for row in tables["remembered_responses"].values()]
    assert len(tables["user_api_keys"]) == remembered_calls.count("create_user_api_key")
    operations = tables["operations"].values()
    assert ledger.operations is not None
    requested = sum(remembered_calls.count(call_id) for call_id in OPERATION_CALLS)
    added = len(operations) - ledger.operations - requested
    assert ledger.fewest_added <= added <= ledger.most_added
    ledger.fewest_added = added
    ledger.most_added = added
    deployment_ids = {row["deployment_id"] for row in operations if "deployment_id" in row}
    assert deployment_ids <= set(tables["deployments"])


def check_worlds(client: Client, ledger: Ledger, random: Random, *, import_all: bool) -> None:
    names = {world["name"] for world in client.control("GET", "worlds")["items"]}
    for name, states in ledger.worlds.items():
        state = "present" if name in names else "absent"
        assert state in states, (name, state, states)
        ledger.worlds[name] = {state}
    present = sorted(name for name, states in ledger.worlds.items() if states == {"present"})
    for name in present if import_all else random.sample(present, min(1, len(present))):
        # An import checks that all rows of the state fit together.
        client.control("PUT", "worlds/copy/state", client.state(name))
    assert names - set(ledger.worlds) <= {"default", "copy"}
