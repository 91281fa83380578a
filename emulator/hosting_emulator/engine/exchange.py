"""A single exchange: its entry in the request log, and the context that the steps read and fill in.

Entries and contexts are plain data. The server creates the context, and carries out the exchange's
effects.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from hosting_emulator.calls.request import CallRequest, Reply
from hosting_emulator.contract.calls import Subject
from hosting_emulator.contract.problems import Refused
from hosting_emulator.engine.connection import NO_CONNECTION, Connection, Passage
from hosting_emulator.engine.history import Commit
from hosting_emulator.faults.decisions import Decision
from hosting_emulator.faults.kinds import FaultKind, commit_phase_of
from hosting_emulator.messages import GAVE_UP_NOTE, AlteredPart
from hosting_emulator.variation.draws import Paging
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.records import ApiKey
from hosting_emulator.world.tables import OPERATIONS
from hosting_emulator.world.value import Change, World

#: Takes the place of a value that an exchange no longer needs.
RELEASED: Any = None


class Entry(CallRequest, kw_only=True):
    """An exchange in the request log.

    Request: `raw_headers` contains all headers as received. If `headers_cut` is true, long header
    values have been truncated, and each states its full length. `subject_id` is the id in the path,
    and `subject` is the kind of resource that it identifies. The principal is NOBODY until the
    request is authenticated. `judged` is true if the exchange reached the access check.

    Response: `code` is the code of a problem response, or None for any other response. `lost` is
    the kind of connection fault that caused the response to be lost, or None. `response_number` is
    the ordinal of the response among all responses in the log, starting at 1, or 0 until the
    response is decided. Bodies are truncated to `request_log.BODY_KEPT` bytes, and their full
    lengths are stored too.

    Reasons: `why` lists the notes, oldest first. `acted` lists the faults that acted, with their
    hit counts at that time. `altered` lists the parts of the response that faults altered.
    `unaltered` lists the faults that matched the request but did not change the response, for
    example because the alteration was impossible. Each item consists of the fault's id and the
    reason. `own_status` is the status before any alteration, or 0 if nothing was altered. `varied`
    lists the variation points at which the response was varied. `assumption` is the assumption that
    determined the response, in cases where only the call itself knows it.

    Time: `came_ms` is the world time at which the request arrived, before it caused a skip clock to
    move. `real_ms` is the real time at which the request arrived. `late_ms` is how long faults
    delayed the response, in real time. `took_ns` is the real time spent in the engine. Until the
    response is decided, it is instead the stopwatch reading at the start.

    `from_emulator` is true if a user sent the request from the emulator's page, or resent it.
    `passage` contains the positions at which the request arrived and the response departed, and is
    None for a request that did not arrive over a socket. `is_connection_reused` is True if the
    connection carried an earlier request, and None if there is no connection. `in_progress` is true
    if no response has been sent yet, because the exchange is waiting for its body, a delay or the
    disk.

    `stale_at_ms` is None if the response shows the current state. If a fault made the response show
    an earlier state, `stale_at_ms` is the world time of that state.

    If a fault delivers a request twice, there are two exchanges. In the first, `second_delivery` is
    the second exchange. In the second, `second_delivery_of` is the number of the first. In any
    other exchange, `second_delivery_of` is 0. `is_discarded` is true if the client received the
    response to the other delivery.
    """

    raw_headers: Sequence[tuple[bytes, bytes]] = ()
    headers_cut: bool = False
    call: str | None = None
    subject: Subject | None = None
    status: int = 0
    code: str | None = None
    replayed: bool = False
    lost: str | None = None
    why: tuple[str, ...] = ()
    took_ns: int = 0
    body_bytes: int = 0
    response_headers: Sequence[tuple[str, str]] = ()
    content_type: str = ""
    response_body: bytes = b""
    response_bytes: int = 0
    judged: bool = False
    commits: tuple[Commit, ...] = ()
    acted: tuple[Fault, ...] = ()
    altered: tuple[AlteredPart, ...] = ()
    altered_beyond_contract: bool = False
    unaltered: tuple[tuple[str, str], ...] = ()
    own_status: int = 0
    varied: tuple[str, ...] = ()
    assumption: str | None = None
    came_ms: int = 0
    real_ms: int = 0
    late_ms: int = 0
    connection: Connection = NO_CONNECTION
    from_emulator: bool = False
    passage: Passage | None = None
    in_progress: bool = False
    response_number: int = 0
    is_connection_reused: bool | None = None
    stale_at_ms: int | None = None
    second_delivery_of: int = 0
    second_delivery: Entry | None = None
    is_discarded: bool = False

    @property
    def was_refused(self) -> bool:
        """Whether the response had an error status before any fault altered it."""
        return (self.own_status or self.status) >= 400

    @property
    def was_decided_by_fault(self) -> bool:
        """Whether a fault with a commit phase acted on the exchange."""
        return any(commit_phase_of(fault) is not None for fault in self.acted)

    @property
    def delivered(self) -> Entry:
        """The exchange whose response the client received: this exchange or its second delivery."""
        if self.is_discarded and self.second_delivery is not None:
            return self.second_delivery
        return self

    @property
    def gave_up(self) -> bool:
        """Whether the client closed the connection before the whole response had been sent.

        Returns False if a fault caused the response to be lost, because then there was nothing to
        wait for.
        """
        if self.lost is not None or self.passage is None or self.in_progress:
            return False
        return self.passage.is_abandoned

    @property
    def reasons(self) -> tuple[str, ...]:
        """The exchange's notes, with an additional note if the client gave up."""
        if self.gave_up:
            return (*self.why, GAVE_UP_NOTE)
        return self.why

    @property
    def project(self) -> str | None:
        """The id of the project in the path, or None if the path does not identify a project."""
        return self.subject_id if self.subject == "project" else None

    @property
    def operation(self) -> str | None:
        """The id of the operation in the path, or None if the path does not identify an operation."""
        return self.subject_id if self.subject == "operation" else None

    def about(self, world: World) -> tuple[str | None, str | None]:
        """Return the ids of the project and the organization that the request is about.

        The project is the one in the path, or the one to which the operation in the path belongs.
        The organization is the one in the path, or the principal's. Either id can be None.
        """
        project = None
        organization = self.principal.organization_id
        if self.subject == "project":
            project = self.subject_id
        elif self.subject == "operation":
            operation = world.get(OPERATIONS, self.subject_id)
            project = operation.project_id if operation else None
        elif self.subject == "organization":
            organization = self.subject_id
        return project, organization


