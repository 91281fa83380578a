"""Running a story: each step against a live world, each answer against what it should be.

It asks the engine as the server does, so it needs no socket and no real time: a delay is not waited
for, but a clock that runs goes on as if it had been; a broken connection is seen as what the client
would see.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from hashlib import sha256
from typing import Any, NamedTuple
from urllib.parse import urlencode, urlsplit

import msgspec

from hosting_emulator.calls.create_dev_access_ticket import project_at
from hosting_emulator.calls.request import PlainHeaders, Reply
from hosting_emulator.contract.calls import CALLS, CallSpec
from hosting_emulator.contract.durations import format_duration, parse_duration_ms
from hosting_emulator.contract.timestamps import parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext, run_through, too_large
from hosting_emulator.engine.identity import home_of
from hosting_emulator.engine.live_world import Memory
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.pipeline import CALL_STEPS, REDEEM_STEPS, Step
from hosting_emulator.engine.worlds import variation_view
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.documents import OUTCOME, arm
from hosting_emulator.interventions import read_intervention
from hosting_emulator.scenario.build import USUAL, build_world, fill, pattern_of
from hosting_emulator.scenario.document import (
    ACTIONS,
    PLANNED,
    REQUESTS,
    ExpectPart,
    Scenario,
    StepPart,
    read_scenario,
)
from hosting_emulator.world.operations import finished
from hosting_emulator.world.tables import (
    ASSUMPTIONS,
    FAULTS,
    ONLY,
    OPERATIONS,
    PEOPLE,
    TIMELINE,
)
from hosting_emulator.world.value import Change, World

_DOCS = "http://127.0.0.1:4620/_emulator/docs"
_ISSUER = "http://127.0.0.1:4620"
_MOST_STEPS = 10_000


def check_text(text: str, file: str) -> dict[str, Any]:
    """Run the story of a scenario in a world of its own; returns the report.

    `file` is the name shown in errors. Raises ScenarioError when the scenario itself is wrong.
    """
    scenario = read_scenario(text, file)
    return run_apart(scenario, build_world(scenario, "default", machine_ms()))


def run_apart(scenario: Scenario, world: World) -> dict[str, Any]:
    """Run a story in a world of its own; returns the report.

    Time passes there by what the story would wait for and by its own steps, and by no machine's clock.
    """
    engine = Engine(world, Memory(), lambda: world.clock.machine_ms)
    return StoryRun(scenario, engine).run()


class StoryRun:
    """One run of a scenario's story in one world."""

    def __init__(self, scenario: Scenario, engine: Engine) -> None:
        self._scenario, self._engine = scenario, engine
        self._saved: dict[str, Any] = {}
        self._answers: dict[str, bytes] = {}
        self._keys = 0
        self._digest = sha256()
        self._last = Reply(0, b"", headers=())
        self._delayed = False
        #: How many real milliseconds would have been waited for the answers of this step.
        self._waited_ms = 0
        #: The fault that kept the last answer from arriving whole.
        self._lost: str | None = None
        #: What of the timeline has been found to be refused.
        self._refused: set[str] = set()

    def run(self) -> dict[str, Any]:
        """Run all steps, up to the first that fails. Returns the report."""
        steps: list[dict[str, Any]] = []
        for number, step in enumerate(self._scenario.part.story):
            steps.append(self._step(number, step))
            if not steps[-1]["passed"]:
                break
        return {
            "scenario": self._scenario.name,
            "file": self._scenario.source.file,
            "passed": all(step["passed"] for step in steps),
            "steps": steps,
            "digest": self._digest.hexdigest(),
            "variation": variation_view(self._engine),
        }

    def _step(self, number: int, step: StepPart) -> dict[str, Any]:
        action = next((name for name in ACTIONS if getattr(step, name) is not None), "note")
        said, differences, self._waited_ms = "", [], 0
        try:
            for _ in range(step.times):
                said = getattr(self, f"_{action}")(step) if action != "note" else ""
                differences = self._differences(step, action)
                if differences:
                    break
            differences += self._refusals()
            self._save(step)
        except ValueError as failed:
            said = str(failed)
            differences = [Mismatch(action, "to be possible", said)]
        return {
            "n": number + 1,
            "line": (self._scenario.place / "story" / number).line,
            "title": step.note or _title(action, step),
            "passed": not differences,
            "said": said,
            "waited_ms": self._waited_ms,
            "differences": [difference._asdict() for difference in differences],
        }

    def _refusals(self) -> list[Mismatch]:
        """Return what the timeline planned, and what was refused in its time since the last step."""
        refused = {key: row for key, row in self._engine.world.rows(TIMELINE) if row.refused}
        new = [row for key, row in refused.items() if key not in self._refused]
        self._refused = set(refused)
        return [Mismatch(f"timeline[{row.order}]", "to be possible", row.said) for row in new]

    # --- requests -------------------------------------------------------------------------------

    def _call(self, step: StepPart) -> str:
        spec = CALLS[str(step.call)]
        subject = self._id(spec.subject, getattr(step, spec.subject) or USUAL[spec.subject])
        return self._request(step, spec, spec.path.replace(f"{{{spec.subject}_id}}", subject))

    def _poll(self, step: StepPart) -> str:
        template = self._engine.world.assumptions.operation_path
        operation = str(self._filled(step.poll))
        return self._request(step, None, template.replace("{operation_id}", operation))

    def _request(self, step: StepPart, spec: CallSpec | None, path: str) -> str:
        sent = {name.lower(): str(self._filled(value)) for name, value in step.headers.items()}
        minted = (
            self._minted(step.who or USUAL["person"], step) if step.token is None else step.token
        )
        sent.setdefault("authorization", f"Bearer {self._filled(minted)}")
        body = b""
        if spec is not None and spec.idempotent:
            self._keys += 1
            key = str(self._filled(step.key)) if step.key is not None else f"step-{self._keys}"
            sent.setdefault("idempotency-key", key)
        if step.body is not msgspec.UNSET:
            body = msgspec.json.encode(self._filled(step.body))
            sent.setdefault("content-type", "application/json")
        assumed = self._engine.world.assumptions
        limit, too_long = assumed.body_limit_bytes, assumed.code_of("body_too_long")
        ctx = ExchangeContext(
            method=spec.method if spec else "GET",
            path=path,
            query=urlencode({k: str(self._filled(v)) for k, v in step.query.items()}),
            headers=PlainHeaders(sent.items()),
            body=body,
            refused=too_large(limit, too_long) if len(body) > limit else None,
            docs_url=lambda: _DOCS,
        )
        return self._answered(ctx, CALL_STEPS)

    def _answered(self, ctx: ExchangeContext, steps: Sequence[Step]) -> str:
        before_ms = self._waited_ms
        self._last = reply = run_through(self._engine.exchange(ctx, steps), self._wait)
        if (effect := ctx.effect) is not None:
            self._wait(effect.late_ms(len(reply.body)))
        late_ms = self._waited_ms - before_ms
        self._delayed = late_ms > 0 or (effect is not None and effect.arrives)
        self._lost = None if effect is None or effect.arrives else effect.name
        self._digest.update(b"%d %b\n" % (reply.status, reply.body))
        said = f"the answer was lost ({self._lost})" if self._lost else f"answered {reply.status}"
        return f"{said}, {format_duration(late_ms)} late" if late_ms else said

    def _wait(self, ms: int) -> None:
        self._waited_ms += ms
        self._engine.pass_over(ms)

    def _sign_in(self, step: StepPart) -> str:
        token = self._minted(str(step.sign_in), step)
        lifetime_s = self._engine.token_lifetime_s
        document = {"access_token": token, "token_type": "Bearer", "expires_in": lifetime_s}
        self._last = Reply(200, msgspec.json.encode(document), headers=())
        self._delayed, self._lost = False, None
        return f"{step.sign_in} has an access token for {lifetime_s} seconds"

    def _minted(self, who: str, step: StepPart) -> str:
        world = self._engine.world
        person = world.get(PEOPLE, self._id("person", who))
        if person is None:
            raise ValueError(f"there is no person {who!r}")
        organization_id = home_of(world, person)
        # Of a call about an organization, `organization` is what it is about.
        about = CALLS[step.call].subject if step.call else ""
        if step.organization is not None and about != "organization":
            organization_id = self._id("organization", step.organization)
        self._engine.run_due()
        return self._engine.mint(person, organization_id, _ISSUER, interactive=step.interactive)

    def _redeem(self, step: StepPart) -> str:
        url = urlsplit(str(self._filled(step.redeem)))
        project = project_at(Change(self._engine.world, 0), url.hostname or "")
        if project is None:
            raise ValueError(f"no project's dev host is {url.hostname}")
        ctx = ExchangeContext(
            method="GET",
            path=url.path,
            query=url.query,
            headers=PlainHeaders(),
            dev_port=url.port,
            docs_url=lambda: _DOCS,
            record=project,
        )
        return self._answered(ctx, REDEEM_STEPS)

    # --- turns of a hand ------------------------------------------------------------------------

    def _advance(self, step: StepPart) -> str:
        engine = self._engine
        engine.move_to(engine.run_due() + parse_duration_ms(str(step.advance)))
        return f"time moved by {step.advance}"

    def _to(self, step: StepPart) -> str:
        self._engine.move_to(parse_timestamp(str(self._filled(step.to))))
        return f"time moved to {step.to}"

    def _until(self, step: StepPart) -> str:
        engine, operation_id = self._engine, str(self._filled(step.until))
        for _ in range(_MOST_STEPS):
            operation = engine.world.get(OPERATIONS, operation_id)
            if operation is None:
                raise ValueError(f"there is no operation {operation_id}")
            if finished(operation):
                return f"the operation is {operation.state}"
            due_ms = engine.due_of(operation_id)
            if due_ms is None:
                raise ValueError(f"operation {operation_id} does not move with time")
            engine.move_up_to(due_ms)
        raise ValueError("the operation did not end")

    def _change(self, title: str, act: Callable[[Change], Any]) -> str:
        now_ms = self._engine.run_due()
        change = Change(self._engine.world, now_ms)
        said = act(change)
        self._engine.commit(change, title)
        return str(said)

    def _intervene(self, step: StepPart) -> str:
        document = self._filled(step.intervene)
        return self._change("intervention", lambda c: read_intervention(document).apply(c))

    def _fault(self, step: StepPart) -> str:
        document = self._filled(step.fault)
        return self._change("fault armed", lambda c: f"{arm(c, document).id} is armed")

    def _outcome(self, step: StepPart) -> str:
        document = self._filled(step.outcome)
        return self._change("outcome armed", lambda c: f"{arm(c, document, OUTCOME).id} is armed")

    def _clear_faults(self, step: StepPart) -> str:
        def clear(change: Change) -> str:
            armed = faults_in_order(change.world)
            for fault in armed:
                change.delete(FAULTS, fault.id)
            return f"{len(armed)} faults removed"

        return self._change("faults removed", clear)

    def _assume(self, step: StepPart) -> str:
        changed = self._engine.world.assumptions.changed(self._filled(step.assume))
        self._change("assumptions", lambda c: c.put(ASSUMPTIONS, ONLY, changed))
        return "assumptions changed"

    # --- what was answered ----------------------------------------------------------------------

    def _differences(self, step: StepPart, action: str) -> list[Mismatch]:
        if action not in REQUESTS:
            return []
        reply, expect = self._last, step.expect or ExpectPart()

        def expected(name: str, found: Any) -> list[Mismatch]:
            value = getattr(expect, name)
            return [] if value is None else compare(value, found, name)

        differences = compare(expect.lost, self._lost, "lost") + expected("delayed", self._delayed)
        if differences or (self._lost and not reply.status):
            return differences
        if step.expect is None and reply.status >= 400:
            differences.append(Mismatch("status", "success", reply.status))
        differences += expected("status", reply.status)
        differences += expected("html", reply.content_type.startswith("text/html"))
        headers = {"content-type": reply.content_type}
        headers |= {name.lower(): value for name, value in reply.headers}
        for name, value in expect.headers.items():
            found = headers.get(name.lower())
            differences += compare(self._filled(value), found, f"headers.{name}")
        if expect.same_as is not None and reply.body != self._answers.get(expect.same_as):
            bytes_of = f"the bytes of {expect.same_as}"
            differences.append(Mismatch("body", bytes_of, reply.body.decode()))
        document = self._document()
        fields = document if isinstance(document, dict) else {}
        items = fields.get("items")
        differences += expected("code", fields.get("code"))
        if expect.body is not msgspec.UNSET:
            differences += compare(self._filled(expect.body), document, "body")
        differences += expected("items", len(items) if isinstance(items, list) else None)
        there = [name for name in expect.absent if name in fields]
        return differences + [Mismatch(f"body.{name}", ABSENT, fields[name]) for name in there]

    def _document(self) -> Any:
        try:
            return msgspec.json.decode(self._last.body)
        except msgspec.DecodeError:
            return None

    def _save(self, step: StepPart) -> None:
        for name, place in step.save.items():
            if place == "answer":
                self._answers[name] = self._last.body
                continue
            found = self._document()
            for part in place.split("."):
                if isinstance(found, dict) and part in found:
                    found = found[part]
                elif isinstance(found, list) and part.isdigit() and int(part) < len(found):
                    found = found[int(part)]
                else:
                    raise ValueError(f"the answer has no {place} to save as {name}")
            self._saved[name] = found

    # --- names and variables --------------------------------------------------------------------

    def _id(self, index: str, name: str) -> str:
        name = str(self._filled(name))
        return str(self._engine.world.indexes.get(f"{index}:{name}") or name)

    def _filled(self, found: Any) -> Any:
        return fill(found, self._variable)

    def _variable(self, name: str) -> Any:
        if name in self._saved:
            return self._saved[name]
        index, _, alias = name.partition(".")
        found = self._engine.world.indexes.get(f"{index}:{alias}")
        if found is None or index not in USUAL:
            known = ", ".join(sorted(self._saved)) or "nothing"
            raise ValueError(f"there is no ${{{name}}}: saved so far is {known}")
        return found


