"""Sends the requests of a story's steps, including concurrent requests.

The engine handles a story's requests like requests from a socket, but without waiting in real time.
Delays are only added up, and a running clock advances by their sum.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import count
from typing import TypeAlias
from urllib.parse import urlencode, urlsplit

import msgspec
from msgspec import UNSET
from multidict import CIMultiDict

from hosting_emulator.calls.dev_access import project_at
from hosting_emulator.calls.request import Reply
from hosting_emulator.contract.access import NOBODY
from hosting_emulator.contract.calls import CALLS, CallSpec
from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.contract.value_texts import value_text
from hosting_emulator.engine.connection import Connection, Passage
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import Delay
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.pipeline import CALL_STEPS, REDEEM_STEPS, Step
from hosting_emulator.engine.problem_replies import too_large
from hosting_emulator.engine.sign_ins import home_of
from hosting_emulator.faults.kinds import FaultKind
from hosting_emulator.scenario.arrival import OWN_URL, Arrival, PageHandler, PageRequest, drip_ms
from hosting_emulator.scenario.connection_checks import PAGE_WITHOUT_CONNECTION
from hosting_emulator.scenario.connections import StoryConnections
from hosting_emulator.scenario.document import StepPart
from hosting_emulator.scenario.slices import Slices
from hosting_emulator.scenario.step_keys import is_page
from hosting_emulator.scenario.variables import Variables
from hosting_emulator.world.records import Project, User
from hosting_emulator.world.tables import OPERATIONS, USERS
from hosting_emulator.world.value import Change


@dataclass(frozen=True, slots=True)
class _SentResponse:
    """A response, the fault that damages it in transit, and the request's number."""

    reply: Reply
    effect: FaultKind | None
    n: int | None = None


#: A request in progress. The generator yields the response's delays and returns the response.
StepExchange: TypeAlias = Generator[Delay, None, _SentResponse]
NO_DELAY = Delay(0)


@dataclass(order=True, slots=True)
class _Waiting:
    """An exchange that is waiting until `at_ms`, in milliseconds since the exchange started."""

    at_ms: int
    order: int
    index: int = field(compare=False)
    exchange: StepExchange = field(compare=False)


