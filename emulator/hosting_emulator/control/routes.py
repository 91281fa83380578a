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
            tag="sign_in",
        ),
        Route(
            "POST",
            prefix + "/idp/authorize",
            "identity.sign_in:authorize",
            Media("text/html"),
            is_identity=True,
            tag="sign_in",
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
    Route("GET", "/", "dashboard.start_page:start", Media("text/html"), tag="documents"),
    Route("GET", "/health", "dashboard.process:health", Json(Health), tag="documents"),
    Route("GET", "/info", "dashboard.process:info", Json(Info), tag="documents"),
    Route(
        "GET", "/page-secret", "dashboard.process:page_secret", Json(PageSecret), tag="documents"
    ),
    Route("GET", "/metrics", "control.metrics:metrics", Media("text/plain"), tag="reports"),
    Route(
        "GET",
        "/openapi.json",
        "dashboard.openapi_documents:control_openapi",
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
        "dashboard.openapi_documents:openapi",
        Json(JsonObject),
        tag="documents",
    ),
    Route(
        "GET",
        "/contract/calls",
        "dashboard.contract_tables:calls",
        JsonList(CallRow),
        tag="documents",
    ),
    Route(
        "GET",
        "/contract/problems",
        "dashboard.contract_tables:problems",
        JsonList(ProblemRow),
        tag="documents",
    ),
    Route(
        "GET",
        "/contract/assumptions",
        "control.assumptions:list_assumptions",
        JsonList(AssumptionRow),
        tag="worlds",
    ),
    Route(
        "GET",
        "/contract/conduct-rules",
        "control.conduct:list_rules",
        JsonList(ConductRuleRow),
        tag="reports",
    ),
    Route(
        "GET", "/contract/fault-kinds", "control.faults:list_kinds", Json(FaultKinds), tag="faults"
    ),
    Route(
        "GET",
        "/contract/outcome-kinds",
        "control.outcomes:list_outcome_kinds",
        Json(FaultKinds),
        tag="faults",
    ),
    Route(
        "GET",
        "/contract/interventions",
        "control.interventions:list_interventions",
        JsonList(InterventionRow),
        tag="faults",
    ),
    Route(
        "GET",
        "/contract/variation-points",
        "control.variation:list_points",
        JsonList(VariationPoint),
        tag="faults",
    ),
    Route(
        "GET",
        "/contract/scenario-schema.json",
        "control.scenarios:schema",
        Json(JsonObject),
        tag="scenarios",
    ),
    Route(
        "GET",
        "/scenarios",
        "control.scenarios:list_scenarios",
        JsonList(ScenarioName),
        tag="scenarios",
    ),
    Route(
        "POST",
        "/scenarios/run",
        "control.scenarios:run_scenario",
        Json(StoryReport),
        tag="scenarios",
    ),
    Route(
        "GET",
        "/scenarios/{name}",
        "control.scenarios:show_scenario",
        Json(ScenarioText),
        tag="scenarios",
    ),
    Route(
        "GET",
        "/events",
        "control.events:listen_to_worlds",
        Media("text/event-stream"),
        tag="events",
    ),
    Route("GET", "/worlds", "control.worlds:list_worlds", JsonList(WorldSummary), tag="worlds"),
    Route(
        "POST",
        "/worlds",
        "control.new_worlds:create_world",
        Json(NewWorldSummary),
        status=201,
        body_limit=STATE_LIMIT,
        tag="worlds",
    ),
    Route("GET", "/worlds/{world}", "control.worlds:show_world", Json(WorldSummary), tag="worlds"),
    Route("DELETE", "/worlds/{world}", "control.worlds:delete_world", NoContent(), tag="worlds"),
    Route(
        "POST",
        "/worlds/{world}/reset",
        "control.worlds:reset_world",
        Json(WorldSummary),
        tag="worlds",
    ),
    Route(
        "POST",
        "/worlds/{world}/fork",
        "control.forks:fork_world",
        Json(NewWorldSummary),
        status=201,
        tag="worlds",
    ),
    Route(
        "GET",
        "/worlds/{world}/state",
        "control.world_states:get_state",
        Json(JsonObject),
        tag="worlds",
    ),
    Route(
        "PUT",
        "/worlds/{world}/state",
        "control.world_states:put_state",
        Json(WorldSummary),
        body_limit=STATE_LIMIT,
        tag="worlds",
    ),
    Route(
        "GET",
        "/worlds/{world}/assumptions",
        "control.assumptions:list_assumptions",
        JsonList(AssumptionRow),
        tag="worlds",
    ),
    Route(
        "PATCH",
        "/worlds/{world}/assumptions",
        "control.assumptions:patch_assumptions",
        JsonList(AssumptionRow),
        tag="worlds",
    ),
    Route(
        "GET",
        "/worlds/{world}/openapi.json",
        "dashboard.openapi_documents:openapi",
        Json(JsonObject),
        tag="documents",
    ),
    Route(
        "GET",
        "/worlds/{world}/requests",
        "control.requests:list_requests",
        Json(RequestPage),
        tag="requests",
    ),
    Route(
        "GET",
        "/worlds/{world}/requests/{n}",
        "control.requests:show_request",
        Json(WholeExchange),
        tag="requests",
    ),
    Route(
        "POST",
        "/worlds/{world}/requests/{n}/resend",
        "control.resend:resend_request",
        Json(WholeExchange),
        tag="requests",
    ),
    Route(
        "GET",
        "/worlds/{world}/requests.har",
        "control.har:export_har",
        Json(JsonObject),
        tag="requests",
    ),
    Route(
        "GET",
        "/worlds/{world}/events",
        "control.events:listen",
        Media("text/event-stream"),
        tag="events",
    ),
    Route(
        "GET", "/worlds/{world}/report", "control.reports:report", Json(WorldReport), tag="reports"
    ),
    Route(
        "GET",
        "/worlds/{world}/conduct",
        "control.conduct:show_conduct",
        Json(ConductReport),
        tag="reports",
    ),
    Route(
        "DELETE",
        "/worlds/{world}/conduct",
        "control.conduct:clear_conduct",
        NoContent(),
        tag="reports",
    ),
    Route(
        "POST",
        "/observations",
        "control.observations:begin_observation",
        Json(ObservationState),
        status=201,
        tag="observations",
    ),
    Route(
        "GET",
        "/observations/{observation}/chapters/{chapter}/state",
        "control.chapters:get_chapter_state",
        Json(JsonObject),
        tag="observations",
    ),
    Route(
        "GET",
        "/observations/{observation}/chapters/{chapter}/report",
        "control.chapters:report_chapter",
        Json(WorldReport),
        tag="observations",
    ),
    Route(
        "GET",
        "/observations/{observation}/chapters/{chapter}/requests",
        "control.chapters:list_chapter_requests",
        Json(RequestPage),
        tag="observations",
    ),
    Route(
        "GET",
        "/observations/{observation}/chapters/{chapter}/requests/{n}",
        "control.chapters:show_exchange",
        Json(WholeExchange),
        tag="observations",
    ),
    Route(
        "GET",
        "/observations/{observation}",
        "control.observations:show_observation",
        Json(ObservationReport),
        tag="observations",
    ),
    Route(
        "DELETE",
        "/observations/{observation}",
        "control.observations:end_observation",
        NoContent(),
        tag="observations",
    ),
    Route(
        "POST",
        "/protected-faults",
        "control.protected:protect_fault",
        Json(ProtectedFaultState),
        status=201,
        tag="protected",
    ),
    Route(
        "GET",
        "/protected-faults/{protected_fault}",
        "control.protected:show_protected_fault",
        Json(ProtectedFaultState),
        tag="protected",
    ),
    Route(
        "DELETE",
        "/protected-faults/{protected_fault}",
        "control.protected:remove_protected_fault",
        NoContent(),
        tag="protected",
    ),
    Route(
        "GET",
        "/worlds/{world}/history",
        "control.history:list_history",
        Json(CommitHistory),
        tag="history",
    ),
    Route(
        "POST",
        "/worlds/{world}/rewind",
        "control.history:rewind",
        Json(WorldSummary),
        tag="history",
    ),
    Route(
        "GET",
        "/worlds/{world}/snapshots",
        "control.snapshots:list_snapshots",
        JsonList(SnapshotState),
        tag="history",
    ),
    Route(
        "POST",
        "/worlds/{world}/snapshots",
        "control.snapshots:take_snapshot",
        Json(SnapshotState),
        status=201,
        tag="history",
    ),
    Route(
        "POST",
        "/worlds/{world}/snapshots/{snapshot}/restore",
        "control.snapshots:restore_snapshot",
        Json(WorldSummary),
        tag="history",
    ),
    Route(
        "DELETE",
        "/worlds/{world}/snapshots/{snapshot}",
        "control.snapshots:delete_snapshot",
        NoContent(),
        tag="history",
    ),
    Route(
        "GET",
        "/worlds/{world}/timeline",
        "control.timeline:show_timeline",
        Json(Timeline),
        tag="history",
    ),
    Route("GET", "/worlds/{world}/clock", "control.clock:get_clock", Json(ClockState), tag="clock"),
    Route(
        "PUT",
        "/worlds/{world}/clock",
        "control.clock_changes:put_clock",
        Json(ClockState),
        tag="clock",
    ),
    Route(
        "POST",
        "/worlds/{world}/clock/advance",
        "control.clock_changes:advance_clock",
        Json(ClockMove),
        tag="clock",
    ),
    Route(
        "GET",
        "/worlds/{world}/operations",
        "control.operations:list_operations",
        JsonList(OperationState),
        tag="clock",
    ),
    Route(
        "GET",
        "/worlds/{world}/operations/{operation}/why",
        "control.operations:why_operation",
        Json(Why),
        tag="clock",
    ),
    Route(
        "POST",
        "/worlds/{world}/operations/{operation}/step",
        "control.operations:step_operation",
        Json(JsonObject),
        tag="clock",
    ),
    Route(
        "GET",
        "/worlds/{world}/projects",
        "control.projects:list_projects",
        JsonList(ProjectState),
        tag="projects",
    ),
    Route(
        "GET",
        "/worlds/{world}/keys",
        "control.keys:list_keys",
        JsonList(KeyState),
        tag="projects",
    ),
    Route(
        "GET",
        "/worlds/{world}/faults",
        "control.faults:list_faults",
        JsonList(FaultState),
        tag="faults",
    ),
    Route(
        "POST",
        "/worlds/{world}/faults",
        "control.faults:arm_fault",
        Json(FaultState),
        status=201,
        tag="faults",
    ),
    Route(
        "DELETE",
        "/worlds/{world}/faults",
        "control.faults:clear_faults",
        Json(FaultsRemoved),
        tag="faults",
    ),
    Route(
        "GET",
        "/worlds/{world}/faults/{fault}",
        "control.faults:show_fault",
        Json(FaultState),
        tag="faults",
    ),
    Route(
        "DELETE",
        "/worlds/{world}/faults/{fault}",
        "control.faults:remove_fault",
        NoContent(),
        tag="faults",
    ),
    Route(
        "GET",
        "/worlds/{world}/outcomes",
        "control.outcomes:list_outcomes",
        JsonList(OutcomeState),
        tag="faults",
    ),
    Route(
        "POST",
        "/worlds/{world}/outcomes",
        "control.outcomes:arm_outcome",
        Json(OutcomeState),
        status=201,
        tag="faults",
    ),
    Route(
        "DELETE",
        "/worlds/{world}/outcomes",
        "control.outcomes:clear_outcomes",
        Json(FaultsRemoved),
        tag="faults",
    ),
    Route(
        "GET",
        "/worlds/{world}/outcomes/{outcome}",
        "control.outcomes:show_outcome",
        Json(OutcomeState),
        tag="faults",
    ),
    Route(
        "DELETE",
        "/worlds/{world}/outcomes/{outcome}",
        "control.outcomes:remove_outcome",
        NoContent(),
        tag="faults",
    ),
    Route(
        "POST",
        "/worlds/{world}/interventions",
        "control.interventions:intervene",
        Json(InterventionDone),
        tag="faults",
    ),
    Route(
        "GET",
        "/worlds/{world}/variation",
        "control.variation:get_variation",
        JsonOrNull(VariationState),
        tag="faults",
    ),
    Route(
        "PUT",
        "/worlds/{world}/variation",
        "control.variation:put_variation",
        Json(VariationState),
        tag="faults",
    ),
    Route(
        "DELETE",
        "/worlds/{world}/variation",
        "control.variation:delete_variation",
        NoContent(),
        tag="faults",
    ),
    Route(
        "GET",
        "/worlds/{world}/scenario",
        "control.scenarios:record_scenario",
        Json(RecordedScenario),
        tag="scenarios",
    ),
    Route(
        "POST",
        "/worlds/{world}/scenario",
        "control.scenarios:load_scenario",
        Json(WorldSummary),
        tag="scenarios",
    ),
    Route(
        "POST",
        "/worlds/{world}/tokens",
        "control.tokens:create_token",
        Json(AccessToken),
        status=201,
        tag="tokens",
    ),
    Route(
        "POST",
        "/worlds/{world}/api-keys",
        "control.tokens:create_api_key",
        Json(NewApiKey),
        status=201,
        tag="tokens",
    ),
    *_identity_routes(""),
    *_identity_routes("/worlds/{world}"),
]
