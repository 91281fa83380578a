"""The same seed and the same 200 requests give the same bytes, in whatever process, on any port."""

from __future__ import annotations

from random import Random
from typing import Any
from urllib.parse import urlsplit

from tests.crash.process import Answer, Client, emulator

REQUESTS = 200
#: Headers that say something about the answer; Date is about the connection.
SAID = (
    "Content-Type Content-Length X-Request-Id Retry-After Cache-Control WWW-Authenticate Allow "
    "Location Set-Cookie"
).split()
PEOPLE = ("owner", "member", "reader", "outsider", "no-organization")
PROJECTS = ("shop", "blog", "docs", "labs", "garden", "notes")


class Script:
    """200 requests, chosen by a generator of its own and by what was answered before."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.random = Random("golden")
        self.transcript: list[tuple[Any, ...]] = []
        summary = self.send("GET", "/_emulator/worlds/default").json
        self.projects = {found["alias"]: found["id"] for found in summary["projects"]}
        self.organizations = [found["id"] for found in summary["organizations"]]
        self.tokens = {
            who: self.send("POST", "/_emulator/worlds/default/tokens", {"as": who}).json[
                "access_token"
            ]
            for who in PEOPLE
        }
        self.operations: list[str] = []
        self.keys: list[str] = []
        self.doors: list[str] = []
        self.used: list[str] = ["key-0"]
        self.cursor = ""

    def run(self) -> list[tuple[Any, ...]]:
        steps = [
            self.flag,
            self.initialize,
            self.domains,
            self.create_key,
            self.ticket,
            self.redeem,
            self.poll,
            self.read,
            self.page,
            self.advance,
            self.broken,
        ]
        while len(self.transcript) < REQUESTS:
            self.random.choice(steps)()
        self.send("GET", "/_emulator/worlds/default/state")
        return self.transcript

    def send(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> Answer:
        answer = self.client.send(method, path, body, {"Host": "localhost", **(headers or {})})
        said = {name: value for name, value in answer.headers.items() if name in SAID}
        self.transcript.append((method, path, answer.status, said, answer.body))
        return answer

    def call(self, method: str, path: str, body: Any = None, *, once: bool = False) -> Answer:
        who = self.random.choice(("owner", "owner", "owner", "outsider", *PEOPLE))
        token = self.random.choice([self.tokens[who]] * 3 + self.keys[-1:])
        headers = {"Authorization": f"Bearer {token}"}
        if once:
            if self.random.random() < 0.8:
                self.used.append(f"key-{len(self.used)}")
            headers["Idempotency-Key"] = self.random.choice(self.used[-2:])
        if self.random.random() < 0.1:
            headers["X-Request-Id"] = "mine" * self.random.choice([1, 40])
        return self.send(method, path, body, headers)

    def project(self) -> str:
        return f"/v1/projects/{self.projects[self.random.choice(PROJECTS)]}"

    def flag(self) -> None:
        body = {"enabled": self.random.choice([True, False, False, 1])}
        self.call("PUT", f"{self.project()}/powered-by-flag", body, once=True)

    def initialize(self) -> None:
        body = {"expected_source_generation": self.random.choice([0, 1, 1, 2])}
        self.note(self.call("POST", f"{self.project()}/source:initialize", body, once=True))

    def domains(self) -> None:
        self.note(self.call("PUT", f"{self.project()}/domains", once=True))

    def note(self, answer: Answer) -> None:
        if answer.status == 202:
            self.operations.append(answer.json["id"])

    def create_key(self) -> None:
        path = f"/v1/organizations/{self.random.choice(self.organizations)}/user-api-keys"
        answer = self.call("POST", path, {"name": self.random.choice(["ci", "", "é"])}, once=True)
        if answer.status == 201:
            self.keys.append(answer.json["value"])

    def ticket(self) -> None:
        answer = self.call("POST", f"{self.project()}/dev-access-tickets")
        if answer.status == 201:
            self.doors.append(answer.json["redeem_url"])

    def redeem(self) -> None:
        if self.doors:
            door = urlsplit(self.random.choice(self.doors[-3:]))
            # With a port: without one, links lead to the emulator's own, which no two share.
            host = f"{door.hostname}:4620"
            self.send("GET", f"{door.path}?{door.query}", headers={"Host": host})

    def poll(self) -> None:
        if self.operations:
            self.call("GET", f"/v1/operations/{self.random.choice(self.operations)}")

    def read(self) -> None:
        rest = self.random.choice(["edge-dns", "database/compute?environment=dev", "nothing"])
        self.call("GET", f"{self.project()}/{rest}")

    def page(self) -> None:
        query = f"?limit=7&cursor={self.cursor}" if self.cursor else "?limit=7"
        answer = self.call("GET", f"/v1/projects/{self.projects['shop']}/deployments{query}")
        self.cursor = (answer.json.get("next_cursor") or "") if answer.status == 200 else ""

    def advance(self) -> None:
        by = self.random.choice(["1ms", "2s", "5s", "10s", "10m"])
        self.send("POST", "/_emulator/worlds/default/clock/advance", {"by": by})

    def broken(self) -> None:
        self.send(
            self.random.choice(["GET", "GET", "PUT", "BREW"]),
            self.random.choice(["/v1/x", "/", *[self.project() + "/domains"] * 4]),
            headers={"Authorization": self.random.choice(["", "Bearer x", "Bearer a.b.c"])},
        )


def test_two_processes_answer_alike(tmp_path):
    transcripts = []
    for name in ("one", "two"):
        with emulator(
            "--data-dir", str(tmp_path / name), "--clock", "frozen", "--seed", "golden"
        ) as process:
            transcripts.append(Script(process.client()).run())

    for one, other in zip(*transcripts, strict=True):
        assert one == other
    statuses = {entry[2] for entry in transcripts[0]}
    assert statuses >= {200, 201, 202, 303, 400, 401, 403, 404, 405, 409}


def test_a_restart_in_between_changes_no_answer(tmp_path):
    transcripts = []
    for restarts in (False, True):
        data = ("--data-dir", str(tmp_path / str(restarts)), "--clock", "frozen", "--seed", "x")
        answers = []
        with emulator(*data) as process:
            answers += changes(process.client(), 0)
            if not restarts:
                answers += changes(process.client(), 1)
        if restarts:
            with emulator(*data) as process:
                answers += changes(process.client(), 1)
        transcripts.append(answers)

    assert transcripts[0] == transcripts[1]


def changes(client: Client, part: int) -> list[bytes]:
    token = client.token()
    shop = client.control("GET", "worlds/default")["projects"]
    path = f"/v1/projects/{next(p['id'] for p in shop if p['alias'] == 'shop')}"
    found = []
    for number in range(10):
        headers = {"Authorization": f"Bearer {token}", "Idempotency-Key": f"{part}-{number}"}
        found.append(client.send("PUT", f"{path}/domains", headers=headers).body)
        found.append(client.send("POST", f"{path}/dev-access-tickets", headers=headers).body)
        client.control("POST", "worlds/default/clock/advance", {"by": "7s"})
    return found


def test_another_seed_gives_other_ids(tmp_path):
    projects = []
    for seed in ("one", "two"):
        with emulator("--data-dir", str(tmp_path / seed), "--seed", seed) as process:
            projects.append(process.ready["project_id"])

    assert projects[0] != projects[1]
