"""The table of problem codes: every code of the contract's Errors part, in its order.

The contract fixes little: status and `retryable` of two codes and one suggested action. Each row
says in `specified` which of its values are the contract's. We chose the rest by a rule:
402 for credits, plans and budgets; 403 for login and context; 409 for conflicts and for stale or
missing preconditions; 429 for limits; 503 for what is unavailable, uncertain or out of capacity; 400
for what is invalid in itself. `retryable` means that the same request, sent again unchanged, can
succeed. (`idempotency_key_reused` is not retryable although its action says retry, because the key
must change.)

This file must stay cheap to import: it loads no models and no web framework.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Literal

#: The last sentence of `Problem.when` for a code that no call responds with by itself.
BY_FAULT_ONLY: Final = (
    "No call of the contract produces it here; it is reachable only by fault injection."
)
#: How a meaning begins that the contract does not give.
_OUR_READING = "Our reading: "
_FIRST_SENTENCE = re.compile(r".*?\.(?=\s|\Z)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One problem code and all texts about it (contract, Errors).

    `title` and `suggested_action` are sent. `meaning`, `when` (which calls and conditions produce the
    code here) and `advice` are shown on the problem's page, where `code` may stand in backticks.
    `specified` names the values that the contract fixes.
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
        """The code with hyphens, as it stands at the end of the problem's `type` link."""
        return self.code.replace("_", "-")

    @property
    def by_fault_only(self) -> bool:
        """Whether no call responds with it by itself, so that only an armed fault does."""
        return self.when.endswith(BY_FAULT_ONLY)

    @property
    def detail(self) -> str:
        """What the service might say: the first sentence of the meaning, without our comments."""
        meaning = self.meaning.removeprefix(_OUR_READING).replace("`", "")
        first = _FIRST_SENTENCE.match(meaning)
        sentence = meaning if first is None else first[0]
        return sentence[:1].upper() + sentence[1:]

    def check_status(self, status: int) -> None:
        """Raise ValueError for a status that this code cannot have (contract, Errors)."""
        if "status" in self.specified and status != self.status:
            raise ValueError(f"the contract fixes {self.code} to {self.status}")
        if not 400 <= status <= 599:
            raise ValueError(f"a problem's status is 400 to 599, not {status}")


