"""The contract's sentences that the check judges, or cannot judge, in the order of the contract.

Each sentence is quoted exactly as the contract writes it; a row of a table is a sentence too.
Sentences about the fields of a resource are quoted in `contract/resources.py`, and are represented
here by FieldSentences. What the contract calls "not shown" is not listed, because no server can
break it. The server's behavior in such cases is an assumption instead.
"""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract.resources import (
    STATES,
    DatabaseCompute,
    DatabasePlacement,
    DeploymentPage,
    DeploymentResource,
    DevAccessTicket,
    DnsAuthorization,
    OperationError,
    OperationResource,
    PoweredByFlag,
    ProblemDetails,
    ProgressResource,
    ReconciliationResource,
    UserApiKey,
    UserApiKeyCreation,
)


class Quote(NamedTuple):
    """A sentence of the contract.

    `key` is the name of the sentence in reports. `unseen` is the reason why no check from outside
    can tell whether a server keeps the sentence, or an empty string if a check can tell. `calls` are
    the calls about which the sentence speaks together. It holds only if each of them shows it.
    `needs` are the keys of sentences that it sums up. It holds only if each of them holds.
    """

    key: str
    text: str
    unseen: str = ""
    calls: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()


class FieldSentences(NamedTuple):
    """The contract's sentences about the fields of a resource, as its declaration quotes them."""

    declaration: type[Struct]


class Section(NamedTuple):
    """A part of the contract, with a title that reports show."""

    title: str
    sentences: tuple[Quote | FieldSentences, ...]


