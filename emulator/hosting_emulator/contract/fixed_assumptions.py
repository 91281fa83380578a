"""Choices that users cannot set, on points where the contract is silent.

Each choice has a reason, and quotes the sentence that leaves the point open. The choices that users
can set are the fields in `assumptions.py`.
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
        doc="The only call that the contract does not list is the poll of an operation.",
        sentence="Operations other than those listed: not shown.",
        reason="the contract does not show what another call would do",
    ),
    FixedAssumption(
        name="operation_result",
        doc=(
            "The result of a successful operation contains the new source generation or the "
            "three hostnames. The `result-content` variation point varies the result."
        ),
        sentence="Operation.result: content not shown.",
        reason="any content is possible, so a client cannot rely on this content",
    ),
    FixedAssumption(
        name="optional_fields",
        doc=(
            "Unless a world varies, a field that has a value is always present, even if the "
            "contract does not require the field. The `absent-fields` and `progress-absent` "
            "variation points omit some fields."
        ),
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        reason="absent fields can differ between responses, so a setting for the world cannot help",
    ),
    FixedAssumption(
        name="required_body",
        doc=(
            "Initializing a source and creating an API key (calls 2 and 3) require a body. To "
            "create an API key, the body must contain a name."
        ),
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        reason=(
            "the contract names the fields of the bodies, but states only for the flag (call "
            "1) that the body is required"
        ),
    ),
    FixedAssumption(
        name="read_status",
        doc="Polling and the other calls that only read (calls 5, 6 and 8) succeed with 200.",
        sentence="Response: DnsAuthorization (credential-free).",
        reason="HTTP defines no other status for a read that returns the whole resource",
    ),
    FixedAssumption(
        name="source_deployment",
        doc="Initializing the source creates a deployment, and applying domains creates none.",
        sentence="the deployment this operation created (deploy, promotion or rollback)",
        reason="according to the contract, deployment_id appears on the response of operation 2",
    ),
    FixedAssumption(
        name="ticket_states",
        doc="In the log and the control API, a ticket is unused, used, expired or revoked.",
        sentence="Names of ticket states are not given in the interface.",
        reason="no call shows a ticket's state",
    ),
    FixedAssumption(
        name="operation_transitions",
        doc=(
            "A queued operation becomes running or cancelled. A running operation becomes "
            "succeeded, failed or cancelled. The `source_profile` and `domains_profile` "
            "assumptions set how long an operation is queued and running."
        ),
        sentence="Transitions: not shown.",
        reason=(
            "the contract says that a terminal state is immutable, and a client cannot tell "
            "whether a failed operation ever ran"
        ),
    ),
    FixedAssumption(
        name="deployment_ends",
        doc=(
            "When an operation ends, its deployment becomes ready, failed or cancelled. A "
            "ready deployment changes only if an intervention makes it fail, supersedes it or "
            "removes it."
        ),
        sentence="Transitions: not shown.",
        reason="a deployment follows the operation that created it",
    ),
    FixedAssumption(
        name="dns_transitions",
        doc=(
            "A pending DNS authorization becomes authorized or revoked, and an authorized one "
            "becomes expired or revoked. From any other status, a DNS authorization can only "
            "become pending."
        ),
        sentence="Transitions: not shown.",
        reason=(
            "no call changes a DNS authorization, and the `move_dns` intervention can make each "
            "transition"
        ),
        affects=(DnsAuthorization,),
    ),
    FixedAssumption(
        name="deployment_transitions",
        doc="A deployment is queued, then building, and then deploying, without skipping a stage.",
        sentence="Transitions: not shown.",
        reason="the stages' durations vary, so a polling client misses some stages anyway",
        affects=(DeploymentPage,),
    ),
    FixedAssumption(
        name="database_transitions",
        doc="A database can change from any state to any other state.",
        sentence="Transitions: not shown.",
        reason=(
            "no call changes a database's state, and the `set_database` intervention sets any state"
        ),
        affects=(DatabaseCompute,),
    ),
    FixedAssumption(
        name="project_roles",
        doc=(
            "A project has owners, maintainers and readers. Maintainers also have the rights "
            "of readers, and owners also have the rights of maintainers. An organization has "
            "owners and members."
        ),
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract names owners and readers, and no call shows a role",
    ),
    FixedAssumption(
        name="key_creation_role",
        doc="Any member of the organization may create an API key (call 3).",
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
        doc="Owner-only calls accept an owner's API key.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract restricts a key only by its permissions",
        affects=("owner",),
    ),
    FixedAssumption(
        name="call_permissions",
        doc="For each call, an API key needs the permission that the OpenAPI document names.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="a key has all enabled permissions, so few clients notice a difference",
    ),
    FixedAssumption(
        name="service_events",
        doc="The emulator delivers no events.",
        sentence="Event kinds, delivery and payloads: not shown.",
        reason="the contract does not show any event",
    ),
    FixedAssumption(
        name="other_error_statuses",
        doc=(
            "Calls 2 to 8 return each code with its usual status, which problem_statuses can "
            "change. Each call may return any code that the OpenAPI document lists for the "
            "call."
        ),
        sentence="The set of error statuses for endpoints other than the flag endpoint: not shown.",
        reason="a separate set of statuses for each call would reveal no further bugs in clients",
    ),
    FixedAssumption(
        name="quotas",
        doc=(
            "No call changes credits. A call depends only on whether the organization has any "
            "credits (see the `zero_credits` assumption)."
        ),
        sentence="credit or plan quotas including bonus credit amounts: not shown.",
        reason="no call shows credits",
    ),
    FixedAssumption(
        name="later_versions",
        doc="There are no later versions of the API.",
        sentence="Deprecation policy and the way later versions are introduced: not shown.",
        reason="the contract does not show a later version",
    ),
    FixedAssumption(
        name="head_method",
        doc="HEAD is handled like any method that a path does not support.",
        sentence="PUT /v1/projects/{project_id}/powered-by-flag",
        reason="it is up to proxies to convert HEAD to GET, and wrong_method also applies to HEAD",
    ),
    FixedAssumption(
        name="last_use",
        doc=(
            "last_used_at is updated at most once per second, and is absent until the key is "
            "first used."
        ),
        sentence="last_used_at (timestamp)",
        reason="no client can observe the exact time of a key's use",
    ),
    FixedAssumption(
        name="obfuscated_key",
        doc=(
            "obfuscated_value consists of key_prefix, an ellipsis and the key's last four "
            "characters."
        ),
        sentence="obfuscated_value (string)",
        reason="a client cannot rely on the form of an obfuscated value",
    ),
    FixedAssumption(
        name="replayed_key",
        doc="The replay of a key's creation shows the key's current metadata and a new request id.",
        sentence="Only the first creation returns the full value.",
        reason="the key's value is not stored, so the first response cannot be repeated",
    ),
    FixedAssumption(
        name="replayed_refusal",
        doc=(
            "A replayed refusal has the request id of the first response, both in the header "
            "and in the body."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason=(
            "the body is replayed byte for byte, and the header repeats the request id in the body"
        ),
    ),
    FixedAssumption(
        name="request_identity",
        doc=(
            "Two requests to start an operation (calls 2 and 4) count as the same request if "
            "everything that the call reads is the same. A query or a body that the call does "
            "not read is ignored."
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
            "A replay requires everything that the first request required: the token, the "
            "token's organization, the access scope, the role and a key's permissions. The "
            "replay of a key's creation also requires the session, the membership and the "
            "product permissions."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason=(
            "the contract says that operation 3 revalidates access, and does not say that any "
            "retry works without the role"
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
        reason="a refusal has no effect, whichever code it has",
        affects=("body",),
    ),
    FixedAssumption(
        name="key_names",
        doc=(
            "Two API keys may have the same name. A key's name may contain any characters, and "
            "its length is counted in code points."
        ),
        sentence="API key name length",
        reason=(
            "the contract does not say that names are unique, and does not restrict a name's "
            "characters"
        ),
    ),
    FixedAssumption(
        name="key_on_other_calls",
        doc="A call that does not require an Idempotency-Key ignores this header.",
        sentence=(
            "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
            "header is listed for operations 5 to 8)"
        ),
        reason="only calls that require an Idempotency-Key remember a response",
    ),
    FixedAssumption(
        name="cursor_life",
        doc=(
            "A cursor has 1 to 512 characters. A cursor stays valid while its project and the "
            "order stay the same, for any reader and any page size. Pages show each deployment "
            "once, even if new deployments arrive in between."
        ),
        sentence="opaque continuation cursor",
        reason=(
            "the position of a cursor always exists, because even a deployment that "
            "remove_deployments has removed keeps its position"
        ),
    ),
    FixedAssumption(
        name="flag_dependency",
        doc=(
            "A custom domain depends on the flag if the project's organization is on the Free plan."
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
            "A project runs one operation at a time, in order of arrival. A waiting operation "
            "always names the operation that holds the claim, even if the waiting operation "
            "applies domains (call 4)."
        ),
        sentence="blocking_operation_id",
        reason=(
            "blocking_operation_id refers to a project's claim, and a client expects the order "
            "of arrival"
        ),
    ),
    FixedAssumption(
        name="deployment_logs",
        doc="There are no deployment logs.",
        sentence="diagnostics of a failed one are read via deployment logs",
        reason="no call reads deployment logs",
    ),
    FixedAssumption(
        name="error_codes",
        doc=(
            "Unless an intervention or an armed outcome sets a different code, an operation's "
            "error code is operation_failed, reconciliation_exhausted, or the code of the "
            "`generation_stale` condition. The `unknown-error-code` variation point shows other "
            "codes."
        ),
        sentence=(
            "Allowed values of progress.phase, reconciliation.state and error.code beyond those "
            "given above: not"
        ),
        reason="interventions accept any code",
    ),
    FixedAssumption(
        name="next_poll",
        doc=(
            "next_poll_after_seconds is the number of seconds until the operation's next step, "
            "rounded up, or 60 if no step is scheduled. For an operation that waits for the "
            "claim, the next step of the operation that holds the claim counts. The `next-poll` "
            "variation point shows other numbers."
        ),
        sentence="next_poll_after_seconds (integer; a value of 60 appears)",
        reason="the operation's profile sets the time of the next step",
    ),
    FixedAssumption(
        name="suspend_timeout",
        doc="suspend_timeout_seconds is never less than -1.",
        sentence=(
            "suspend_timeout_seconds (integer: 0 means provider default, -1 means never suspend, "
            "otherwise the configured provider value)"
        ),
        reason="a configured time is not negative",
    ),
    FixedAssumption(
        name="json_text",
        doc=(
            "A body is refused if it contains a duplicate member, a byte order mark, NaN, "
            "invalid UTF-8, half a surrogate pair, a number such as 1e309 that exceeds the "
            "range of a double, an integer with more than 4300 digits, or more than 64 levels "
            "of nesting. The numbers 1.0 and 1e0 are integers. "
            "A body may be compressed (gzip, deflate). A body is always UTF-8, regardless of "
            "the charset in its Content-Type. The Accept header is ignored."
        ),
        sentence="All bodies are JSON.",
        reason="RFC 8259 and RFC 9110 leave these choices to the recipient of a message",
    ),
    FixedAssumption(
        name="repeated_input",
        doc=(
            "A duplicate Idempotency-Key or X-Request-Id header is refused with "
            "invalid_request, and so is a duplicate of a query parameter that the call reads. "
            "A duplicate Authorization header is refused with unauthenticated."
        ),
        sentence="Common headers: Authorization: Bearer <ACCESS_TOKEN_OR_API_KEY> (all)",
        reason="the client does not say which of the two values it means",
    ),
    FixedAssumption(
        name="header_text",
        doc=(
            "A header's length is counted in characters of its UTF-8 text, without leading and "
            "trailing whitespace."
        ),
        sentence="Idempotency-Key length",
        reason=(
            "HTTP removes leading and trailing whitespace, and bytes that are not UTF-8 are "
            "not characters"
        ),
    ),
    FixedAssumption(
        name="number_text",
        doc="A page size is written in digits, without a sign or leading zeros.",
        sentence="integer 1 to 100",
        reason=(
            "HTTP defines no notation for integers in a query, and digits are the usual notation"
        ),
    ),
    FixedAssumption(
        name="other_conditions",
        doc=(
            "invalid_request is used for errors in a header, in the query (including more than "
            "100 parameters), in a body or in the HTTP message itself, and for an unknown HTTP "
            "method. resource_not_found is used for an unknown path. service_unavailable is "
            "used if the emulator itself fails."
        ),
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="no other code applies to every request, and invalid HTTP does not reach a world",
    ),
    FixedAssumption(
        name="judgement_order",
        doc=(
            "After authentication, a request's headers, query and body are checked before the "
            "caller's role and permissions."
        ),
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="a refusal has no effect, whichever check comes first",
    ),
    FixedAssumption(
        name="problem_retryable",
        doc=(
            "All problems with the same code have the same value of retryable, which `contract "
            "problems` shows."
        ),
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="a client reads retryable from the response",
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
            "`contract problems` shows the texts of title and suggested_action. The `detail` "
            "member describes the mistake, and `instance` is omitted. The `problem-wording` "
            "variation point varies the texts, and `problem-extras` adds members."
        ),
        sentence="minimum length 1",
        reason="programs use the code, not the texts",
    ),
    FixedAssumption(
        name="ticket_refusals",
        doc=(
            "A redemption whose query lacks stage=dev or does not contain exactly one ticket is "
            "refused with 400 invalid_request. Other query parameters are ignored. A ticket "
            "that is unknown, used, expired, revoked or for a different origin is refused with "
            "404 resource_not_found."
        ),
        sentence="<origin>/.service/dev-access/redeem?stage=dev&ticket=<ticket>",
        reason=(
            "a stranger must not learn why a ticket is refused, and the contract's code for "
            "missing resources is resource_not_found"
        ),
    ),
    FixedAssumption(
        name="generated_ids",
        doc=(
            "Ids are ULIDs that contain the creation time, so ids sort by creation time. A "
            "generated request id is req_ followed by a ULID."
        ),
        sentence="exactly 26 characters matching ^[0-9A-HJKMNP-TV-Z]{26}$",
        reason="the contract gives ids the type Ulid, and a ULID starts with its creation time",
    ),
    FixedAssumption(
        name="deployment_values",
        doc=(
            "Digests are random. The `artifact_digest` field is present once the status is "
            "deploying. The `url` field, which is the URL of the production host, is present "
            "while the status is ready."
        ),
        sentence="artifact_digest",
        reason=(
            "nothing is built, and the `absent-fields` variation point omits artifact_digest and "
            "url"
        ),
    ),
    FixedAssumption(
        name="dev_site",
        doc=(
            "Redeeming a ticket redirects to the root of the dev origin, and sets a cookie "
            "that is host-only, HttpOnly, Secure and SameSite=Lax. A page at the root shows "
            "whether access works, and returns 401 without the cookie."
        ),
        sentence="https origin of the immutable dev project host",
        reason="the content of the origin belongs to the developer",
    ),
    FixedAssumption(
        name="response_headers",
        doc=(
            "Every response of the API has Cache-Control: no-store. A 401 response has a "
            "WWW-Authenticate header, and a 405 response has an Allow header. The "
            "`extra-headers` variation point adds other headers."
        ),
        sentence="RFC 9457 Problem Details extended with recovery fields",
        reason=(
            "HTTP requires WWW-Authenticate and Allow, and a control API's responses must "
            "not be cached"
        ),
    ),
    FixedAssumption(
        name="browser_pages",
        doc=(
            "Web pages from this machine, and from origins allowed with `start --allow-origin`, may "
            "read responses (CORS)."
        ),
        sentence="No cookie session is assumed.",
        reason="a page from another site must not be able to use a user's token",
    ),
    FixedAssumption(
        name="dev_session_cookie",
        doc="Redeeming a ticket sets the `dev_access` cookie at the dev origin.",
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
            "An access token has the claims iss, aud, sub, iat, exp, jti, name and email. A "
            "token for an organization also has org_id, a token of an interactive session has "
            "sid, and a token from a sign-in in a browser has client_id and scope. A token that "
            "a tool of the emulator hands out is valid for ten years of world time by default, "
            "and its iat is 1970-01-01, so that it stays valid when world time goes back."
        ),
        sentence="an access JWT issued by an identity provider",
        reason="a token's content concerns only the API and its identity provider",
    ),
    FixedAssumption(
        name="sign_in",
        doc=(
            "Sign-in uses OpenID Connect's authorization code flow with PKCE. A code is valid "
            "for a minute, a refresh token for a single use within 30 days, and a browser "
            "session for seven days."
        ),
        sentence="an access JWT issued by an identity provider",
        reason="the contract does not show the identity provider",
    ),
    FixedAssumption(
        name="two_servers",
        doc=(
            "A single emulator plays both servers, and the `env` command prints the addresses "
            "of both servers."
        ),
        sentence="Two servers exist: production ({base_url}) and development ({dev_base_url}).",
        reason=(
            "the contract does not show how the two servers differ, and two worlds can stand "
            "for two different servers"
        ),
    ),
    FixedAssumption(
        name="replayed_key_permissions",
        doc=(
            "An exact replay of a key's creation (call 3) requires that the organization still "
            "enables at least one of the key's permissions."
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
        reason="only a user with two credentials could tell the difference",
        affects=(
            "idempotent",
            DevAccessTicket,
        ),
    ),
    FixedAssumption(
        name="dns_details",
        doc=(
            "A DNS authorization shows scopes and expires_at in every status except not_authorized."
        ),
        sentence="null when status is not_authorized",
        reason="in the contract, only the `not_authorized` status has no scopes and no expires_at",
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
        reason="according to the contract, a key expires only after 90 days",
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
            "A project in which a user has no role is outside the user's access (404), even if "
            "the project belongs to the user's organization."
        ),
        sentence="Resource missing or outside the caller's access scope",
        reason="the contract requires 404 for resources outside the access scope",
    ),
    FixedAssumption(
        name="request_id",
        doc="A response's request id is the client's X-Request-Id, if the client sent a valid one.",
        sentence="X-Request-Id (optional request header, string 1-128 characters",
        reason="a client sends X-Request-Id in order to find it in the response",
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
        reason=(
            "according to the contract, a ticket becomes invalid only when it is used, when it "
            "expires or when a new ticket revokes it"
        ),
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="redemption_status",
        doc="The redirect after redeeming a ticket has status 303.",
        sentence="A ticket is single use and valid ten minutes.",
        reason="a dev origin is not part of the API",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="dev_origin_port",
        doc=(
            "origin and redeem_url contain the port of the dev origins (`--tls-port`) after "
            "<dev_zone>, unless the port is 443."
        ),
        sentence="of the form https://dev-<word>-<word>-<word>.<dev_zone>",
        reason="URLs without the port would not work",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="production_zone",
        doc="Production hostnames are in the `prod.localhost` zone.",
        sentence="hostnames (derived by the server, not supplied)",
        reason="no field names the zone, and the emulator serves nothing in the zone",
        affects=(
            "apply_project_domains",
            "get_operation",
        ),
    ),
    FixedAssumption(
        name="mail_zone",
        doc="Mail hostnames are in the `mail.localhost` zone.",
        sentence="hostnames (derived by the server, not supplied)",
        reason="no field names the zone, and the emulator serves nothing in the zone",
        affects=(
            "apply_project_domains",
            "get_operation",
        ),
    ),
    FixedAssumption(
        name="date_header",
        doc="The Date header of a response shows world time, like the timestamps in its body.",
        sentence="date-time (ISO 8601 / RFC 3339)",
        reason="the clock of a service agrees with its timestamps",
    ),
)
#: All fixed assumptions by name, in the order in which documents list them.
FIXED = {row.name: row for row in _ROWS}
