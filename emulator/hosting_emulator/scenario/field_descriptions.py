"""Descriptions of all fields in a scenario file, for editors, the schema and the reference.

They are added to the fields in the schema's definitions. Each description states the default,
unless the field is required.
"""

from __future__ import annotations

_ALIAS = "The name by which this file, commands and tests refer to the record. Required."
_ID = "The id, a ULID of 26 characters. Default: generated from the seed and the alias."

#: The description of each field, by the name of the definition in the schema.
FIELD_DESCRIPTIONS: dict[str, dict[str, str]] = {
    "ScenarioPart": {
        "name": "The scenario's name in lists and reports. Required.",
        "description": "What the scenario demonstrates. Required.",
        "seed": (
            "The seed for ids, secrets and random choices. Default: the world keeps its own seed."
        ),
        "clock": "The clock with which the world starts. Default: a frozen clock.",
        "assumptions": "Assumptions that differ from the defaults, by name.",
        "vary": (
            "Makes responses vary at points where the contract leaves a choice. Default: no "
            "variation."
        ),
        "world": "Organizations, users, projects and keys. Default: the default world.",
        "faults": "Faults that are armed at the start, in this order.",
        "outcomes": "Outcomes that are armed at the start, in this order.",
        "timeline": "Faults, outcomes and interventions that act later.",
        "parts": "Named lists of steps, which the story includes with `use`.",
        "story": (
            "Requests and the responses that they must receive, with changes to the world in "
            "between."
        ),
    },
    "ClockPart": {
        "mode": "`frozen` (default), `real`, `scaled` or `skip`.",
        "rate": "The number of world seconds that pass per real second in `scaled` mode.",
        "at": (
            "The world time at the start, as a timestamp. Default: 2026-01-01T00:00:00Z for a "
            "`frozen` or `skip` clock, otherwise the current time."
        ),
    },
    "VaryPart": {
        "seed": "The seed from which the variations are drawn. Required.",
        "only": "Limits the variation to these variation points. Default: all points.",
    },
    "WorldPart": {
        "organizations": (
            "The organizations. With `extends`, an organization replaces the one with the same alias "
            "in the default world, and so does a user or a project."
        ),
        "users": "The users, each of whom can sign in.",
        "projects": "The projects.",
        "extends": (
            "Write `default` to add this content to the default world. Default: the world has "
            "only this content."
        ),
        "keys": "API keys whose values you choose, so that a test can use a constant value.",
    },
    "OrganizationPart": {
        "alias": _ALIAS,
        "name": "The display name. Default: the alias, capitalized.",
        "plan": "`paid` (default) or `free`.",
        "credits": "The number of credits. Default: 1000.",
        "permissions": (
            "The product permissions that the organization's API keys can have. `[]` means "
            "none. Default: all."
        ),
        "id": _ID,
    },
    "UserPart": {
        "alias": f"{_ALIAS} It cannot be `nobody`. The alias is also the user name at sign-in.",
        "name": "The display name. Default: the alias, capitalized.",
        "organizations": (
            "The role in each organization, by alias: `owner` or `member`. Default: no "
            "organization."
        ),
        "projects": (
            "The role in each project, by alias: `owner`, `maintainer` or `reader`. Default: no "
            "project."
        ),
        "id": (
            "The user's id, which is the `sub` claim of tokens. Default: generated from the seed "
            "and the alias."
        ),
        "email": (
            "The email address, which can also be used to sign in. Default: `ALIAS@people.example`."
        ),
    },
    "ProjectPart": {
        "alias": _ALIAS,
        "organization": "The alias of the organization that owns the project. Required.",
        "deployments": (
            "A list of deployments, or the number of deployments to generate. Generated "
            "deployments start on working days, at most two per day, and some of them failed or "
            "were cancelled. Default: 0."
        ),
        "flag": "Whether the powered-by flag is on. Default: false.",
        "domain": "The project's own domain, such as `www.studio.example`. Default: none.",
        "dns": (
            "The DNS authorization: `not_authorized` (default), `pending`, `authorized`, `expired` "
            "or `revoked`."
        ),
        "database": "The databases for the dev and prod environments. Default: both are ready.",
        "source_generation": (
            "The generation of the managed source. Default: 1 if there are deployments, "
            "otherwise 0."
        ),
        "id": _ID,
        "handle": "The first part of the production and mail hostnames. Default: the alias.",
    },
    "DeploymentPart": {
        "status": "`ready` (default), `failed` or `cancelled`.",
        "commit": ("The commit SHA, with 40 hexadecimal digits. Default: generated from the seed."),
        "ago": "How long before the start of world time the deployment started, such as `45m`.",
        "at": "When the deployment started, as a timestamp, instead of `ago`.",
    },
    "DatabasePart": {
        "data_mode": (
            "`separate` (default), or `shared` if both environments share one database and its state."
        ),
        "dev": (
            "The state of the dev database: `absent`, `init`, `ready` (default), `suspended`, "
            "`resizing` or `failed`."
        ),
        "prod": "The state of the prod database. The possible states are the same as for `dev`.",
    },
    "KeyPart": {
        "user": "The alias of the user who owns the key. Required.",
        "value": (
            "The value that clients send: the key prefix, such as `phk_`, and 43 characters "
            "from A-Z a-z 0-9 _ -. To keep the secret out of the file, write `sha256:` followed "
            "by the SHA-256 digest of the whole value in lowercase hexadecimal. The emulator stores "
            "only the digest. Required."
        ),
        "organization": (
            "The alias of the key's organization. Default: the first organization in the file to "
            "which the user belongs."
        ),
        "name": "The key's name, with 1 to 64 characters. Default: `of the world file`.",
        "permissions": (
            "The key's product permissions. Default: all permissions of its organization."
        ),
    },
    "PlannedPart": {
        "at": (
            "When the entry acts: a duration after the start, or a timestamp that is not before "
            "the start."
        ),
        "after_calls": (
            "The entry acts after this many successful calls. Replays count, but refused calls do "
            "not."
        ),
        "call": "Makes `after_calls` count only this call. Default: every call counts.",
        "optional": "The story may pass even if the entry never acts. Default: false.",
        "fault": "The fault to arm.",
        "outcome": "The outcome to arm.",
        "intervene": (
            "The intervention to carry out. If it is impossible when it is due, the current "
            "step fails."
        ),
    },
    "SharedPart": {
        "name": "The name by which `use` refers to the part. Required.",
        "steps": "The steps of the part. Required.",
    },
    "StepPart": {
        "note": "A remark for the report. A step may consist of just a note.",
        "call": "Makes this call of the API.",
        "poll": "Polls the operation with this id.",
        "redeem": "Opens the URL of a ticket. No credentials are sent unless the step sets `user`.",
        "request": (
            "Sends exactly this request: a method followed by a path or a URL on a dev origin, "
            "such as `GET /v1/projects/${project.shop}/deployments?limit=1`. The path can also "
            "be one of the identity provider's, as in `POST /_emulator/idp/token`."
        ),
        "sign_in": "Signs this user in, and returns an access token to save and use as `token`.",
        "api_key": (
            "Creates an API key for this user, to save and use as `token`. `body: "
            "{permissions: […]}` limits the key's permissions."
        ),
        "together": (
            "Sends several requests, or one request with `times`, so that all of them arrive "
            "before the first response is sent. Each of them is a `call`, `poll`, `redeem` or "
            "`request`. A latency fault can delay an earlier request, so that a later one is "
            "handled first."
        ),
        "advance": "Advances the clock by this duration.",
        "to": "Advances the clock to this timestamp.",
        "until": "Advances the clock until the operation with this id ends.",
        "intervene": "Carries out this intervention.",
        "fault": "Arms this fault. `save: {NAME: id}` saves the id of the fault.",
        "remove_fault": "Removes the fault with this id.",
        "clear_faults": "Removes all faults.",
        "outcome": "Arms this outcome. `save: {NAME: id}` saves the id of the outcome.",
        "remove_outcome": "Removes the outcome with this id.",
        "clear_outcomes": "Removes all outcomes.",
        "assume": "Changes assumptions of the running world.",
        "check": (
            "Checks saved or collected values: maps the name of each value to its expected value. "
            "The step fails if it checks a list that is still empty."
        ),
        "log": "Counts the earlier requests that match these filters.",
        "use": "Runs this part's steps, with the variables in `with`.",
        "user": (
            "The user who sends the request. Each request has a new access token, so a token does not "
            "expire between steps. With `nobody`, no credentials are sent. Default: `owner`, or the "
            "world's only user."
        ),
        "token": "The access token or API key to send with the request, instead of `user`.",
        "interactive": (
            "Whether the token belongs to an interactive session, which is required to create "
            "API keys. Default: true."
        ),
        "organization": (
            "For create_user_api_key, the organization on which the call acts. Default: `acme`, "
            "or the world's only organization. For other requests, the organization for which "
            "the token is issued. Default: the user's own organization."
        ),
        "project": (
            "The project on which the call acts. Default: `shop`, or the world's only project."
        ),
        "key": (
            "The Idempotency-Key. Default: for calls 1 to 4, a new key each time the step runs, which "
            "is the same for all attempts of `tries`."
        ),
        "body": "The JSON body.",
        "text": "A body to send unchanged, instead of `body`.",
        "form": "The fields of a web form, instead of `body`.",
        "query": "The query parameters.",
        "headers": (
            "Additional headers. A header whose value is null is not sent. For example, "
            "`{Idempotency-Key: null}` simulates a client that forgets the key."
        ),
        "connection": (
            "The name of a simulated connection that steps share. A lost response ends the "
            "connection, and the next step opens a new connection."
        ),
        "expect": "The expected response. Default: a success.",
        "save": (
            "Values from the response to save, by name: a field such as `items.0.id`, a header "
            "such as `headers.Retry-After`, the part that a pattern captures, such as "
            "`headers.Location /code=([^&]+)/`, or the whole `response`. Later steps refer to a "
            "value as `${NAME}`. `${project.ALIAS}` is the id of a project, `${now}` is the "
            "world time, and `${now+10m}` is the time ten minutes later."
        ),
        "collect": (
            "Values to add to lists, by list name, from each response that the step receives. "
            "In a path, `*` means every item of a list."
        ),
        "gives_up": (
            "The client closes the connection before it receives the response, as if it had "
            "timed out. The service still carries out the request. Default: false."
        ),
        "times": "How many times the step runs. Default: 1.",
        "tries": (
            "The maximum number of attempts. The request is sent again, with the same "
            "Idempotency-Key, until the response is as expected. Default: 1."
        ),
        "pause": (
            "How long to wait before the next attempt. Default: as long as the response tells "
            "the client to wait."
        ),
        "with": "The variables for the part that `use` runs, with their values.",
    },
    "ExpectPart": {
        "status": (
            "A status such as `404`, or a class such as `4xx`. Default: a success, or an error "
            "if `code` is a problem code."
        ),
        "code": "A problem code, or null for a response without a problem.",
        "body": (
            "The expected fields, by name. Fields that are not listed may have any value. For "
            "items of a list, use their indexes as names, starting at 0."
        ),
        "absent": "The paths of fields that the response must not have, such as `progress.phase`.",
        "items": "The number of items in the list.",
        "headers": (
            "The expected headers, by name. Numbers are compared numerically. A timestamp also "
            "matches an HTTP date with the same time, as in the `Date` header. A header with "
            "the value null must be absent."
        ),
        "html": "Whether the response must be an HTML page.",
        "lost": (
            "The kind of fault that causes the response to be lost, `true` for any kind, or `false` "
            "if the response must arrive. `[false, true]` allows both. A step that expects a lost "
            "response can have no other expectation."
        ),
        "delayed": "Whether the response must be late or slow.",
        "same_as": "The name of a saved response. Both bodies must consist of the same bytes.",
    },
    "LogPart": {
        "call": "The call, or `none` for requests that match no call.",
        "method": "The HTTP method.",
        "path": "The path, in which `*` matches any text and `{name}` matches one segment.",
        "user": "The user who sent the request, by alias or id.",
        "project": "The project, by alias or id.",
        "operation": "The id of the operation.",
        "status": "The status of the response.",
        "code": "The problem code of the response.",
        "key": "The Idempotency-Key.",
        "replayed": "Whether the response is a replay of an earlier response.",
        "lost": "The kind of fault that caused the response to be lost.",
        "failed": "Whether the response has an error status or was lost.",
        "fault": "The id or the kind of a fault that acted.",
        "why": "A sentence from the explanation of the response.",
        "count": (
            "The required number of matching requests. Default: at least one. A condition that every "
            "number satisfies is refused."
        ),
    },
    "Comparison": {
        "at_least": (
            "The value is at least this value. Only numbers, timestamps and ids have an order."
        ),
        "at_most": "The value is at most this value.",
        "above": "The value is greater than this value.",
        "below": "The value is less than this value.",
        "not": "The value is present, is of the same type as this value, and does not match it.",
        "one_of": "The value matches at least one item of this list.",
        "optional": "The field is absent, or its value matches this value.",
        "same_as": (
            "The value is equal to this value in every field. Strings are compared literally, "
            "not as patterns."
        ),
        "not_in": "The value is not equal to any item of this list.",
        "has": "At least one item of the list matches this value.",
        "each": "The list is not empty, and every item matches this value.",
        "item_count": (
            "The number of items in the list, or of the items that match, as in "
            "`{of: {status: ready}, is: 1}`."
        ),
        "distinct": (
            "No item occurs twice (`true`), or no two items have the same value in a field "
            "(`distinct: id`)."
        ),
        "sorted_by": (
            "The list is sorted by a field (`created_at`, or `{created_at: descending}`), or, "
            "if its items are plain values, by value (`ascending`)."
        ),
    },
}
