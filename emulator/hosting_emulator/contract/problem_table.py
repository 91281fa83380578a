"""The table of problem codes: all codes from the contract's section Errors, in the contract's order.

The contract specifies the status and `retryable` for two codes, and the suggested action for one of
them. In each row, `specified` names the values that come from the contract. For all codes except
`resource_not_found` and `idempotency_key_reused`, the status is our choice. Codes for invalid
requests have status 400. Codes about credits, plans and budgets have status 402. Codes about
permissions, interactive login and the organization have status 403. Codes about conflicts and about
stale or missing preconditions have status 409. Codes about request rates and access limits have
status 429. Codes about anything unavailable, uncertain or out of capacity have status 503.
`unauthenticated` has status 401, and `payload_too_large` has status 413.

`retryable` means that the same request can succeed if it is retried unchanged.
`idempotency_key_reused` is not retryable, even though its suggested action is a retry, because the
retry needs a different key.

This file must remain cheap to import, so it does not load any models or web framework.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

#: The last sentence of `Problem.when` for codes that no call returns without a fault. "By default"
#: is needed because the `condition_codes` assumption can change which codes the calls return.
BY_FAULT_ONLY: Final = "By default, only fault injection makes this emulator return such a problem."
#: The prefix of a meaning that is not stated in the contract.
_OUR_READING = "Our reading: "


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """A problem code and all the texts about it (contract, section Errors).

    Responses contain `title` and `suggested_action`. The problem's page shows `meaning`, `when` and
    `advice`, which can contain code in backticks. `when` names the calls and conditions that
    produce the code in this emulator. `specified` names the values that the contract specifies.
    """

    code: str
    status: int
    retryable: bool
    title: str
    suggested_action: str
    meaning: str
    when: str
    advice: str
    specified: frozenset[Literal["status", "retryable", "suggested_action"]] = frozenset()

    @property
    def slug(self) -> str:
        """The code with hyphens instead of underscores, as in the problem's `type` link."""
        return self.code.replace("_", "-")

    @property
    def by_fault_only(self) -> bool:
        """Whether, by default, only an armed fault produces the code."""
        return self.when.endswith(BY_FAULT_ONLY)

    @property
    def detail(self) -> str:
        """The first sentence of the meaning, which could be the detail that the service sends."""
        first, _, _ = self.meaning.removeprefix(_OUR_READING).partition(". ")
        return f"{first[:1].upper()}{first[1:].removesuffix('.')}."

    def check_status(self, status: int) -> None:
        """Raise ValueError if this code cannot have the status (contract, section Errors)."""
        if "status" in self.specified and status != self.status:
            raise ValueError(f"the contract fixes the status of {self.code} to {self.status}")
        if not 400 <= status <= 599:
            raise ValueError(f"a problem's status must be 400 to 599, not {status}")


