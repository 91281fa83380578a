"""The table of the paths below `/_emulator`, and of the endpoint behind each.

The file `endpoints.py` says how an endpoint is declared. It returns a value of the row's response type,
or a response. A list that can be long is an iterator that makes each item when it is needed, so that
other requests are handled in between. The engine of a world is written as the world's summary.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, TypeAlias

from hosting_emulator.contract.calls import IDENTITY_PROVIDER
from hosting_emulator.http.endpoint import BODY_LIMIT, STATE_LIMIT
from hosting_emulator.messages import (
    AccessToken,
    AssumptionRow,
    CallRow,
    ClockMove,
    ClockState,
    CommitHistory,
    ConductReport,
    ConductRuleRow,
    FaultKinds,
    FaultsRemoved,
    FaultState,
    Health,
    Info,
    InterventionDone,
    InterventionRow,
    JsonObject,
    KeyState,
    NewApiKey,
    NewWorldSummary,
    ObservationReport,
    ObservationState,
    OperationState,
    OutcomeState,
    PageSecret,
    ProblemRow,
    ProjectState,
    ProtectedFaultState,
    RecordedScenario,
    RequestPage,
    ScenarioName,
    ScenarioText,
    SnapshotState,
    StoryReport,
    Timeline,
    VariationPoint,
    VariationState,
    WholeExchange,
    Why,
    WorldReport,
    WorldSummary,
)

PREFIX: Final = "/_emulator"


@dataclass(frozen=True, slots=True)
class Json:
    """A response with one JSON object."""

    kind: Any


@dataclass(frozen=True, slots=True)
class JsonList:
    """A response with a list of JSON objects, as the member `items`."""

    kind: Any


@dataclass(frozen=True, slots=True)
class JsonOrNull:
    """A response with a JSON object, or `null`."""

    kind: Any


@dataclass(frozen=True, slots=True)
class Media:
    """A response of another media type."""

    media_type: str


@dataclass(frozen=True, slots=True)
class NoContent:
    """A response with the status 204 and no body."""


ResponseType: TypeAlias = Json | JsonList | JsonOrNull | Media | NoContent


@dataclass(frozen=True)
class Route:
    """A row of the table.

    In `path`, `{name}` is one segment, and `{name*}` the rest. `endpoint` is `MODULE:FUNCTION`, with
    the module below `hosting_emulator`. `tag` is the group in the OpenAPI document (default: the
    module's last name).
    """

    method: str
    path: str
    endpoint: str
    response: ResponseType
    status: int = 200
    tag: str = ""
    is_identity: bool = False
    body_limit: int = BODY_LIMIT

    @property
    def module(self) -> str:
        """The module of the endpoint, below `hosting_emulator`."""
        return self.endpoint.partition(":")[0]

    @property
    def function(self) -> str:
        """The name of the endpoint's function."""
        return self.endpoint.partition(":")[2]

    @property
    def group(self) -> str:
        """The tag, or else the last name of the module."""
        return self.tag or self.module.rpartition(".")[2]

    @property
    def identity_call(self) -> str:
        """The name of an endpoint of the identity provider, as faults know it; else empty."""
        if not self.is_identity:
            return ""
        return IDENTITY_PROVIDER + self.function

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The regular expression that a whole path below the prefix matches."""
        pattern = re.escape(self.path.rstrip("/"))
        pattern = re.sub(r"\\{(\w+)\\\*\\}", r"(?P<\1>.+)", pattern)
        pattern = re.sub(r"\\{(\w+)\\}", r"(?P<\1>[^/]+)", pattern)
        return re.compile(pattern)


def _identity_routes(prefix: str) -> list[Route]:
    """Return the rows of the identity provider of one world."""
    return [
        Route(
            "GET",
            prefix + "/idp/.well-known/openid-configuration",
            "identity.discovery:discovery",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "GET",
            prefix + "/idp/jwks.json",
            "identity.discovery:jwks",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "GET",
            prefix + "/idp/authorize",
            "identity.sign_in:authorize",
            Media("text/html"),
            is_identity=True,
        ),
        Route(
            "POST",
            prefix + "/idp/authorize",
            "identity.sign_in:authorize",
            Media("text/html"),
            is_identity=True,
        ),
        Route(
            "POST",
            prefix + "/idp/token",
            "identity.token_endpoint:token",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "GET",
            prefix + "/idp/userinfo",
            "identity.discovery:userinfo",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "POST",
            prefix + "/idp/userinfo",
            "identity.discovery:userinfo",
            Json(JsonObject),
            tag="tokens",
            is_identity=True,
        ),
        Route(
            "GET",
            prefix + "/idp/end-session",
            "identity.sign_out:end_session",
            Media("text/html"),
            tag="sign_in",
            is_identity=True,
        ),
    ]


@dataclass(frozen=True, slots=True)
class PathParameter:
    """Documents a name in braces of paths. `example` is a value that a fresh world has or soon gets."""

    description: str
    example: str | int | None = None


#: The names in braces of the paths below.
PATH_PARAMETERS: Final = {
    "world": PathParameter("The name of a world.", "default"),
    "n": PathParameter("The number of an exchange in the log.", 1),
    "name": PathParameter("The name of a scenario of the library.", "provider-outage"),
    "operation": PathParameter("The id of an operation."),
    "fault": PathParameter("The id of a fault.", "fault-1"),
    "outcome": PathParameter("The id of an outcome.", "outcome-1"),
    "snapshot": PathParameter("The id of a snapshot.", "snapshot-1"),
    "protected_fault": PathParameter("The id of a protected fault.", "fault-1000000001"),
    "observation": PathParameter("The id of an observation.", "observation-1"),
    "chapter": PathParameter("The index of a chapter of the observation.", "0"),
}

#: The tags of the OpenAPI document, in its order.
TAGS: Final = {
    "documents": "The process, and the contract's tables",
    "worlds": "Worlds",
    "tokens": "Tokens and keys, and each world as an OpenID provider",
    "clock": "Time and operations",
    "faults": "Faults, outcomes, interventions and variation",
    "scenarios": "Scenarios",
    "requests": "The request log",
    "events": "Events, as they happen",
    "history": "Commits, snapshots and rewinding",
    "projects": "What a world holds",
    "protected": "Faults that a judge keeps in every world",
    "observations": "Observations: every world and request from a beginning to an end",
    "reports": "Reports, conduct and metrics",
    "sign_in": "Browser sign-in",
}

#: The first row that matches a path handles it.
ROUTES: Final = [
    Route("GET", "/", "dashboard.handlers:start", Media("text/html"), tag="documents"),
    Route("GET", "/health", "dashboard.handlers:health", Json(Health), tag="documents"),
    Route("GET", "/info", "dashboard.handlers:info", Json(Info), tag="documents"),
    Route(
        "GET", "/page-secret", "dashboard.handlers:page_secret", Json(PageSecret), tag="documents"
    ),
    Route("GET", "/metrics", "control.reports:metrics", Media("text/plain")),
    Route(
        "GET",
        "/openapi.json",
        "dashboard.handlers:control_openapi",
        Json(JsonObject),
        tag="documents",
    ),
    Route(
        "GET",
        "/docs",
        "dashboard.documentation:show_documentation",
        Media("text/html"),
        tag="documents",
    ),
    Route(
        "GET",
        "/docs/control-api",
        "dashboard.documentation:show_control_documentation",
        Media("text/html"),
        tag="documents",
    ),
    Route(
        "GET",
        "/docs/style.css",
        "dashboard.static_files:style_sheet",
        Media("text/css"),
        tag="documents",
    ),
    Route(
        "GET",
        "/docs/errors",
        "dashboard.problem_pages:show_catalogue",
        Media("text/html"),
        tag="documents",
    ),
    Route(
        "GET",
        "/docs/errors/{slug}",
        "dashboard.problem_pages:show_problem",
        Media("text/html"),
        tag="documents",
    ),
    Route(
        "GET",
        "/static/{file*}",
        "dashboard.static_files:static_file",
        Media("*/*"),
        tag="documents",
    ),
    Route(
        "GET",
        "/contract/openapi.json",
        "dashboard.handlers:openapi",
        Json(JsonObject),
        tag="documents",
    ),
    Route("GET", "/contract/calls", "dashboard.handlers:calls", JsonList(CallRow), tag="documents"),
    Route(
        "GET",
        "/contract/problems",
        "dashboard.handlers:problems",
        JsonList(ProblemRow),
        tag="documents",
    ),
    Route(
        "GET", "/contract/assumptions", "control.worlds:list_assumptions", JsonList(AssumptionRow)
    ),
    Route("GET", "/contract/conduct-rules", "control.reports:list_rules", JsonList(ConductRuleRow)),
    Route("GET", "/contract/fault-kinds", "control.faults:list_kinds", Json(FaultKinds)),
    Route("GET", "/contract/outcome-kinds", "control.faults:list_outcome_kinds", Json(FaultKinds)),
    Route(
        "GET",
        "/contract/interventions",
        "control.faults:list_interventions",
        JsonList(InterventionRow),
    ),
    Route(
        "GET", "/contract/variation-points", "control.faults:list_points", JsonList(VariationPoint)
    ),
    Route("GET", "/contract/scenario-schema.json", "control.scenarios:schema", Json(JsonObject)),
    Route("GET", "/scenarios", "control.scenarios:list_scenarios", JsonList(ScenarioName)),
    Route("POST", "/scenarios/run", "control.scenarios:run_scenario", Json(StoryReport)),
    Route("GET", "/scenarios/{name}", "control.scenarios:show_scenario", Json(ScenarioText)),
    Route(
        "GET",
        "/events",
        "control.requests:listen_to_worlds",
        Media("text/event-stream"),
        tag="events",
    ),
    Route("GET", "/worlds", "control.worlds:list_worlds", JsonList(WorldSummary)),
    Route(
        "POST",
        "/worlds",
        "control.worlds:create_world",
        Json(NewWorldSummary),
        status=201,
        body_limit=STATE_LIMIT,
    ),
    Route("GET", "/worlds/{world}", "control.worlds:show_world", Json(WorldSummary)),
    Route("DELETE", "/worlds/{world}", "control.worlds:delete_world", NoContent()),
    Route("POST", "/worlds/{world}/reset", "control.worlds:reset_world", Json(WorldSummary)),
    Route(
        "POST",
        "/worlds/{world}/fork",
        "control.worlds:fork_world",
        Json(NewWorldSummary),
        status=201,
    ),
    Route("GET", "/worlds/{world}/state", "control.worlds:get_state", Json(JsonObject)),
    Route(
        "PUT",
        "/worlds/{world}/state",
        "control.worlds:put_state",
        Json(WorldSummary),
        body_limit=STATE_LIMIT,
    ),
    Route(
        "GET",
        "/worlds/{world}/assumptions",
        "control.worlds:list_assumptions",
        JsonList(AssumptionRow),
    ),
    Route(
        "PATCH",
        "/worlds/{world}/assumptions",
        "control.worlds:patch_assumptions",
        JsonList(AssumptionRow),
    ),
    Route(
        "GET",
        "/worlds/{world}/openapi.json",
        "dashboard.handlers:openapi",
        Json(JsonObject),
        tag="documents",
    ),
    Route("GET", "/worlds/{world}/requests", "control.requests:list_requests", Json(RequestPage)),
    Route(
        "GET", "/worlds/{world}/requests/{n}", "control.requests:show_request", Json(WholeExchange)
    ),
    Route(
        "POST",
        "/worlds/{world}/requests/{n}/resend",
        "control.requests:resend_request",
        Json(WholeExchange),
    ),
    Route("GET", "/worlds/{world}/requests.har", "control.requests:export_har", Json(JsonObject)),
    Route(
        "GET",
        "/worlds/{world}/events",
        "control.requests:listen",
        Media("text/event-stream"),
        tag="events",
    ),
    Route("GET", "/worlds/{world}/report", "control.reports:report", Json(WorldReport)),
    Route("GET", "/worlds/{world}/conduct", "control.reports:show_conduct", Json(ConductReport)),
    Route("DELETE", "/worlds/{world}/conduct", "control.reports:clear_conduct", NoContent()),
    Route(
        "POST",
        "/observations",
        "control.observations:begin_observation",
        Json(ObservationState),
        status=201,
    ),
    Route(
        "GET",
        "/observations/{observation}/chapters/{chapter}/state",
        "control.observations:get_chapter_state",
        Json(JsonObject),
    ),
    Route(
        "GET",
        "/observations/{observation}/chapters/{chapter}/report",
        "control.observations:report_chapter",
        Json(WorldReport),
    ),
    Route(
        "GET",
        "/observations/{observation}/chapters/{chapter}/requests",
        "control.observations:list_chapter_requests",
        Json(RequestPage),
    ),
    Route(
        "GET",
        "/observations/{observation}/chapters/{chapter}/requests/{n}",
        "control.observations:show_exchange",
        Json(WholeExchange),
    ),
    Route(
        "GET",
        "/observations/{observation}",
        "control.observations:show_observation",
        Json(ObservationReport),
    ),
    Route(
        "DELETE", "/observations/{observation}", "control.observations:end_observation", NoContent()
    ),
    Route(
        "POST",
        "/protected-faults",
        "control.protected:protect_fault",
        Json(ProtectedFaultState),
        status=201,
    ),
    Route(
        "GET",
        "/protected-faults/{protected_fault}",
        "control.protected:show_protected_fault",
        Json(ProtectedFaultState),
    ),
    Route(
        "DELETE",
        "/protected-faults/{protected_fault}",
        "control.protected:remove_protected_fault",
        NoContent(),
    ),
    Route(
        "GET",
        "/worlds/{world}/history",
        "control.clock:list_history",
        Json(CommitHistory),
        tag="history",
    ),
    Route(
        "POST", "/worlds/{world}/rewind", "control.clock:rewind", Json(WorldSummary), tag="history"
    ),
    Route(
        "GET",
        "/worlds/{world}/snapshots",
        "control.clock:list_snapshots",
        JsonList(SnapshotState),
        tag="history",
    ),
    Route(
        "POST",
        "/worlds/{world}/snapshots",
        "control.clock:take_snapshot",
        Json(SnapshotState),
        status=201,
        tag="history",
    ),
    Route(
        "POST",
        "/worlds/{world}/snapshots/{snapshot}/restore",
        "control.clock:restore_snapshot",
        Json(WorldSummary),
        tag="history",
    ),
    Route(
        "DELETE",
        "/worlds/{world}/snapshots/{snapshot}",
        "control.clock:delete_snapshot",
        NoContent(),
        tag="history",
    ),
    Route(
        "GET",
        "/worlds/{world}/timeline",
        "control.clock:show_timeline",
        Json(Timeline),
        tag="history",
    ),
    Route("GET", "/worlds/{world}/clock", "control.clock:get_clock", Json(ClockState)),
    Route("PUT", "/worlds/{world}/clock", "control.clock:put_clock", Json(ClockState)),
    Route("POST", "/worlds/{world}/clock/advance", "control.clock:advance_clock", Json(ClockMove)),
    Route(
        "GET",
        "/worlds/{world}/operations",
        "control.clock:list_operations",
        JsonList(OperationState),
    ),
    Route(
        "GET",
        "/worlds/{world}/operations/{operation}/why",
        "control.clock:why_operation",
        Json(Why),
    ),
    Route(
        "POST",
        "/worlds/{world}/operations/{operation}/step",
        "control.clock:step_operation",
        Json(JsonObject),
    ),
    Route(
        "GET",
        "/worlds/{world}/projects",
        "control.worlds:list_projects",
        JsonList(ProjectState),
        tag="projects",
    ),
    Route(
        "GET",
        "/worlds/{world}/keys",
        "control.worlds:list_keys",
        JsonList(KeyState),
        tag="projects",
    ),
    Route("GET", "/worlds/{world}/faults", "control.faults:list_faults", JsonList(FaultState)),
    Route(
        "POST", "/worlds/{world}/faults", "control.faults:arm_fault", Json(FaultState), status=201
    ),
    Route("DELETE", "/worlds/{world}/faults", "control.faults:clear_faults", Json(FaultsRemoved)),
    Route("GET", "/worlds/{world}/faults/{fault}", "control.faults:show_fault", Json(FaultState)),
    Route("DELETE", "/worlds/{world}/faults/{fault}", "control.faults:remove_fault", NoContent()),
    Route(
        "GET", "/worlds/{world}/outcomes", "control.faults:list_outcomes", JsonList(OutcomeState)
    ),
    Route(
        "POST",
        "/worlds/{world}/outcomes",
        "control.faults:arm_outcome",
        Json(OutcomeState),
        status=201,
    ),
    Route(
        "DELETE", "/worlds/{world}/outcomes", "control.faults:clear_outcomes", Json(FaultsRemoved)
    ),
    Route(
        "GET",
        "/worlds/{world}/outcomes/{outcome}",
        "control.faults:show_outcome",
        Json(OutcomeState),
    ),
    Route(
        "DELETE", "/worlds/{world}/outcomes/{outcome}", "control.faults:remove_outcome", NoContent()
    ),
    Route(
        "POST", "/worlds/{world}/interventions", "control.faults:intervene", Json(InterventionDone)
    ),
    Route(
        "GET",
        "/worlds/{world}/variation",
        "control.faults:get_variation",
        JsonOrNull(VariationState),
    ),
    Route("PUT", "/worlds/{world}/variation", "control.faults:put_variation", Json(VariationState)),
    Route("DELETE", "/worlds/{world}/variation", "control.faults:delete_variation", NoContent()),
    Route(
        "GET",
        "/worlds/{world}/scenario",
        "control.scenarios:record_scenario",
        Json(RecordedScenario),
    ),
    Route(
        "POST", "/worlds/{world}/scenario", "control.scenarios:load_scenario", Json(WorldSummary)
    ),
    Route(
        "POST",
        "/worlds/{world}/tokens",
        "control.tokens:create_token",
        Json(AccessToken),
        status=201,
    ),
    Route(
        "POST",
        "/worlds/{world}/api-keys",
        "control.tokens:create_api_key",
        Json(NewApiKey),
        status=201,
    ),
    *_identity_routes(""),
    *_identity_routes("/worlds/{world}"),
]
