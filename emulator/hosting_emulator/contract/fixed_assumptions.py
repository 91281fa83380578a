"""Choices where the contract is silent that cannot be set, each with the reason.

Each stands with the sentence that leaves something open. The choices that can be set are the fields of
`assumptions.py`.
"""

from __future__ import annotations

from hosting_emulator.contract.assumption_declarations import FixedAssumption
from hosting_emulator.contract.resources import (
    DatabaseCompute,
    DeploymentPage,
    DevAccessTicket,
    DnsAuthorization,
)

_ROWS = (
    FixedAssumption(
        name="other_calls",
        doc="There are none except polling.",
        sentence="Operations other than those listed: not shown.",
        reason="the contract does not show what another call would do",
    ),
    FixedAssumption(
        name="operation_result",
        doc=(
            "The new source generation, or the three hostnames; the point result-content varies it."
        ),
        sentence="Operation.result: content not shown.",
        reason="any content is possible, so a client can rely on none",
    ),
    FixedAssumption(
        name="optional_fields",
        doc=(
            "All fields with a value are present, also those of DnsAuthorization, a page and "
            "error; the points absent-fields and progress-absent leave some out."
        ),
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        reason="which are missing differs by response, not by service",
    ),
    FixedAssumption(
        name="required_body",
        doc="Calls 2 and 3 need their body, and call 3 the name in it.",
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        reason="the contract names its fields, and says of call 1 alone that its body is required",
    ),
    FixedAssumption(
        name="read_status",
        doc="Calls 5, 6 and 8, and polling, succeed with 200.",
        sentence="Response: DnsAuthorization (credential-free).",
        reason="HTTP has no other status for a read that returns the whole resource",
    ),
    FixedAssumption(
        name="source_deployment",
        doc="Initializing the source creates a deployment, and applying domains creates none.",
        sentence="the deployment this operation created (deploy, promotion or rollback)",
        reason="the field appears on call 2's response",
    ),
    FixedAssumption(
        name="ticket_states",
        doc="unused, used, expired, revoked, in the log and the control API.",
        sentence="Names of ticket states are not given in the interface.",
        reason="no call's response shows them",
    ),
    FixedAssumption(
        name="operation_transitions",
        doc="An operation is queued, running, then succeeded, failed or cancelled, from either.",
        sentence="Transitions: not shown.",
        reason=(
            "source_profile and domains_profile set its times; the contract says that an end is "
            "immutable, and an operation that failed while queued looks the same"
        ),
    ),
    FixedAssumption(
        name="deployment_ends",
        doc="A deployment ends with its operation: ready, failed or cancelled, from any stage.",
        sentence="Transitions: not shown.",
        reason="the operation creates it",
    ),
    FixedAssumption(
        name="dns_transitions",
        doc=(
            "A DNS authorization becomes pending, then authorized, then expired or revoked; from "
            "these and from not_authorized it becomes pending."
        ),
        sentence="Transitions: not shown.",
        reason="no call changes it, and the intervention move_dns takes each step",
        affects=(DnsAuthorization,),
    ),
    FixedAssumption(
        name="deployment_transitions",
        doc="A deployment is queued, then building, then deploying, and skips no stage.",
        sentence="Transitions: not shown.",
        reason="the stages' durations vary, so a client that polls misses some anyway",
        affects=(DeploymentPage,),
    ),
    FixedAssumption(
        name="database_transitions",
        doc="A database may go from any state to any other.",
        sentence="Transitions: not shown.",
        reason="no call changes it, and the intervention set_database sets each state",
        affects=(DatabaseCompute,),
    ),
    FixedAssumption(
        name="project_roles",
        doc=(
            "A project has owners, maintainers and readers, each of whom may do all that the next "
            "may; an organization has owners and members."
        ),
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract names owners and readers, and no call shows a role",
    ),
    FixedAssumption(
        name="key_creation_role",
        doc="Any member of the organization may make call 3.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract asks for membership and names no role",
    ),
    FixedAssumption(
        name="organization_owner",
        doc="An organization's owner owns all its projects.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="no call shows owners",
        affects=("owner",),
    ),
    FixedAssumption(
        name="keys_on_owner_calls",
        doc="An API key of the owner may make owner-only calls.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract restricts a key by its permissions alone",
        affects=("owner",),
    ),
    FixedAssumption(
        name="call_permissions",
        doc="Each call requires of an API key the permission that the OpenAPI document names.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="a key carries all enabled permissions, so few clients meet another",
    ),
    FixedAssumption(
        name="service_events",
        doc="None are delivered.",
        sentence="Event kinds, delivery and payloads: not shown.",
        reason="the contract does not show them",
    ),
    FixedAssumption(
        name="other_error_statuses",
        doc=(
            "Calls 2 to 8 return each code with its status (problem_statuses), and may return any "
            "of their codes in the document."
        ),
        sentence="The set of error statuses for endpoints other than the flag endpoint: not shown.",
        reason="a separate set would add nothing",
    ),
    FixedAssumption(
        name="quotas",
        doc="No call changes credits: an organization has some or none, see zero_credits.",
        sentence="credit or plan quotas including bonus credit amounts: not shown.",
        reason="no call shows credits",
    ),
    FixedAssumption(
        name="later_versions",
        doc="There are none.",
        sentence="Deprecation policy and the way later versions are introduced: not shown.",
        reason="the contract does not show them",
    ),
    FixedAssumption(
        name="head_method",
        doc="HEAD is treated like any method that a path does not support.",
        sentence="PUT /v1/projects/{project_id}/powered-by-flag",
        reason="turning GET into HEAD is a matter of proxies; wrong_method decides for both",
    ),
    FixedAssumption(
        name="last_use",
        doc="It is precise to the second, and absent before a key is used.",
        sentence="last_used_at (timestamp)",
        reason="no client can tell",
    ),
    FixedAssumption(
        name="obfuscated_key",
        doc="key_prefix, an ellipsis and the last four characters.",
        sentence="obfuscated_value (string)",
        reason="any text is as good",
    ),
    FixedAssumption(
        name="replayed_key",
        doc="A replay shows the key as it is now, with its own request id.",
        sentence="Only the first creation returns the full value.",
        reason="the value is not stored, so the first response cannot be repeated",
    ),
    FixedAssumption(
        name="replayed_refusal",
        doc=(
            "A remembered refusal is replayed with the request id of the first response, in its "
            "header and its body."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason="the body is replayed byte for byte, and the header equals it",
    ),
    FixedAssumption(
        name="request_identity",
        doc=(
            "What makes two requests of call 2 or 4 the same is what the call reads: a query and a "
            "body that it does not read do not count."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason="the contract promises nothing about those",
        affects=(
            "initialize_managed_source",
            "apply_project_domains",
        ),
    ),
    FixedAssumption(
        name="replay_access",
        doc=(
            "A replay requires everything that the first request required: the token, its "
            "organization, the access scope, the role and a key's permissions; for call 3 also the "
            "session, the membership and the product permissions."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason=(
            "the contract revalidates these for call 3, and nothing says that a lost role is "
            "enough for a retry"
        ),
        affects=("idempotent",),
    ),
    FixedAssumption(
        name="changed_and_invalid",
        doc=(
            "A retry with an invalid body is refused as invalid_request, not because its key was "
            "used."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason="both are refusals that change nothing",
        affects=("body",),
    ),
    FixedAssumption(
        name="key_names",
        doc="Two keys may have one name, and a name any characters, counted as code points.",
        sentence="API key name length",
        reason="the contract does not say that names are unique, or which characters they have",
    ),
    FixedAssumption(
        name="key_on_other_calls",
        doc="They ignore an Idempotency-Key.",
        sentence=(
            "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
            "header is listed for operations 5 to 8)"
        ),
        reason="nothing is remembered for them",
    ),
    FixedAssumption(
        name="cursor_life",
        doc=(
            "A cursor has 1 to 512 characters. It stays valid, in its own project and order, for "
            "any reader and page size; pages show each deployment once, even if new ones arrive."
        ),
        sentence="opaque continuation cursor",
        reason="deployments are never removed, so its position always exists",
    ),
    FixedAssumption(
        name="flag_dependency",
        doc="An own domain on a project of an organization on the free plan.",
        sentence="Hiding is refused while a Free workspace's domain depends on the flag.",
        reason="nothing else in the contract is a Free workspace's domain",
    ),
    FixedAssumption(
        name="hidden_flag",
        doc=(
            "Hiding a flag that is hidden succeeds, also where a Free workspace has its own domain "
            "on the project."
        ),
        sentence="Hiding is refused while a Free workspace's domain depends on the flag.",
        reason="no domain depends on a flag that is not shown",
    ),
    FixedAssumption(
        name="mutation_claim",
        doc=(
            "One operation per project at a time, in order of arrival; a waiting one names the "
            "operation that holds the claim, also for call 4."
        ),
        sentence="blocking_operation_id",
        reason="the field names a project's claim, and another order would be another service",
    ),
    FixedAssumption(
        name="deployment_logs",
        doc="There are none.",
        sentence="diagnostics of a failed one are read via deployment logs",
        reason="no call reads them",
    ),
    FixedAssumption(
        name="error_codes",
        doc=(
            "operation_failed; reconciliation_exhausted; and that of the condition "
            "generation_stale. The point unknown-error-code shows others."
        ),
        sentence=(
            "Allowed values of progress.phase, reconciliation.state and error.code beyond those "
            "given above: not"
        ),
        reason="interventions accept any word",
    ),
    FixedAssumption(
        name="next_poll",
        doc=(
            "The whole seconds until the next step, never below 0, or 60 if none is due; the point "
            "next-poll shows others."
        ),
        sentence="next_poll_after_seconds (integer; a value of 60 appears)",
        reason="the profiles set when it is",
    ),
    FixedAssumption(
        name="suspend_timeout",
        doc="It is never below -1.",
        sentence=(
            "suspend_timeout_seconds (integer: 0 means provider default, -1 means never suspend, "
            "otherwise the configured provider value)"
        ),
        reason="a time that is configured is not negative",
    ),
    FixedAssumption(
        name="json_text",
        doc=(
            "A duplicate member, a byte order mark, NaN, invalid UTF-8, half a surrogate pair, a "
            "number beyond 1e308 or of over 4300 digits and nesting over 64 deep are refused; 1.0 "
            "and 1e0 are integers; a body may be compressed (gzip, deflate); a body is UTF-8 "
            "whatever the charset of its Content-Type says; Accept is ignored."
        ),
        sentence="All bodies are JSON.",
        reason="RFC 8259 and RFC 9110 leave it to the reader",
    ),
    FixedAssumption(
        name="repeated_input",
        doc=(
            "A duplicate header or query parameter of a call is refused: invalid_request, or "
            "unauthenticated for Authorization."
        ),
        sentence="Common headers: Authorization: Bearer <ACCESS_TOKEN_OR_API_KEY> (all)",
        reason="it is unclear which of the two is meant",
    ),
    FixedAssumption(
        name="header_text",
        doc="The characters of a header are those of its UTF-8 text, without the space around it.",
        sentence="Idempotency-Key length",
        reason="HTTP removes that space, and other bytes are not characters",
    ),
    FixedAssumption(
        name="number_text",
        doc="A page size is written in digits, without sign and leading zero.",
        sentence="integer 1 to 100",
        reason="HTTP does not define other forms of integers in a query",
    ),
    FixedAssumption(
        name="other_conditions",
        doc=(
            "invalid_request for errors in a header, the query (also over 100 parameters), a body "
            "or the HTTP itself, also for an unknown HTTP method; resource_not_found for an "
            "unknown path; service_unavailable when the emulator fails."
        ),
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="no other code applies to every request, and invalid HTTP reaches no world",
    ),
    FixedAssumption(
        name="judgement_order",
        doc="A request's headers, query and body are checked before its access.",
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="both are refusals that change nothing",
    ),
    FixedAssumption(
        name="problem_retryable",
        doc="Each code has one value of retryable, that of `contract problems`.",
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="a client reads it from the response",
    ),
    FixedAssumption(
        name="wrong_media_type",
        doc="A body with a media type other than application/json is refused.",
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="the contract says that all bodies are JSON",
        affects=("body",),
    ),
    FixedAssumption(
        name="problem_words",
        doc=(
            "title and suggested_action are those of `contract problems`, detail says what was "
            "wrong, instance is left out; the points problem-wording and problem-extras show "
            "others."
        ),
        sentence="minimum length 1",
        reason="programs use the code",
    ),
    FixedAssumption(
        name="ticket_refusals",
        doc=(
            "A query without stage=dev or exactly one ticket is 400 invalid_request; what else it "
            "holds is ignored. A ticket that is unknown, used, expired, revoked or for another "
            "origin is 404 resource_not_found."
        ),
        sentence="<origin>/.service/dev-access/redeem?stage=dev&ticket=<ticket>",
        reason="a stranger must not be able to tell these apart, and missing things have that code",
    ),
    FixedAssumption(
        name="generated_ids",
        doc=(
            "Ids are ULIDs of their creation time, so they sort by it; a generated request id is "
            "req_ and a ULID."
        ),
        sentence="exactly 26 characters matching ^[0-9A-HJKMNP-TV-Z]{26}$",
        reason="the contract calls them Ulid, and a ULID starts with its time",
    ),
    FixedAssumption(
        name="deployment_values",
        doc=(
            "Digests are drawn; artifact_digest is present from deploying on, and url, the "
            "production host's, once ready."
        ),
        sentence="artifact_digest",
        reason="nothing is built; the point absent-fields leaves them out",
    ),
    FixedAssumption(
        name="dev_site",
        doc=(
            "Redeeming redirects to its root, with a cookie that is host-only, HttpOnly, Secure "
            "and SameSite=Lax; a page there shows whether access works: 401 without the cookie."
        ),
        sentence="https origin of the immutable dev project host",
        reason="the content of the origin is the developer's",
    ),
    FixedAssumption(
        name="response_headers",
        doc=(
            "Cache-Control: no-store with every response, WWW-Authenticate with 401 and Allow with "
            "405; the point extra-headers shows others."
        ),
        sentence="RFC 9457 Problem Details extended with recovery fields",
        reason="HTTP requires them",
    ),
    FixedAssumption(
        name="browser_pages",
        doc=(
            "Pages of this machine, and of origins that `start --allow-origin` names, may read "
            "responses (CORS)."
        ),
        sentence="No cookie session is assumed.",
        reason="another origin could use every token that a page has",
    ),
    FixedAssumption(
        name="dev_session_cookie",
        doc="A redeemed ticket sets the cookie dev_access at the dev origin.",
        sentence="No cookie session is assumed.",
        reason="a dev origin is not part of the API",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="dev_session_lifetime",
        doc="That cookie opens the dev origin for 12 hours of world time.",
        sentence="No cookie session is assumed.",
        reason="a dev origin is not part of the API",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="token_claims",
        doc=(
            "iss, aud, sub, iat, exp, name and email; org_id with an organization; sid in an "
            "interactive session; client_id, scope and jti after a sign-in."
        ),
        sentence="an access JWT issued by an identity provider",
        reason="a token's content is between the API and its own provider",
    ),
    FixedAssumption(
        name="sign_in",
        doc=(
            "OpenID Connect's code flow with PKCE: a code is valid for a minute, a refresh token "
            "once within 30 days, a browser's session for seven days."
        ),
        sentence="an access JWT issued by an identity provider",
        reason="the contract does not show the provider",
    ),
    FixedAssumption(
        name="two_servers",
        doc="One emulator plays both, and `env` prints both names.",
        sentence="Two servers exist: production ({base_url}) and development ({dev_base_url}).",
        reason="the contract does not show how they differ; use two worlds for two different ones",
    ),
    FixedAssumption(
        name="replayed_key_permissions",
        doc=(
            "An exact replay of call 3 requires that the organization still enables at least one "
            "of the key's permissions."
        ),
        sentence="organization membership and product permissions are revalidated",
        reason="no call changes the enabled ones",
        affects=("create_user_api_key",),
    ),
    FixedAssumption(
        name="same_principal",
        doc=(
            "For Idempotency-Keys and tickets one user is one principal, with every token and API "
            "key."
        ),
        sentence=(
            "Issuing a new ticket revokes unused tickets previously issued to the same principal."
        ),
        reason="only a user with two credentials could tell",
        affects=(
            "idempotent",
            DevAccessTicket,
        ),
    ),
    FixedAssumption(
        name="dns_details",
        doc="An authorization shows its scopes and expires_at in every status but not_authorized.",
        sentence="null when status is not_authorized",
        reason="the contract leaves them out for that status alone",
        affects=(DnsAuthorization,),
    ),
    FixedAssumption(
        name="new_key_permissions",
        doc="A new key carries all permissions that the organization enables.",
        sentence=(
            "A user key is bound to one organization and restricted to its enabled product "
            "permissions."
        ),
        reason="the response lists the permissions of the key",
    ),
    FixedAssumption(
        name="returned_members_keys",
        doc="An API key whose owner left the organization and came back works again.",
        sentence=(
            "A user key is bound to one organization and restricted to its enabled product "
            "permissions."
        ),
        reason="the contract ends a key only after 90 days",
    ),
    FixedAssumption(
        name="access_scope",
        doc="An access token reaches only its own organization.",
        sentence="Resource missing or outside the caller's access scope",
        reason="the contract names one organization context",
    ),
    FixedAssumption(
        name="unshared_project",
        doc=(
            "A project of the organization in which a user has no role is outside their access: "
            "404."
        ),
        sentence="Resource missing or outside the caller's access scope",
        reason="the contract answers so what is outside the access scope",
    ),
    FixedAssumption(
        name="request_id",
        doc="A response's request id is the client's, if it sent a valid one.",
        sentence="X-Request-Id (optional request header, string 1-128 characters",
        reason="the header would have no use otherwise",
    ),
    FixedAssumption(
        name="expiry_instant",
        doc=(
            "At its exact expiry time something is no longer valid: a ticket, key, token, DNS "
            "authorization, remembered response, and a sign-in's code and session."
        ),
        sentence="A ticket is single use and valid ten minutes.",
        reason="no client can rely on one millisecond",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="former_owners_ticket",
        doc="A ticket can still be redeemed after its user is no longer owner.",
        sentence="A ticket is single use and valid ten minutes.",
        reason="the contract ends a ticket by use, by time and by a new ticket",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="redemption_status",
        doc="The redirect that redeems a ticket is 303.",
        sentence="A ticket is single use and valid ten minutes.",
        reason="a dev origin is not part of the API",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="dev_origin_port",
        doc=(
            "origin and redeem_url show the port of dev origins, as if it belonged to <dev_zone>, "
            "if that is not 443 (`--tls-port`)."
        ),
        sentence="of the form https://dev-<word>-<word>-<word>.<dev_zone>",
        reason="without it they do not open",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="production_zone",
        doc="Production hostnames are in the zone prod.localhost.",
        sentence="hostnames (derived by the server, not supplied)",
        reason="no field names it, and nothing is served there",
        affects=(
            "apply_project_domains",
            "get_operation",
        ),
    ),
    FixedAssumption(
        name="mail_zone",
        doc="Mail hostnames are in the zone mail.localhost.",
        sentence="hostnames (derived by the server, not supplied)",
        reason="no field names it, and nothing is served there",
        affects=(
            "apply_project_domains",
            "get_operation",
        ),
    ),
    FixedAssumption(
        name="date_header",
        doc="The Date header of a response shows world time, as its body does.",
        sentence="date-time (ISO 8601 / RFC 3339)",
        reason="a service's clock and its timestamps agree",
    ),
)
#: Every fixed assumption by its name, in the order in which documents name them.
FIXED = {row.name: row for row in _ROWS}
