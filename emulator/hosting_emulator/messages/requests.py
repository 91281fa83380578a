"""Messages about a world's request log: filters, exchanges, and the decisions that led to the
responses.
"""

from __future__ import annotations

import json
from collections import UserDict
from collections.abc import Iterable
from typing import Annotated, Any, TypedDict

from msgspec import Meta

from hosting_emulator.messages.declaration import ControlMessage, doc

#: The reason in the log for a response that the client did not receive completely, because it gave up.
GAVE_UP_NOTE = "the client closed its side before the whole response had been sent"
#: The beginning of the explanation that a skip clock moved when a request arrived. The new time follows.
SKIP_NOTE = "the skip clock moved to"


class RequestFilters(TypedDict, total=False):
    """Filters for exchanges. An exchange must match every filter that is set."""

    call: Annotated[
        str | None,
        Meta(
            description="The name of a call, or `none` for requests that match no call.",
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
            description=(
                "A user's alias or id, or `nobody` for requests that were refused because they had "
                "no valid token or API key."
            ),
            examples=["owner"],
        ),
    ]
    project: Annotated[
        str | None, Meta(description="The alias or id of a project.", examples=["shop"])
    ]
    since: Annotated[
        str | None,
        Meta(
            description=(
                "Only exchanges at or after this time: a timestamp in world time, or how "
                "long ago, such as `5m`."
            ),
            examples=["1h"],
        ),
    ]
    before: Annotated[
        str | None,
        Meta(
            description=(
                "Only exchanges before this time: a timestamp in world time, or how long "
                "ago, such as `5m`."
            ),
            examples=["5m"],
        ),
    ]
    text: Annotated[
        str | None,
        Meta(
            description=(
                "Text to search for in the request line, the call, the code, the reasons and "
                "the bodies."
            ),
            examples=["deployments"],
        ),
    ]
    after: Annotated[
        int | None,
        Meta(
            description="A request number. Only exchanges with higher numbers match.", examples=[1]
        ),
    ]


class Message(ControlMessage, frozen=True, kw_only=True):
    """A request or a response, with the service's tokens, API keys and tickets redacted."""

    headers: Annotated[list[tuple[str, str]], doc("The headers, as pairs of a name and a value.")]
    body: Annotated[
        str | None, doc("The body, or its beginning if it is long; null if the body is not text.")
    ]
    body_bytes: Annotated[int, doc("The length of the complete body, in bytes.")]
    body_cut: Annotated[
        bool,
        doc(
            "Whether `body` contains only the beginning of the body, or nothing of a refused body."
        ),
    ]

    @property
    def content(self) -> Any:
        """The body, parsed as JSON, or None if there is no body.

        A body that is truncated or is not JSON is returned as a string.
        """
        if not self.body:
            return None
        try:
            return json.loads(self.body)
        except ValueError:
            return self.body


class AlteredPart(ControlMessage, frozen=True, kw_only=True):
    """One part of a response that a fault altered.

    The values are strings. Secrets are redacted, and long values are truncated.
    """

    fault: Annotated[str, doc("The id of the fault.")]
    part: Annotated[str, doc("A JSON Pointer into the body, the name of a header, or `status`.")]
    before: Annotated[str | None, doc("The original value; null if the response had no such part.")]
    after: Annotated[str | None, doc("The value that was sent; null if the part was removed.")]

    def describe(self) -> str:
        """Describe the change in a few words."""
        part = self.part or "the body"
        if self.before is None:
            return f"{part} was added: {self.after}"
        if self.after is None:
            return f"{part} was removed: {self.before}"
        return f"{part} changed from {self.before} to {self.after}"


class TrailStep(ControlMessage, frozen=True, kw_only=True):
    """A decision about a request."""

    step: Annotated[str, doc("The kind of decision, such as `scope`, `fault` or `commit`.")]
    text: Annotated[str, doc("The decision, in one or more sentences.")]