SECTIONS = (
    Section(
        "Project Hosting Control API Specification",
        (
            Quote("json", "All bodies are JSON."),
            Quote("problem-media", "Errors use the media type application/problem+json."),
        ),
    ),
    Section(
        "What the service does",
        (
            Quote(
                "public-interface",
                "Its public interface is described as covering hosting, projects, domains, email, "
                "credits and exports.",
                unseen="It is about more than the eight calls that the contract lists.",
            ),
            Quote(
                "durable",
                "Project mutations that take time are accepted as durable asynchronous operations "
                "that the caller polls.",
            ),
        ),
    ),
    Section(
        "Common types",
        (
            Quote(
                "ulid",
                "| Ulid | string | exactly 26 characters matching ^[0-9A-HJKMNP-TV-Z]{26}$; used "
                "for project_id, organization_id, operation id, deployment id, ticket ids |",
            ),
            Quote("timestamp", "| timestamp | string | date-time (ISO 8601 / RFC 3339) |"),
        ),
    ),
    Section(
        "PoweredByFlag",
        (
            FieldSentences(PoweredByFlag),
            Quote("flag.closed", "No additional properties."),
            Quote(
                "flag.request",
                "Request body SetPoweredByFlagRequest: object with required boolean enabled, no "
                "additional properties.",
            ),
            Quote(
                "flag.site",
                "the production site shows a small flag on its right edge that links to the "
                "service.",
                unseen="It is about the production site, which the API does not serve.",
            ),
            Quote(
                "flag.waiver",
                "While it is on, a Free workspace may connect its own domain to this project and "
                "the custom-hostname fee is waived; Paid periods receive bonus credits.",
                unseen=(
                    "It is about domains, fees and credits, which none of the eight calls shows."
                ),
            ),
        ),
    ),
    Section(
        "Operation",
        (
            FieldSentences(OperationResource),
            FieldSentences(OperationError),
            FieldSentences(ProgressResource),
            FieldSentences(ReconciliationResource),
        ),
    ),
    Section(
        "Deployment",
        (FieldSentences(DeploymentResource),),
    ),
    Section(
        "UserApiKeyCreation",
        (
            FieldSentences(UserApiKeyCreation),
            FieldSentences(UserApiKey),
        ),
    ),
    Section(
        "DnsAuthorization",
        (
            FieldSentences(DnsAuthorization),
            Quote(
                "dns.no-credentials",
                "No provider credentials are ever exposed.",
                unseen="No number of responses can prove that something is never shown.",
            ),
            Quote(
                "dns.no-inference",
                "No platform or customer zone is inferred.",
                unseen="It is about what happens inside the service, which no response shows.",
            ),
        ),
    ),
    Section(
        "DevAccessTicket",
        (
            FieldSentences(DevAccessTicket),
            Quote(
                "ticket.once",
                "Credential material is returned once and is never persisted in plaintext.",
                unseen="How a server stores credentials cannot be seen from outside.",
            ),
        ),
    ),
    Section(
        "DatabaseCompute",
        (
            FieldSentences(DatabaseCompute),
            FieldSentences(DatabasePlacement),
            Quote(
                "compute.no-identifiers",
                "Provider identifiers and credentials are never returned.",
                unseen="No number of responses can prove that something is never shown.",
            ),
            Quote(
                "compute.settings",
                "The configuration describes observed settings, not a completed resize operation.",
                unseen="It is about what happens inside the service, which no response shows.",
            ),
        ),
    ),
    Section(
        "Page of deployments",
        (FieldSentences(DeploymentPage),),
    ),
    Section(
        "States: flag",
        (
            Quote(
                "flag.on",
                "| enabled=false | PUT flag with enabled=true | caller is owner | enabled=true | "
                "enabled_at becomes the switch-on time |",
            ),
            Quote(
                "flag.off",
                "| enabled=true | PUT flag with enabled=false | no Free workspace's domain depends "
                "on the flag | enabled=false | enabled_at becomes null |",
            ),
            Quote(
                "flag.off-refused",
                "| enabled=true | PUT flag with enabled=false | a Free workspace's domain depends "
                "on the flag | unchanged | request refused |",
            ),
            Quote(
                "flag.retry",
                "| any | retry with same Idempotency-Key and same body | | unchanged | first "
                "result returned, no second switch |",
            ),
        ),
    ),
    Section(
        "States: operation",
        (
            Quote("states.operation", f"States: {', '.join(STATES)}."),
            Quote(
                "states.blocking",
                "A queued operation may name the active operation holding the project mutation "
                "claim in blocking_operation_id.",
            ),
        ),
    ),
    Section(
        "States: DNS authorization",
        (Quote("states.dns", "States: not_authorized, pending, authorized, expired, revoked."),),
    ),
    Section(
        "States: dev access ticket",
        (
            Quote("states.ticket-once", "1. A ticket is single use and valid ten minutes."),
            Quote(
                "states.ticket-revoked",
                "2. Issuing a new ticket revokes unused tickets previously issued to the same "
                "principal.",
            ),
        ),
    ),
    Section(
        "Endpoints",
        (
            Quote("paths", "All paths are relative to {base_url} (or {dev_base_url})."),
            Quote(
                "bearer",
                "Authorization: Bearer <ACCESS_TOKEN_OR_API_KEY> (all)",
                calls=tuple(CALLS),
            ),
            Quote(
                "request-id",
                "X-Request-Id (optional request header, string 1-128 characters; a response header "
                "X-Request-Id is returned with error responses)",
            ),
            Quote(
                "idempotency-key",
                "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no "
                "such header is listed for operations 5 to 8).",
                calls=tuple(call_id for call_id, spec in CALLS.items() if spec.idempotent),
            ),
        ),
    ),
    Section(
        "1. Show or hide the flag",
        (
            Quote("flag.call", "PUT /v1/projects/{project_id}/powered-by-flag"),
            Quote(
                "flag.body",
                "Body (required, application/json): { enabled: boolean (required) }, no other "
                "properties.",
            ),
            Quote("flag.200", "200: PoweredByFlag."),
            Quote(
                "flag.statuses",
                "Error statuses listed: 400, 401, 403, 404, 409, 503 (Problem Details).",
            ),
            Quote("flag.owner-only", "Owner-only."),
            Quote(
                "flag.hiding-refused",
                "Hiding is refused while a Free workspace's domain depends on the flag.",
            ),
            Quote(
                "flag.replay",
                "Same key and same body: first result returned without switching again.",
            ),
            Quote(
                "flag.reused", "Same key with a changed request: 409 code idempotency_key_reused."
            ),
        ),
    ),
    Section(
        "2. Initialize managed Git source",
        (
            Quote("source.call", "POST /v1/projects/{project_id}/source:initialize"),
            Quote(
                "source.body", "Body (application/json): { expected_source_generation: integer }."
            ),
            Quote(
                "source.accepted",
                "Response: the mutation was accepted for asynchronous processing; body is an "
                "Operation.",
            ),
        ),
    ),
    Section(
        "3. Create user API key",
        (
            Quote("keys.call", "POST /v1/organizations/{organization_id}/user-api-keys"),
            Quote("keys.body", "Body (application/json): { name: string, length 1 to 64 }."),
            Quote("keys.response", "Response body: UserApiKeyCreation."),
            Quote(
                "keys.session",
                "Requires a current interactive user session; organization membership and product "
                "permissions are revalidated.",
            ),
            Quote("keys.days", "Creates a user-owned token valid 90 days."),
            Quote(
                "keys.zero-credits",
                "Available at zero credits.",
                unseen="No call shows an organization's credits.",
            ),
            Quote("keys.value-once", "Only the first creation returns the full value."),
            Quote(
                "keys.replay",
                "An exact replay (same name and Idempotency-Key) returns metadata and value null.",
            ),
            Quote(
                "keys.uncertainty",
                "After any uncertainty the same name and Idempotency-Key are reused rather than "
                "creating another token.",
            ),
        ),
    ),
    Section(
        "4. Apply project domains",
        (
            Quote("domains.call", "PUT /v1/projects/{project_id}/domains"),
            Quote(
                "domains.idempotent",
                "Starts an idempotent durable operation for the exact project-derived development, "
                "production and mail hostnames (derived by the server, not supplied).",
            ),
            Quote(
                "domains.accepted",
                "Response: accepted for asynchronous processing; body is an Operation.",
            ),
            Quote(
                "domains.reused",
                "A 409 with code idempotency_key_reused is a documented error for this operation.",
            ),
        ),
    ),
    Section(
        "5. Get DNS authorization status",
        (
            Quote("dns.call", "GET /v1/projects/{project_id}/edge-dns"),
            Quote("dns.response", "Response: DnsAuthorization (credential-free)."),
        ),
    ),
    Section(
        "6. List deployments",
        (
            Quote("deployments.call", "GET /v1/projects/{project_id}/deployments"),
            Quote(
                "deployments.query",
                "Query: a continuation cursor (opaque string from the preceding page's "
                "next_cursor, characters A-Z a-z 0-9 _ -) and a maximum page size (integer 1 to "
                "100).",
            ),
            Quote("deployments.response", "Response: page of deployments (items, next_cursor)."),
            Quote("deployments.page-through", "Page through a project's deployments"),
        ),
    ),
    Section(
        "7. Create dev access ticket",
        (
            Quote("tickets.call", "POST /v1/projects/{project_id}/dev-access-tickets"),
            Quote(
                "tickets.owner-only",
                "Owner-only issuance of a ten-minute single-use ticket for the immutable dev "
                "project origin.",
            ),
            Quote(
                "tickets.revokes", "A new ticket revokes the principal's earlier unused tickets."
            ),
            Quote("tickets.response", "Response: DevAccessTicket."),
        ),
    ),
    Section(
        "8. Read database compute",
        (
            Quote("compute.call", "GET /v1/projects/{project_id}/database/compute"),
            Quote(
                "compute.query",
                "Query: one parameter choosing the environment, allowed values dev, prod.",
            ),
            Quote("compute.response", "Response: DatabaseCompute."),
            Quote("compute.readers", "Project readers may call it"),
            Quote(
                "compute.asleep",
                "it returns no provider identifiers or credentials, executes no SQL and does not "
                "wake the database.",
                unseen=(
                    "What a server does not return, execute or wake leaves no trace in a response."
                ),
            ),
            Quote(
                "compute.failure",
                "A provider failure returns a problem response, never invented defaults.",
                unseen="A client cannot make the provider fail.",
            ),
        ),
    ),
    Section(
        "Authentication",
        (
            Quote(
                "auth.bearer",
                "1. Every operation takes HTTP bearer authentication: Authorization: Bearer "
                "<token>.",
                calls=tuple(CALLS),
            ),
            Quote(
                "auth.kinds",
                "2. The token is either an access JWT issued by an identity provider or a "
                "user-owned API key issued by the same provider.",
            ),
            Quote(
                "auth.key-bound",
                "3. A user key is bound to one organization and restricted to its enabled product "
                "permissions.",
                unseen=("The contract does not show which permission a call needs."),
            ),
            Quote(
                "auth.session-only",
                "4. Session-only onboarding and session revocation require an interactive access "
                "JWT.",
                unseen="Onboarding and revoking sessions are not among the eight calls.",
            ),
            Quote("auth.session", "Operation 3 requires a current interactive user session."),
            Quote("auth.no-cookie", "5. No cookie session is assumed."),
            Quote(
                "auth.roles",
                "6. Roles: operations 1 and 7 are owner-only; operation 8 is open to project "
                "readers.",
            ),
            Quote(
                "auth.unauthenticated",
                "7. Unauthenticated requests fail with code unauthenticated;",
            ),
            Quote("auth.forbidden", "forbidden access with code forbidden;"),
            Quote(
                "auth.organization",
                "a missing organization context with code organization_required.",
            ),
        ),
    ),
    Section(
        "Errors",
        (
            Quote(
                "problem",
                "All failures return application/problem+json (RFC 9457 Problem Details extended "
                "with recovery fields) and carry header X-Request-Id.",
            ),
            FieldSentences(ProblemDetails),
            Quote("problem.codes", f"{', '.join(PROBLEMS)}."),
            Quote(
                "condition.missing",
                "| Resource missing or outside the caller's access scope | 404 | "
                "resource_not_found | false |",
            ),
            Quote(
                "condition.reused",
                "| Idempotency-Key reused with a changed request | 409 | idempotency_key_reused | "
                "false (suggested action: retry with a new key) |",
            ),
            Quote(
                "condition.statuses",
                "Both are given with status 404 and 409 respectively.",
                needs=("condition.missing", "condition.reused"),
            ),
        ),
    ),
    Section(
        "Limits",
        (
            Quote("limit.idempotency-key", "| Idempotency-Key length | 1 to 128 characters |"),
            Quote("limit.request-id", "| X-Request-Id length | 1 to 128 characters |"),
            Quote("limit.key-name", "| API key name length | 1 to 64 characters |"),
            Quote("limit.page-size", "| List deployments page size | 1 to 100 |"),
            Quote("limit.scopes", "| DNS authorization scopes | at most 2 |"),
            Quote("limit.zone", "| DNS zone length | 4 to 253 characters |"),
            Quote("limit.retry-after", "| retry_after_seconds | 1 to 86400 |"),
            Quote("limit.ticket", "| Dev access ticket | single use, valid ten minutes |"),
            Quote("limit.key", "| User API key | valid 90 days |"),
            Quote(
                "limit.credits",
                "| Operation 3 credit cost | available at zero credits |",
                unseen="No call shows an organization's credits.",
            ),
        ),
    ),
    Section(
        "Versioning",
        (
            Quote("v1", "All paths are under the /v1 prefix."),
            Quote(
                "version",
                "The machine-readable contract carries the version number 0.0.0.",
                unseen="None of the eight calls serves the machine-readable contract.",
            ),
            Quote(
                "two-servers",
                "Two servers exist: production ({base_url}) and development ({dev_base_url}).",
                unseen="A check looks at one of them at a time.",
            ),
        ),
    ),
)
