"""Running a story: each step against a live world, each answer against what it should be.

It asks the engine as the server does, so it needs no socket and no real time: a delay is not waited
for, but a clock that runs goes on as if it had been; a broken connection is seen as what the client
would see.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from hashlib import sha256
from heapq import heapify, heappop, heappush
from itertools import count
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlencode, urlsplit

import msgspec

from hosting_emulator.calls.create_dev_access_ticket import project_at
from hosting_emulator.calls.request import PlainHeaders, Reply
from hosting_emulator.contract.calls import CALLS, CallSpec
from hosting_emulator.contract.durations import format_duration, parse_duration_ms
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import (
    Delay,
    Entry,
    Exchange,
    ExchangeContext,
    run_through,
    too_large,
)
from hosting_emulator.engine.identity import home_of
from hosting_emulator.engine.live_world import Memory
from hosting_emulator.engine.machine import machine_ms
from hosting_emulator.engine.pipeline import CALL_STEPS, REDEEM_STEPS, Step
from hosting_emulator.engine.request_log import CAPACITY, entry_view, sent_header
from hosting_emulator.engine.worlds import variation_view
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.documents import FAULT, OUTCOME, Family, arm
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.interventions import read_intervention
from hosting_emulator.scenario.build import (
    NOBODY,
    NOW,
    USUAL,
    build_world,
    fill,
    is_page,
    moved,
    read_saved,
)
from hosting_emulator.scenario.compare import ABSENT, Mismatch, compare
from hosting_emulator.scenario.document import (
    ACTIONS,
    PLANNED,
    REQUESTS,
    ExpectPart,
    Scenario,
    StepPart,
    read_scenario,
)
from hosting_emulator.scenario.source import Path, Place
from hosting_emulator.world.operations import finished
from hosting_emulator.world.records import Person
from hosting_emulator.world.tables import (
    ASSUMPTIONS,
    ONLY,
    OPERATIONS,
    ORGANIZATIONS,
    PEOPLE,
    PROJECTS,
    TIMELINE,
)
from hosting_emulator.world.value import Change, World

_OWN_URL = "http://127.0.0.1:4620"
_DOCS = f"{_OWN_URL}/_emulator/docs"
_MOST_STEPS = 10_000
#: What is expected of a step that could not be done at all.
_POSSIBLE = "to be possible"


class PageRequest(NamedTuple):
    """A request to a page beside the API: an absolute URL of a dev origin, or a path.

    `own_url` is what the emulator calls itself.
    """

    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    own_url: str = _OWN_URL


#: Answers a request to a page, with what breaks the answer on its wire; delays go to the last argument.
Visit: TypeAlias = Callable[
    [Engine, PageRequest, Callable[[int], None]], tuple[Reply, FaultKind | None]
]


def check_text(text: str, file: str, visit: Visit | None = None) -> dict[str, Any]:
    """Run the story of a scenario in a world of its own; returns the report.

    `file` is the name shown in errors. Raises ScenarioError when the scenario itself is wrong.
    """
    scenario = read_scenario(text, file)
    return run_apart(scenario, build_world(scenario, "default", machine_ms()), visit)


def run_apart(
    scenario: Scenario, world: World, visit: Visit | None = None, judged: Path | None = None
) -> dict[str, Any]:
    """Run a story in a world of its own; returns the report. For `judged` see `StoryRun.run`.

    Time passes there by what the story would wait for and by its own steps, and by no machine's clock.
    """
    engine = Engine(world, Memory(), lambda: world.clock.machine_ms)
    return StoryRun(scenario, engine, visit).run(judged)


class StoryRun:
    """One run of a scenario's story in one world. Without a `visit` there are no pages in it."""

    def __init__(self, scenario: Scenario, engine: Engine, visit: Visit | None = None) -> None:
        self._scenario, self._engine, self._visit = scenario, engine, visit
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
        #: What the step does, as it is written, with the values of its variables.
        self._turn: dict[str, Any] = {}
        #: What a step that is no single request has found to differ.
        self._mismatches: list[Mismatch] = []

    def run(self, judged: Path | None = None) -> dict[str, Any]:
        """Run all steps, up to the first that fails. Returns the report.

        With `judged`, the place of a step, each other passes that can be done at all.
        """
        steps: list[dict[str, Any]] = []
        story = self._steps(self._scenario.place / "story", self._scenario.part.story)
        for place, step in story:
            steps.append(self._step(len(steps) + 1, place, step))
            if judged not in (None, place.path):
                found = steps[-1]["differences"]
                steps[-1]["passed"] = all(one["expected"] != _POSSIBLE for one in found)
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

    def _steps(self, place: Place, steps: Sequence[StepPart]) -> Iterator[tuple[Place, StepPart]]:
        """Walk the steps with their places, those of a part where it is used."""
        for number, step in enumerate(steps):
            if step.use is None:
                yield place / number, step
                continue
            parts = enumerate(self._scenario.part.parts)
            index, part = next(found for found in parts if found[1].name == step.use)
            for _ in range(step.times):
                before, own = self._saved, self._filled(step.with_)
                self._saved = before | own
                yield from self._steps(self._scenario.place / "parts" / index / "steps", part.steps)
                kept = {name: value for name, value in self._saved.items() if name not in own}
                self._saved = kept | {name: before[name] for name in own if name in before}

    def _step(self, number: int, place: Place, step: StepPart) -> dict[str, Any]:
        action = next((name for name in ACTIONS if getattr(step, name) is not None), "note")
        said, self._waited_ms = "", 0
        differences: list[Mismatch] = []
        try:
            for _ in range(step.times):
                self._turn = {action: self._filled(getattr(step, action))}
                said, differences = self._tried(step, action)
                if differences:
                    break
            differences += self._refusals()
            self._save(step)
        except ValueError as failed:
            said = str(failed)
            differences = [Mismatch(action, _POSSIBLE, said)]
        return {
            "n": number,
            "line": place.line,
            "title": step.note or _title(action, step),
            "passed": not differences,
            "said": said,
            "waited_ms": self._waited_ms,
            "differences": [difference._asdict() for difference in differences],
        }

    def _tried(self, step: StepPart, action: str) -> tuple[str, list[Mismatch]]:
        """Do what a step says; a request again, until it is answered as it must be."""
        said, keys = "", self._keys
        for number in range(step.tries):
            if number:
                self._pause(step)
            self._mismatches, self._keys = [], keys  # a retry has the key of the first
            if action != "note":
                said = getattr(self, f"_{action}")(step)
            differences = self._differences(step) if action in REQUESTS else self._mismatches
            if not differences:
                break
        return said, differences

    def _pause(self, step: StepPart) -> None:
        """Let time pass between two tries: what the step says, or what the answer asks for."""
        asked = self._header("Retry-After") or self._at("progress.next_poll_after_seconds")
        wait_ms = int(asked) * 1000 if str(asked).isdecimal() else 1000
        if step.pause is not None:
            wait_ms = parse_duration_ms(step.pause)
        self._engine.move_to(self._engine.run_due() + wait_ms)

    def _refusals(self) -> list[Mismatch]:
        """Return what the timeline planned, and what was refused in its time since the last step."""
        refused = {key: row for key, row in self._engine.world.rows(TIMELINE) if row.refused}
        new = [row for key, row in refused.items() if key not in self._refused]
        self._refused = set(refused)
        return [Mismatch(f"timeline[{row.order}]", _POSSIBLE, row.said) for row in new]

    # --- requests -------------------------------------------------------------------------------

    def _call(self, step: StepPart) -> str:
        ctx, steps = self._sent(step)
        before_ms = self._waited_ms
        reply = run_through(self._engine.exchange(ctx, steps), self._wait)
        return self._arrived(reply, ctx.effect, before_ms)

    _poll = _redeem = _call

    def _request(self, step: StepPart) -> str:
        method, _, url = str(self._filled(step.request)).partition(" ")
        if not is_page(url):
            return self._call(step)
        if self._visit is None:
            raise ValueError(f"{url[:80]} is a page, which cannot be visited here")
        # A browser has no token: pages see by themselves who it is.
        headers, body = self._headers(step, usually=NOBODY), self._body(step)
        if query := self._query(step):
            url += ("&" if "?" in url else "?") + query
        before_ms = self._waited_ms
        asked = PageRequest(method, url, headers, body)
        return self._arrived(*self._visit(self._engine, asked, self._wait), before_ms)

    def _arrived(self, reply: Reply, effect: FaultKind | None, before_ms: int) -> str:
        self._wait(_drip_ms(effect, reply))
        return self._answered(reply, effect, self._waited_ms - before_ms)

    def _together(self, step: StepPart) -> str:
        """Let all requests come, in their order, before any answer leaves; then each as its delays end."""
        engine, order = self._engine, count()
        sent = [one for one in step.together or () for _ in range(one.times)]
        contexts = [self._sent(one) for one in sent]
        waiting: list[tuple[int, int, int, Exchange]] = []
        for place, (ctx, steps) in enumerate(contexts):
            ctx.held = True
            waiting.append((0, next(order), place, engine.exchange(ctx, steps)))
        heapify(waiting)
        replies: dict[int, tuple[Reply, FaultKind | None, int]] = {}
        before_ms = self._waited_ms
        while waiting:
            at_ms, _, place, exchange = heappop(waiting)
            self._wait(max(0, before_ms + at_ms - self._waited_ms))
            try:
                waits = next(exchange)
            except StopIteration as done:
                effect = contexts[place][0].effect
                replies[place] = done.value, effect, at_ms + _drip_ms(effect, done.value)
                continue
            at_ms += waits.ms if isinstance(waits, Delay) else 0
            heappush(waiting, (at_ms, next(order), place, exchange))
        self._wait(max(0, before_ms + max(late for *_, late in replies.values()) - self._waited_ms))
        said = []
        for place, one in enumerate(sent):
            said.append(self._answered(*replies[place]))
            differences = self._differences(one)
            self._mismatches += [
                found._replace(at=f"together[{place}].{found.at}") for found in differences
            ]
            if not differences:
                self._save(one)
        return ", ".join(said)

    def _sent(self, step: StepPart) -> tuple[ExchangeContext, Sequence[Step]]:
        """Return the request of a step, and the way that it takes."""
        if step.redeem is not None:
            return self._redemption(step), REDEEM_STEPS
        spec = CALLS[step.call] if step.call is not None else None
        if spec is not None:
            subject = self._id(spec.subject, getattr(step, spec.subject) or USUAL[spec.subject])
            method, url = spec.method, spec.path.replace(f"{{{spec.subject}_id}}", subject)
        elif step.poll is not None:
            template = self._engine.world.assumptions.operation_path
            method, url = "GET", template.replace("{operation_id}", str(self._filled(step.poll)))
        else:
            method, _, url = str(self._filled(step.request)).partition(" ")
        path, _, query = url.partition("?")
        sent, body = self._headers(step, spec), self._body(step)
        assumed = self._engine.world.assumptions
        limit, too_long = assumed.body_limit_bytes, assumed.code_of("body_too_long")
        ctx = ExchangeContext(
            method=method,
            path=path,
            query="&".join(filter(None, (query, self._query(step)))),
            headers=PlainHeaders(sent.items()),
            raw_headers=[(name.encode(), value.encode()) for name, value in sent.items()],
            body=body,
            refused=too_large(limit, too_long) if len(body) > limit else None,
            docs_url=lambda: _DOCS,
        )
        return ctx, CALL_STEPS

    def _query(self, step: StepPart) -> str:
        return urlencode({name: str(value) for name, value in self._filled(step.query).items()})

    def _headers(
        self, step: StepPart, spec: CallSpec | None = None, usually: str = USUAL["person"]
    ) -> dict[str, str]:
        sent = {name.lower(): str(self._filled(value)) for name, value in step.headers.items()}
        who = step.who or usually
        if step.token is not None:
            sent.setdefault("authorization", f"Bearer {self._filled(step.token)}")
        elif who != NOBODY:
            sent.setdefault("authorization", f"Bearer {self._minted(who, step)}")
        if spec is not None and spec.idempotent:
            self._keys += 1
            sent.setdefault("idempotency-key", str(self._filled(step.key or f"step-{self._keys}")))
        elif step.key is not None:
            sent.setdefault("idempotency-key", str(self._filled(step.key)))
        if step.form is not None:
            sent.setdefault("content-type", "application/x-www-form-urlencoded")
        elif step.body is not msgspec.UNSET or step.text is not None:
            sent.setdefault("content-type", "application/json")
        return sent

    def _body(self, step: StepPart) -> bytes:
        if step.body is not msgspec.UNSET:
            return msgspec.json.encode(self._filled(step.body))
        form = self._filled(step.form or {})
        return (urlencode(form) if form else str(self._filled(step.text or ""))).encode()

    def _answered(self, reply: Reply, effect: FaultKind | None, late_ms: int) -> str:
        self._last = reply
        self._delayed = late_ms > 0 or (effect is not None and effect.arrives)
        self._lost = None if effect is None or effect.arrives else effect.name
        self._digest.update(b"%d %b\n" % (reply.status, reply.body))
        said = f"the response was lost ({self._lost})" if self._lost else f"answered {reply.status}"
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

    def _api_key(self, step: StepPart) -> str:
        person, organization_id = self._who(str(step.api_key), step)
        organization = self._engine.world.get(ORGANIZATIONS, organization_id or "")
        if organization is None:
            raise ValueError(f"{person.alias} has no organization here")
        body = self._filled(step.body) or {}
        name, permissions = str(body.get("name", "made by hand")), body.get("permissions")
        made = self._engine.make_key(person, organization, name, permissions)
        self._last = Reply(201, msgspec.json.encode(made), headers=())
        self._delayed, self._lost = False, None
        return f"{person.alias} has an API key of {organization.alias}"

    def _minted(self, who: str, step: StepPart) -> str:
        person, organization_id = self._who(who, step)
        self._engine.run_due()
        return self._engine.mint(person, organization_id, _OWN_URL, interactive=step.interactive)

    def _who(self, who: str, step: StepPart) -> tuple[Person, str | None]:
        """Return a person, and the organization that a step says, or else theirs."""
        world = self._engine.world
        person = world.get(PEOPLE, self._id("person", who))
        if person is None:
            raise ValueError(f"there is no user {who!r}")
        organization_id = home_of(world, person)
        # Of a call about an organization, `organization` is what it is about.
        about = CALLS[step.call].subject if step.call else ""
        if step.organization is not None and about != "organization":
            organization_id = self._id("organization", step.organization)
        return person, organization_id

    def _redemption(self, step: StepPart) -> ExchangeContext:
        url = urlsplit(str(self._filled(step.redeem)))
        project = project_at(Change(self._engine.world, 0), url.hostname or "")
        if project is None:
            raise ValueError(f"no project's dev host is {url.hostname}")
        return ExchangeContext(
            method="GET",
            path=url.path,
            query=url.query,
            headers=PlainHeaders(),
            dev_port=url.port,
            docs_url=lambda: _DOCS,
            record=project,
        )

    # --- turns of a hand ------------------------------------------------------------------------

    def _advance(self, step: StepPart) -> str:
        engine, by = self._engine, str(self._filled(step.advance))
        engine.move_to(engine.run_due() + parse_duration_ms(by))
        return f"time moved by {by}"

    def _to(self, step: StepPart) -> str:
        to = str(self._filled(step.to))
        self._engine.move_to(parse_timestamp(to))
        return f"time moved to {to}"

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
        change = self._engine.begin_change()
        said = act(change)
        self._engine.commit(change, title, self._turn)
        return str(said)

    def _intervene(self, step: StepPart) -> str:
        document = self._filled(step.intervene)
        return self._change("intervention", lambda c: read_intervention(document).apply(c))

    def _fault(self, step: StepPart) -> str:
        return self._arm(FAULT, self._filled(step.fault))

    def _outcome(self, step: StepPart) -> str:
        return self._arm(OUTCOME, self._filled(step.outcome))

    def _arm(self, family: Family, document: dict[str, Any]) -> str:
        def armed(change: Change) -> str:
            id_ = arm(change, document, family).id
            self._last = Reply(0, msgspec.json.encode({"id": id_}), headers=())
            return f"{id_} armed"

        return self._change(f"{family.noun} armed", armed)

    def _remove_fault(self, step: StepPart) -> str:
        return self._remove(FAULT, str(self._filled(step.remove_fault)))

    def _remove_outcome(self, step: StepPart) -> str:
        return self._remove(OUTCOME, str(self._filled(step.remove_outcome)))

    def _clear_faults(self, step: StepPart) -> str:
        return self._remove(FAULT)

    def _clear_outcomes(self, step: StepPart) -> str:
        return self._remove(OUTCOME)

    def _remove(self, family: Family, id_: str | None = None) -> str:
        """Remove what has an id, or all."""

        def remove(change: Change) -> str:
            armed = [each.id for each in faults_in_order(change.world, family.table)]
            if id_ is not None and id_ not in armed:
                raise ValueError(
                    f"no {family.noun} is {id_}: armed are {', '.join(armed) or 'none'}"
                )
            for each in armed if id_ is None else [id_]:
                change.delete(family.table, each)
            return f"{len(armed)} {family.noun}s removed" if id_ is None else f"{id_} removed"

        return self._change(f"{family.noun}s removed", remove)

    def _assume(self, step: StepPart) -> str:
        changed = self._engine.world.assumptions.changed(self._filled(step.assume))
        self._change("assumptions", lambda c: c.put(ASSUMPTIONS, ONLY, changed))
        return "assumptions changed"

    # --- looks at what is known -----------------------------------------------------------------

    def _check(self, step: StepPart) -> str:
        for name, expected in (step.check or {}).items():
            self._mismatches += compare(self._filled(expected), self._variable(name), name)
        return ""

    def _log(self, step: StepPart) -> str:
        world, expected = self._engine.world, self._filled(msgspec.to_builtins(step.log))
        wanted = expected.pop("count", {"at_least": 1})
        for name, value in expected.items():
            expected[name] = _alternatives(value)
            if name in ("fault", "why"):  # these are lists
                expected[name] = [] if value is None else {"has": expected[name]}
        entries = self._engine.log.after(0)
        if len(entries) == CAPACITY:
            raise ValueError(f"the request log keeps only the last {CAPACITY} requests")
        found = sum(not compare(expected, _log_view(world, entry), "") for entry in entries)
        self._mismatches += compare(wanted, found, "log.count")
        return f"{found} of {len(entries)} requests match"

    # --- what was answered ----------------------------------------------------------------------

    def _differences(self, step: StepPart) -> list[Mismatch]:
        reply, expect = self._last, step.expect or ExpectPart()

        def expected(name: str, found: Any) -> list[Mismatch]:
            value = getattr(expect, name)
            return [] if value is None else compare(_alternatives(value), found, name)

        differences = compare(expect.lost, self._lost, "lost") + expected("delayed", self._delayed)
        if differences or (self._lost and not reply.status):
            return differences
        if step.expect is None and reply.status >= 400:
            differences.append(Mismatch("status", "success", reply.status))
        differences += expected("status", reply.status)
        differences += expected("html", reply.content_type.startswith("text/html"))
        for name, value in expect.headers.items():
            differences += compare(self._filled(value), self._header(name), f"headers.{name}")
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
        except (msgspec.DecodeError, RecursionError):
            return None

    def _header(self, name: str) -> str | None:
        """Return a header of the last answer; None: it has none of that name."""
        headers = {"content-type": self._last.content_type}
        headers |= {known.lower(): value for known, value in self._last.headers}
        return headers.get(name.lower())

    def _save(self, step: StepPart) -> None:
        for name, text in step.save.items():
            place, pattern = read_saved(text)
            if place == "answer":
                self._answers[name] = self._last.body
                continue
            found = self._at(place)
            if pattern is not None and found is not ABSENT:
                match = pattern.search(str(found))
                found = ABSENT if match is None else match[pattern.groups and 1]
            if found is ABSENT:
                raise ValueError(f"the response has no {text} to save as {name}")
            self._saved[name] = found

    def _at(self, place: str) -> Any:
        """Return what stands at a place of the last answer, or ABSENT."""
        if place.startswith("headers."):
            value = self._header(place.removeprefix("headers."))
            return ABSENT if value is None else value
        found = self._document()
        for part in place.split("."):
            if isinstance(found, dict) and part in found:
                found = found[part]
            elif isinstance(found, list) and part.isdigit() and int(part) < len(found):
                found = found[int(part)]
            else:
                return ABSENT
        return found

    # --- names and variables --------------------------------------------------------------------

    def _id(self, index: str, name: str) -> str:
        name = str(self._filled(name))
        return str(self._engine.world.indexes.get(f"{index}:{name}") or name)

    def _filled(self, found: Any) -> Any:
        return fill(found, self._variable)

    def _variable(self, name: str) -> Any:
        if name in self._saved:
            return self._saved[name]
        if name == NOW:
            return format_timestamp(self._engine.now_ms())
        index, _, alias = name.partition(".")
        found = self._engine.world.indexes.get(f"{index}:{alias}")
        if found is not None and index in USUAL:
            return found
        if (moment := moved(name, self._variable)) is not None:
            return moment
        known = ", ".join(sorted(self._saved)) or "nothing"
        raise ValueError(f"there is no ${{{name}}}: saved so far is {known}")