class ExchangeSummary(ControlMessage, frozen=True, kw_only=True):
    """The summary of a request and its response in the request log."""

    n: Annotated[int, doc("The number of the request in the log.")]
    at: Annotated[str, doc("The world time at which the request was handled.")]
    method: Annotated[str, doc("The method of the request.")]
    path: Annotated[str, doc("The path, without the world's prefix.")]
    query: Annotated[str, doc("The query string.")]
    call: Annotated[str | None, doc("The name of the call; null if the request matches no call.")]
    project: Annotated[
        str | None,
        doc("The id of the project in the path, or of the project that the operation belongs to."),
    ]
    operation: Annotated[
        str | None,
        doc("The id of the operation in the path, or of the operation that the call started."),
    ]
    user_id: Annotated[
        str | None,
        doc(
            "The id of the user; null if the request had no valid token or API key, or was refused "
            "before these were read."
        ),
    ]
    user: Annotated[
        str | None,
        doc(
            "The alias of the user, or `nobody` if the request had no valid token or API key; null "
            "if the request was refused before these were read, or if the user no longer exists."
        ),
    ]
    status: Annotated[
        int,
        doc("The status; 0 if there is no response yet, or if the connection ended without one."),
    ]
    code: Annotated[str | None, doc("The code of the problem; null if there was none.")]
    idempotency_key: Annotated[str | None, doc("The Idempotency-Key; null if there was none.")]
    replayed: Annotated[
        bool, doc("Whether the response is a replay of the first response to this Idempotency-Key.")
    ]
    lost: Annotated[
        str | None,
        doc("The kind of fault that caused the response to be lost; null if it was not lost."),
    ]
    why: Annotated[tuple[str, ...], doc("The reasons for the response, as sentences.")]
    varied: Annotated[list[str], doc("The variation points at which the response was varied.")]
    duration_us: Annotated[
        float, doc("The real time that the emulator spent on the request, in microseconds.")
    ]
    in_progress: Annotated[
        bool,
        doc(
            "Whether the response has not been sent yet, because the request is waiting for its "
            "body, a delay or the disk."
        ),
    ]
    altered: Annotated[
        list[AlteredPart] | None,
        doc("The parts of the response that faults altered; absent if faults altered nothing."),
    ] = None
    stale_at: Annotated[
        str | None,
        doc(
            "If a fault made the response show an earlier state, the world time of that state; "
            "absent otherwise."
        ),
    ] = None
    second_delivery_of: Annotated[
        int | None,
        doc("If this request is a second delivery by a fault, the number of the original request."),
    ] = None
    second_delivery: Annotated[
        int | None,
        doc("If a fault delivered this request twice, the number of the second delivery."),
    ] = None
    discarded: Annotated[
        bool | None,
        doc("True if the client received the response to the other delivery rather than this one."),
    ] = None

    @property
    def failed(self) -> bool:
        """Whether the client saw a failure: a status of 400 or above, or a lost response."""
        return self.status >= 400 or self.lost is not None


class Exchange(ExchangeSummary, frozen=True, kw_only=True):
    """An exchange, as listed."""

    trail: Annotated[
        list[TrailStep] | None,
        doc("Every decision about the request, in order. Present only if the trail was requested."),
    ] = None
    arrival: Annotated[
        int | None,
        doc(
            "The request's position in the order of arrival across all worlds in the process. "
            "Present only in an observation, and only if the request arrived over a connection."
        ),
    ] = None


class WholeExchange(ExchangeSummary, frozen=True, kw_only=True):
    """An exchange with its headers, its bodies and its trail."""

    request: Annotated[Message, doc("The request.")]
    response: Annotated[Message, doc("The response.")]
    trail: Annotated[list[TrailStep], doc("Every decision about the request, in order.")]


class RequestPage(ControlMessage, frozen=True, kw_only=True):
    """A world's latest exchanges."""

    total: Annotated[int, doc("The total number of requests since the log was last cleared.")]
    times_cleared: Annotated[
        int,
        doc(
            "How many times the log has been cleared because the world was reset or replaced. "
            "Each time, request numbers start again at 1."
        ),
    ]
    items: Annotated[list[Exchange], doc("The exchanges, newest first.")]


class ReportedProblem(ControlMessage, frozen=True, kw_only=True):
    """The problem that a response contains."""

    code: Annotated[str, doc("The code of the problem.")]
    detail: Annotated[str, doc("The detail of the problem.")]


class ReportedExchange(ExchangeSummary, frozen=True, kw_only=True):
    """An exchange in a world's report."""

    problem: Annotated[
        ReportedProblem | None, doc("The problem in the response; null if there was none.")
    ]


class ReportedRequests(ControlMessage, frozen=True, kw_only=True):
    """The latest exchanges in a world's report."""

    total: Annotated[int, doc("The total number of requests.")]
    items: Annotated[list[ReportedExchange], doc("The exchanges, oldest first.")]


class HeaderValues(UserDict[str, str]):
    """Headers with case-insensitive names. The values of a repeated header are joined with commas."""

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
