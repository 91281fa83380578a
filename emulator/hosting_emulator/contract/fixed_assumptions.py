"""Choices that users cannot set, about points on which the contract is silent.

For each choice, this module gives a reason and quotes the sentence that leaves the point open.
Choices that users can set are fields in `assumptions.py`.
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
        doc="Polling an operation is the only call that the contract does not list.",
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
        reason="any content is possible, so a client cannot rely on it",
    ),
    FixedAssumption(
        name="optional_fields",
        doc=(
            "Unless a world varies, a field that has a value is always present, even if the "
            "contract does not require it. The `absent-fields` and `progress-absent` variation "
            "points omit some fields."
        ),
        sentence=(
            "Which fields of Operation, progress, reconciliation, Deployment, compute, key and "
            "ticket are required or optional: not shown."
        ),
        reason=(
            "which fields are absent can differ from response to response, so a setting for "
            "the whole world would not help"
        ),
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
            "the contract names the fields of the bodies, but says only for the flag (call 1) "
            "that the body is required"
        ),
    ),
    FixedAssumption(
        name="read_status",
        doc="Polling and the other read-only calls (calls 5, 6 and 8) succeed with 200.",
        sentence="Response: DnsAuthorization (credential-free).",
        reason=(
            "HTTP does not define any other status for a read that returns the complete resource"
        ),
    ),
    FixedAssumption(
        name="source_deployment",
        doc="Initializing the source creates a deployment, and applying domains does not.",
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
            "assumptions determine how long an operation is queued and how long it runs."
        ),
        sentence="Transitions: not shown.",
        reason=(
            "the contract says that terminal states are immutable, and a client cannot tell "
            "whether a failed operation ever ran"
        ),
    ),
    FixedAssumption(
        name="deployment_ends",
        doc=(
            "When an operation ends, its deployment becomes ready, failed or cancelled. After "
            "that, a ready deployment changes only if an intervention makes it fail, supersedes "
            "it or removes it."
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
            "no call changes a DNS authorization, and the `move_dns` intervention can make any "
            "of these transitions"
        ),
        affects=(DnsAuthorization,),
    ),
    FixedAssumption(
        name="deployment_transitions",
        doc=(
            "A deployment is queued, then building, then deploying, and then ready. It can fail or be "
            "cancelled at any stage before it is ready, but no stage is skipped."
        ),
        sentence="Transitions: not shown.",
        reason="stages vary in length, so a client that polls misses some of them anyway",
        affects=(DeploymentPage,),
    ),
    FixedAssumption(
        name="database_transitions",
        doc="A database can change from any state to any other state.",
        sentence="Transitions: not shown.",
        reason=(
            "no call changes a database's state, and the `set_database` intervention can set any "
            "state"
        ),
        affects=(DatabaseCompute,),
    ),
    FixedAssumption(
        name="project_roles",
        doc=(
            "A project has owners, maintainers and readers. Maintainers also have the rights of "
            "readers, and owners also have those of maintainers. An organization has owners and "
            "members."
        ),
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract names owners and readers, and no call shows a role",
    ),
    FixedAssumption(
        name="key_creation_role",
        doc="Any member of the organization can create an API key (call 3).",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="the contract requires membership and does not name a role",
    ),
    FixedAssumption(
        name="organization_owner",
        doc="An owner of an organization owns all of its projects.",
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="no call shows who the owners are",
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
        doc=(
            "For each call that API keys can make, an API key needs the permission that the OpenAPI "
            "document specifies."
        ),
        sentence="Roles or permissions required by the remaining operations: not shown.",
        reason="a key has all enabled permissions, so few clients would notice a difference",
    ),
    FixedAssumption(
        name="service_events",
        doc="The emulator delivers no events.",
        sentence="Event kinds, delivery and payloads: not shown.",
        reason="the contract does not describe any event",
    ),
    FixedAssumption(
        name="other_error_statuses",
        doc=(
            "Calls 2 to 8 return each code with its usual status, which problem_statuses can "
            "change. A call can return any code that the OpenAPI document lists for it."
        ),
        sentence="The set of error statuses for endpoints other than the flag endpoint: not shown.",
        reason=(
            "a separate set of statuses for each call would not reveal any further bugs in clients"
        ),
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
        reason="the contract does not describe a later version",
    ),
    FixedAssumption(
        name="head_method",
        doc="HEAD is handled like any other method that a path does not support.",
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
        reason="no client can observe exactly when a key was used",
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
        doc="The replay of a key creation shows the key's current metadata and a new request id.",
        sentence="Only the first creation returns the full value.",
        reason="the key's value is not stored, so the first response cannot be repeated",
    ),
    FixedAssumption(
        name="replayed_refusal",
        doc=(
            "A replayed refusal has the first response's request id, in both the header and the "
            "body."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason=(
            "the body is replayed byte for byte, and the header repeats the request id in the body"
        ),
    ),
    FixedAssumption(
        name="request_identity",
        doc=(
            "Two requests to start an operation or to create an API key (calls 2, 3 and 4) count as "
            "the same request if everything that the call reads is the same. A query, a body or a "
            "field that the call does not read makes no difference."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason="the contract does not promise anything about input that is ignored",
        affects=(
            "initialize_managed_source",
            "create_user_api_key",
            "apply_project_domains",
        ),
    ),
    FixedAssumption(
        name="replay_access",
        doc=(
            "A replay requires everything that the first request required: the token, its "
            "organization, the access scope, the role and, for an API key, the permissions. The "
            "replay of a key creation also requires the session, the membership and the product "
            "permissions."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason=(
            "the contract says that operation 3 revalidates access, and does not say that any "
            "retry succeeds without the role"
        ),
        affects=("idempotent",),
    ),
    FixedAssumption(
        name="changed_and_invalid",
        doc=(
            "A retry with an invalid body is refused with invalid_request rather than "
            "idempotency_key_reused."
        ),
        sentence="Same key and same body: first result returned without switching again.",
        reason="a refusal has no effect, whatever its code",
        affects=("body",),
    ),
    FixedAssumption(
        name="key_names",
        doc=(
            "Two API keys can have the same name. A name can contain any characters, and its "
            "length is counted in code points."
        ),
        sentence="API key name length",
        reason=(
            "the contract does not say that names are unique, and does not restrict their "
            "characters"
        ),
    ),
    FixedAssumption(
        name="key_on_other_calls",
        doc="A call that does not require an Idempotency-Key ignores one.",
        sentence=(
            "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
            "header is listed for operations 5 to 8)"
        ),
        reason="only calls that require an Idempotency-Key remember a response",
    ),
    FixedAssumption(
        name="cursor_life",
        doc=(
            "A cursor has 1 to 512 characters. A cursor remains valid for as long as its project "
            "exists and the order does not change, for any reader and any page size. Pages show "
            "each deployment once, even if deployments are added in the meantime."
        ),
        sentence="opaque continuation cursor",
        reason=(
            "a cursor's position always exists, because even a deployment that was removed by "
            "remove_deployments keeps its position"
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
            "Hiding a flag that is already hidden succeeds, even if a Free workspace has its own "
            "domain connected to the project."
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
            "blocking_operation_id refers to a project's claim, and clients expect operations to "
            "run in order of arrival"
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
            "`generation_stale` condition. The `unknown-error-code` variation point uses other "
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
            "rounded up (at least 1 and at most 86,400), or 60 if no step is scheduled. For an "
            "operation that is waiting for the claim, it is the time until the next step of the "
            "operation that holds the claim. The `next-poll` variation point uses other numbers."
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
        reason="a configured time cannot be negative",
    ),
    FixedAssumption(
        name="json_text",
        doc=(
            "A body is refused if it contains a duplicate member, a byte order mark, NaN, "
            "invalid UTF-8, half a surrogate pair, a number such as 1e309 that exceeds the range "
            "of a double, an integer with more than 4300 digits, or more than 64 levels of "
            "nesting. The numbers 1.0 and 1e0 count as integers. A body can be compressed (gzip, "
            "deflate). A body is always read as UTF-8, whatever charset its Content-Type names. "
            "The Accept header is ignored."
        ),
        sentence="All bodies are JSON.",
        reason="RFC 8259 and RFC 9110 leave these choices to the recipient of a message",
    ),
    FixedAssumption(
        name="repeated_input",
        doc=(
            "A request is refused with invalid_request if it repeats a query parameter that the "
            "call reads, the Idempotency-Key header of a call that requires one, or the "
            "X-Request-Id header (unless `request_id_invalid` is `ignored`). A request that "
            "repeats the Authorization header is refused with unauthenticated."
        ),
        sentence="Common headers: Authorization: Bearer <ACCESS_TOKEN_OR_API_KEY> (all)",
        reason="it is not clear which of the values the client means",
    ),
    FixedAssumption(
        name="header_text",
        doc=(
            "The length of a header is the number of characters in its UTF-8 text, without "
            "leading and trailing whitespace."
        ),
        sentence="Idempotency-Key length",
        reason=(
            "HTTP removes leading and trailing whitespace, and bytes that are not UTF-8 are "
            "not characters"
        ),
    ),
    FixedAssumption(
        name="number_text",
        doc="A page size must consist of digits, without a sign or leading zeros.",
        sentence="integer 1 to 100",
        reason=(
            "HTTP does not define how to write integers in a query, and plain digits are customary"
        ),
    ),
    FixedAssumption(
        name="other_conditions",
        doc=(
            "invalid_request is used for errors in a header, in the query (including more than "
            "100 parameters), in the body or in the HTTP message itself, and for an unknown HTTP "
            "method. resource_not_found is used for an unknown path. service_unavailable is used "
            "if the emulator itself fails."
        ),
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="no other code applies to all requests, and invalid HTTP never reaches a world",
    ),
    FixedAssumption(
        name="judgement_order",
        doc=(
            "After authentication, the headers, the query and the body are checked before the "
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
            "Unless a fault alters them, all problems with the same code have the same value for "
            "retryable, which `contract problems` shows."
        ),
        sentence=(
            "Which HTTP status each other code uses, and which code follows which other condition: "
            "not shown."
        ),
        reason="a client reads retryable from the response",
    ),
    FixedAssumption(
        name="wrong_media_type",
        doc="A body is refused if its media type is not application/json.",
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
            "`contract problems` shows the texts of title and suggested_action. `detail` "
            "describes the mistake, and `instance` is omitted. The `problem-wording` variation "
            "point varies the texts, and `problem-extras` adds members."
        ),
        sentence="minimum length 1",
        reason="programs evaluate the code rather than the texts",
    ),
    FixedAssumption(
        name="ticket_refusals",
        doc=(
            "A request to redeem a ticket is refused with 400 invalid_request if its query lacks "
            "stage=dev or does not contain exactly one ticket. Other query parameters are "
            "ignored. A ticket that is unknown, used, expired, revoked or for a different origin "
            "is refused with 404 resource_not_found."
        ),
        sentence="<origin>/.service/dev-access/redeem?stage=dev&ticket=<ticket>",
        reason=(
            "strangers must not learn why a ticket was refused, and resource_not_found is the "
            "contract's code for missing resources"
        ),
    ),
    FixedAssumption(
        name="generated_ids",
        doc=(
            "Ids are ULIDs. Those of organizations, users, projects and environments contain the same "
            "time. All others contain the creation time, so they sort by creation time, unless the "
            "`id-order` variation point changes this for deployments. A generated request id is req_ "
            "followed by a ULID."
        ),
        sentence="exactly 26 characters matching ^[0-9A-HJKMNP-TV-Z]{26}$",
        reason="the contract gives ids the type Ulid, and a ULID starts with its creation time",
    ),
    FixedAssumption(
        name="deployment_values",
        doc=(
            "Digests are random. `artifact_digest` is present as soon as the status is "
            "deploying. `url`, the URL of the production host, is present while the status is "
            "ready."
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
            "Redeeming a ticket redirects to the root of the dev origin, and sets a cookie that "
            "is host-only, HttpOnly, Secure and SameSite=Lax. A page at the root shows whether "
            "access works. Without the cookie, it returns 401."
        ),
        sentence="https origin of the immutable dev project host",
        reason="what the origin serves is up to the developer",
    ),
    FixedAssumption(
        name="response_headers",
        doc=(
            "Unless a fault replaces or alters it, every response of the API has Cache-Control: "
            "no-store. A 401 response has a WWW-Authenticate header, and a 405 response has an "
            "Allow header. The `extra-headers` variation point adds other headers."
        ),
        sentence="RFC 9457 Problem Details extended with recovery fields",
        reason=(
            "HTTP requires WWW-Authenticate and Allow, and the responses of a control API must "
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
            "token for an organization also has org_id, one that belongs to an interactive "
            "session has sid, and one from a browser sign-in has client_id and scope. A token "
            "that was created by one of the emulator's tools is valid for ten years of world "
            "time by default. Unless an intervention has skewed the identity provider's clock, its "
            "iat is 1970-01-01, so that it stays valid when world time is set back."
        ),
        sentence="an access JWT issued by an identity provider",
        reason="the content of a token is a matter between the API and its identity provider",
    ),
    FixedAssumption(
        name="sign_in",
        doc=(
            "Sign-in uses OpenID Connect's authorization code flow with PKCE. A code is valid "
            "for one minute, a refresh token for a single use within 30 days, and a browser "
            "session for seven days."
        ),
        sentence="an access JWT issued by an identity provider",
        reason="the contract does not describe the identity provider",
    ),
    FixedAssumption(
        name="two_servers",
        doc=(
            "A single emulator stands in for both servers, and the `env` command prints the URLs "
            "of both."
        ),
        sentence="Two servers exist: production ({base_url}) and development ({dev_base_url}).",
        reason=(
            "the contract does not say how the two servers differ, and two worlds can stand in "
            "for two different servers"
        ),
    ),
    FixedAssumption(
        name="replayed_key_permissions",
        doc=(
            "An exact replay of a key creation (call 3) requires that the organization still "
            "enables at least one of the key's permissions."
        ),
        sentence="organization membership and product permissions are revalidated",
        reason="no call changes the enabled permissions",
        affects=("create_user_api_key",),
    ),
    FixedAssumption(
        name="same_principal",
        doc=(
            "With regard to Idempotency-Keys and tickets, a user is the same principal whichever "
            "token or API key is used."
        ),
        sentence=(
            "Issuing a new ticket revokes unused tickets previously issued to the same principal."
        ),
        reason="only a user with two credentials could notice a difference",
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
        reason=(
            "in the contract, only the status `not_authorized` has neither scopes nor expires_at"
        ),
        affects=(DnsAuthorization,),
    ),
    FixedAssumption(
        name="new_key_permissions",
        doc="A new key has all permissions that its organization has enabled.",
        sentence=(
            "A user key is bound to one organization and restricted to its enabled product "
            "permissions."
        ),
        reason="the response lists the permissions of the key",
    ),
    FixedAssumption(
        name="returned_members_keys",
        doc=(
            "If the owner of an API key leaves the organization and later returns, the key works "
            "again."
        ),
        sentence=(
            "A user key is bound to one organization and restricted to its enabled product "
            "permissions."
        ),
        reason="according to the contract, a key does not expire before 90 days",
    ),
    FixedAssumption(
        name="access_scope",
        doc="An access token provides access only to its own organization.",
        sentence="Resource missing or outside the caller's access scope",
        reason="the contract mentions a single organization context",
    ),
    FixedAssumption(
        name="unshared_project",
        doc=(
            "A project in which a user has no role is outside the user's access (404), even if "
            "it belongs to the user's organization."
        ),
        sentence="Resource missing or outside the caller's access scope",
        reason="the contract requires 404 for resources outside the access scope",
    ),
    FixedAssumption(
        name="request_id",
        doc="A response's request id is the client's X-Request-Id, if the client sent a valid one.",
        sentence="X-Request-Id (optional request header, string 1-128 characters",
        reason="a client that sends X-Request-Id expects to find it in the response",
    ),
    FixedAssumption(
        name="expiry_instant",
        doc=(
            "A ticket, key, token, DNS authorization, remembered response, authorization code or "
            "session is no longer valid at the exact time of its expiry."
        ),
        sentence="A ticket is single use and valid ten minutes.",
        reason="no client can rely on a single millisecond",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="former_owners_ticket",
        doc="A ticket can be redeemed even if its user is no longer an owner.",
        sentence="A ticket is single use and valid ten minutes.",
        reason=(
            "according to the contract, a ticket becomes invalid only by being used, by expiring "
            "or by being revoked by a new ticket"
        ),
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="redemption_status",
        doc="The redirect after a ticket is redeemed has status 303.",
        sentence="A ticket is single use and valid ten minutes.",
        reason="a dev origin is not part of the API",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="dev_origin_port",
        doc=(
            "In origin and redeem_url, <dev_zone> is followed by the port of the dev origins "
            "(`--tls-port`), unless it is 443."
        ),
        sentence="of the form https://dev-<word>-<word>-<word>.<dev_zone>",
        reason="URLs without the port would not work",
        affects=(DevAccessTicket,),
    ),
    FixedAssumption(
        name="production_zone",
        doc="Production hostnames are in the zone `prod.localhost`.",
        sentence="hostnames (derived by the server, not supplied)",
        reason="no field names the zone, and the emulator does not serve anything in it",
        affects=(
            "apply_project_domains",
            "get_operation",
        ),
    ),
    FixedAssumption(
        name="mail_zone",
        doc="Mail hostnames are in the zone `mail.localhost`.",
        sentence="hostnames (derived by the server, not supplied)",
        reason="no field names the zone, and the emulator does not serve anything in it",
        affects=(
            "apply_project_domains",
            "get_operation",
        ),
    ),
    FixedAssumption(
        name="date_header",
        doc=(
            "The Date header of a response shows world time, as do the timestamps in its body, unless "
            "an intervention has skewed the clock of the Date headers."
        ),
        sentence="date-time (ISO 8601 / RFC 3339)",
        reason="a service's clock agrees with its timestamps",
    ),
)
#: All fixed assumptions by name, in the order in which the documentation lists them.
FIXED = {row.name: row for row in _ROWS}
