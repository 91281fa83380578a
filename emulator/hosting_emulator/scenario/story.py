"""Running a story: each step against a live world, each answer against what it should be.

It asks the engine as the server does, with no socket and in no real time: a delay is not waited for,
but a clock that runs goes on as if it had been.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from heapq import heappop, heappush
from itertools import count
from typing import Any, NamedTuple, TypeAlias, TypeVar
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import UNSET
from msgspec.structs import replace
from multidict import CIMultiDict

from hosting_emulator import DEFAULT_SEED
from hosting_emulator.calls.dev_access import project_at
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.assumption_table import warnings_of
from hosting_emulator.contract.calls import CALLS, CallSpec
from hosting_emulator.contract.durations import format_duration, parse_duration_ms
from hosting_emulator.contract.ids import is_ulid
from hosting_emulator.contract.json_values import each_text
from hosting_emulator.contract.timestamps import format_timestamp, parse_timestamp
from hosting_emulator.criteria.checks import check
from hosting_emulator.criteria.comparisons import Mismatch, match
from hosting_emulator.criteria.request_filters import has_failed
from hosting_emulator.criteria.response_types import EXPECTED, HEADER, allows_a_code, allows_no_code
from hosting_emulator.criteria.value_types import ABSENT, ANY, MISSING, Impossible, ValueType
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import Delay, Exchange
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import Entry, ExchangeContext
from hosting_emulator.engine.explanations.operations import standstill
from hosting_emulator.engine.keeper import Keeper
from hosting_emulator.engine.machine_clock import machine_ms
from hosting_emulator.engine.pipeline import CALL_STEPS, REDEEM_STEPS, Step
from hosting_emulator.engine.problem_replies import too_large
from hosting_emulator.engine.request_log import CAPACITY
from hosting_emulator.engine.request_views import document_of, entry_view, sent_header
from hosting_emulator.engine.sign_ins import home_of
from hosting_emulator.engine.world_variation import variation_view
from hosting_emulator.faults.arming import arm
from hosting_emulator.faults.categories import FAULT, OUTCOME, RuleCategory
from hosting_emulator.faults.decisions import faults_in_order
from hosting_emulator.faults.interventions import read_intervention
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.faults.matching import value_at
from hosting_emulator.scenario.build import (
    MOMENT,
    NOBODY,
    NOW,
    USUAL,
    VARIABLE,
    build_world,
    is_page,
    read_saved,
    texts_in,
)
from hosting_emulator.scenario.document import (
    ACTIONS,
    PLANNED,
    REQUESTS,
    ExpectPart,
    Scenario,
    StepPart,
    read_scenario,
    scenario_of,
)
from hosting_emulator.scenario.entries import entries_of, unused_entries
from hosting_emulator.scenario.expectations import ResponseTypes, judge, log_filters
from hosting_emulator.scenario.source import Path, Place, Source
from hosting_emulator.world import tables as t
from hosting_emulator.world.records import User
from hosting_emulator.world.value import Change, World

_OWN_URL = "http://127.0.0.1:4620"
#: What is expected of a step that could not be done at all.
_POSSIBLE = "to be possible"
#: How many requests a failing `log` shows.
_MOST_NEAREST = 5
_FAMILIES = {"fault": FAULT, "outcome": OUTCOME}
#: What of a step is taken as it is written until its answer is there.
_AS_WRITTEN = {"note", "call", "together", "log", "use", "expect", "save", "pause", "with_"}
_FILLED = [name for name in StepPart.__struct_fields__ if name not in _AS_WRITTEN]


class PageRequest(NamedTuple):
    """A request to a page beside the API, at a path or a dev origin; `own_url` is the emulator's."""

    method: str
    url: str
    headers: dict[str, str]
    body: bytes
    own_url: str = _OWN_URL