def _title(action: str, step: StepPart) -> str:
    value = getattr(step, action, "")
    if action in PLANNED and isinstance(value, dict):
        return f"{action} {next(iter(value), '')}"
    who = f" as {step.who}" if step.who else ""
    return f"{action} {value}{who}" if action != "call" else f"{value}{who}"


# --- comparing -----------------------------------------------------------------------------------

ABSENT = "(absent)"


class Mismatch(NamedTuple):
    """Where an answer differs: a path in it, what was expected and what was found."""

    at: str
    expected: Any
    found: Any


def compare(expected: Any, found: Any, at: str) -> list[Mismatch]:
    """Compare the fields that `expected` names; `*` is any value but null, `/…/` a pattern.

    A mapping whose keys are numbers names places of a list, from 0.
    """
    if isinstance(expected, dict):
        if isinstance(found, list) and all(name.isdecimal() for name in expected):
            found = {name: found[int(name)] for name in expected if int(name) < len(found)}
        if not isinstance(found, dict):
            return [Mismatch(at, expected, found)]
        differences = []
        for name, value in expected.items():
            inner = f"{at}.{name}" if at else str(name)
            if name in found:
                differences += compare(value, found[name], inner)
            else:
                differences.append(Mismatch(inner, value, ABSENT))
        return differences
    if isinstance(expected, list):
        if not isinstance(found, list) or len(found) != len(expected):
            return [Mismatch(at, expected, found)]
        return [
            difference
            for number, (one, other) in enumerate(zip(expected, found, strict=True))
            for difference in compare(one, other, f"{at}[{number}]")
        ]
    return [] if _same(expected, found) else [Mismatch(at, expected, found)]


def _same(expected: Any, found: Any) -> bool:
    if expected == "*":
        return found is not None
    pattern = pattern_of(expected)
    if pattern is not None:
        return isinstance(found, str) and re.search(pattern, found) is not None
    if _number(expected) and _number(found):  # JSON has one kind of number
        return bool(expected == found)
    return type(expected) is type(found) and bool(expected == found)


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