ROWS: Final = (
    Problem(
        code="invalid_request",
        status=400,
        retryable=False,
        title="Invalid request",
        suggested_action="Correct the part of the request named in the detail and send it again.",
        meaning=(
            "The request does not have the required form: a header, a query parameter or a body "
            "field is missing, malformed or out of bounds."
        ),
        when=(
            "Every call, before anything changes: bad JSON or another content type, a value of the "
            "wrong type (`1` is not true, `1.5` is not an integer), a property beside `enabled` "
            "when the flag is set, an Idempotency-Key that is missing or not 1 to 128 characters "
            "long, a page size outside 1 to 100, an environment other than `dev` or `prod`. A "
            "wrong method on a known path carries this code too, with status 405."
        ),
        advice=(
            "Treat it as a bug in the client: `detail` names the field, and the same request will "
            "be refused again. A refused request leaves its Idempotency-Key unused, so the "
            "corrected one may use it."
        ),
    ),
    Problem(
        code="unauthenticated",
        status=401,
        retryable=False,
        title="Not authenticated",
        suggested_action="Get a valid access token or API key and send it as a bearer token.",
        meaning="The request carries no bearer token, or one that the service does not accept.",
        when=(
            "Every call, whatever else is wrong with the request: no Authorization header, a "
            "scheme other than Bearer, a token with a wrong signature, issuer or audience, an "
            "access token past its expiry, a user API key past its 90 days. Expiry is judged by "
            "the world's clock, so advancing the clock is enough to see it."
        ),
        advice=(
            "Renew the token once and send the request again, with the same Idempotency-Key where "
            "there is one. If the fresh token is refused as well, ask the user to log in."
        ),
    ),
    Problem(
        code="forbidden",
        status=403,
        retryable=False,
        title="Access forbidden",
        suggested_action="Ask an owner for the role or permission that this call needs.",
        meaning=(
            "The user is known and may see the resource, but lacks the role or the permission that "
            "the call needs."
        ),
        when=(
            "Here the flag and dev access tickets are for the project's owner, initializing the "
            "source and applying domains for owner or maintainer, and reading for a reader and up. "
            "A user API key also needs the product permission of the call. A user outside the "
            "project gets `resource_not_found` instead."
        ),
        advice=(
            "Do not offer the action to this user, and say who may do it. No retry helps until a "
            "role or permission changes."
        ),
    ),
    Problem(
        code="organization_required",
        status=403,
        retryable=False,
        title="Organization context required",
        suggested_action="Choose an organization and use a token issued for it.",
        meaning="The access token names no organization, and the call has to act in one.",
        when=(
            "Every call made with an access token that has no `org_id` claim, such as the one of "
            "the ready-made user `no-organization`. A user API key is bound to one organization, "
            "so it never meets this."
        ),
        advice=(
            "Let the user choose or join an organization, get a token for it, and send the request "
            "again. Logging in again without choosing one changes nothing."
        ),
    ),
    Problem(
        code="resource_not_found",
        status=404,
        retryable=False,
        title="Resource not found",
        suggested_action="Check the identifier, and that the caller has access to it.",
        meaning=(
            "The resource does not exist, or it is outside the user's access. The response does "
            "not say which."
        ),
        when=(
            "Every call that names a project, an organization or an operation which is missing or "
            "not visible to the user. Here also for an identifier that is not a ULID and for an "
            "unknown path; a dev access ticket that cannot be redeemed is answered in the same "
            "way."
        ),
        advice=(
            "Drop the identifier from caches and lists, and tell the user that it is gone or not "
            "shared with them. Do not report it as deleted: it may only be out of reach."
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
            "This Idempotency-Key already stands for another request: the call, its path or its "
            "body has changed since the key was first used."
        ),
        when=(
            "The four calls that require a key: `set_project_powered_by_flag`, "
            "`initialize_managed_source`, `create_user_api_key` and `apply_project_domains`. Here, "
            "by default, a key belongs to the principal, across all calls and paths, forever, and "
            "only a successful first result binds it."
        ),
        advice=(
            "Use one key for one intended change, and a new key for a new one. If it comes from a "
            "retry, the client rebuilt the request differently: fix that first, since a new key "
            "after an uncertain outcome can do the same change twice."
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
            "Our reading: the service cannot reserve or confirm the project's handle at the "
            "moment. A handle that another project holds would be `project_handle_taken`."
        ),
        when=(
            "Belongs to creating or renaming a project, which are not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with growing pauses and the same Idempotency-Key. Do not make the user invent "
            "another handle: this one may still be free."
        ),
    ),
    Problem(
        code="project_identity_unavailable",
        status=503,
        retryable=True,
        title="Project identity unavailable",
        suggested_action="Wait a little and send the same request again.",
        meaning=(
            "Our reading: the service cannot establish at the moment which identity (its handle "
            "and the names derived from it) belongs to the project."
        ),
        when=(
            "Could meet any call that needs the project's derived names, such as "
            "`apply_project_domains` or `create_dev_access_ticket`. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with growing pauses, keeping the Idempotency-Key where there is one. Never "
            "derive hostnames in the client to get around it."
        ),
    ),
    Problem(
        code="deployment_plan_expired",
        status=409,
        retryable=False,
        title="Deployment plan expired",
        suggested_action="Make a new deployment plan and deploy that one.",
        meaning=(
            "Our reading: the deployment plan that the request refers to is too old to be applied."
        ),
        when=(
            "Belongs to deploying from a prepared plan, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Plan again, show what changed if a user approved the old plan, and deploy the new one "
            "under a new Idempotency-Key."
        ),
    ),
    Problem(
        code="deployment_plan_incompatible",
        status=409,
        retryable=False,
        title="Deployment plan incompatible",
        suggested_action="Make a new deployment plan from the project's present state.",
        meaning=(
            "Our reading: the deployment plan no longer fits the project, for instance because its "
            "source or its settings changed after the plan was made."
        ),
        when=(
            "Belongs to deploying from a prepared plan, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the project again and make a new plan. If the new plan is refused in the same "
            "way, stop and show `detail` to the user."
        ),
    ),
    Problem(
        code="confirmation_expired",
        status=409,
        retryable=False,
        title="Confirmation expired",
        suggested_action="Ask for the confirmation again and send the request with it.",
        meaning=(
            "Our reading: the change needs an explicit confirmation, and the one that was sent was "
            "given too long ago."
        ),
        when=(
            "Belongs to changes that ask for a confirmation; none of the eight calls does. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Ask the user again, showing what is about to happen as it stands now. Never renew a "
            "confirmation silently: its age is the point of it."
        ),
    ),
    Problem(
        code="confirmation_invalid",
        status=400,
        retryable=False,
        title="Confirmation invalid",
        suggested_action="Ask for a confirmation of exactly this change and send it.",
        meaning=(
            "Our reading: the confirmation that was sent is malformed, or was given for another "
            "change than this one."
        ),
        when=(
            "Belongs to changes that ask for a confirmation; none of the eight calls does. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Check that the confirmation is passed on unchanged and with the request it was given "
            "for, then ask for a new one."
        ),
    ),
    Problem(
        code="etag_mismatch",
        status=409,
        retryable=False,
        title="Version does not match",
        suggested_action=(
            "Take the present version from the detail, or from the last result that names it, "
            "decide again, and send the request with it."
        ),
        meaning=(
            "The request was made for a version of the resource that is no longer the present one. "
            "Answering it with 409 rather than 412 is our choice."
        ),
        when=(
            "`initialize_managed_source`, when `expected_source_generation` is not the project's "
            "present source generation. Here that number is 0 before the first initialization and "
            "grows by one with each that succeeds."
        ),
        advice=(
            "No call shows a source generation: `detail` says the present one, as does the result "
            "of each initialization. Let the user, or the rule, that made the decision decide "
            "again. Raising the number and resending blindly defeats the check."
        ),
    ),
    Problem(
        code="promotion_source_stale",
        status=409,
        retryable=False,
        title="Promotion source is stale",
        suggested_action="Read the source deployment again and promote the present one.",
        meaning=(
            "Our reading: the deployment to be promoted has been superseded since the client read "
            "it."
        ),
        when=(
            "Belongs to promoting a deployment, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "List the deployments again, show what would be promoted now, and promote that under a "
            "new Idempotency-Key."
        ),
    ),
    Problem(
        code="promotion_target_stale",
        status=409,
        retryable=False,
        title="Promotion target is stale",
        suggested_action="Read the target environment again and repeat the promotion.",
        meaning=(
            "Our reading: the environment to be promoted to has changed since the client read it, "
            "so the promotion would overwrite something unseen."
        ),
        when=(
            "Belongs to promoting a deployment, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Read what the target serves now and ask whether to replace it. Two promotions at once "
            "are the likely cause."
        ),
    ),
    Problem(
        code="promotion_invalid_target",
        status=400,
        retryable=False,
        title="Promotion target is not valid",
        suggested_action="Choose a target that a deployment can be promoted to.",
        meaning=(
            "Our reading: the named target is nothing that a deployment can be promoted to, "
            "whatever its state."
        ),
        when=(
            "Belongs to promoting a deployment, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice="Offer only valid targets, and treat this answer as a bug in the client.",
    ),
    Problem(
        code="mail_domain_conflict",
        status=409,
        retryable=False,
        title="Mail domain conflict",
        suggested_action="Find where the mail domain is in use, and free it or use another.",
        meaning=(
            "Our reading: the mail hostname is already in use in a way that excludes this use, for "
            "instance by another project."
        ),
        when=(
            "The nearest call is `apply_project_domains`, which also applies the mail hostname; "
            "but the hostnames are derived from the project and never collide. "
            f"{BY_FAULT_ONLY}"
        ),
        advice="Show `detail` to the user, who has to decide which use wins.",
    ),
    Problem(
        code="mail_domain_required",
        status=409,
        retryable=False,
        title="Mail domain required",
        suggested_action="Set up the project's mail domain first, then repeat the request.",
        meaning="Our reading: the request needs a mail domain that the project does not have yet.",
        when=(
            "Belongs to the service's email part, of which the contract shows no call. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Lead the user to the setting up of mail: `apply_project_domains` is the call that "
            "applies the mail hostname. Wait for its operation before repeating the request."
        ),
    ),
    Problem(
        code="mail_capacity_unavailable",
        status=503,
        retryable=True,
        title="Mail capacity unavailable",
        suggested_action="Wait some minutes and send the same request again.",
        meaning=(
            "Our reading: the service has no room at the moment to take on the mail of this "
            "project."
        ),
        when=(
            "The nearest call is `apply_project_domains`, which also applies the mail hostname. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with growing pauses and the same Idempotency-Key. Let the rest of the "
            "application go on: mail and application are ready independently of each other."
        ),
    ),
    Problem(
        code="storage_jurisdiction_conflict",
        status=409,
        retryable=False,
        title="Storage jurisdiction conflict",
        suggested_action="Choose the jurisdiction in which the project's data already is.",
        meaning=(
            "Our reading: the request would keep data in another jurisdiction than the one the "
            "project's storage is settled in."
        ),
        when=(
            "Belongs to choosing where data is kept, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Never choose another jurisdiction for the user: where data may be kept is a legal "
            "question. Show both and ask."
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
            "only by a promotion."
        ),
        when=(
            "Belongs to deploying, which is not among the eight calls. A project whose compute "
            "answer says `data_mode` is `shared` would be the one to meet it. "
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
            "Our reading: the request acts on the production site, and the project has none yet."
        ),
        when=(
            "Belongs to changes of a live production site. Here the flag can be set and domains "
            "applied before the first deployment. "
            f"{BY_FAULT_ONLY}"
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
            "Belongs to importing and deploying source, which are not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail` to the developer. The source has to change, so retrying only repeats "
            "the refusal."
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
            "Belongs to deploying from a repository, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Tell the developer which file is expected, as far as `detail` says so, and repeat the "
            "request after the commit that adds it."
        ),
    ),
    Problem(
        code="migration_filename_noncanonical",
        status=400,
        retryable=False,
        title="Migration file name is not canonical",
        suggested_action="Rename the migration file to the canonical form and repeat the request.",
        meaning=(
            "Our reading: the name of a database migration file does not have the form by which "
            "the service orders migrations."
        ),
        when=(
            "Belongs to deploying source with migrations, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
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
        suggested_action="Remove what blocks the secret, as the detail says, and try again.",
        meaning=(
            "Our reading: the environment's secret is locked against change, for instance because "
            "the service itself manages it."
        ),
        when=(
            "Belongs to changing an environment's secrets, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
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
            "Our reading: the built code needs something that the runtime it would be deployed to "
            "does not offer."
        ),
        when=(
            "Belongs to building and deploying, which are not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail` to the developer. The code has to change, so a retry of the same commit "
            "fails again."
        ),
    ),
    Problem(
        code="project_handle_invalid",
        status=400,
        retryable=False,
        title="Project handle is not valid",
        suggested_action="Choose a handle of the allowed form.",
        meaning=(
            "Our reading: the wanted handle breaks the rules for handles. The contract does not "
            "show those rules."
        ),
        when=(
            "Belongs to creating or renaming a project, which are not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail` beside the input field and keep what the user typed. Leave the "
            "judgement to the service rather than guessing its rules."
        ),
    ),
    Problem(
        code="project_handle_taken",
        status=409,
        retryable=False,
        title="Project handle is taken",
        suggested_action="Choose another handle.",
        meaning="Our reading: another project already has the wanted handle.",
        when=(
            "Belongs to creating or renaming a project, which are not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Ask for another handle. An earlier check that the handle was free is no promise, so "
            "handle this answer even after one."
        ),
    ),
    Problem(
        code="project_handle_unchanged",
        status=409,
        retryable=False,
        title="Project handle is unchanged",
        suggested_action="Choose a handle that differs from the present one, or do nothing.",
        meaning=(
            "Our reading: the wanted handle is the one the project has already, so there is "
            "nothing to rename."
        ),
        when=(
            f"Belongs to renaming a project, which is not among the eight calls. {BY_FAULT_ONLY}"
        ),
        advice=(
            "After a retry, take it as a hint that the first attempt got through: read the project "
            "and go on. Otherwise tell the user that nothing had to change."
        ),
    ),
    Problem(
        code="project_rename_blocked",
        status=409,
        retryable=False,
        title="Project cannot be renamed",
        suggested_action="Remove what blocks the renaming, as the detail says, and try again.",
        meaning=(
            "Our reading: something that depends on the project's handle, such as a connected "
            "domain or work in progress, forbids renaming it now."
        ),
        when=(
            f"Belongs to renaming a project, which is not among the eight calls. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Show `detail` and let the user decide. Do not poll for the block to go away: it may "
            "need somebody to lift it."
        ),
    ),
    Problem(
        code="payload_too_large",
        status=413,
        retryable=False,
        title="Payload too large",
        suggested_action="Send a smaller request body.",
        meaning=(
            "The request body is larger than the service reads. The contract names the code but "
            "not the limit."
        ),
        when=(
            "Every call. Here a body of more than 1 MiB is refused before it is parsed; the bodies "
            "of the contract stay far below that."
        ),
        advice=(
            "Treat it as a bug in the client: the largest body of the eight calls is a key's name "
            "of 64 characters."
        ),
    ),
    Problem(
        code="rate_limited",
        status=429,
        retryable=True,
        title="Rate limited",
        suggested_action=(
            "Wait for the seconds given in retry_after_seconds, then send the same request again."
        ),
        meaning=(
            "The caller has sent more requests than the service takes in a span of time. The "
            "contract gives no numbers."
        ),
        when=(
            "Every call, but only when the rate limit is switched on by its assumption or by a "
            "fault: it is off by default. The answer carries `retry_after_seconds`, 1 to 86400, "
            "and the same number in the Retry-After header."
        ),
        advice=(
            "Wait at least that long, add a little random delay, and send the same request with "
            "the same Idempotency-Key. Slow down everything that uses the same token, not only "
            "this request."
        ),
    ),
    Problem(
        code="insufficient_organization_credits",
        status=402,
        retryable=False,
        title="Not enough credits",
        suggested_action="Add credits to the organization, then repeat the request.",
        meaning="Our reading: the organization has fewer credits than the request costs.",
        when=(
            "The organization has no credits, and the call would begin an operation. "
            "`create_user_api_key` is available at zero credits by the contract."
        ),
        advice=(
            "Say that credits are short and lead a user who may buy them to the purchase. Do not "
            "retry until the balance has changed."
        ),
    ),
    Problem(
        code="paid_plan_required",
        status=402,
        retryable=False,
        title="Paid plan required",
        suggested_action="Move the workspace to a paid plan, then repeat the request.",
        meaning="Our reading: the request is for something that a Free workspace does not include.",
        when=(
            "`apply_project_domains` of a Free workspace, where the assumption `domains_plan` is "
            "`paid`."
        ),
        advice=(
            "Name the feature and what it needs before asking for money. A Free workspace may "
            "connect its own domain while the project shows the flag, so a plan is not always the "
            "only way."
        ),
    ),
    Problem(
        code="project_budget_exceeded",
        status=402,
        retryable=False,
        title="Project budget exceeded",
        suggested_action="Raise the project's budget or lower its usage, then repeat the request.",
        meaning=(
            "Our reading: the project has used up, or would overrun, the budget set for it. The "
            "organization may still have credits."
        ),
        when=(
            "Belongs to work that is charged to a project, which none of the eight calls is known "
            "to be. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Show the budget rather than the credits: this limit was set on purpose. Stop "
            "automatic work on the project until it is raised."
        ),
    ),
    Problem(
        code="compute_performance_paid_required",
        status=402,
        retryable=False,
        title="Paid plan required for this compute performance",
        suggested_action="Move the workspace to a paid plan, or choose a lower performance.",
        meaning="Our reading: the wanted compute performance is offered only on a paid plan.",
        when=(
            "Belongs to changing compute. `read_database_compute` only reads and never asks for a "
            "plan. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Mark the performances that need a plan before one is chosen, and keep the present "
            "setting."
        ),
    ),
    Problem(
        code="compute_performance_unavailable",
        status=503,
        retryable=True,
        title="Compute performance unavailable",
        suggested_action="Wait some minutes and try again, or choose another performance.",
        meaning=(
            "Our reading: the wanted compute performance cannot be provided at the moment, for "
            "instance for lack of capacity in the region."
        ),
        when=(
            "Belongs to changing compute. `read_database_compute` only reads what is there. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with growing pauses and offer another performance meanwhile. Show the observed "
            "setting, not the wanted one, until the change is done."
        ),
    ),
    Problem(
        code="database_write_pending",
        status=409,
        retryable=True,
        title="Database write pending",
        suggested_action="Wait until the pending write is done, then send the same request again.",
        meaning=(
            "Our reading: an earlier write to the database has not finished, and this request must "
            "not overtake it."
        ),
        when=(
            "Belongs to writing to a project's database, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Retry with growing pauses; the request itself is sound. If it lasts for minutes, show "
            "that a write is pending instead of trying forever."
        ),
    ),
    Problem(
        code="database_access_limit",
        status=429,
        retryable=True,
        title="Database access limit reached",
        suggested_action="Wait until other accesses have ended, then send the same request again.",
        meaning=(
            "Our reading: the database takes no further access for now because as many as are "
            "allowed are in use. It is a limit of the database, not of the caller's requests."
        ),
        when=(
            "Belongs to direct access to a project's database, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Close accesses that are no longer needed, then retry with growing pauses, honouring "
            "Retry-After if there is one."
        ),
    ),
    Problem(
        code="compute_change_pending",
        status=409,
        retryable=True,
        title="Compute change pending",
        suggested_action="Wait until the compute change in progress is done, then try again.",
        meaning=(
            "Our reading: an earlier change of compute is still in progress, and a second one "
            "cannot begin."
        ),
        when=(
            "Belongs to changing compute. `read_database_compute` shows a change in progress as "
            "`pending_state` and answers 200. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the compute until `pending_state` is gone, check that the change is still "
            "wanted, and send it again."
        ),
    ),
    Problem(
        code="compute_change_conflict",
        status=409,
        retryable=False,
        title="Compute change conflict",
        suggested_action="Read the present compute configuration and decide again.",
        meaning=(
            "Our reading: the compute configuration was changed by another user since the client "
            "read it, so the two changes contradict each other."
        ),
        when=(
            "Belongs to changing compute. `read_database_compute` changes nothing, so it cannot "
            "conflict. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the configuration again with `read_database_compute`, show what is different, "
            "and let the user repeat the change."
        ),
    ),
    Problem(
        code="billing_purchase_conflict",
        status=409,
        retryable=False,
        title="Purchase conflict",
        suggested_action="Read the state of the earlier purchase before making another.",
        meaning=(
            "Our reading: another purchase for the same organization is in progress or has changed "
            "what this one was based on."
        ),
        when=(
            "Belongs to buying credits or plans, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Never retry a purchase under a new Idempotency-Key to get past this: find out how the "
            "earlier one ended, or the user pays twice."
        ),
    ),
    Problem(
        code="billing_recharge_conflict",
        status=409,
        retryable=False,
        title="Recharge conflict",
        suggested_action="Read the present recharge settings and decide again.",
        meaning=(
            "Our reading: another recharge of credits, or another change of its settings, is in "
            "the way of this one."
        ),
        when=(
            f"Belongs to recharging credits, which is not among the eight calls. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the balance and the settings before doing anything: the recharge may have "
            "happened already."
        ),
    ),
    Problem(
        code="git_host_connection_required",
        status=409,
        retryable=False,
        title="Git host connection required",
        suggested_action="Connect the Git host first, then repeat the request.",
        meaning=(
            "Our reading: the request needs a connection to an outside Git host, and there is none."
        ),
        when=(
            "Belongs to projects whose source lies on an outside Git host. "
            "`initialize_managed_source` uses the service's own managed source and needs none. "
            f"{BY_FAULT_ONLY}"
        ),
        advice="Lead the user through connecting the Git host and repeat the request afterwards.",
    ),
    Problem(
        code="git_host_connection_revoked",
        status=409,
        retryable=False,
        title="Git host connection revoked",
        suggested_action="Connect the Git host again, then repeat the request.",
        meaning=(
            "Our reading: there was a connection to the Git host, but it has been withdrawn there. "
            "The caller's own login is still good."
        ),
        when=(
            "Belongs to projects whose source lies on an outside Git host. "
            "`initialize_managed_source` uses the service's own managed source and needs none. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Say that the connection was withdrawn and offer to connect again. Do not log the user "
            "out: their token is not what failed."
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
            "Our reading: the Git host is connected, but its installation does not cover the "
            "repository in question."
        ),
        when=(
            "Belongs to projects whose source lies on an outside Git host, of which the contract "
            "shows no call. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Name the repository and lead the user to the installation's settings on the Git host. "
            "The connection itself need not be made again."
        ),
    ),
    Problem(
        code="edge_zone_not_bound",
        status=409,
        retryable=False,
        title="Edge zone not bound",
        suggested_action="Bind a DNS zone to the project first, then repeat the request.",
        meaning=(
            "Our reading: the request changes DNS at the edge, and the project has no zone to "
            "change."
        ),
        when=(
            "Belongs to changing DNS. `get_dns_authorization` answers such a project with 200, "
            "status `not_authorized` and a null zone. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the DNS authorization, show that no zone is bound, and begin the authorization "
            "there."
        ),
    ),
    Problem(
        code="edge_authorization_closed",
        status=409,
        retryable=False,
        title="Edge authorization closed",
        suggested_action="Begin a new DNS authorization, then repeat the request.",
        meaning=(
            "Our reading: the authorization to change the customer's DNS has ended, because it "
            "expired, was revoked or was completed already."
        ),
        when=(
            "Belongs to changing DNS. `get_dns_authorization` tells of the end as status `expired` "
            "or `revoked` and answers 200. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Read the DNS authorization to learn how it ended. Ask the user before beginning "
            "again: a revocation may have been meant."
        ),
    ),
    Problem(
        code="project_notes_conflict",
        status=409,
        retryable=False,
        title="Project notes conflict",
        suggested_action="Read the present notes, merge both versions and save again.",
        meaning="Our reading: another user saved the project's notes after the client read them.",
        when=(
            "Belongs to editing a project's notes, which is not among the eight calls. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Keep what the user wrote, show it beside the saved version, and let them merge. "
            "Saving over the other text loses their work."
        ),
    ),
    Problem(
        code="project_export_not_ready",
        status=409,
        retryable=True,
        title="Project export not ready",
        suggested_action="Wait until the export is ready, then send the same request again.",
        meaning="Our reading: the export was ordered, but there is nothing to download yet.",
        when=(
            f"Belongs to exporting a project, which is not among the eight calls. {BY_FAULT_ONLY}"
        ),
        advice=(
            "Poll at a calm pace until it is ready. Do not order another export: that would only "
            "begin from the start."
        ),
    ),
    Problem(
        code="powered_by_flag_required",
        status=409,
        retryable=False,
        title="Powered-by flag required",
        suggested_action="Keep the flag on, or disconnect the domain that depends on it first.",
        meaning=(
            "The flag cannot be hidden, because a Free workspace's own domain is connected to this "
            "project on the strength of it. That the contract's refusal carries this code is our "
            "reading."
        ),
        when=(
            "`set_project_powered_by_flag` with `enabled` false while a Free workspace's domain "
            "depends on the flag. Nothing changes: the flag stays on and `enabled_at` stays as it "
            "was."
        ),
        advice=(
            "Show the switch as on, and say what has to happen before it can be hidden: disconnect "
            "the domain or leave the Free plan."
        ),
    ),
    Problem(
        code="interactive_login_required",
        status=403,
        retryable=False,
        title="Interactive login required",
        suggested_action=(
            "Log in interactively and repeat the request with that session's access token."
        ),
        meaning=(
            "The call needs a user in a current session; the token is valid but was not obtained "
            "that way. That the contract's rule carries this code is our reading."
        ),
        when=(
            "`create_user_api_key` with a user API key, or with an access token that belongs to no "
            "interactive session (here: it has no `sid` claim), or to one that has ended because "
            "the user signed out."
        ),
        advice=(
            "Open a login for the user. A script cannot get past this, so let it fail early and "
            "say that only a logged-in user can create a key."
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
            "`create_user_api_key` is where it would come. This emulator always knows the outcome, "
            "so it has to be armed. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "By the contract, after any uncertainty the same name and Idempotency-Key are used "
            "again rather than creating another token. If the response then says `replayed` true "
            "and `value` null, the key exists and its text is lost: only now make another, under a "
            "new key."
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
            "Our reading: there is no product permission that a key could carry now: the "
            "organization has none enabled, or they cannot be revalidated at the moment."
        ),
        when=(
            "`create_user_api_key` when the organization has no product permission enabled that a "
            "key could carry, since membership and permissions are revalidated. All are enabled "
            "until an intervention disables them."
        ),
        advice=(
            "Retry with growing pauses, with the same name and Idempotency-Key. A caller who "
            "really lacks the right gets `forbidden` instead."
        ),
    ),
    Problem(
        code="reconciliation_exhausted",
        status=409,
        retryable=False,
        title="Reconciliation exhausted",
        suggested_action="Do not retry. Check the project's actual state and have a person decide.",
        meaning=(
            "Our reading: the service lost track of how a change ended, tried to find out, and has "
            "given up trying on its own."
        ),
        when=(
            "Reading an operation answers 200 and tells of this in `reconciliation.state` instead. "
            f"{BY_FAULT_ONLY}"
        ),
        advice=(
            "Stop automatic retries and show the operation and the request id to a person. The "
            "change may or may not have been made, so look before repeating it."
        ),
    ),
    Problem(
        code="service_unavailable",
        status=503,
        retryable=True,
        title="Service unavailable",
        suggested_action="Wait a little and send the same request again.",
        meaning=(
            "The service, or a provider it depends on, cannot answer at the moment. Which code a "
            "provider's failure carries is our reading."
        ),
        when=(
            "`read_database_compute` while the database provider fails, since the contract wants a "
            "problem there and never invented defaults; and every call under an outage that a "
            "scenario or a fault arms."
        ),
        advice=(
            "Retry with growing pauses and a limit, honouring Retry-After if there is one. A "
            "change may have happened before the response was lost, so keep the Idempotency-Key "
            "and show the last known state as old."
        ),
    ),
)
