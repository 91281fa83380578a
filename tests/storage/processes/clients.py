"""Clients that write without pause, and a ledger of what they were promised.

An answered change must be there after any crash. One that was not answered may be there or not, but
never in part.
"""

from __future__ import annotations

import http.client
import itertools
import threading
from dataclasses import dataclass, field
from random import Random
from typing import Any

from tests.support.calls import Response
from tests.support.emulator_process import Client

#: project alias -> whose it is
PROJECTS = {"shop": "owner", "blog": "owner", "docs": "owner", "notes": "outsider"}


@dataclass
class Request:
    """A request with an Idempotency-Key, and its first answer once it came."""

    method: str
    path: str
    body: Any
    token: str
    key: str
    answer: Response | None = None

    def send(self, client: Client) -> Response:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": self.key}
        return client.send(self.method, self.path, self.body, headers)


@dataclass
class Ledger:
    """All requests that were ever sent, whether they were answered, and how many were."""

    requests: list[Request] = field(default_factory=list)
    flags: dict[str, list[bool]] = field(default_factory=dict)
    #: How many deployments were added from outside: surely, and at most.
    added: tuple[int, int] = (0, 0)
    #: How many operations the world began with, and the last moment that it showed.
    operations: int | None = None
    shown: str = ""
    worlds: dict[str, set[str]] = field(default_factory=dict)
    answered: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    numbers: Any = field(default_factory=lambda: itertools.count(1))


class Hammer(threading.Thread):
    """A client that sends one change after another until its connection dies."""

    def __init__(self, base_url: str, ledger: Ledger, seed: str) -> None:
        super().__init__(name=seed, daemon=True)
        self.client = Client(base_url)
        self.ledger = ledger
        self.random = Random(seed)
        self.failure: BaseException | None = None

    def run(self) -> None:
        try:
            while True:
                self.change()
                self.ledger.answered.release()
        except (OSError, http.client.HTTPException):
            pass  # the process was killed: that is what we are here for
        except BaseException as error:
            self.failure = error
        finally:
            self.client.close()

    def change(self) -> None:
        raise NotImplementedError


class Writer(Hammer):
    """Makes changes in one project through the public API."""

    def __init__(self, base_url: str, ledger: Ledger, seed: str, project: Any, token: str) -> None:
        super().__init__(base_url, ledger, seed)
        self.project = project
        self.token = token

    def change(self) -> None:
        request = self.request(f"{self.name}-{next(self.ledger.numbers)}")
        self.ledger.requests.append(request)
        flag = isinstance(request.body, dict) and request.body.get("enabled")
        if flag is not None and request.path.endswith("powered-by-flag"):
            # Either a value that was there is there still, or the one now on its way.
            self.ledger.flags[self.project["id"]].append(flag)
        request.answer = request.send(self.client)
        assert request.answer.status in (200, 201, 202), request.answer
        if flag is not None and request.path.endswith("powered-by-flag"):
            self.ledger.flags[self.project["id"]] = [flag]

    def request(self, key: str) -> Request:
        project = self.project["id"]
        organization = self.project["organization_id"]
        kind = self.random.randrange(10)
        if kind < 5:
            path = f"/v1/projects/{project}/powered-by-flag"
            body = {"enabled": kind % 2 == 0}
            return Request("PUT", path, body, self.token, key)
        if kind < 7:
            path = f"/v1/organizations/{organization}/user-api-keys"
            return Request("POST", path, {"name": key[:64]}, self.token, key)
        if kind < 9:
            return Request("PUT", f"/v1/projects/{project}/domains", None, self.token, key)
        path = f"/v1/projects/{project}/source:initialize"
        return Request("POST", path, {"expected_source_generation": 0}, self.token, key)


class Hand(Hammer):
    """Adds deployments from outside the contract, and reads the time."""

    def change(self) -> None:
        surely, at_most = self.ledger.added
        self.ledger.added = (surely, at_most + 1)
        asked = {"add_deployments": {"project": "blog", "count": 1}}
        self.client.control("POST", "worlds/default/interventions", asked)
        self.ledger.added = (surely + 1, at_most + 1)
        self.ledger.shown = self.client.control("GET", "worlds/default/clock")["now"]


class Builder(Hammer):
    """Makes, forks, resets, imports and deletes worlds, and moves their time."""

    def change(self) -> None:
        name = f"w{self.random.randrange(4)}"
        there = self.ledger.worlds.setdefault(name, {"gone"})
        if len(there) > 1:  # nobody answered whether it is: a kill came between
            found = {world["name"] for world in self.client.control("GET", "worlds")["items"]}
            there = self.ledger.worlds[name] = {"there" if name in found else "gone"}
        if there == {"gone"}:
            self.make(name)
        else:
            self.alter(name)

    def make(self, name: str) -> None:
        self.ledger.worlds[name] = {"gone", "there"}
        how = self.random.randrange(3)
        if how == 0:
            asked = {"name": name, "seed": name, "clock": {"mode": "frozen"}, "ephemeral": False}
            self.client.control("POST", "worlds", asked)
        elif how == 1:
            asked = {"name": name, "ephemeral": False}
            self.client.control("POST", "worlds/default/fork", asked)
        else:
            state = self.client.state()
            self.client.control("PUT", f"worlds/{name}/state", state)
        self.ledger.worlds[name] = {"there"}

    def alter(self, name: str) -> None:
        how = self.random.randrange(5)
        if how == 0:
            self.ledger.worlds[name] = {"gone", "there"}
            self.client.control("DELETE", f"worlds/{name}")
            self.ledger.worlds[name] = {"gone"}
        elif how == 1:
            self.client.control("POST", f"worlds/{name}/reset", {})
        elif how == 2:
            self.client.control("PUT", f"worlds/{name}/state", self.client.state())
        else:
            self.client.control("POST", f"worlds/{name}/clock/advance", {"by": "1s"})