def _drip_ms(effect: FaultKind | None, reply: Reply) -> int:
    """Return how long an answer takes that drips."""
    return 0 if effect is None else effect.late_ms(len(reply.body))


def _alternatives(expected: Any) -> Any:
    """Return what a value must be where a list says what it may be."""
    return {"one_of": expected} if isinstance(expected, list) else expected


def _log_view(world: World, entry: Entry) -> dict[str, Any]:
    """Return an exchange under the names of a `log` step."""
    found = entry_view(world, entry)
    project = world.get(PROJECTS, found["project"] or "")
    key = sent_header(entry, b"idempotency-key")
    acted = [name for fault in entry.acted for name in (fault.id, fault.kind)]
    alias = project.alias if project else None
    return {**found, "as": found["who"], "project": alias, "key": key, "fault": acted}


def _title(action: str, step: StepPart) -> str:
    value = getattr(step, action, "")
    if step.together is not None:
        found = [(name, one) for one in step.together for name in REQUESTS if getattr(one, name)]
        return " and ".join(_title(name, one) for name, one in found)
    if action == "log":
        value = ", ".join(f"{k} {v}" for k, v in msgspec.to_builtins(value).items())
    if action in (*PLANNED, "check") and isinstance(value, dict):
        return f"{action} {', '.join(value) if action == 'check' else next(iter(value), '')}"
    who = f" as {step.who}" if step.who else ""
    return f"{action} {value}{who}" if action != "call" else f"{value}{who}"