ROWS: Final = (
    Problem(
        code="invalid_request",
        status=400,
        retryable=False,
        title="Invalid request",
        suggested_action=(
            "Correct the part of the request that the detail names, and send the request again."
        ),
        meaning=(
            "The request does not have the required form: a header, a query parameter or a body "
            "field is missing, malformed or out of bounds."
        ),
        when=(
            "Every call can return this code, before anything changes. The code is returned for "
            "invalid JSON, a different content type, a value of the wrong type (`1` is not true, "
            "`1.5` is not an integer), a property other than `enabled` in a request that sets the "
            "flag, an Idempotency-Key that is missing or not 1 to 128 characters long, a page size "
            "outside 1 to 100, and an environment other than `dev` or `prod`. By default, a "
            "request for a known path with a wrong method also gets this code, with status 405."
        ),
        advice=(
            "Treat this response as a bug in the client. `detail` says which part of the request is "
            "at fault, and the same request would be refused again. A refused request does not use "
            "up its Idempotency-Key, so the corrected request can have the same key."
        ),
    ),
    Problem(
        code="unauthenticated",
        status=401,
        retryable=False,
        title="Not authenticated",
        suggested_action="Get a valid access token or API key and send it as a bearer token.",
        meaning="The request has no bearer token, or the service does not accept its token.",
        when=(
            "Every call can return this code, before any other check. The code is returned for a "
            "missing Authorization header, a scheme other than Bearer, a token with a wrong "
            "signature, issuer or audience, an expired access token, and a user API key that is "
            "more than 90 days old. Expiry depends on the world's clock, so advance the clock to "
            "make a token expire."
        ),
        advice=(
            "Renew the token once and send the request again, with the same Idempotency-Key if "
            "the request has one. If the new token is also refused, ask the user to log in."
        ),
    ),
    Problem(
        code="forbidden",
        status=403,
        retryable=False,
        title="Access forbidden",
        suggested_action="Ask an owner for the role or permission that this call needs.",
        meaning=(
            "The user is known and is allowed to see the resource, but lacks the role or the "
            "permission that the call needs."
        ),
        when=(
            "Setting the flag and creating dev access tickets require the project's owner. By "
            "default, initializing the source and applying domains require an owner or a "
            "maintainer, and reading requires at least a reader. A user API key also needs the "
            "call's product permission. A user outside the project gets `resource_not_found` "
            "instead."
        ),
        advice=(
            "Do not offer the action to this user, and say who is allowed to perform it. A retry "
            "does not help until a role or permission changes."
        ),
    ),
    Problem(
        code="organization_required",
        status=403,
        retryable=False,
        title="Organization context required",
        suggested_action="Choose an organization and use a token issued for it.",
        meaning=(
            "The access token does not name an organization, but every call must be made for an "
            "organization."
        ),
        when=(
            "Every call returns this code for an access token without the `org_id` claim, such "
            "as a token of the user `no-organization` in the default world. A user API key is "
            "bound to one organization, so it never gets this code."
        ),
        advice=(
            "Let the user choose or join an organization, get a token for it, and send the "
            "request again. Logging in again without choosing an organization does not help."
        ),
    ),
    Problem(
        code="resource_not_found",
        status=404,
        retryable=False,
        title="Resource not found",
        suggested_action="Check the identifier, and check that the caller has access to it.",
        meaning=(
            "The resource does not exist, or it is outside the user's access. The response "
            "does not distinguish the two cases."
        ),
        when=(
            "Every call returns this code if it names a project, an organization or an operation "
            "that does not exist or is not visible to the user. This emulator also returns this "
            "code for an unknown path, for a dev access ticket that cannot be redeemed and, by "
            "default, for an identifier that is not a ULID."
        ),
        advice=(
            "Remove the identifier from caches and lists, and tell the user that the resource "
            "is gone or not shared with them. Do not report the resource as deleted, because "
            "the user may only lack access."
        ),
        specified=frozenset({"status", "retryable"}),
    ),
    Problem(
        code="idempotency_key_reused",
        status=409,
        retryable=False,
        title="Idempotency key reused",
        suggested_action="Retry with a new key.",
        meaning=(
            "This Idempotency-Key already belongs to a different request: the call, its path or "
            "its body is not the same as when the key was first used."
        ),
        when=(
            "The four calls that require a key can return this code: "
            "`set_project_powered_by_flag`, `initialize_managed_source`, `create_user_api_key` "
            "and `apply_project_domains`. By default, a key belongs to one principal, is "
            "unique across all calls and paths, never expires, and is used up only by a "
            "successful first request."
        ),
        advice=(
            "Use a new key for each intended change. If a retry gets this code, the client did "
            "not build it in the same way as the first request. Fix the client first: using a "
            "new key after an uncertain outcome can make the same change twice."
        ),
        specified=frozenset({"status", "retryable", "suggested_action"}),
    ),
    Problem(
        code="project_handle_unavailable",
        status=503,
        retryable=True,
        title="Project handle unavailable",
        suggested_action="Wait a little and send the same request again.",
        meaning=(
            "Our reading: the service is currently unable to reserve or confirm the project's "
            "handle. If another project had the handle, the code would be `project_handle_taken`."
        ),
        when=(
            "None of the eight calls creates or renames a project, so none of them returns this "
            f"code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with exponential backoff and the same Idempotency-Key. Do not make the user "
            "think of another handle, because this one may still be free."
        ),
    ),
    Problem(
        code="project_identity_unavailable",
        status=503,
        retryable=True,
        title="Project identity unavailable",
        suggested_action="Wait a little and send the same request again.",
        meaning=(
            "Our reading: the service cannot currently determine the project's identity (its "
            "handle and the names derived from it)."
        ),
        when=(
            "Any call that needs the project's derived names could return this code, such as "
            f"`apply_project_domains` or `create_dev_access_ticket`. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with exponential backoff and the same Idempotency-Key, if the request has "
            "one. Never derive hostnames in the client as a workaround."
        ),
    ),
    Problem(
        code="deployment_plan_expired",
        status=409,
        retryable=False,
        title="Deployment plan expired",
        suggested_action="Make a new deployment plan and deploy that plan.",
        meaning=(
            "Our reading: the deployment plan that the request refers to is too old to be applied."
        ),
        when=(
            "None of the eight calls deploys from a prepared plan, so none of them returns this "
            f"code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Make a new plan and deploy it with a new Idempotency-Key. If a user approved the "
            "old plan, first show what has changed."
        ),
    ),
    Problem(
        code="deployment_plan_incompatible",
        status=409,
        retryable=False,
        title="Deployment plan incompatible",
        suggested_action="Make a new deployment plan from the project's current state.",
        meaning=(
            "Our reading: the deployment plan no longer fits the project, for example because "
            "the source or the settings changed after the plan was made."
        ),
        when=(
            "None of the eight calls deploys from a prepared plan, so none of them returns this "
            f"code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the project again and make a new plan. If the new plan is also refused, stop "
            "and show `detail` to the user."
        ),
    ),
    Problem(
        code="confirmation_expired",
        status=409,
        retryable=False,
        title="Confirmation expired",
        suggested_action=(
            "Ask for the confirmation again and send the request with the new confirmation."
        ),
        meaning=(
            "Our reading: the change needs an explicit confirmation, and the confirmation in "
            "the request is too old."
        ),
        when=(
            "This code is for changes that require a confirmation. None of the eight "
            f"calls requires a confirmation. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show the user the current effect of the change and ask again. Never renew a "
            "confirmation silently, because it would no longer reflect what the user wants."
        ),
    ),
    Problem(
        code="confirmation_invalid",
        status=400,
        retryable=False,
        title="Confirmation invalid",
        suggested_action="Ask for a confirmation of exactly this change and send it.",
        meaning=(
            "Our reading: the confirmation in the request is malformed, or was given for a "
            "different change."
        ),
        when=(
            "This code is for changes that require a confirmation. None of the eight "
            f"calls requires a confirmation. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Check that the client sends the confirmation unchanged, and with the request for "
            "which it was given. If it does both, ask for a new confirmation."
        ),
    ),
    Problem(
        code="etag_mismatch",
        status=409,
        retryable=False,
        title="Version does not match",
        suggested_action=(
            "Take the current version from the detail, or from the latest result that contains "
            "it. Decide again, and send the request with the current version."
        ),
        meaning=(
            "The request was made for a version of the resource that is no longer current. The "
            "contract does not specify a status. We chose 409 rather than 412."
        ),
        when=(
            "`initialize_managed_source` returns this code if `expected_source_generation` is "
            "not the project's current source generation. In this emulator, the generation is "
            "0 before the first initialization and increases by one with each successful "
            "initialization."
        ),
        advice=(
            "No call returns the source generation directly, but `detail` and the result of each "
            "initialization contain it. The user, or the rule that made the decision, must "
            "decide again. Blindly increasing the number and resending the request would defeat "
            "the check."
        ),
    ),
    Problem(
        code="promotion_source_stale",
        status=409,
        retryable=False,
        title="Promotion source is stale",
        suggested_action="Read the source deployment again and promote the current deployment.",
        meaning=(
            "Our reading: the deployment to promote has been superseded since the client read it."
        ),
        when=(
            "None of the eight calls promotes a deployment, so none of them returns this code on "
            f"its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "List the deployments again, show which deployment would be promoted now, and "
            "promote it with a new Idempotency-Key."
        ),
    ),
    Problem(
        code="promotion_target_stale",
        status=409,
        retryable=False,
        title="Promotion target is stale",
        suggested_action="Read the target environment again and repeat the promotion.",
        meaning=(
            "Our reading: the target environment has changed since the client read it, so the "
            "promotion would overwrite changes that the client has not seen."
        ),
        when=(
            "None of the eight calls promotes a deployment, so none of them returns this code on "
            f"its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Find out what the target serves now, and ask the user whether to replace it. The "
            "likely cause is two concurrent promotions."
        ),
    ),
    Problem(
        code="promotion_invalid_target",
        status=400,
        retryable=False,
        title="Promotion target is not valid",
        suggested_action="Choose a target to which a deployment can be promoted.",
        meaning=("Our reading: no deployment can ever be promoted to this target."),
        when=(
            "None of the eight calls promotes a deployment, so none of them returns this code on "
            f"its own. {BY_FAULT_ONLY}"
        ),
        advice="Offer only valid targets. Treat this response as a bug in the client.",
    ),
    Problem(
        code="mail_domain_conflict",
        status=409,
        retryable=False,
        title="Mail domain conflict",
        suggested_action=(
            "Find out where the mail domain is in use. Free the domain there, or use another "
            "domain."
        ),
        meaning=(
            "Our reading: the mail hostname is already in use elsewhere, for example by "
            "another project."
        ),
        when=(
            "The closest call is `apply_project_domains`, which also applies the mail "
            "hostname. The hostnames are derived from the project, so they never collide. "
            f"{BY_FAULT_ONLY}"
        ),
        advice="Show `detail` to the user, who has to decide where to use the domain.",
    ),
    Problem(
        code="mail_domain_required",
        status=409,
        retryable=False,
        title="Mail domain required",
        suggested_action="Set up the project's mail domain first, then repeat the request.",
        meaning="Our reading: the request needs a mail domain that the project does not have yet.",
        when=(
            "This code is for the service's email features, whose calls the contract does "
            f"not show. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Guide the user to the mail setup. Then apply the mail hostname with "
            "`apply_project_domains`, and wait for that operation to end before repeating the "
            "request."
        ),
    ),
    Problem(
        code="mail_capacity_unavailable",
        status=503,
        retryable=True,
        title="Mail capacity unavailable",
        suggested_action="Wait a few minutes and send the same request again.",
        meaning=("Our reading: the service currently has no capacity for this project's mail."),
        when=(
            "The closest call is `apply_project_domains`, which also applies the mail hostname. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with exponential backoff and the same Idempotency-Key. Let the rest of the "
            "application continue, because mail and application become ready independently."
        ),
    ),
    Problem(
        code="storage_jurisdiction_conflict",
        status=409,
        retryable=False,
        title="Storage jurisdiction conflict",
        suggested_action="Choose the jurisdiction in which the project's data is already stored.",
        meaning=(
            "Our reading: the request would store data in a different jurisdiction from the one "
            "in which the project's data is stored."
        ),
        when=(
            "None of the eight calls chooses where data is stored, so none of them returns this "
            f"code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Never choose a different jurisdiction on the user's behalf, because where data is "
            "stored is a legal question. Show both jurisdictions and let the user decide."
        ),
    ),
    Problem(
        code="shared_data_requires_promotion",
        status=409,
        retryable=False,
        title="Shared data requires a promotion",
        suggested_action="Promote a deployment instead of changing production directly.",
        meaning=(
            "Our reading: dev and prod share the same data, so the change may reach production "
            "only through a promotion."
        ),
        when=(
            "None of the eight calls deploys a change to production. A call that does could "
            "return this code for a project whose database compute has the `data_mode` `shared`. "
            f"{BY_FAULT_ONLY}"
        ),
        advice="Read `data_mode` before offering a direct change, and offer the promotion instead.",
    ),
    Problem(
        code="production_deployment_required",
        status=409,
        retryable=False,
        title="Production deployment required",
        suggested_action="Deploy the project to production first, then repeat the request.",
        meaning=(
            "Our reading: the request is about the production site, but the project does not "
            "have one yet."
        ),
        when=(
            "This code is for changes to a live production site. In this emulator, the flag can "
            f"be set and domains can be applied even before the first deployment. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Offer the production deployment as the next step, wait until its operation has "
            "succeeded, and repeat the request."
        ),
    ),
    Problem(
        code="framework_conversion_required",
        status=409,
        retryable=False,
        title="Framework conversion required",
        suggested_action="Convert the project to a supported framework, then deploy again.",
        meaning=(
            "Our reading: the source uses a framework that the service can host only after it has "
            "been converted."
        ),
        when=(
            "None of the eight calls imports source code, so none of them returns this code on "
            f"its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail` to the developer. The source must change, so a retry would only be "
            "refused again."
        ),
    ),
    Problem(
        code="repository_configuration_missing",
        status=409,
        retryable=False,
        title="Repository configuration missing",
        suggested_action="Add the missing configuration to the repository and repeat the request.",
        meaning=(
            "Our reading: the repository lacks a configuration file that the service needs to "
            "build or deploy it."
        ),
        when=(
            "None of the eight calls deploys an existing repository, so none of them returns "
            f"this code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail`, which may name the expected file, to the developer. Repeat the "
            "request once a commit has added the file."
        ),
    ),
    Problem(
        code="migration_filename_noncanonical",
        status=400,
        retryable=False,
        title="Migration file name is not canonical",
        suggested_action="Rename the migration file to the canonical form and repeat the request.",
        meaning=(
            "Our reading: the name of a database migration file is not in the form that the "
            "service needs to put migrations in order."
        ),
        when=(
            "None of the eight calls deploys database migrations, so none of them returns this "
            f"code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show the file name to the developer. Do not rename files automatically: a renamed "
            "migration can run twice or out of order."
        ),
    ),
    Problem(
        code="environment_secret_mutation_blocked",
        status=409,
        retryable=False,
        title="Environment secret cannot be changed",
        suggested_action="Remove the obstacle that the detail names, and try again.",
        meaning=(
            "Our reading: the environment's secret cannot be changed, for example because the "
            "service itself manages it."
        ),
        when=(
            "None of the eight calls changes an environment's secrets, so none of them returns "
            f"this code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show the secret as read-only, and never put its value into an error message or a log."
        ),
    ),
    Problem(
        code="workers_runtime_incompatible",
        status=409,
        retryable=False,
        title="Workers runtime incompatible",
        suggested_action="Change the code or its dependencies to fit the workers runtime.",
        meaning=(
            "Our reading: the built code needs a feature that the target runtime does not offer."
        ),
        when=(
            "None of the eight calls deploys the user's own code, so none of them returns this "
            f"code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail` to the developer. The code must change: the same commit would only "
            "fail again."
        ),
    ),
    Problem(
        code="project_handle_invalid",
        status=400,
        retryable=False,
        title="Project handle is not valid",
        suggested_action="Choose a handle in the allowed form.",
        meaning=(
            "Our reading: the requested handle breaks the rules for handles. The contract does "
            "not give these rules."
        ),
        when=(
            "None of the eight calls creates or renames a project, so none of them returns this "
            f"code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail` next to the input field and keep the user's input. Leave the "
            "validation to the service instead of guessing its rules."
        ),
    ),
    Problem(
        code="project_handle_taken",
        status=409,
        retryable=False,
        title="Project handle is taken",
        suggested_action="Choose another handle.",
        meaning="Our reading: another project already has the requested handle.",
        when=(
            "None of the eight calls creates or renames a project, so none of them returns this "
            f"code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Ask for another handle. Handle this response even if an earlier check showed that "
            "the handle was free."
        ),
    ),
    Problem(
        code="project_handle_unchanged",
        status=409,
        retryable=False,
        title="Project handle is unchanged",
        suggested_action="Choose a handle that differs from the current handle, or do nothing.",
        meaning=(
            "Our reading: the project already has the requested handle, so there is nothing to "
            "rename."
        ),
        when=(
            "None of the eight calls renames a project, so none of them returns this code on its "
            f"own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "If the request was a retry, this code suggests that the first attempt succeeded: "
            "read the project and continue. Otherwise, tell the user that no change was needed."
        ),
    ),
    Problem(
        code="project_rename_blocked",
        status=409,
        retryable=False,
        title="Project cannot be renamed",
        suggested_action="Remove the obstacle that the detail names, and try again.",
        meaning=(
            "Our reading: something that depends on the project's handle, such as a connected "
            "domain or work in progress, currently prevents renaming."
        ),
        when=(
            "None of the eight calls renames a project, so none of them returns this code on its "
            f"own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail` and let the user decide. Do not wait for the obstacle to go away, "
            "because a person may have to remove it."
        ),
    ),
    Problem(
        code="payload_too_large",
        status=413,
        retryable=False,
        title="Payload too large",
        suggested_action="Send a smaller request body.",
        meaning=(
            "The request body is larger than the service allows. The contract names the code "
            "but not the limit."
        ),
        when=(
            "Every call can return this code. By default, a body of more than 1 MiB is refused "
            "before it is parsed. The contract's request bodies are much smaller."
        ),
        advice=(
            "Treat this response as a bug in the client. The largest request body in the eight "
            "calls contains only the name of an API key, which has at most 64 characters."
        ),
    ),
    Problem(
        code="rate_limited",
        status=429,
        retryable=True,
        title="Rate limited",
        suggested_action=(
            "Wait for the number of seconds in retry_after_seconds, then send the same request "
            "again."
        ),
        meaning=(
            "The caller has sent too many requests in a certain period. The contract does not "
            "give any numbers."
        ),
        when=(
            "Every call can return this code if a rate limit is enabled, either by the "
            "`rate_limit` assumption or by a fault. By default, there is no rate limit. The "
            "response contains `retry_after_seconds`, from 1 to 86400, and the same number in "
            "the Retry-After header."
        ),
        advice=(
            "Wait at least `retry_after_seconds`, add a small random delay, and send the same "
            "request with the same Idempotency-Key. Slow down everything that uses the same "
            "token, not only this request."
        ),
    ),
    Problem(
        code="insufficient_organization_credits",
        status=402,
        retryable=False,
        title="Not enough credits",
        suggested_action="Add credits to the organization, then repeat the request.",
        meaning="Our reading: the request costs more credits than the organization has.",
        when=(
            "By default, a call that would start an operation returns this code if the "
            "organization has no credits. According to the contract, `create_user_api_key` is "
            "available at zero credits."
        ),
        advice=(
            "Tell the user that the organization does not have enough credits. If the user is "
            "allowed to buy credits, offer to do so. Do not retry until the balance has changed."
        ),
    ),
    Problem(
        code="paid_plan_required",
        status=402,
        retryable=False,
        title="Paid plan required",
        suggested_action="Move the workspace to a paid plan, then repeat the request.",
        meaning=(
            "Our reading: the request is for a feature that a Free workspace does not include."
        ),
        when=(
            "`apply_project_domains` returns this code in a Free workspace if the `domains_plan` "
            "assumption is `paid`."
        ),
        advice=(
            "Explain the feature and its requirements before asking for money. A Free workspace "
            "can connect its own domain while the project shows the flag, so a paid plan is not "
            "always the only way."
        ),
    ),
    Problem(
        code="project_budget_exceeded",
        status=402,
        retryable=False,
        title="Project budget exceeded",
        suggested_action="Raise the project's budget or lower its usage, then repeat the request.",
        meaning=(
            "Our reading: the project has used up its budget, or would exceed it. The "
            "organization may still have credits."
        ),
        when=(
            "This code is for work that is charged to a project. As far as we know, none of the "
            f"eight calls is charged. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show the user the project's budget rather than the organization's credits, because "
            "somebody set this limit deliberately. Stop automatic work on the project until the "
            "budget is raised."
        ),
    ),
    Problem(
        code="compute_performance_paid_required",
        status=402,
        retryable=False,
        title="Paid plan required for this compute performance level",
        suggested_action="Move the workspace to a paid plan, or choose a lower performance level.",
        meaning="Our reading: the requested performance level is only available on a paid plan.",
        when=(
            "This code is for changes to the compute configuration. `read_database_compute` only "
            f"reads it, and never requires a plan. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Mark the performance levels that need a paid plan before the user chooses one. "
            "After this response, keep the current setting."
        ),
    ),
    Problem(
        code="compute_performance_unavailable",
        status=503,
        retryable=True,
        title="Compute performance unavailable",
        suggested_action="Wait a few minutes and try again, or choose another performance level.",
        meaning=(
            "Our reading: the requested performance level is currently unavailable, for "
            "example because the region lacks capacity."
        ),
        when=(
            "This code is for changes to the compute configuration. `read_database_compute` only "
            f"reads it. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with exponential backoff, and offer another performance level in the "
            "meantime. Until the change is complete, show the observed setting rather than the "
            "requested one."
        ),
    ),
    Problem(
        code="database_write_pending",
        status=409,
        retryable=True,
        title="Database write pending",
        suggested_action="Wait until the pending write is done, then send the same request again.",
        meaning=(
            "Our reading: an earlier write to the database is not complete, and this request "
            "must not overtake it."
        ),
        when=(
            "None of the eight calls writes to a project's database, so none of them returns "
            f"this code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "The request itself is valid, so retry with exponential backoff. If the write is "
            "still pending after some minutes, say so instead of retrying forever."
        ),
    ),
    Problem(
        code="database_access_limit",
        status=429,
        retryable=True,
        title="Database access limit reached",
        suggested_action=(
            "Wait until other connections have ended, then send the same request again."
        ),
        meaning=(
            "Our reading: the database is not accepting any more connections, because the "
            "maximum number is in use. The limit applies to the database, not to the caller's "
            "requests."
        ),
        when=(
            "None of the eight calls provides direct access to a project's database, so none of "
            f"them returns this code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Close connections that are no longer needed, then retry with exponential backoff. "
            "Honor Retry-After if it is present."
        ),
    ),
    Problem(
        code="compute_change_pending",
        status=409,
        retryable=True,
        title="Compute change pending",
        suggested_action="Wait until the compute change in progress is done, then try again.",
        meaning=(
            "Our reading: an earlier change to the compute configuration is still in progress, "
            "so another one cannot start."
        ),
        when=(
            "This code is for changes to the compute configuration. `read_database_compute` "
            f"shows a change in progress as `pending_state` and returns 200. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Poll the compute configuration until `pending_state` is gone, check that the change "
            "is still wanted, and send it again."
        ),
    ),
    Problem(
        code="compute_change_conflict",
        status=409,
        retryable=False,
        title="Compute change conflict",
        suggested_action="Read the current compute configuration and decide again.",
        meaning=(
            "Our reading: another user has changed the compute configuration since the client "
            "read it, so the two changes conflict."
        ),
        when=(
            "This code is for changes to the compute configuration. `read_database_compute` "
            f"changes nothing, so it cannot conflict. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the configuration again with `read_database_compute`, show what has changed, "
            "and let the user repeat the change."
        ),
    ),
    Problem(
        code="billing_purchase_conflict",
        status=409,
        retryable=False,
        title="Purchase conflict",
        suggested_action=("Read the state of the earlier purchase before making another purchase."),
        meaning=(
            "Our reading: another purchase for the same organization is in progress, or has "
            "changed something that this purchase depends on."
        ),
        when=(
            "None of the eight calls buys credits or plans, so none of them returns this code on "
            f"its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Never retry a purchase with a new Idempotency-Key just to avoid this code. First "
            "find out how the earlier purchase ended, because otherwise the user may pay twice."
        ),
    ),
    Problem(
        code="billing_recharge_conflict",
        status=409,
        retryable=False,
        title="Recharge conflict",
        suggested_action="Read the current recharge settings and decide again.",
        meaning=(
            "Our reading: this recharge conflicts with another recharge, or with a change to the "
            "recharge settings."
        ),
        when=(
            "None of the eight calls recharges credits, so none of them returns this code on its "
            f"own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the balance and the settings before doing anything else, because the recharge "
            "may already have taken place."
        ),
    ),
    Problem(
        code="git_host_connection_required",
        status=409,
        retryable=False,
        title="Git host connection required",
        suggested_action="Connect the Git host first, then repeat the request.",
        meaning=(
            "Our reading: the request needs a connection to an external Git host, but there is "
            "none."
        ),
        when=(
            "This code is for projects whose source is on an external Git host. "
            "`initialize_managed_source` uses the service's own managed source, which does not "
            f"need a connection. {BY_FAULT_ONLY}"
        ),
        advice="Guide the user through connecting the Git host, and then repeat the request.",
    ),
    Problem(
        code="git_host_connection_revoked",
        status=409,
        retryable=False,
        title="Git host connection revoked",
        suggested_action="Connect the Git host again, then repeat the request.",
        meaning=(
            "Our reading: the connection was revoked on the Git host. The caller's own login is "
            "still valid."
        ),
        when=(
            "This code is for projects whose source is on an external Git host. "
            "`initialize_managed_source` uses the service's own managed source, which does not "
            f"need a connection. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Tell the user that the connection was revoked, and offer to connect again. Do not "
            "log the user out, because their token is still valid."
        ),
    ),
    Problem(
        code="repository_not_installed",
        status=409,
        retryable=False,
        title="Repository not installed",
        suggested_action=(
            "Give the service's installation on the Git host access to this repository."
        ),
        meaning=(
            "Our reading: the Git host is connected, but the service's installation there does "
            "not have access to the repository."
        ),
        when=(
            "This code is for projects whose source is on an external Git host. The "
            f"contract shows no calls for such projects. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Name the repository, and guide the user to the settings of the installation on the "
            "Git host. The connection itself does not need to be renewed."
        ),
    ),
    Problem(
        code="edge_zone_not_bound",
        status=409,
        retryable=False,
        title="Edge zone not bound",
        suggested_action="Bind a DNS zone to the project first, then repeat the request.",
        meaning=("Our reading: the request changes edge DNS, but the project has no zone."),
        when=(
            "This code is for changes to DNS. For a project without a zone, "
            "`get_dns_authorization` returns 200 with status `not_authorized` and a null "
            f"zone. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the DNS authorization, show that no zone is bound, and let the user start an "
            "authorization."
        ),
    ),
    Problem(
        code="edge_authorization_closed",
        status=409,
        retryable=False,
        title="Edge authorization closed",
        suggested_action="Start a new DNS authorization, then repeat the request.",
        meaning=(
            "Our reading: the authorization to change the customer's DNS has ended: it has "
            "expired, was revoked, or has already been completed."
        ),
        when=(
            "This code is for changes to DNS. `get_dns_authorization` returns 200 and shows "
            f"such an authorization with status `expired` or `revoked`. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the DNS authorization to find out how it ended. Ask the user before starting a "
            "new one, because a revocation may have been intentional."
        ),
    ),
    Problem(
        code="project_notes_conflict",
        status=409,
        retryable=False,
        title="Project notes conflict",
        suggested_action="Read the current notes, merge both versions and save again.",
        meaning="Our reading: another user saved the project's notes after the client read them.",
        when=(
            "None of the eight calls edits a project's notes, so none of them returns this code "
            f"on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Keep the user's text, show it next to the saved version, and let the user merge the "
            "two. Overwriting the saved version would destroy the other user's work."
        ),
    ),
    Problem(
        code="project_export_not_ready",
        status=409,
        retryable=True,
        title="Project export not ready",
        suggested_action="Wait until the export is ready, then send the same request again.",
        meaning="Our reading: the export was requested, but there is nothing to download yet.",
        when=(
            "None of the eight calls exports a project, so none of them returns this code on its "
            f"own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Poll at a moderate rate until the export is ready. Do not request another export, "
            "because that would only start over."
        ),
    ),
    Problem(
        code="powered_by_flag_required",
        status=409,
        retryable=False,
        title="Powered-by flag required",
        suggested_action=(
            "Keep the flag on, or first disconnect the domain that depends on the flag."
        ),
        meaning=(
            "The flag cannot be hidden, because the project has a Free workspace's own domain, "
            "which depends on the flag. We chose this code for the refusal, based on our reading "
            "of the contract."
        ),
        when=(
            "`set_project_powered_by_flag` returns this code if `enabled` is false and a Free "
            "workspace's domain depends on the flag. Nothing changes: the flag stays on and "
            "`enabled_at` stays the same."
        ),
        advice=(
            "Show the switch as on, and tell the user what is needed to hide the flag: "
            "disconnecting the domain or leaving the Free plan."
        ),
    ),
    Problem(
        code="interactive_login_required",
        status=403,
        retryable=False,
        title="Interactive login required",
        suggested_action=(
            "Log in interactively and repeat the request with the new session's access token."
        ),
        meaning=(
            "The call needs a current interactive user session, but the token does not belong to "
            "one. We chose this code for the rule, based on our reading of the contract."
        ),
        when=(
            "`create_user_api_key` returns this code for a user API key, for an access token "
            "without a `sid` claim, and for an access token whose session has ended, for example "
            "because the user signed out. In this emulator, the `sid` claim identifies the "
            "interactive session that an access token belongs to."
        ),
        advice=(
            "Ask the user to log in. A script cannot get past this check, so it should fail "
            "early and say that only a logged-in user can create a key."
        ),
    ),
    Problem(
        code="api_key_creation_uncertain",
        status=503,
        retryable=True,
        title="API key creation uncertain",
        suggested_action=(
            "Send the same request again with the same name and the same Idempotency-Key."
        ),
        meaning="Our reading: the service cannot tell whether the key was created.",
        when=(
            "`create_user_api_key` could return this code. This emulator always knows the "
            f"outcome, so it never returns this code on its own. {BY_FAULT_ONLY}"
        ),
        advice=(
            "After any uncertainty, reuse the same name and Idempotency-Key rather than creating "
            "another token, as the contract requires. If `replayed` is then true and "
            "`value` is null, the API key exists but its value is lost. Only in this case, "
            "create another API key with a new Idempotency-Key."
        ),
    ),
    Problem(
        code="api_key_permissions_unavailable",
        status=503,
        retryable=True,
        title="API key permissions unavailable",
        suggested_action=(
            "Wait a little and send the same request again with the same Idempotency-Key."
        ),
        meaning=(
            "Our reading: the service cannot currently give the key any product permission, "
            "because the organization has not enabled any or because they cannot be revalidated."
        ),
        when=(
            "`create_user_api_key` returns this code if the organization has not enabled any "
            "product permission. By default, all permissions are enabled. A scenario or an "
            "intervention can disable them."
        ),
        advice=(
            "Retry with exponential backoff, with the same name and Idempotency-Key. A caller "
            "outside the organization gets `resource_not_found` instead."
        ),
    ),
    Problem(
        code="reconciliation_exhausted",
        status=409,
        retryable=False,
        title="Reconciliation exhausted",
        suggested_action="Do not retry. Check the project's actual state and let a person decide.",
        meaning=(
            "Our reading: the service does not know how a change ended, has tried to find out, "
            "and has given up."
        ),
        when=(
            "An operation fails when its reconciliation is exhausted. Reading such an operation "
            f"returns 200, with this code as its `error.code`. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Stop automatic retries, and show the operation and the request id to a person. The "
            "change may or may not have been made, so check before repeating it."
        ),
    ),
    Problem(
        code="service_unavailable",
        status=503,
        retryable=True,
        title="Service unavailable",
        suggested_action="Wait a little and send the same request again.",
        meaning=(
            "The service, or a provider on which it depends, is currently unavailable. We chose "
            "this code for the failure of a provider, based on our reading of the contract."
        ),
        when=(
            "`read_database_compute` returns this code while the database provider is failing, "
            "because the contract requires a problem instead of invented defaults. A fault can make "
            "every call return this code, for example during an outage in a scenario."
        ),
        advice=(
            "Retry with exponential backoff and a limit. Honor Retry-After if it is present. The "
            "change may have been made before the response was lost, so keep the "
            "Idempotency-Key, and mark the last known state as outdated."
        ),
    ),
)
