"""The endpoints, in the contract's own words."""

from __future__ import annotations

SAID: dict[str, tuple[tuple[str, ...], ...]] = {
    "Endpoints": (
        ("paths", "All paths are relative to {base_url} (or {dev_base_url})."),
        ("bearer", "Authorization: Bearer <ACCESS_TOKEN_OR_API_KEY> (all)"),
        (
            "request-id",
            "X-Request-Id (optional request header, string 1-128 characters; a response header "
            "X-Request-Id is returned with error responses)",
        ),
        (
            "idempotency-key",
            "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
            "header is listed for operations 5 to 8).",
        ),
    ),
    "1. Show or hide the flag": (
        ("flag.call", "PUT /v1/projects/{project_id}/powered-by-flag"),
        (
            "flag.body",
            "Body (required, application/json): { enabled: boolean (required) }, no other "
            "properties.",
        ),
        ("flag.200", "200: PoweredByFlag."),
        (
            "flag.statuses",
            "Error statuses listed: 400, 401, 403, 404, 409, 503 (Problem Details).",
        ),
        ("flag.owner-only", "Owner-only."),
        (
            "flag.hiding-refused",
            "Hiding is refused while a Free workspace's domain depends on the flag.",
        ),
        ("flag.replay", "Same key and same body: first result returned without switching again."),
        (
            "flag.reused",
            "Same key with a changed request: 409 code idempotency_key_reused.",
        ),
    ),
    "2. Initialize managed Git source": (
        ("source.call", "POST /v1/projects/{project_id}/source:initialize"),
        ("source.body", "Body (application/json): { expected_source_generation: integer }."),
        (
            "source.accepted",
            "Response: the mutation was accepted for asynchronous processing; body is an "
            "Operation.",
        ),
    ),
    "3. Create user API key": (
        ("keys.call", "POST /v1/organizations/{organization_id}/user-api-keys"),
        ("keys.body", "Body (application/json): { name: string, length 1 to 64 }."),
        ("keys.response", "Response body: UserApiKeyCreation."),
        (
            "keys.session",
            "Requires a current interactive user session; organization membership and product "
            "permissions are revalidated.",
        ),
        ("keys.days", "Creates a user-owned token valid 90 days."),
        (
            "keys.zero-credits",
            "Available at zero credits.",
            "No call shows an organization's credits.",
        ),
        ("keys.value-once", "Only the first creation returns the full value."),
        (
            "keys.replay",
            "An exact replay (same name and Idempotency-Key) returns metadata and value null.",
        ),
        (
            "keys.uncertainty",
            "After any uncertainty the same name and Idempotency-Key are reused rather than "
            "creating another token.",
        ),
    ),
    "4. Apply project domains": (
        ("domains.call", "PUT /v1/projects/{project_id}/domains"),
        (
            "domains.idempotent",
            "Starts an idempotent durable operation for the exact project-derived development, "
            "production and mail hostnames (derived by the server, not supplied).",
        ),
        (
            "domains.accepted",
            "Response: accepted for asynchronous processing; body is an Operation.",
        ),
        (
            "domains.reused",
            "A 409 with code idempotency_key_reused is a documented error for this operation.",
        ),
    ),
    "5. Get DNS authorization status": (
        ("dns.call", "GET /v1/projects/{project_id}/edge-dns"),
        ("dns.response", "Response: DnsAuthorization (credential-free)."),
    ),
    "6. List deployments": (
        ("deployments.call", "GET /v1/projects/{project_id}/deployments"),
        (
            "deployments.query",
            "Query: a continuation cursor (opaque string from the preceding page's next_cursor, "
            "characters A-Z a-z 0-9 _ -) and a maximum page size (integer 1 to 100).",
        ),
        ("deployments.response", "Response: page of deployments (items, next_cursor)."),
        ("deployments.page-through", "Page through a project's deployments"),
    ),
    "7. Create dev access ticket": (
        ("tickets.call", "POST /v1/projects/{project_id}/dev-access-tickets"),
        (
            "tickets.owner-only",
            "Owner-only issuance of a ten-minute single-use ticket for the immutable dev project "
            "origin.",
        ),
        ("tickets.revokes", "A new ticket revokes the principal's earlier unused tickets."),
        ("tickets.response", "Response: DevAccessTicket."),
    ),
    "8. Read database compute": (
        ("compute.call", "GET /v1/projects/{project_id}/database/compute"),
        (
            "compute.query",
            "Query: one parameter choosing the environment, allowed values dev, prod.",
        ),
        ("compute.response", "Response: DatabaseCompute."),
        ("compute.readers", "Project readers may call it"),
        (
            "compute.asleep",
            "it returns no provider identifiers or credentials, executes no SQL and does not wake "
            "the database.",
            "What is not returned, not executed and not woken leaves no trace in an answer.",
        ),
        (
            "compute.failure",
            "A provider failure returns a problem response, never invented defaults.",
            "A client cannot make the provider fail.",
        ),
    ),
}