class _Arrival(NamedTuple):
    """A response: how many real milliseconds late it came, and what broke it on its wire.

    `n` is the number of its request in the log.
    """

    reply: Reply
    late_ms: int = 0
    effect: FaultKind | None = None
    n: int | None = None

    def summary(self) -> str:
        """Return its status and its problem code, such as `403 forbidden`."""
        code = self.at("code")
        return f"{self.reply.status} {code}" if isinstance(code, str) else str(self.reply.status)

    def report(self) -> dict[str, Any]:
        """Return what a step reports of it: `n` is the number of its request in the log."""
        status, code, detail = self.reply.status or None, self.at("code"), self.at("detail")
        return {
            "n": self.n,
            "status": status,
            "code": code if isinstance(code, str) else None,
            "detail": detail if isinstance(detail, str) else None,
            "lost": self.lost,
        }

    @property
    def lost(self) -> str | None:
        return None if self.effect is None or self.effect.delivers_response else self.effect.name

    def header(self, name: str) -> str | None:
        headers = {"content-type": self.reply.content_type}
        headers |= {known.lower(): value for known, value in self.reply.headers}
        return headers.get(name.lower())

    def at(self, place: str) -> Any:
        """Return what stands at a place of it, or UNSET."""
        if place.startswith("headers."):
            value = self.header(place.removeprefix("headers."))
            return UNSET if value is None else value
        return value_at(document_of(self.reply.body), place)


#: Answers a request to a page, with what breaks the answer on its wire; delays go to the last argument.
Visit: TypeAlias = Callable[
    [Engine, PageRequest, Callable[[int], None]], tuple[Reply, FaultKind | None]
]


def check_text(text: str, file: str, visit: Visit | None = None) -> dict[str, Any]:
    """Run the story of a scenario in a world of its own; returns the report. Raises ScenarioError."""
    scenario = read_scenario(text, file)
    return run_apart(scenario, build_world(scenario, "default", machine_ms()), visit)


def run_apart(
    scenario: Scenario, world: World, visit: Visit | None = None, judged: Path | None = None
) -> dict[str, Any]:
    """Run a story in a world of its own; returns the report. For `judged` see `StoryRun.run`.

    Time passes there by what the story would wait for and by its own steps, and by no machine's clock.
    """
    return story_apart(scenario, world, visit).run(judged)


def story_apart(scenario: Scenario, world: World, visit: Visit | None = None) -> StoryRun:
    """Return the run of a story in a world of its own, which has not begun."""
    return StoryRun(scenario, Engine(world, Keeper(), lambda: world.clock.machine_ms), visit)


def run_document(
    document: dict[str, Any],
    visit: Visit | None = None,
    judged: Path | None = None,
    seed: str = DEFAULT_SEED,
) -> dict[str, Any]:
    """Run the story of plain data, as `run_apart` does; step n is in line n + 1. Raises ScenarioError."""
    places: dict[Path, tuple[int, int]] = {
        ("story", number): (number + 2, 1) for number in range(len(document["story"]))
    }
    scenario = scenario_of(Source("scenario.yaml", document, places, {}))
    return run_apart(scenario, build_world(scenario, "default", 0, seed), visit, judged)


T = TypeVar("T")
#: A piece of a story that yields between its requests, so that a server can serve others meanwhile.
Slices: TypeAlias = Generator[None, None, T]


def run_slices(slices: Slices[T]) -> T:
    """Run a piece of a story to its end, without a pause. Returns its result."""
    while True:
        try:
            next(slices)
        except StopIteration as done:
            result: T = done.value
            return result


