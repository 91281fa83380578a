"""Clients that write without pause, and a ledger of what the emulator acknowledged.

Every acknowledged change must exist after a crash. A change without a response may exist or not, but
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

#: Project alias -> alias of the user who changes it.
PROJECTS = {"shop": "owner", "blog": "owner", "docs": "owner", "notes": "outsider"}


@dataclass
class Request:
    """A request with an Idempotency-Key, and its first response once it arrived."""

    method: str
    path: str
    body: Any
    token: str
    key: str
    response: Response | None = None

    def send(self, client: Client) -> Response:
        headers = {"Authorization": f"Bearer {self.token}", "Idempotency-Key": self.key}
        return client.send(self.method, self.path, self.body, headers)

    def flag(self) -> bool | None:
        """Return the value that the request gives to a flag, or None for any other call."""
        if self.path.endswith("powered-by-flag"):
            return bool(self.body["enabled"])
        return None


@dataclass
class Ledger:
    """All requests that clients sent, and what they may expect to exist."""

    requests: list[Request] = field(default_factory=list)
    #: Project id -> the values that its flag may have.
    flags: dict[str, list[bool]] = field(default_factory=dict)
    #: Deployments that were added from outside the contract: at least and at most.
    fewest_added: int = 0
    most_added: int = 0
    #: Operations that the world began with.
    operations: int | None = None
    #: The latest time that the world reported.
    latest_time: str = ""
    #: World name -> the states that it may have: "present", "absent".
    worlds: dict[str, set[str]] = field(default_factory=dict)
    #: Released once for each acknowledged change.
    acknowledged: threading.Semaphore = field(default_factory=lambda: threading.Semaphore(0))
    ordinals: Any = field(default_factory=lambda: itertools.count(1))


class WritingClient(threading.Thread):
    """A client that sends one change after another until its connection breaks."""

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
                self.ledger.acknowledged.release()
        except (OSError, http.client.HTTPException):
            pass  # These tests kill the process, so every connection breaks.
        except BaseException as error:
            self.failure = error
        finally:
            self.client.close()

    def change(self) -> None:
        raise NotImplementedError


class ProjectWriter(WritingClient):
    """Changes one project through the public API."""

    def __init__(self, base_url: str, ledger: Ledger, seed: str, project: Any, token: str) -> None:
        super().__init__(base_url, ledger, seed)
        self.project = project
        self.token = token

    def change(self) -> None:
        request = self.draw_request(f"{self.name}-{next(self.ledger.ordinals)}")
        self.ledger.requests.append(request)
        flag = request.flag()
        if flag is not None:
            # Until the response arrives, the flag may have its previous or its new value.
            self.ledger.flags[self.project["id"]].append(flag)
        request.response = request.send(self.client)
        assert request.response.status in (200, 201, 202), request.response
        if flag is not None:
            self.ledger.flags[self.project["id"]] = [flag]

    def draw_request(self, key: str) -> Request:
        project = self.project["id"]
        organization = self.project["organization_id"]
        number = self.random.randrange(10)
        if number < 5:
            path = f"/v1/projects/{project}/powered-by-flag"
            return Request("PUT", path, {"enabled": number % 2 == 0}, self.token, key)
        if number < 7:
            path = f"/v1/organizations/{organization}/user-api-keys"
            return Request("POST", path, {"name": key[:64]}, self.token, key)
        if number < 9:
            return Request("PUT", f"/v1/projects/{project}/domains", None, self.token, key)
        path = f"/v1/projects/{project}/source:initialize"
        return Request("POST", path, {"expected_source_generation": 0}, self.token, key)


class DeploymentAdder(WritingClient):
    """Adds deployments from outside the contract, and reads the time."""

    def change(self) -> None:
        self.ledger.most_added += 1
        intervention = {"add_deployments": {"project": "blog", "count": 1}}
        self.client.control("POST", "worlds/default/interventions", intervention)
        self.ledger.fewest_added += 1
        self.ledger.latest_time = self.client.control("GET", "worlds/default/clock")["now"]


class WorldEditor(WritingClient):
    """Creates, forks, resets, imports and deletes worlds, and advances their time."""

    def change(self) -> None:
        name = f"w{self.random.randrange(4)}"
        states = self.ledger.worlds.setdefault(name, {"absent"})
        if len(states) > 1:
            # A kill came before the response to the previous change of this world.
            names = {world["name"] for world in self.client.control("GET", "worlds")["items"]}
            states = {"present" if name in names else "absent"}
            self.ledger.worlds[name] = states
        if states == {"absent"}:
            self.create(name)
        else:
            self.alter(name)

    def create(self, name: str) -> None:
        self.ledger.worlds[name] = {"absent", "present"}
        number = self.random.randrange(3)
        if number == 0:
            body = {"name": name, "seed": name, "clock": {"mode": "frozen"}, "ephemeral": False}
            self.client.control("POST", "worlds", body)
        elif number == 1:
            body = {"name": name, "ephemeral": False}
            self.client.control("POST", "worlds/default/fork", body)
        else:
            state = self.client.state()
            self.client.control("PUT", f"worlds/{name}/state", state)
        self.ledger.worlds[name] = {"present"}

    def alter(self, name: str) -> None:
        number = self.random.randrange(5)
        if number == 0:
            self.ledger.worlds[name] = {"absent", "present"}
            self.client.control("DELETE", f"worlds/{name}")
            self.ledger.worlds[name] = {"absent"}
        elif number == 1:
            self.client.control("POST", f"worlds/{name}/reset", {})
        elif number == 2:
            self.client.control("PUT", f"worlds/{name}/state", self.client.state())
        else:
            self.client.control("POST", f"worlds/{name}/clock/advance", {"by": "1s"})