class ExchangeContext(Entry, kw_only=True):
    """An exchange in progress, with the complete request and the results of the steps that have run.

    `refused` is a problem that a later step will raise, such as an oversized body or a missing
    token, so that armed faults can act first. `docs_url` returns the URL of our own documentation.
    """

    refused: Refused | None = None
    docs_url: Callable[[], str]
    #: The API key that authenticated the request, if any.
    key: ApiKey | None = None
    #: The kind of credentials in the Authorization header (see `faults.matching.FaultSubject`).
    credentials: str = "token"
    #: The change to which the call writes.
    change: Change = cast("Change", None)
    #: The record of the project, organization or operation that the call is about.
    record: Any = None
    reply: Reply | None = None
    #: Whether the request has a body that has not been read yet.
    announces_body: bool = False
    #: Which faults act on the request body, or None if this has not been decided yet.
    upload: Decision | None = None
    #: Which faults act before the commit, or None if this has not been decided yet.
    decision: Decision | None = None
    #: The fault that acts on the connection while the response is sent.
    effect: FaultKind | None = None
    #: How long to delay the response once it has been decided, in real milliseconds.
    delay_ms: int = 0
    #: With a skip clock, the key of this request's `RetryWait`, and otherwise an empty string.
    wait_key: str = ""
    #: Whether the response must wait until other requests have arrived.
    held: bool = False
    #: The name of the response, which determines how the variation changes it.
    response_name: str = ""
    #: The counts, not yet committed, of the faults that could alter the response.
    alteration_counts: Change | None = None
    #: The age of the state that a fault makes the response show, in milliseconds of world time.
    stale_age_ms: int = 0
    #: Whether the response's headers have been varied.
    headers_varied: bool = False
    #: The response to a refused call, if the refusal is remembered for the call's Idempotency-Key.
    remembered_refusal: Reply | None = None
    #: The page size and the cursor length of a list, after variation.
    paging: Paging | None = None

    def discard_alterations(self) -> None:
        """Discard the notes on alterations, because the altered response is being replaced by
        another one.
        """
        self.altered = ()
        self.altered_beyond_contract = False
        self.own_status = 0
        self.headers_varied = False

    def copy_request(self, refused: Refused | None = None) -> ExchangeContext:
        """Return a new context for the same request.

        If `refused` is given, the new exchange will be refused with this problem.
        """
        return ExchangeContext(
            method=self.method,
            path=self.path,
            query=self.query,
            headers=self.headers,
            body=self.body,
            body_bytes=self.body_bytes,
            dev_port=self.dev_port,
            raw_headers=self.raw_headers,
            docs_url=self.docs_url,
            record=self.record,
            from_emulator=self.from_emulator,
            is_connection_reused=self.is_connection_reused,
            refused=refused,
        )
