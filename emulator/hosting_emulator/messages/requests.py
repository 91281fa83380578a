"""The request log of a world: filters, exchanges, and the decisions that led to their responses."""

from __future__ import annotations

import json
from collections import UserDict
from collections.abc import Iterable
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from hosting_emulator.messages.declaration import ControlMessage, doc


class RequestFilters(TypedDict, total=False):
    """Filters of exchanges. An exchange must match all of them."""

    call: Annotated[
        str | None,
        Meta(
            description="A call's name, or `none` for paths that belong to no call.",
            examples=["list_deployments"],
        ),
    ]
    status: Annotated[
        str | None,
        Meta(description="The response's status, such as `404` or `4xx`.", examples=["4xx"]),
    ]
    user: Annotated[
        str | None,
        Meta(
            description="A user, by alias or id; `nobody` for requests without a known token.",
            examples=["owner"],
        ),
    ]
    project: Annotated[
        str | None, Meta(description="A project, by alias or id.", examples=["shop"])
    ]
    since: Annotated[
        str | None,
        Meta(description="A world timestamp, or a duration back from now (`5m`).", examples=["1h"]),
    ]
    until: Annotated[
        str | None,
        Meta(
            description="A world timestamp (exclusive), or a duration back from now.",
            examples=["5m"],
        ),
    ]
    text: Annotated[
        str | None,
        Meta(description="Text to find in anything the log shows.", examples=["deployments"]),
    ]
    after: Annotated[
        int | None, Meta(description="Only exchanges with a higher number.", examples=[1])
    ]


class Message(ControlMessage, frozen=True, kw_only=True):
    """A request or a response, with secrets redacted."""

    headers: Annotated[list[tuple[str, str]], doc("The headers, each a pair of name and value.")]
    body: Annotated[
        str | None, doc("The body, or the beginning of a long one; null if it is not text.")
    ]
    body_bytes: Annotated[int, doc("The length of the whole body.")]
    body_cut: Annotated[bool, doc("Whether `body` is only the beginning.")]

    @property
    def content(self) -> Any:
        """The body: parsed JSON, other text (and JSON that was cut) unchanged, None for no body."""
        if not self.body:
            return None
        try:
            return json.loads(self.body)
        except ValueError:
            return self.body


class AlteredPart(ControlMessage, frozen=True, kw_only=True):
    """A part of a response that a fault altered. Values are texts without secrets, and may be cut."""

    fault: Annotated[str, doc("The id of the fault.")]
    part: Annotated[str, doc("A JSON Pointer into the body, the name of a header, or `status`.")]
    before: Annotated[str | None, doc("The true value; null if the response had no such part.")]
    after: Annotated[str | None, doc("The value that was sent; null if the part was removed.")]

    def describe(self) -> str:
        """Describe the change in a few words."""
        part = self.part or "the body"
        if self.before is None:
            return f"{part} was added: {self.after}"
        if self.after is None:
            return f"{part} was removed: {self.before}"
        return f"{part} was {self.before} and became {self.after}"


class TrailStep(ControlMessage, frozen=True, kw_only=True):
    """A decision about a request."""

    step: Annotated[str, doc("The step that decided.")]
    text: Annotated[str, doc("The decision, in one sentence.")]