class StoryRun:
    """One run of a scenario's story in one world. Without a `visit` there are no pages in it."""

    def __init__(self, scenario: Scenario, engine: Engine, visit: Visit | None = None) -> None:
        self._scenario, self._engine, self._visit = scenario, engine, visit
        self._saved: dict[str, Any] = {}
        self._answers: dict[str, bytes] = {}
        self._keys = 0
        self._digest = sha256()
        self._last = _Arrival(Reply(0, b"", headers=()))
        #: How many real milliseconds would have been waited for the answers of this step.
        self._waited_ms = 0
        #: What of the timeline has been found to be refused.
        self._refused: set[str] = set()
        #: What the step does, as it is written, with the values of its variables.
        self._turn: dict[str, Any] = {}
        #: What a step that is no single request has found to differ.
        self._mismatches: list[Mismatch] = []
        #: The assumptions of the world, at any step, that contradict the contract.
        self._warnings: dict[str, None] = {}
        self._types = ResponseTypes(scenario.part)
        #: The responses of this step, and what requests come near those that its `log` names.
        self._responses: list[_Arrival] = []
        self._nearest: list[str] = []
        #: Where the current step stands, and the steps that armed faults and outcomes, by their ids.
        self._place = scenario.place
        self._armed_at: dict[str, Place] = {}

    def run(self, judged: Path | None = None) -> dict[str, Any]:
        """Run all steps, up to the first that fails. Returns the report.

        The story also fails if a fault, an outcome or an entry of the timeline never acted, unless
        that is `optional`.
        With `judged`, the place of a step, each other passes that can be done at all.
        """
        return run_slices(self.run_in_slices(judged))

    def run_in_slices(self, judged: Path | None = None) -> Slices[dict[str, Any]]:
        """Run the story as `run` does, but yield after each request, so that others can run."""
        steps: list[dict[str, Any]] = []
        self._note_warnings()
        story = self._steps(self._scenario.place / "story", self._scenario.part.story)
        for place, step in story:
            report = yield from self._step(len(steps) + 1, place, step)
            steps.append(report)
            if judged not in (None, place.path):
                found = steps[-1]["differences"]
                steps[-1]["passed"] = all(one["expected"] != _POSSIBLE for one in found)
            if not steps[-1]["passed"]:
                break
        entries = entries_of(self._engine, self._scenario.place, self._armed_at)
        steps_passed = all(step["passed"] for step in steps)
        return {
            "scenario": self._scenario.part.name,
            "file": self._scenario.source.file,
            "passed": steps_passed and not (steps and unused_entries(entries)),
            "steps": steps,
            "entries": entries,
            "digest": self._digest.hexdigest(),
            "variation": variation_view(self._engine),
            "warnings": list(self._warnings),
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

    def _step(self, number: int, place: Place, step: StepPart) -> Slices[dict[str, Any]]:
        action = next((name for name in ACTIONS if getattr(step, name) is not None), "note")
        said, self._waited_ms = "", 0
        self._responses = []
        self._nearest = []
        self._place = place
        differences: list[Mismatch] = []
        try:
            for _ in range(step.times):
                said, differences = yield from self._tried(step, action)
                if differences:
                    break
            refused = {key: row for key, row in self._engine.world.rows(t.TIMELINE) if row.refused}
            new = [row for key, row in refused.items() if key not in self._refused]
            differences += [
                Mismatch(f"timeline[{row.order}]", _POSSIBLE, row.message) for row in new
            ]
            self._refused = set(refused)
            missing = self._save(step)
            if missing:
                said = str(missing[0].found)
                differences += missing
        except ValueError as failed:
            said = str(failed)
            differences = [Mismatch(action, _POSSIBLE, said)]
        return {
            "n": number,
            "line": place.line,
            "title": step.note or _title(action, step),
            "passed": not differences,
            "message": said,
            "waited_ms": self._waited_ms,
            "differences": [difference._asdict() for difference in differences],
            "responses": [response.report() for response in self._responses],
            "nearest": self._nearest,
        }

    def _tried(self, step: StepPart, action: str) -> Slices[tuple[str, list[Mismatch]]]:
        """Do what a step says; a request again, until it is answered as it must be."""
        said, keys = "", self._keys
        for number in range(step.tries):
            if number:  # some time passes: what the step says, or what the answer asks for
                asked = self._last.header("Retry-After")
                asked = asked or self._last.at("progress.next_poll_after_seconds")
                wait_ms = int(asked) * 1000 if str(asked).isdecimal() else 1000
                if step.pause is not None:
                    wait_ms = parse_duration_ms(step.pause)
                self._engine.move_by(wait_ms)
            self._mismatches, self._keys = [], keys  # a retry has the key of the first
            self._responses, self._nearest = [], []
            filled = self._with_values(step)
            self._turn = {action: getattr(filled, action)}
            verb, _, noun = action.rpartition("_")
            if family := _FAMILIES.get(noun.removesuffix("s")):
                said = self._arm(family, verb, self._turn[action])
            elif action in ("together", "log"):
                said = yield from getattr(self, f"_{action}")(filled)
            elif action != "note":
                said = getattr(self, f"_{action}")(filled)
            yield
            differences = self._differences(step) if action in REQUESTS else self._mismatches
            if not differences:
                break
        return said, differences

    def _with_values(self, step: StepPart) -> StepPart:
        """Return a step with the values of its variables, but for what is expected and saved."""
        given = {name: value for name in _FILLED if (value := getattr(step, name))}
        return replace(step, **{name: self._filled(value) for name, value in given.items()})

    # --- requests -------------------------------------------------------------------------------

    def _call(self, step: StepPart) -> str:
        return self._answered(run_slices(self._asked([step]))[0])

    _poll = _redeem = _call

    def _request(self, step: StepPart) -> str:
        method, _, url = str(step.request).partition(" ")
        if not is_page(url):
            return self._call(step)
        if self._visit is None:
            raise ValueError(f"{url[:80]} is a page, which cannot be visited here")
        if step.query:
            url += ("&" if "?" in url else "?") + _query(step)
        before_ms = self._waited_ms
        # A browser has no token: pages see by themselves who it is.
        asked = PageRequest(method, url, self._headers(step, usually=NOBODY), _body(step))
        reply, effect = self._visit(self._engine, asked, self._wait)
        self._wait(_drip_ms(effect, reply))
        return self._answered(_Arrival(reply, self._waited_ms - before_ms, effect))

    def _together(self, step: StepPart) -> Slices[str]:
        steps = []
        for one in step.together or ():
            for _ in range(one.times):
                steps.append(self._with_values(one))
                yield
        said = []
        arrivals = yield from self._asked(steps)
        for place, (one, arrived) in enumerate(zip(steps, arrivals, strict=True)):
            yield
            said.append(self._answered(arrived))
            differences = self._differences(one)
            for found in differences:
                self._mismatches.append(found._replace(at=f"together[{place}].{found.at}"))
            if not differences:
                for missing in self._save(one):
                    self._mismatches.append(missing._replace(at=f"together[{place}].{missing.at}"))
        return ", ".join(said)

    def _asked(self, steps: Sequence[StepPart]) -> Slices[list[_Arrival]]:
        """Let all requests come, in their order, before any answer leaves; then each as its delays end."""
        order, before_ms = count(), self._waited_ms
        contexts = []
        for one in steps:
            contexts.append(self._sent(one))
            yield
        waiting: list[tuple[int, int, int, Exchange]] = []
        for place, (ctx, way) in enumerate(contexts):
            ctx.held = len(steps) > 1
            waiting.append((0, next(order), place, run_exchange(self._engine, ctx, way)))
        arrived: dict[int, _Arrival] = {}
        try:
            while waiting:
                yield
                at_ms, _, place, exchange = heappop(waiting)
                self._wait(max(0, before_ms + at_ms - self._waited_ms))
                try:
                    waits = exchange.send(None)
                except StopIteration as done:
                    effect = contexts[place][0].effect
                    late_ms = at_ms + _drip_ms(effect, done.value)
                    arrived[place] = _Arrival(done.value, late_ms, effect, contexts[place][0].n)
                    continue
                at_ms += waits.ms if isinstance(waits, Delay) else 0
                heappush(waiting, (at_ms, next(order), place, exchange))
        finally:
            for *_, exchange in waiting:  # the story was cancelled
                exchange.close()
        last_ms = max(one.late_ms for one in arrived.values())
        self._wait(max(0, before_ms + last_ms - self._waited_ms))
        return [arrived[place] for place in range(len(steps))]

    def _sent(self, step: StepPart) -> tuple[ExchangeContext, Sequence[Step]]:
        """Return the request of a step, and the way that it takes."""
        world, project = self._engine.world, None
        spec = CALLS[step.call] if step.call is not None else None
        method, at = "GET", urlsplit(str(step.redeem or ""))
        if step.redeem is not None:
            project, url = project_at(Change(world, 0), at.hostname or ""), f"{at.path}?{at.query}"
            if project is None:
                raise ValueError(f"{step.redeem} is at no project's dev origin")
        elif spec is not None:
            subject = self._id(spec.subject, getattr(step, spec.subject) or USUAL[spec.subject])
            method, url = spec.method, spec.path.replace(f"{{{spec.subject}_id}}", subject)
        elif step.poll is not None:
            polled = world.get(t.OPERATIONS, str(step.poll))
            ids = {"operation_id": step.poll, "project_id": polled.project_id if polled else "-"}
            url = world.assumptions.operation_path.format(**ids)
        else:
            method, _, url = str(step.request).partition(" ")
        path, _, query = url.partition("?")
        # A visit to a dev origin has no token, unless the step names a user.
        usual_user = USUAL["user"] if project is None else NOBODY
        sent = self._headers(step, spec, usual_user)
        body, limit = _body(step), world.assumptions.body_limit_bytes
        ctx = ExchangeContext(
            method=method,
            path=path,
            query="&".join(filter(None, (query, _query(step)))),
            headers=CIMultiDict(sent.items()),
            raw_headers=[(name.encode(), value.encode()) for name, value in sent.items()],
            body=body,
            refused=too_large(limit, world.assumptions) if len(body) > limit else None,
            docs_url=lambda: f"{_OWN_URL}/_emulator/docs",
            dev_port=at.port,
            record=project,
        )
        return ctx, CALL_STEPS if project is None else REDEEM_STEPS

    def _headers(
        self, step: StepPart, spec: CallSpec | None = None, usually: str = USUAL["user"]
    ) -> dict[str, str]:
        sent = {name.lower(): str(value) for name, value in step.headers.items()}
        user, key = step.user or usually, step.key
        if step.token is not None:
            sent.setdefault("authorization", f"Bearer {step.token}")
        elif user != NOBODY:
            sent.setdefault("authorization", f"Bearer {self._minted(user, step)}")
        if spec is not None and spec.idempotent:
            self._keys += 1
            key = key or f"step-{self._keys}"
        if key is not None:
            sent.setdefault("idempotency-key", str(key))
        if step.form is not None:
            sent.setdefault("content-type", "application/x-www-form-urlencoded")
        elif step.body is not UNSET or step.text is not None:
            sent.setdefault("content-type", "application/json")
        return sent

    def _answered(self, arrived: _Arrival) -> str:
        self._last, reply = arrived, arrived.reply
        self._responses.append(arrived)
        self._digest.update(b"%d %b\n" % (reply.status, reply.body))
        lost, late_ms = arrived.lost, arrived.late_ms
        said = f"the response was lost ({lost})" if lost else f"status {reply.status}"
        return f"{said}, {format_duration(late_ms)} late" if late_ms else said

    def _made(self, status: int, document: Any) -> None:
        """Take what a step makes for an answer, so that it can be saved and expected."""
        self._last = _Arrival(Reply(status, msgspec.json.encode(document), headers=()))

    def _wait(self, ms: int) -> None:
        self._waited_ms += ms
        self._engine.skip_time(ms)

    def _sign_in(self, step: StepPart) -> str:
        token, lifetime_s = self._minted(str(step.sign_in), step), self._engine.token_lifetime_s
        self._made(200, {"access_token": token, "token_type": "Bearer", "expires_in": lifetime_s})
        return f"{step.sign_in} has an access token for {lifetime_s} seconds"

    def _api_key(self, step: StepPart) -> str:
        user, organization_id = self._user_and_organization(str(step.api_key), step)
        organization = self._engine.world.get(t.ORGANIZATIONS, organization_id or "")
        if organization is None:
            raise ValueError(f"{user.alias} has no organization here")
        body = step.body or {}
        name, permissions = str(body.get("name", "made by hand")), body.get("permissions")
        self._made(201, self._engine.make_key(user, organization, name, permissions))
        return f"{user.alias} has an API key of {organization.alias}"

    def _minted(self, name: str, step: StepPart) -> str:
        user, organization_id = self._user_and_organization(name, step)
        self._engine.run_due()
        return self._engine.mint(user, organization_id, _OWN_URL, interactive=step.interactive)

    def _user_and_organization(self, name: str, step: StepPart) -> tuple[User, str | None]:
        """Return a user, and the organization that a step says, or else theirs."""
        world = self._engine.world
        user = world.get(t.USERS, self._id("user", name))
        if user is None:
            raise ValueError(f"there is no user {name!r}")
        organization_id = home_of(world, user)
        # Of a call about an organization, `organization` is what it is about.
        about = CALLS[step.call].subject if step.call else ""
        if step.organization is not None and about != "organization":
            organization_id = self._id("organization", step.organization)
        return user, organization_id

    # --- turns of a hand ------------------------------------------------------------------------

    def _advance(self, step: StepPart) -> str:
        self._engine.move_by(parse_duration_ms(str(step.advance)))
        return f"time moved by {step.advance}"

    def _to(self, step: StepPart) -> str:
        self._engine.move_to(parse_timestamp(str(step.to)))
        return f"time moved to {step.to}"

    def _until(self, step: StepPart) -> str:
        engine, operation_id = self._engine, str(step.until)
        if engine.world.get(t.OPERATIONS, operation_id) is None:
            raise ValueError(f"there is no operation {operation_id}")
        if engine.move_until_ended(operation_id) is None:
            raise ValueError(standstill(engine, operation_id))
        return f"the operation is {engine.world.tables[t.OPERATIONS.name][operation_id].state}"

    def _intervene(self, step: StepPart) -> str:
        intervention = read_intervention(step.intervene or {})
        change = self._engine.begin_change()
        before = {id_ for id_, _ in change.world.rows(t.FAULTS)}
        said = intervention.apply(change)
        self._engine.commit(change, "intervention", self._turn)
        for id_, _ in self._engine.world.rows(t.FAULTS):
            if id_ not in before:
                self._armed_at[id_] = self._place / "intervene"
        return said

    def _arm(self, family: RuleCategory, verb: str, document: Any) -> str:
        """Arm a fault or outcome, or remove one, or clear all."""
        change, noun = self._engine.begin_change(), family.noun
        armed = [each.id for each in faults_in_order(change.world, family.table)]
        if not verb:
            id_ = arm(change, document, family).id
            self._armed_at[id_] = self._place / noun
            self._made(0, {"id": id_})
            said, title = f"{id_} armed", f"{noun} armed"
        elif verb == "remove" and document not in armed:
            raise ValueError(f"no {noun} is {document}: armed are {', '.join(armed) or 'none'}")
        else:
            for each in armed if verb == "clear" else [document]:
                change.delete(family.table, each)
            which = f"{len(armed)} {noun}s" if verb == "clear" else document
            said, title = f"{which} removed", f"{noun}s removed"
        self._engine.commit(change, title, self._turn)
        return said

    def _assume(self, step: StepPart) -> str:
        changed = self._engine.world.assumptions.changed(step.assume or {})
        change = self._engine.begin_change()
        change.put(t.ASSUMPTIONS, t.SINGLETON_KEY, changed)
        self._engine.commit(change, "assumptions", self._turn)
        self._note_warnings()
        return "assumptions changed"

    def _note_warnings(self) -> None:
        self._warnings |= dict.fromkeys(warnings_of(self._engine.world.assumptions))

    # --- looks at what is known -----------------------------------------------------------------

    def _check(self, step: StepPart) -> str:
        for name, expected in (step.check or {}).items():
            self._mismatches += judge(ANY, expected, self._variable(name), name)
        return ""

    def _log(self, step: StepPart) -> Slices[str]:
        expected = self._filled(msgspec.to_builtins(step.log))
        filters = log_filters(self._named("user"), self._named("project"))
        count_kind, wanted = filters.pop("count"), expected.pop("count", {"at_least": 1})
        for name, value in expected.items():
            self._check_filter(name, filters[name], value)
        entries, found = self._engine.log.after(0), 0
        if len(entries) == CAPACITY:
            raise ValueError(f"the request log keeps only the last {CAPACITY} requests")
        views = []
        for entry in entries:
            yield
            view = self._log_view(entry)
            views.append(view)
            found += all(match(filters[n], value, view[n]) is True for n, value in expected.items())
        self._mismatches += judge(count_kind, wanted, found, "log.count")
        if self._mismatches:
            self._nearest = _nearest_requests(filters, expected, views)
        return f"{found} of {len(entries)} requests match"

    def _check_filter(self, name: str, kind: ValueType, value: Any) -> None:
        """Raise ValueError if no request of this world can ever have a value."""
        try:
            check(kind, value)
        except Impossible as error:
            raise ValueError(f"{name} can never match: {error}") from None
        world = self._engine.world
        for _, text in texts_in(value):
            if name == "operation" and is_ulid(text) and world.get(t.OPERATIONS, text) is None:
                raise ValueError(f"there is no operation {text}")
            number = text.removeprefix("fault-")
            if name == "fault" and number != text and number.isdecimal():
                armed = world.get(t.STREAMS, "fault order") or 0
                if int(number) > armed:
                    raise ValueError(f"there is no fault {text}: {armed} were armed so far")

    def _named(self, index: str) -> dict[str, str]:
        """Return the ids of users or projects by their aliases."""
        return {
            key.partition(":")[2]: str(id_)
            for key, id_ in self._engine.world.indexes.items()
            if key.startswith(f"{index}:")
        }

    def _log_view(self, entry: Entry) -> dict[str, Any]:
        """Return what filters of `log` compare of a request."""
        world = self._engine.world
        view = entry_view(world, entry)
        project = world.get(t.PROJECTS, view["project"] or "")
        names = [view["project"], project.alias if project else None]
        view["project"] = tuple(filter(None, names)) or None
        view["user"] = tuple(filter(None, (view["principal"], view["user"]))) or None
        view["key"] = sent_header(entry, b"idempotency-key")
        acted = [name for fault in entry.acted for name in (fault.id, fault.kind)]
        view["fault"] = tuple(acted) or None
        view["why"] = tuple(view["why"]) or None
        view["failed"] = has_failed(view)
        return view

    # --- what was answered ----------------------------------------------------------------------

    def _differences(self, step: StepPart) -> list[Mismatch]:
        last, expect = self._last, step.expect or ExpectPart()
        wanted_lost = None if expect.lost is UNSET else self._filled(expect.lost)
        differences = judge(EXPECTED["lost"], wanted_lost, last.lost, "lost")
        if differences or last.lost:
            return differences
        reply, body = last.reply, _json_of(last.reply.body)
        fields = body if isinstance(body, dict) else {}
        items = fields.get("items")
        delayed = last.late_ms > 0 or (last.effect is not None and last.effect.delivers_response)
        actual = {
            "delayed": delayed,
            "status": reply.status,
            "html": reply.content_type.startswith("text/html"),
            "code": fields.get("code", MISSING),
            "items": len(items) if isinstance(items, list) else MISSING,
        }
        if expect.status is UNSET:
            code = MISSING if expect.code is UNSET else self._filled(expect.code)
            differences += _status_differences(code, reply.status, actual["code"])
        for name, value in actual.items():
            wanted = getattr(expect, name)
            if wanted is not UNSET:
                differences += judge(EXPECTED[name], self._filled(wanted), value, name)
        for name, wanted in expect.headers.items():
            value = last.header(name)
            value = MISSING if value is None else value
            differences += judge(HEADER, self._filled(wanted), value, f"headers.{name}")
        if expect.same_as is not UNSET and reply.body != self._answers.get(expect.same_as):
            bytes_of = f"the bytes of {expect.same_as}"
            differences.append(Mismatch("body", bytes_of, reply.body.decode("utf-8", "replace")))
        if expect.body is not UNSET:
            kind = self._types.body(step, expect)
            differences += judge(kind, self._filled(expect.body), body, "body")
        for path in map(str, self._filled(expect.absent)):
            value = value_at(body, path)
            if value is not UNSET:
                differences.append(Mismatch(f"body.{path}", ABSENT, value))
        return differences

    def _save(self, step: StepPart) -> list[Mismatch]:
        """Save values of the response, and return those that it does not have."""
        missing = []
        for name, text in step.save.items():
            place, pattern = read_saved(text)
            if place == "response" and self._last.lost is None:
                self._answers[name] = self._last.reply.body
                continue
            found = UNSET if self._last.lost else self._last.at(place)
            if pattern is not None and found is not UNSET:
                caught = pattern.search(str(found))
                found = UNSET if caught is None else caught[1 if caught.re.groups else 0]
            if found is UNSET:
                missing.append(Mismatch(f"save.{name}", _POSSIBLE, self._not_saved(name, text)))
            else:
                self._saved[name] = found
        return missing

    def _not_saved(self, name: str, text: str) -> str:
        """Say why a value cannot be saved."""
        last = self._last
        if last.lost:
            return f"the response was lost ({last.lost}): there is no {text} to save as {name}"
        if last.reply.status >= 400:
            refusal = f"response was {last.summary()}"
            return f"{refusal}: there is no {text} to save as {name}"
        return f"the response has no {text} to save as {name}"

    # --- names and variables --------------------------------------------------------------------

    def _id(self, index: str, name: str) -> str:
        return str(self._engine.world.indexes.get(f"{index}:{name}") or name)

    def _filled(self, found: Any) -> Any:
        """Put values in the place of variables. A text that is one variable takes the value's type."""

        def filled(text: str) -> Any:
            if whole := VARIABLE.fullmatch(text):
                return self._variable(whole[1])
            return VARIABLE.sub(lambda match: str(self._variable(match[1])), text)

        return each_text(found, filled)

    def _variable(self, name: str) -> Any:
        if name in self._saved:
            return self._saved[name]
        if name == NOW:
            return format_timestamp(self._engine.now_ms())
        index, _, alias = name.partition(".")
        found = self._engine.world.indexes.get(f"{index}:{alias}")
        if found is not None and index in USUAL:
            return found
        if moment := MOMENT.fullmatch(name):
            by_ms = parse_duration_ms(moment[3])
            at_ms = parse_timestamp(str(self._variable(moment[1])))
            return format_timestamp(at_ms + (by_ms if moment[2] == "+" else -by_ms))
        known = ", ".join(sorted(self._saved)) or "nothing"
        raise ValueError(f"there is no ${{{name}}}: saved so far is {known}")


def _query(step: StepPart) -> str:
    return urlencode({name: _sent_text(value) for name, value in step.query.items()})


def _sent_text(value: Any) -> str:
    """Write a value of a query or a form as it is sent: true, and not True."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def _body(step: StepPart) -> bytes:
    if step.body is not UNSET:
        return msgspec.json.encode(step.body)
    if step.form:
        return urlencode({name: _sent_text(value) for name, value in step.form.items()}).encode()
    return str(step.text or "").encode()


def _drip_ms(effect: FaultKind | None, reply: Reply) -> int:
    """Return how long an answer takes that drips."""
    return 0 if effect is None else effect.late_ms(len(reply.body))


def _json_of(body: bytes) -> Any:
    """Return what a body says. MISSING: it is no JSON."""
    try:
        return msgspec.json.decode(body)
    except (msgspec.DecodeError, RecursionError):
        return MISSING


def _status_differences(expected_code: Any, status: int, code: Any) -> list[Mismatch]:
    """Return how a status differs from the one that an expectation without a status means."""
    if status < 400:
        return [] if allows_no_code(expected_code) else [Mismatch("status", "a refusal", status)]
    if not allows_a_code(expected_code):
        return [Mismatch("status", "success", status)]
    # A refusal without a code is not what an expectation of a code means, even if that is optional.
    return [Mismatch("status", "a problem with a code", status)] if code is MISSING else []


def _in_words(value: Any) -> str:
    """Write what a request has at a filter."""
    if isinstance(value, tuple):
        return " or ".join(map(str, value))
    return "none" if value is None else str(value)


def _nearest_requests(
    filters: Mapping[str, ValueType], expected: Mapping[str, Any], views: Iterable[dict[str, Any]]
) -> list[str]:
    """Say which requests match, or else which come nearest and how they differ."""
    misses = {
        view["n"]: [
            f"{name} is {_in_words(view[name])}"
            for name, value in expected.items()
            if match(filters[name], value, view[name]) is not True
        ]
        for view in views
    }
    matching = [f"request {n} matches" for n, differs in misses.items() if not differs]
    least = min((len(differs) for differs in misses.values()), default=0)
    nearest = [
        f"request {n} differs: {', '.join(differs)}"
        for n, differs in misses.items()
        if len(differs) == least and least < len(expected)
    ]
    return (matching or nearest)[-_MOST_NEAREST:]


def _title(action: str, step: StepPart) -> str:
    value = getattr(step, action, "")
    if step.together is not None:
        found = [(name, one) for one in step.together for name in REQUESTS if getattr(one, name)]
        return " and ".join(_title(name, one) for name, one in found)
    if action == "log":
        value = ", ".join(f"{k} {v}" for k, v in msgspec.to_builtins(value).items())
    if action in (*PLANNED, "check") and isinstance(value, dict):
        return f"{action} {', '.join(value) if action == 'check' else next(iter(value), '')}"
    user = f" as {step.user}" if step.user else ""
    return f"{action} {value}{user}" if action != "call" else f"{value}{user}"
