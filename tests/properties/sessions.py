"""A session of a user who calls, intervenes, arms faults and moves time, as a seed draws."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any
from urllib.parse import urlsplit

from tests.support.fault_kinds import fault_examples, outcome_examples
from tests.support.in_process import Machine, fresh_world
from tests.support.product_tables import intervention_fields
from tests.support.world_changes import ControlledWorld, refusals_allowed

USERS = ["owner", "member", "reader", "outsider", "no-organization"]
PROJECTS = ["shop", "shop", "shop", "labs", "notes", "garden"]
STATES = ["init", "ready", "suspended", "resizing", "failed"]
FINAL_STATES = {"succeeded", "failed", "cancelled"}
#: Values for fields of interventions. Other fields are left out.
FIELDS: dict[str, list[Any]] = {
    "project": PROJECTS,
    "organization": ["acme", "hobby"],
    "user": USERS,
    "users": [[{"alias": "zoe", "organizations": {"acme": "member"}}], [{"alias": "yan"}]],
    "keys": [[{"user": "owner", "value": "phk_" + letter * 43}] for letter in "ab"],
    "ago": ["1m", "5h"],
    "to": [*USERS, "pending", "authorized", "expired", "revoked"],
    "role": ["owner", "member", "maintainer", "reader", "none"],
    "plan": ["free", "paid"],
    "credits": [0, 3],
    "permissions": [["dns.read"]],
    "environment": ["dev", "prod", "both"],
    "state": [*STATES, "absent"],
    "pending_state": STATES,
    "data_mode": ["shared", "separate"],
    "zone": ["customer.example"],
    "domain": ["own.example"],
    "expires_in": ["0s", "5s", "1d"],
    "times": [1, 2],
}
#: The tables of the records that a field of an intervention names.
TABLES = {"operation": "operations", "ticket": "dev_access_tickets", "key": "user_api_keys"}
ASSUMPTIONS: list[dict[str, Any]] = [
    {"accepted_status": 200},
    {"deployment_order": "oldest_first"},
    {"rate_limit": "5 per 10s"},
    {"operation_replay": "current"},
    {"request_id": "client"},
]
DURATIONS = ["0s", "1s", "1500ms", "2s", "10s", "11m", "2h", "91d"]
#: Conditions of faults.
CONDITIONS: list[dict[str, Any]] = [
    {"skip_first": 1},
    {"every": 2},
    {"probability": 0.5},
    {"after_commit": True},
]


class SessionWorld(ControlledWorld):
    """A world whose users take a new token for most requests, and sometimes an old one."""

    draw: Random

    def token(self, user: str = "owner", *, interactive: bool = True) -> str:
        old_token = self._tokens.get((user, interactive))
        if old_token is not None and self.draw.random() < 0.2:
            return old_token
        token = self.user_token(user, interactive=interactive)
        self._tokens[user, interactive] = token
        return token


class RandomSession:
    """One world and the random session in it."""

    def __init__(self, seed: str, mode: str = "frozen") -> None:
        self.draw = Random(seed)
        self.machine = Machine()
        rate = 10.0 if mode == "scaled" else None
        world = fresh_world(seed=seed, mode=mode, rate=rate, machine=self.machine)
        self.api = SessionWorld(world, machine=self.machine)
        self.api.draw = self.draw
        self.keys: list[str] = []
        self.operations: list[str] = []
        self.tickets: list[str] = []
        self.cursors: list[str] = []

    def walk(self, step_count: int) -> None:
        """Take random steps. A step may be refused."""
        steps: list[Callable[[], None]] = [
            *[self.send_call] * 10,
            *[self.intervene] * 3,
            *[self.arm] * 2,
            *[self.move_clock] * 3,
            self.disarm,
            self.change_assumption,
            *[self.poll] * 2,
            self.redeem,
            self.send_malformed_request,
            self.create_key_by_hand,
        ]
        if self.draw.random() < 0.3:
            steps.append(self.rewind)
        for _ in range(step_count):
            self.machine.at_ms += self.draw.choice([0, 3, 900, 2100])
            with refusals_allowed():
                self.draw.choice(steps)()

    # --- Requests -------------------------------------------------------------------------------

    def send_call(self) -> None:
        api = self.api
        draw = self.draw
        project = draw.choice(PROJECTS)
        read_options: dict[str, Any] = {"user": draw.choice([*["owner"] * 5, *USERS])}
        if self.keys and draw.random() < 0.2:
            read_options["token"] = draw.choice(self.keys[-3:])
        options = dict(read_options)
        if draw.random() < 0.2:
            options["key"] = draw.choice(["again", "once more"])
        cursor = f"&cursor={draw.choice(self.cursors)}" if self.cursors else ""
        calls = (
            lambda: api.set_flag(draw.random() < 0.5, project=project, **options),
            lambda: api.initialize(draw.choice([0, 1, 2]), project=project, **options),
            lambda: api.apply_domains(project=project, **options),
            lambda: api.create_key(draw.choice(["ci", ""]), **options),
            lambda: api.ticket(project=project, **read_options),
            lambda: api.dns(project=project, **read_options),
            lambda: api.deployments(f"?limit=5{cursor}", project=project, **read_options),
            lambda: api.compute(project=project, **read_options),
        )
        response = draw.choice(calls)()
        if response.status < 300 and response.body[:1] == b"{":
            self._note_values(response.json)

    def _note_values(self, document: dict[str, Any]) -> None:
        """Keep what later requests can use."""
        if "state" in document:
            self.operations.append(document["id"])
        if document.get("value"):  # the value is null in a replay
            self.keys.append(document["value"])
        if "redeem_url" in document:
            self.tickets.append(document["redeem_url"])
        if document.get("next_cursor"):
            self.cursors.append(document["next_cursor"])

    def poll(self) -> None:
        if self.operations:
            self.api.poll(self.draw.choice(self.operations))

    def redeem(self) -> None:
        if self.tickets:
            url = urlsplit(self.draw.choice(self.tickets))
            self.api.send("GET", f"{url.path}?{url.query}", host=url.hostname or "")

    def send_malformed_request(self) -> None:
        api = self.api
        authorization = ("Authorization", f"Bearer {api.token()}")
        path = f"/v1/projects/{api.project_id()}/domains"
        self.draw.choice(
            (
                lambda: api.send("GET", "/v1/nowhere", [authorization]),
                lambda: api.send("POST", path, [authorization]),
                lambda: api.send("POST", path),
                lambda: api.send("POST", path, [("Authorization", "Bearer x.y.z")]),
                lambda: api.send("DELETE", path, [authorization, ("X-Request-Id", "mine")]),
                lambda: api.send("PUT", path, [authorization, ("Idempotency-Key", "k")], b"{x"),
            )
        )()

    # --- Manual changes -------------------------------------------------------------------------

    def intervene(self) -> None:
        draw = self.draw
        interventions = intervention_fields()
        word = draw.choice([*interventions])
        fields: dict[str, Any] = {}
        for name in interventions[word]:
            if name in TABLES:
                latest_ids = sorted(self.api.records(TABLES[name]))[-2:]
                fields[name] = draw.choice(latest_ids or ["none"])
            elif name in FIELDS and (draw.random() < 0.8 or name in ("project", "organization")):
                fields[name] = draw.choice(FIELDS[name])
        self.api.intervene(word, **fields)

    def arm(self) -> None:
        draw = self.draw
        if draw.random() < 0.3:
            outcomes = outcome_examples()
            outcome_kind = draw.choice([*outcomes])
            self.api.add_outcome(**{outcome_kind: outcomes[outcome_kind]})
            return
        faults = fault_examples()
        del faults["admission_queue"]  # it is refused while the clock does not run
        kind = draw.choice([*faults])
        fault: dict[str, Any] = {kind: faults[kind], "times": draw.choice([1, 1, 2])}
        if draw.random() < 0.5:
            fault["project"] = draw.choice(PROJECTS)
        if draw.random() < 0.5:
            fault |= draw.choice(CONDITIONS)
        if draw.random() < 0.3:
            fault["until"] = "30s"
        self.api.add_fault(**fault)

    def disarm(self) -> None:
        fault_ids = sorted(self.api.records("faults"))
        outcome_ids = sorted(self.api.records("outcomes"))
        if self.draw.random() < 0.3:
            self.api.clear_faults()
        elif fault_ids:
            self.api.remove_fault(self.draw.choice(fault_ids))
        elif outcome_ids:
            self.api.remove_outcome(self.draw.choice(outcome_ids))

    def move_clock(self) -> None:
        draw = self.draw
        operations = self.api.records("operations").values()
        unfinished_ids = [
            operation.id
            for operation in sorted(operations, key=lambda row: (row.created_ms, row.id))
            if operation.state not in FINAL_STATES
        ]
        if unfinished_ids and draw.random() < 0.3:
            self.api.advance_until_ended(draw.choice(unfinished_ids))
        elif draw.random() < 0.15:
            mode = draw.choice(["real", "frozen", "skip", "scaled"])
            self.api.set_clock(mode, 10.0 if mode == "scaled" else None)
        else:
            self.api.advance(draw.choice(DURATIONS))

    def change_assumption(self) -> None:
        self.api.set_assumptions(**self.draw.choice(ASSUMPTIONS))

    def create_key_by_hand(self) -> None:
        self.keys.append(self.api.create_key_by_hand())

    def rewind(self) -> None:
        """Rewind to one of the latest commits, but not into the middle of a request."""
        self.api.rewind_to_commit(self.draw.choice(self.api.rewindable_commits(8)))