class ExchangeSummary(ControlMessage, frozen=True, kw_only=True):
    """A request and its response, as one line of the request log shows them."""

    n: Annotated[int, doc("The number of the request in the log.")]
    at: Annotated[str, doc("When the request arrived, in world time.")]
    method: Annotated[str, doc("The method of the request.")]
    path: Annotated[str, doc("The path, without the world's prefix.")]
    query: Annotated[str, doc("The query string.")]
    call: Annotated[str | None, doc("The call; null for a path that belongs to no call.")]
    project: Annotated[str | None, doc("The id of the project in the path, or of the operation.")]
    operation: Annotated[
        str | None, doc("The id of the operation in the path, or of the one that began.")
    ]
    principal: Annotated[str | None, doc("The id of the user; null without a known token.")]
    user: Annotated[
        str | None,
        doc(
            "The alias of the user, or `nobody` without a known token; null if the request was "
            "refused before its token was read."
        ),
    ]
    status: Annotated[
        int, doc("The status; 0 if the connection was lost before there was a response.")
    ]
    code: Annotated[str | None, doc("The code of the problem; null if there was none.")]
    idempotency_key: Annotated[str | None, doc("The Idempotency-Key; null if there was none.")]
    replayed: Annotated[
        bool, doc("Whether the response was the remembered first one of its Idempotency-Key.")
    ]
    lost: Annotated[
        str | None, doc("The kind of fault that lost the response; null if it was not lost.")
    ]
    why: Annotated[tuple[str, ...], doc("The reasons for the response, in sentences.")]
    varied: Annotated[list[str], doc("The points at which the response varies.")]
    duration_us: Annotated[float, doc("Real time in the emulator, in microseconds.")]
    in_progress: Annotated[
        bool, doc("Whether it still waits for its body, a delay or the disk: no response has left.")
    ]
    altered: Annotated[
        list[AlteredPart] | None,
        doc("The parts of the response that faults altered, if they altered any."),
    ] = None
    second_delivery_of: Annotated[
        int | None,
        doc(
            "The number of the request that a fault delivered a second time by this one, if it did."
        ),
    ] = None
    second_delivery: Annotated[
        int | None,
        doc("The number of the second delivery that a fault made of this request, if it made one."),
    ] = None
    discarded: Annotated[
        bool | None,
        doc("True if the client did not receive this response, but that to the other delivery."),
    ] = None

    @property
    def failed(self) -> bool:
        """Whether the client saw no success: a status from 400 on, or a lost response."""
        return self.status >= 400 or self.lost is not None


class Exchange(ExchangeSummary, frozen=True, kw_only=True):
    """An exchange in a list."""

    trail: Annotated[
        list[TrailStep] | None,
        doc("Every decision about the request, in order, unless it was not requested."),
    ] = None
    arrival: Annotated[
        int | None,
        doc(
            "Its position in the order in which requests of the process arrived. Only an observation "
            "shows it."
        ),
    ] = None


class WholeExchange(ExchangeSummary, frozen=True, kw_only=True):
    """An exchange with headers, bodies and trail."""

    request: Annotated[Message, doc("The request.")]
    response: Annotated[Message, doc("The response.")]
    trail: Annotated[list[TrailStep], doc("Every decision about the request, in order.")]


class RequestPage(ControlMessage, frozen=True, kw_only=True):
    """The last exchanges of a world."""

    total: Annotated[
        int, doc("How many requests there were in all since the log was last cleared.")
    ]
    times_cleared: Annotated[
        int,
        doc("How often a reset or another world cleared the log: numbers then begin at 1 again."),
    ]
    items: Annotated[list[Exchange], doc("The exchanges, newest first.")]


class ReportedProblem(ControlMessage, frozen=True, kw_only=True):
    """The problem that a request got."""

    code: Annotated[str, doc("The code of the problem.")]
    detail: Annotated[str, doc("The detail of the problem.")]


class ReportedExchange(ExchangeSummary, frozen=True, kw_only=True):
    """An exchange in the report of a world."""

    problem: Annotated[
        ReportedProblem | None, doc("The problem that it got; null if there was none.")
    ]


class ReportedRequests(ControlMessage, frozen=True, kw_only=True):
    """The last exchanges in the report of a world."""

    total: Annotated[int, doc("How many requests there were in all.")]
    items: Annotated[list[ReportedExchange], doc("The exchanges, oldest first.")]


class HeaderValues(UserDict[str, str]):
    """Headers by name in any case. The values of a repeated header are joined by a comma."""

    def __init__(self, pairs: Iterable[Iterable[str]]) -> None:
        super().__init__()
        for name, value in pairs:
            if name in self:
                value = f"{self[name]}, {value}"
            self.data[name.lower()] = value

    def __getitem__(self, name: str) -> str:
        return self.data[name.lower()]

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and name.lower() in self.data