class StepRequests:
    """Sends the requests in a story's steps. If `page_handler` is None, pages cannot be requested."""

    def __init__(
        self, engine: Engine, variables: Variables, page_handler: PageHandler | None
    ) -> None:
        self._engine = engine
        self._variables = variables
        self._page_handler = page_handler
        self._connections = StoryConnections()
        #: How many Idempotency-Keys the story has generated.
        self.key_count = 0
        #: How long a client would have waited for the step's responses, in real milliseconds.
        self.waited_ms = 0

    def send(self, steps: Sequence[StepPart]) -> Slices[list[Arrival]]:
        """Send the steps' requests, and return the responses in the order of the steps.

        All requests arrive, in order, before any response is sent. Each response is sent when its
        delays are over. Raises ValueError if a request cannot be sent, for example because it is
        for a page that does not exist.
        """
        began_ms = self.waited_ms
        order = count()
        waiting = []
        for index, step in enumerate(steps):
            exchange = self._exchange(step, is_alone=len(steps) == 1)
            waiting.append(_Waiting(0, next(order), index, exchange))
            yield
        arrivals: dict[int, Arrival] = {}
        try:
            while waiting:
                yield
                current = heappop(waiting)
                self._wait(max(0, began_ms + current.at_ms - self.waited_ms))
                try:
                    delay = next(current.exchange)
                except StopIteration as end:
                    arrival = self._arrival(end.value, current.at_ms, steps[current.index])
                    arrivals[current.index] = arrival
                    continue
                current.at_ms += delay.ms
                current.order = next(order)
                heappush(waiting, current)
        finally:
            for unfinished in waiting:  # the story was canceled, or a request could not be sent
                unfinished.exchange.close()
        last_ms = max(arrival.late_ms for arrival in arrivals.values())
        self._wait(max(0, began_ms + last_ms - self.waited_ms))
        return [arrivals[index] for index in range(len(steps))]

    def _arrival(self, response: _SentResponse, at_ms: int, step: StepPart) -> Arrival:
        """Return a response in the form in which the client receives it.

        `at_ms` is the time between the request and the response, in real milliseconds.
        """
        self._connections.note_response(step.connection, response.effect, gave_up=step.gives_up)
        if step.gives_up:
            return Arrival(response.reply, 0, response.effect, response.n, gave_up=True)
        date_s = self._engine.date_s()
        late_ms = at_ms + drip_ms(response.effect, response.reply)
        late_ms += self._pass_world_time(response.effect)
        return Arrival(response.reply, late_ms, response.effect, response.n, date_s=date_s)

    def _exchange(self, step: StepPart, *, is_alone: bool) -> StepExchange:
        """Return an exchange for a step's request. It has not been started yet."""
        if step.request is not None:
            method, _, url = step.request.partition(" ")
            if is_page(url):
                return self._page_exchange(step, method, url)
        context, exchange_steps = self._request(step)
        context.held = step.gives_up or not is_alone
        if step.gives_up:
            context.passage = _abandoned_passage()
        return self._api_exchange(step, context, exchange_steps)

    def _api_exchange(
        self, step: StepPart, context: ExchangeContext, exchange_steps: Sequence[Step]
    ) -> StepExchange:
        exchange = run_exchange(self._engine, context, exchange_steps)
        try:
            while True:
                effect = exchange.send(None)
                is_unawaited = step.gives_up and isinstance(effect, Delay) and effect.is_done
                if isinstance(effect, Delay) and not is_unawaited:
                    yield effect
                else:
                    yield NO_DELAY
        except StopIteration as end:
            return _SentResponse(end.value, context.effect, context.n)
        finally:
            exchange.close()

    def _page_exchange(self, step: StepPart, method: str, url: str) -> StepExchange:
        if self._page_handler is None:
            raise ValueError(f"{url[:80]} is a page, but this story cannot request pages")
        if step.connection is not None:
            raise ValueError(PAGE_WITHOUT_CONNECTION)
        if step.query:
            separator = "&" if "?" in url else "?"
            url = f"{url}{separator}{_query(step)}"
        # Requests to pages have no token, because pages determine the user in other ways.
        headers = self._headers(step, None, NOBODY)
        visit = self._page_handler(self._engine, PageRequest(method, url, headers, _body(step)))
        try:
            while True:
                yield Delay(next(visit))
        except StopIteration as end:
            reply, effect = end.value
            return _SentResponse(reply, effect)
        finally:
            visit.close()

    def _pass_world_time(self, effect: FaultKind | None) -> int:
        """Advance world time by as long as a fault holds back the response.

        The clock must be advanced here, because no step can do so while the response is pending.
        Returns how much real time passes, in milliseconds.
        """
        pause_ms = 0 if effect is None else effect.world_pause_ms()
        clock = self._engine.world.clock
        if clock.mode in ("real", "scaled"):
            return round(pause_ms / clock.rate)
        if pause_ms:
            self._engine.move_up_to(min(LATEST_MS, self._engine.now_ms() + pause_ms))
        return 0

    def _wait(self, ms: int) -> None:
        self.waited_ms += ms
        self._engine.pass_real_time(ms)

    def _request(self, step: StepPart) -> tuple[ExchangeContext, Sequence[Step]]:
        """Return a step's request, and the engine's steps for handling it."""
        if step.redeem is not None:
            return self._redemption(step, step.redeem), REDEEM_STEPS
        method, url = self._target(step)
        spec = CALLS[step.call] if step.call is not None else None
        headers = self._headers(step, spec, self._variables.default_id("user"))
        return self._context(step, method, url, headers), CALL_STEPS

    def _redemption(self, step: StepPart, url: str) -> ExchangeContext:
        address = urlsplit(url)
        project = project_at(Change(self._engine.world, 0), address.hostname or "")
        if project is None:
            raise ValueError(f"{url} is not a URL at the dev origin of a project")
        # Requests to dev origins have no token unless the step names a user.
        headers = self._headers(step, None, NOBODY)
        target = f"{address.path}?{address.query}"
        return self._context(step, "GET", target, headers, project=project, port=address.port)

    def _target(self, step: StepPart) -> tuple[str, str]:
        """Return the method and URL of a step's request."""
        world = self._engine.world
        if step.call is not None:
            spec = CALLS[step.call]
            alias = getattr(step, spec.subject)
            if alias is None:
                subject_id = self._variables.default_id(spec.subject)
            else:
                subject_id = self._variables.id_of(spec.subject, alias)
            return spec.method, spec.path.replace(f"{{{spec.subject}_id}}", subject_id)
        if step.poll is not None:
            operation = world.get(OPERATIONS, str(step.poll))
            project_id = operation.project_id if operation else "-"
            path = world.assumptions.operation_path
            return "GET", path.format(operation_id=step.poll, project_id=project_id)
        method, _, url = str(step.request).partition(" ")
        return method, url

    def _context(
        self,
        step: StepPart,
        method: str,
        url: str,
        headers: dict[str, str],
        *,
        project: Project | None = None,
        port: int | None = None,
    ) -> ExchangeContext:
        path, _, query = url.partition("?")
        assumptions = self._engine.world.assumptions
        body = _body(step)
        limit = assumptions.body_limit_bytes
        context = ExchangeContext(
            method=method,
            path=path,
            query="&".join(filter(None, (query, _query(step)))),
            headers=CIMultiDict(headers.items()),
            raw_headers=[(name.encode(), value.encode()) for name, value in headers.items()],
            body=body,
            refused=too_large(limit, assumptions) if len(body) > limit else None,
            docs_url=lambda: f"{OWN_URL}/_emulator/docs",
            dev_port=port,
            record=project,
        )
        self._connections.assign(context, step.connection)
        return context

    def _headers(self, step: StepPart, spec: CallSpec | None, usual_user: str) -> dict[str, str]:
        """Return the headers of a step's request.

        These are the headers that the step lists. Authorization, Idempotency-Key and Content-Type
        are added if the request needs them and the step does not list them. A header that the step
        sets to null is not sent.
        """
        headers = {name.lower(): value for name, value in step.headers.items()}
        user = step.user or usual_user
        if step.token is not None:
            headers.setdefault("authorization", f"Bearer {step.token}")
        elif user != NOBODY and "authorization" not in headers:
            headers["authorization"] = f"Bearer {self.mint(user, step)}"
        key = step.key
        if spec is not None and spec.idempotent:
            self.key_count += 1
            if key is None:
                key = f"step-{self.key_count}"
        if key is not None:
            headers.setdefault("idempotency-key", str(key))
        if step.form is not None:
            headers.setdefault("content-type", "application/x-www-form-urlencoded")
        elif step.body is not UNSET or step.text is not None:
            headers.setdefault("content-type", "application/json")
        return {name: value_text(value) for name, value in headers.items() if value is not None}

    def mint(self, name: str, step: StepPart) -> str:
        """Return a new access token for a user. Raises ValueError if the user does not exist."""
        user, organization_id = self.user_and_organization(name, step)
        self._engine.run_due()
        return self._engine.mint(user, organization_id, OWN_URL, interactive=step.interactive)

    def user_and_organization(self, name: str, step: StepPart) -> tuple[User, str | None]:
        """Return a user and the id of the organization for the user's token.

        The step can name the organization. By default, it is the user's own organization. The id is
        None if the user has none. Raises ValueError if the user does not exist.
        """
        world = self._engine.world
        user = world.get(USERS, self._variables.id_of("user", name))
        if user is None:
            raise ValueError(f"there is no user {name!r}")
        # In a call on an organization, the `organization` field names the organization on which the
        # call acts, not the one for which the token is issued.
        subject = CALLS[step.call].subject if step.call else ""
        if step.organization is not None and subject != "organization":
            return user, self._variables.id_of("organization", step.organization)
        return user, home_of(world, user)


def _abandoned_passage() -> Passage:
    """Return a passage for a request whose client does not wait for the response."""
    connection = Connection()
    connection.closed_by_client = 1
    return Passage(connection, arrival=0)


def _query(step: StepPart) -> str:
    return urlencode({name: value_text(value) for name, value in step.query.items()})


def _body(step: StepPart) -> bytes:
    if step.body is not UNSET:
        return msgspec.json.encode(step.body)
    if step.form:
        return urlencode({name: value_text(value) for name, value in step.form.items()}).encode()
    return str(step.text or "").encode()
