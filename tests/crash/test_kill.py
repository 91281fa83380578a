"""Killed at any moment, the emulator keeps every change it answered and no half of any other.

HOSTING_EMULATOR_TEST_KILLS says how many times (10); HOSTING_EMULATOR_TEST_SEED which moments.
"""

from __future__ import annotations

import os
from random import Random
from typing import Any

from tests.crash.clients import PROJECTS, Builder, Hammer, Ledger, Writer
from tests.crash.process import FOLDING_ALWAYS, Client, Process, emulator

KILLS = int(os.environ.get("HOSTING_EMULATOR_TEST_KILLS", "10"))
SEED = os.environ.get("HOSTING_EMULATOR_TEST_SEED", "kills")
#: More answers than this are not waited for before a kill.
MOST_ANSWERS = 150


def test_nothing_answered_is_lost(tmp_path):
    random, ledger = Random(SEED), Ledger()
    tokens: dict[str, str] = {}
    arguments = ["--data-dir", str(tmp_path / "data"), "--clock", "frozen"]
    arguments += ["--assume", "source_generation=ignored"]

    for kill in range(KILLS):
        with emulator(*arguments, command=FOLDING_ALWAYS) as process:
            client = process.client()
            if not tokens:
                tokens = {who: client.token(who) for who in sorted(set(PROJECTS.values()))}
                ledger.flags = {
                    project_id: [row.get("flag_enabled", False)]
                    for project_id, row in client.state()["tables"]["projects"].items()
                }
            check(client, ledger, random)
            hammers = start(process, client, ledger, tokens, f"{SEED}-{kill}")
            for _ in range(random.randrange(MOST_ANSWERS)):
                ledger.answered.acquire(timeout=30)
            said = process.kill()
            for hammer in hammers:
                hammer.join(30)
                assert hammer.failure is None, hammer.failure
            assert said == "" or said.count("\n") == said.count("was cut off"), said

    with emulator(*arguments) as process:
        client = process.client()
        check(client, ledger, random, every=True)
        assert process.stop() == (0, "")
    assert sum(request.answer is not None for request in ledger.requests) > KILLS


def start(
    process: Process, client: Client, ledger: Ledger, tokens: dict[str, str], seed: str
) -> list[Hammer]:
    projects = {p["alias"]: p for p in client.control("GET", "worlds/default")["projects"]}
    hammers: list[Hammer] = [
        Writer(process.base_url, ledger, f"{seed}-{alias}", projects[alias], tokens[who])
        for alias, who in PROJECTS.items()
    ]
    hammers.append(Builder(process.base_url, ledger, f"{seed}-worlds"))
    for hammer in hammers:
        hammer.start()
    return hammers


def check(client: Client, ledger: Ledger, random: Random, *, every: bool = False) -> None:
    """Compare all that was promised with what is there."""
    tables = client.state()["tables"]
    check_whole(tables)
    check_worlds(client, ledger)
    for project_id, possible in ledger.flags.items():
        assert tables["projects"][project_id].get("flag_enabled", False) in possible
    answered = [request for request in ledger.requests if request.answer is not None]
    for request in answered:
        assert request.answer is not None
        check_there(tables, request.answer.json)
    # A few again and again: replaying all each time would take most of the run.
    chosen = answered if every else random.sample(answered, min(20, len(answered)))
    for request in chosen:
        check_replay(request.answer, request.send(client))
    for request in [request for request in ledger.requests if request.answer is None]:
        # Whoever was not answered asks again, as clients should; it is answered once and for all.
        request.answer = request.send(client)
        assert request.answer.status in (200, 201, 202), request.answer
        if "enabled" in (request.body or {}):
            project_id = request.answer.json["project_id"]
            found = client.state()["tables"]["projects"][project_id].get("flag_enabled", False)
            ledger.flags[project_id] = [found]


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


def check_whole(tables: Any) -> None:
    """Every change writes its rows together with the answer that is remembered for it."""
    remembered = [row["call_id"] for row in tables["remembered_answers"].values()]
    keys = remembered.count("create_user_api_key")
    assert len(tables["user_api_keys"]) == keys
    begun = [row for row in tables["operations"].values() if row.get("state") in (None, "queued")]
    assert len(begun) == sum(
        remembered.count(call) for call in ("apply_project_domains", "initialize_managed_source")
    )
    waiting = {row["deployment_id"] for row in begun if "deployment_id" in row}
    assert waiting <= set(tables["deployments"])


def check_worlds(client: Client, ledger: Ledger) -> None:
    there = {world["name"] for world in client.control("GET", "worlds")["items"]}
    for name, possible in ledger.worlds.items():
        found = "there" if name in there else "gone"
        assert found in possible, (name, found, possible)
        ledger.worlds[name] = {found}
        if found == "there":
            # Importing checks that everything in it fits together.
            client.control("PUT", "worlds/copy/state", client.state(name))
    assert there - set(ledger.worlds) <= {"default", "copy"}
