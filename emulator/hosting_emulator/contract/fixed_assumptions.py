"""Choices that cannot be set, on points where the contract is silent. Each has a reason.

Each choice quotes the sentence that leaves the point open. The choices that can be set are the
fields in `assumptions.py`.
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
        doc="There are no other calls except polling.",
        sentence="Operations other than those listed: not shown.",
        reason="the contract does not show what another call would do",
    ),
    FixedAssumption(
        name="operation_result",
        doc=(
            "The result is the new source generation or the three hostnames. The variation "
            "point result-content varies it."
        ),
        sentence="Operation.result: content not shown.",
        reason="any content is possible, so a client cannot rely on it",
    ),
    FixedAssumption(
        name="optional_fields",
        doc=(
            "All fields with a value are present, including the fields of DnsAuthorization, a "
            "page and error. The variation points absent-fields and progress-absent omit some "
            "of them."
        ),
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        reason="the missing fields differ between responses, not between services",
    ),
    FixedAssumption(
        name="required_body",
        doc="Calls 2 and 3 require their body, and call 3 requires the name in it.",
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        reason=(
            "the contract names the fields of the bodies, but states only for call 1 that "
            "the body is required"
        ),
    ),
    FixedAssumption(
        name="read_status",
        doc="Calls 5, 6 and 8, and polling, succeed with 200.",
        sentence="Response: DnsAuthorization (credential-free).",
        reason="HTTP defines no other status for a read that returns the whole resource",
    ),
    FixedAssumption(
        name="source_deployment",
        doc="Initializing the source creates a deployment. Applying domains does not.",
        sentence="the deployment this operation created (deploy, promotion or rollback)",
        reason="the field appears on call 2's response",
    ),
    FixedAssumption(
        name="ticket_states",
        doc="The states are unused, used, expired and revoked, in the log and the control API.",
        sentence="Names of ticket states are not given in the interface.",
        reason="no call's response shows them",
    ),
    FixedAssumption(
        name="operation_transitions",
        doc=(
            "An operation is queued, and then running. From either state it becomes succeeded, "
            "failed or cancelled."
        ),
        sentence="Transitions: not shown.",
        reason=(
            "source_profile and domains_profile set the times; the contract says that a "
            "terminal state is immutable, and an operation that failed while queued looks the "
            "same"
        ),
    ),
    FixedAssumption(
        name="deployment_ends",
        doc=(
            "A deployment ends with its operation. It becomes ready, failed or cancelled from "
            "any stage. A ready one changes later only by an intervention: it fails, is "
            "superseded or is removed."
        ),
        sentence="Transitions: not shown.",
        reason="the operation creates it",
    ),
    FixedAssumption(
        name="dns_transitions",
        doc=(
            "A DNS authorization becomes pending, then authorized, and then expired or "
            "revoked. From expired, revoked and not_authorized it becomes pending."
        ),
        sentence="Transitions: not shown.",
        reason="no call changes it, and the intervention move_dns can make each transition",
        affects=(DnsAuthorization,),
    ),
    FixedAssumption(
        name="deployment_transitions",
        doc="A deployment is queued, then building, and then deploying. It does not skip a stage.",
        sentence="Transitions: not shown.",
        reason="the stages' durations vary, so a polling client misses some stages anyway",
        affects=(DeploymentPage,),
    ),
    FixedAssumption(
        name="database_transitions",
        doc="A database can change from any state to any other state.",
        sentence="Transitions: not shown.",
        reason="no call changes it, and the intervention set_database sets each state",
        affects=(DatabaseCompute,),
    ),
    FixedAssumption(
        name="project_roles",
        doc=(
            "A project has owners, maintainers and readers. Each role includes the rights of "
            "the roles after it. An organization has owners and members."
        ),
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract names owners and readers, and no call shows a role",
    ),
    FixedAssumption(
        name="key_creation_role",
        doc="Any member of the organization may make call 3.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract requires membership and does not name a role",
    ),
    FixedAssumption(
        name="organization_owner",
        doc="An organization's owner owns all its projects.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="no call shows the owners",
        affects=("owner",),
    ),
    FixedAssumption(
        name="keys_on_owner_calls",
        doc="An API key of the owner may make owner-only calls.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract restricts a key only by its permissions",
        affects=("owner",),
    ),
    FixedAssumption(
        name="call_permissions",
        doc="An API key needs the permission that the OpenAPI document names for each call.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="a key has all enabled permissions, so few clients notice a difference",
    ),
    FixedAssumption(
        name="service_events",
        doc="No events are delivered.",
        sentence="Event kinds, delivery and payloads: not shown.",
        reason="the contract does not show them",
    ),
    FixedAssumption(
        name="other_error_statuses",
        doc=(
            "Calls 2 to 8 return each code with its usual status (problem_statuses). They may "
            "return any of the codes that the OpenAPI document lists for them."
        ),
        sentence="The set of error statuses for endpoints other than the flag endpoint: not shown.",
        reason="a separate set would not add anything",
    ),
    FixedAssumption(
        name="quotas",
        doc=(
            "No call changes credits. An organization either has credits or has none (see "
            "zero_credits)."
        ),
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
        doc="HEAD is handled like any method that a path does not support.",
        sentence="PUT /v1/projects/{project_id}/powered-by-flag",
        reason="converting HEAD to GET is left to proxies, and wrong_method applies to HEAD too",
    ),
    FixedAssumption(
        name="last_use",
        doc="The time is precise to the second. It is absent until the key is used.",
        sentence="last_used_at (timestamp)",
        reason="no client can tell the difference",
    ),
    FixedAssumption(
        name="obfuscated_key",
        doc=("It consists of key_prefix, an ellipsis and the last four characters."),
        sentence="obfuscated_value (string)",
        reason="any other string would do as well",
    ),
    FixedAssumption(
        name="replayed_key",
        doc="A replay shows the key's current metadata. It has a request id of its own.",
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
        reason=(
            "the body is replayed byte for byte, and the header repeats the request id in the body"
        ),
    ),
    FixedAssumption(
        name="request_identity",
        doc=(
            "Two requests of call 2 or 4 are the same if everything that the call reads is the "
            "same. A query or a body that it does not read is ignored."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason="the contract promises nothing about ignored input",
        affects=(
            "initialize_managed_source",
            "apply_project_domains",
        ),
    ),
    FixedAssumption(
        name="replay_access",
        doc=(
            "A replay requires everything that the first request required: the token, its "
            "organization, the access scope, the role and a key's permissions. For call 3 it "
            "also requires the session, the membership and the product permissions."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason=(
            "the contract revalidates these for call 3, and does not say that a retry works "
            "without the role"
        ),
        affects=("idempotent",),
    ),
    FixedAssumption(
        name="changed_and_invalid",
        doc=(
            "A retry with an invalid body is refused with invalid_request, not with "
            "idempotency_key_reused."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason="both are refusals without an effect",
        affects=("body",),
    ),
    FixedAssumption(
        name="key_names",
        doc=(
            "Two keys may have the same name. A name may contain any characters, which are "
            "counted as code points."
        ),
        sentence="API key name length",
        reason=(
            "the contract does not say that names are unique, and does not restrict their "
            "characters"
        ),
    ),
    FixedAssumption(
        name="key_on_other_calls",
        doc="Other calls ignore an Idempotency-Key.",
        sentence=(
            "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
            "header is listed for operations 5 to 8)"
        ),
        reason="no response is remembered for these calls",
    ),
    FixedAssumption(
        name="cursor_life",
        doc=(
            "A cursor has 1 to 512 characters. It stays valid for its project and order, for "
            "any reader and any page size. Pages show each deployment once, even if new "
            "deployments arrive."
        ),
        sentence="opaque continuation cursor",
        reason=(
            "only the intervention remove_deployments removes deployments, and their positions "
            "remain, so the cursor's position always exists"
        ),
    ),
    FixedAssumption(
        name="flag_dependency",
        doc=(
            "The flag is needed by a custom domain of a project whose organization is on the "
            "free plan."
        ),
        sentence="Hiding is refused while a Free workspace's domain depends on the flag.",
        reason="the contract mentions no other domain of a Free workspace",
    ),
    FixedAssumption(
        name="hidden_flag",
        doc=(
            "Hiding a hidden flag succeeds, even if a Free workspace has its own domain on the "
            "project."
        ),
        sentence="Hiding is refused while a Free workspace's domain depends on the flag.",
        reason="no domain depends on a hidden flag",
    ),
    FixedAssumption(
        name="mutation_claim",
        doc=(
            "A project has one running operation at a time, in order of arrival. A waiting "
            "operation names the operation that holds the claim, for call 4 too."
        ),
        sentence="blocking_operation_id",
        reason=(
            "the field refers to a project's claim, and a different order would be a "
            "different service"
        ),
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
            "The codes are operation_failed, reconciliation_exhausted, and the code of the "
            "condition generation_stale. The variation point unknown-error-code shows other "
            "codes."
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
            "The number of whole seconds until the next step, at least 0, or 60 if no step is "
            "due. The variation point next-poll shows other numbers."
        ),
        sentence="next_poll_after_seconds (integer; a value of 60 appears)",
        reason="the profiles set the time of the next step",
    ),
    FixedAssumption(
        name="suspend_timeout",
        doc="The value is never less than -1.",
        sentence=(
            "suspend_timeout_seconds (integer: 0 means provider default, -1 means never suspend, "
            "otherwise the configured provider value)"
        ),
        reason="a configured time is not negative",
    ),
    FixedAssumption(
        name="json_text",
        doc=(
            "A duplicate member, a byte order mark, NaN, invalid UTF-8, half a surrogate pair, "
            "a number above 1e308 or with more than 4300 digits, and nesting deeper than 64 "
            "levels are refused. 1.0 and 1e0 are integers. A body may be compressed (gzip, "
            "deflate). A body is always UTF-8, regardless of the charset in its Content-Type. "
            "Accept is ignored."
        ),
        sentence="All bodies are JSON.",
        reason="RFC 8259 and RFC 9110 leave this to the recipient",
    ),
    FixedAssumption(
        name="repeated_input",
        doc=(
            "A duplicate header or query parameter is refused with invalid_request, or with "
            "unauthenticated for Authorization."
        ),
        sentence="Common headers: Authorization: Bearer <ACCESS_TOKEN_OR_API_KEY> (all)",
        reason="it is not clear which of the two is meant",
    ),
    FixedAssumption(
        name="header_text",
        doc=(
            "A header's length is counted in characters of its UTF-8 text, without leading and "
            "trailing whitespace."
        ),
        sentence="Idempotency-Key length",
        reason="HTTP removes that whitespace, and other bytes are not characters",
    ),
    FixedAssumption(
        name="number_text",
        doc="A page size is written in digits, without a sign or leading zeros.",
        sentence="integer 1 to 100",
        reason="HTTP defines no other form of integers in a query",
    ),
    FixedAssumption(
        name="other_conditions",
        doc=(
            "invalid_request is used for errors in a header, the query (including more than "
            "100 parameters), a body or the HTTP message itself, and for an unknown HTTP "
            "method; resource_not_found for an unknown path; service_unavailable if the "
            "emulator fails."
        ),
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="no other code applies to every request, and invalid HTTP does not reach a world",
    ),
    FixedAssumption(
        name="judgement_order",
        doc="A request's headers, query and body are checked before its access.",
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="both are refusals without an effect",
    ),
    FixedAssumption(
        name="problem_retryable",
        doc="Each code always has the same value of retryable, which `contract problems` shows.",
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
            "title and suggested_action are the texts in `contract problems`, detail describes "
            "the mistake, and instance is omitted. The variation points problem-wording and "
            "problem-extras vary this."
        ),
        sentence="minimum length 1",
        reason="programs use the code",
    ),
    FixedAssumption(
        name="ticket_refusals",
        doc=(
            "A query without stage=dev or without exactly one ticket is refused with 400 "
            "invalid_request. Other parameters are ignored. A ticket that is unknown, used, "
            "expired, revoked or for a different origin is refused with 404 resource_not_found."
        ),
        sentence="<origin>/.service/dev-access/redeem?stage=dev&ticket=<ticket>",
        reason=(
            "a stranger must not be able to distinguish these cases, and missing resources "
            "have this code"
        ),
    ),
    FixedAssumption(
        name="generated_ids",
        doc=(
            "Ids are ULIDs of their creation time, so they sort by it. A generated request id "
            "is req_ followed by a ULID."
        ),
        sentence="exactly 26 characters matching ^[0-9A-HJKMNP-TV-Z]{26}$",
        reason="the contract calls them Ulid, and a ULID starts with its time",
    ),
    FixedAssumption(
        name="deployment_values",
        doc=(
            "Digests are random. artifact_digest is present from the stage deploying on. url, "
            "the URL of the production host, is present once the deployment is ready."
        ),
        sentence="artifact_digest",
        reason="nothing is built, and the variation point absent-fields omits them",
    ),
    FixedAssumption(
        name="dev_site",
        doc=(
            "Redeeming a ticket redirects to the root of the origin, and sets a cookie that is "
            "host-only, HttpOnly, Secure and SameSite=Lax. A page there shows whether access "
            "works. Without the cookie it returns 401."
        ),
        sentence="https origin of the immutable dev project host",
        reason="the content of the origin belongs to the developer",
    ),
    FixedAssumption(
        name="response_headers",
        doc=(
            "Every response has Cache-Control: no-store. A 401 has WWW-Authenticate, and a 405 "
            "has Allow. The variation point extra-headers adds other headers."
        ),
        sentence="RFC 9457 Problem Details extended with recovery fields",
        reason="HTTP requires them",
    ),
    FixedAssumption(
        name="browser_pages",
        doc=(
            "Web pages from this machine, and from origins in `start --allow-origin`, may read "
            "responses (CORS)."
        ),
        sentence="No cookie session is assumed.",
        reason="any other origin could use the tokens that a page has",
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
        doc="The cookie gives access to the dev origin for 12 hours of world time.",
        sentence="No cookie session is assumed.",
        reason="a dev origin is not part of the API",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="token_claims",
        doc=(
            "The claims are iss, aud, sub, iat, exp, name and email; org_id with an "
            "organization; sid in an interactive session; client_id, scope and jti after a "
            "sign-in."
        ),
        sentence="an access JWT issued by an identity provider",
        reason="a token's content is between the API and its own provider",
    ),
    FixedAssumption(
        name="sign_in",
        doc=(
            "Sign-in uses OpenID Connect's code flow with PKCE. A code is valid for a minute, "
            "a refresh token for a single use within 30 days, and a browser session for seven "
            "days."
        ),
        sentence="an access JWT issued by an identity provider",
        reason="the contract does not show the provider",
    ),
    FixedAssumption(
        name="two_servers",
        doc="A single emulator plays both servers, and `env` prints both names.",
        sentence="Two servers exist: production ({base_url}) and development ({dev_base_url}).",
        reason=(
            "the contract does not show how they differ; use two worlds for two different servers"
        ),
    ),
    FixedAssumption(
        name="replayed_key_permissions",
        doc=(
            "An exact replay of call 3 requires that the organization still enables at least one "
            "of the key's permissions."
        ),
        sentence="organization membership and product permissions are revalidated",
        reason="no call changes the enabled permissions",
        affects=("create_user_api_key",),
    ),
    FixedAssumption(
        name="same_principal",
        doc=(
            "For Idempotency-Keys and tickets, a user is the same principal with every token "
            "and API key."
        ),
        sentence=(
            "Issuing a new ticket revokes unused tickets previously issued to the same principal."
        ),
        reason=("only a user with two credentials could tell the difference"),
        affects=(
            "idempotent",
            DevAccessTicket,
        ),
    ),
    FixedAssumption(
        name="dns_details",
        doc=(
            "An authorization shows its scopes and expires_at in every status except "
            "not_authorized."
        ),
        sentence="null when status is not_authorized",
        reason="the contract omits them only for that status",
        affects=(DnsAuthorization,),
    ),
    FixedAssumption(
        name="new_key_permissions",
        doc="A new key has all permissions that are enabled for the organization.",
        sentence=(
            "A user key is bound to one organization and restricted to its enabled product "
            "permissions."
        ),
        reason="the response lists the permissions of the key",
    ),
    FixedAssumption(
        name="returned_members_keys",
        doc=(
            "If the owner of an API key leaves the organization and comes back, the key works "
            "again."
        ),
        sentence=(
            "A user key is bound to one organization and restricted to its enabled product "
            "permissions."
        ),
        reason="according to the contract, a key ends only after 90 days",
    ),
    FixedAssumption(
        name="access_scope",
        doc="An access token gives access only to its own organization.",
        sentence="Resource missing or outside the caller's access scope",
        reason="the contract mentions a single organization context",
    ),
    FixedAssumption(
        name="unshared_project",
        doc=(
            "A project of the organization in which a user has no role is outside the user's "
            "access (404)."
        ),
        sentence="Resource missing or outside the caller's access scope",
        reason="the contract requires 404 for resources outside the access scope",
    ),
    FixedAssumption(
        name="request_id",
        doc="A response's request id is the client's X-Request-Id, if the client sent a valid one.",
        sentence="X-Request-Id (optional request header, string 1-128 characters",
        reason="otherwise the header would have no use",
    ),
    FixedAssumption(
        name="expiry_instant",
        doc=(
            "At the exact expiry time, a ticket, key, token, DNS authorization, remembered "
            "response, authorization code or session is no longer valid."
        ),
        sentence="A ticket is single use and valid ten minutes.",
        reason="no client can rely on a single millisecond",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="former_owners_ticket",
        doc="A ticket can still be redeemed when its user is no longer an owner.",
        sentence="A ticket is single use and valid ten minutes.",
        reason="according to the contract, a ticket ends only by use, by time or by a new ticket",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="redemption_status",
        doc="The redirect after redeeming a ticket has the status 303.",
        sentence="A ticket is single use and valid ten minutes.",
        reason="a dev origin is not part of the API",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="dev_origin_port",
        doc=(
            "origin and redeem_url contain the port of the dev origins, as if it belonged to "
            "<dev_zone>, unless the port is 443 (`--tls-port`)."
        ),
        sentence="of the form https://dev-<word>-<word>-<word>.<dev_zone>",
        reason="without the port the URLs would not work",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="production_zone",
        doc="Production hostnames are in the zone prod.localhost.",
        sentence="hostnames (derived by the server, not supplied)",
        reason="no field contains the zone, and nothing is served there",
        affects=(
            "apply_project_domains",
            "get_operation",
        ),
    ),
    FixedAssumption(
        name="mail_zone",
        doc="Mail hostnames are in the zone mail.localhost.",
        sentence="hostnames (derived by the server, not supplied)",
        reason="no field contains the zone, and nothing is served there",
        affects=(
            "apply_project_domains",
            "get_operation",
        ),
    ),
    FixedAssumption(
        name="date_header",
        doc="The Date header of a response shows world time, like the timestamps in its body.",
        sentence="date-time (ISO 8601 / RFC 3339)",
        reason="a service's clock and its timestamps agree",
    ),
)
#: All fixed assumptions by name, in the order used by documents.
FIXED = {row.name: row for row in _ROWS}
