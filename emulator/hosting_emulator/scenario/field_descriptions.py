"""Describes each field of a scenario file, for editors, the schema and the reference.

The schema adds these texts to the fields of its definitions. Each text states the default, unless
the field is required.
"""

from __future__ import annotations

_ALIAS = "The name by which this file, commands and tests refer to the record. Required."
_ID = "The id, a ULID of 26 characters. Default: generated from the seed and the alias."

#: The text for each field, by the name of the schema's definition.
FIELD_DESCRIPTIONS: dict[str, dict[str, str]] = {
    "ScenarioPart": {
        "name": "The scenario's name in lists and reports. Required.",
        "description": "What the scenario demonstrates. Required.",
        "seed": (
            "The seed for ids, secrets and random draws. Default: the world keeps its own seed."
        ),
        "clock": "The clock with which the world starts. Default: a frozen clock.",
        "assumptions": "Assumptions that differ from the defaults, by name.",
        "vary": "Makes responses vary wherever the contract allows it. Default: no variation.",
        "world": "Organizations, users, projects and keys. Default: the default world.",
        "faults": "Faults that are armed at the start, in the order in which they apply.",
        "outcomes": "Outcomes that are armed at the start, in the order in which they apply.",
        "timeline": "Faults, outcomes and interventions that act later.",
        "parts": "Named lists of steps, which the story includes with `use`.",
        "story": (
            "Requests with the responses that they must receive, and changes to the world between "
            "the requests."
        ),
    },
    "ClockPart": {
        "mode": "`frozen` (default), `real`, `scaled` or `skip`.",
        "rate": "The number of world seconds per real second, for the `scaled` mode.",
        "at": (
            "The world time at the start, as a timestamp. Default: 2026-01-01T00:00:00Z for a "
            "`frozen` or `skip` clock, otherwise the current time."
        ),
    },
    "VaryPart": {
        "seed": "The seed from which the variations are drawn. Required.",
        "only": "The variation points to which the variation is limited. Default: all points.",
    },
    "WorldPart": {
        "organizations": (
            "The organizations. With `extends`, an item replaces the default world's item with the "
            "same alias."
        ),
        "users": "The users, each of whom can sign in.",
        "projects": "The projects.",
        "extends": (
            "`default` adds this content to the default world. Default: the world has only this "
            "content."
        ),
        "keys": "API keys with values that you choose, so that a test can use a constant value.",
    },
    "OrganizationPart": {
        "alias": _ALIAS,
        "name": "The displayed name. Default: the alias, capitalized.",
        "plan": "`paid` (default) or `free`.",
        "credits": "The number of credits. Default: 1000.",
        "permissions": (
            "The product permissions that API keys of the organization can have. `[]` means none. "
            "Default: all."
        ),
        "id": _ID,
    },
    "UserPart": {
        "alias": f"{_ALIAS} The alias is also the user name at sign-in.",
        "name": "The displayed name. Default: the alias, capitalized.",
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
            "A list of deployments, or the number of deployments to generate. Generated deployments "
            "begin on working days, two on each, and some of them failed or were cancelled. Default: 0."
        ),
        "flag": "Whether the powered-by flag is on. Default: false.",
        "domain": "The project's own domain, such as `www.studio.example`. Default: none.",
        "dns": (
            "The DNS authorization: `not_authorized` (default), `pending`, `authorized`, `expired` "
            "or `revoked`."
        ),
        "database": "The databases of the dev and prod environments. Default: both are ready.",
        "source_generation": (
            "The generation of the managed source. Default: 1 if there is a deployment, otherwise 0."
        ),
        "id": _ID,
        "handle": "The first part of the production and mail hostnames. Default: the alias.",
    },
    "DeploymentPart": {
        "status": "`ready` (default), `failed` or `cancelled`.",
        "commit": (
            "The SHA of the commit, with 40 hexadecimal digits. Default: generated from the seed."
        ),
        "ago": "How long before the start of world time the deployment started, such as `45m`.",
        "at": "The timestamp at which the deployment started, instead of `ago`.",
    },
    "DatabasePart": {
        "data_mode": (
            "`separate` (default), or `shared` if both environments share one database and its state."
        ),
        "dev": (
            "The state of the dev database: `absent`, `init`, `ready` (default), `suspended`, "
            "`resizing` or `failed`."
        ),
        "prod": "The state of the prod database. The possible states are those of `dev`.",
    },
    "KeyPart": {
        "user": "The alias of the user who owns the key. Required.",
        "value": (
            "The value that clients send: the key prefix, such as `phk_`, and 43 characters from "
            "A-Z a-z 0-9 _ -. To keep the secret out of the file, write `sha256:` and the digest of "
            "the value instead. The emulator stores only the digest. Required."
        ),
        "organization": (
            "The alias of the key's organization. Default: the user's first organization."
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
        "call": "The only call that `after_calls` counts. Default: every call counts.",
        "optional": "The story may pass even if the entry never acts. Default: false.",
        "fault": "The fault to arm.",
        "outcome": "The outcome to arm.",
        "intervene": (
            "The intervention to carry out. If the intervention is impossible when it is due, the "
            "current step fails."
        ),
    },
    "SharedPart": {
        "name": "The name by which `use` refers to the part. Required.",
        "steps": "The steps of the part. Required.",
    },
    "StepPart": {
        "note": "A remark for the report. A step may consist of a note alone.",
        "call": "Makes this call of the API.",
        "poll": "Polls the operation with this id.",
        "redeem": "Opens the URL of a ticket. No credentials are sent unless the step sets `user`.",
        "request": (
            "Sends exactly this request, which is a method followed by a path or by a URL of a dev "
            "origin, such as `GET /v1/projects/${project.shop}/deployments?limit=1`. The path can "
            "also lead to the identity provider, as in `POST /_emulator/idp/token`."
        ),
        "sign_in": "Signs this user in, and returns an access token to save and use as `token`.",
        "api_key": (
            "Creates an API key for this user, to save and use as `token`. `body: {permissions: […]}` "
            "limits the permissions of the key."
        ),
        "together": (
            "Sends several requests, or a single request with `times`, all of which arrive before "
            "the first response is sent. A latency fault can delay an earlier request, so that a "
            "later request is handled first."
        ),
        "advance": "Advances the clock by this duration.",
        "to": "Moves the clock to this timestamp.",
        "until": "Moves the clock until the operation with this id ends.",
        "intervene": "Carries out this intervention.",
        "fault": "Arms this fault. `save: {NAME: id}` saves the id of the fault.",
        "remove_fault": "Removes the fault with this id.",
        "clear_faults": "Removes all faults.",
        "outcome": "Arms this outcome. `save: {NAME: id}` saves the id of the outcome.",
        "remove_outcome": "Removes the outcome with this id.",
        "clear_outcomes": "Removes all outcomes.",
        "assume": "Changes assumptions of the running world.",
        "check": (
            "Compares saved or collected values, by name. The step fails if it checks a list to "
            "which no values were added."
        ),
        "log": "Counts the requests so far that match these filters.",
        "use": "Runs the steps of this part, with the variables in `with`.",
        "user": (
            "The user who sends the request. Each request carries a new access token, so the token "
            "never expires. With `nobody`, no credentials are sent. Default: `owner`, or the "
            "world's only user."
        ),
        "token": "The access token or API key of the request, instead of `user`.",
        "interactive": (
            "Whether the token belongs to an interactive session, which the creation of API keys "
            "requires. Default: true."
        ),
        "organization": (
            "For create_user_api_key, the organization on which the call acts. Default: `acme`, or "
            "the world's only organization. For other requests, the organization of the token. "
            "Default: the user's own organization."
        ),
        "project": (
            "The project on which the call acts. Default: `shop`, or the world's only project."
        ),
        "key": "The Idempotency-Key. Default: for calls 1 to 4, a new key for each step.",
        "body": "The JSON body.",
        "text": "A body that is sent unchanged, instead of `body`.",
        "form": "A web form, instead of `body`.",
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
            "Values of the response to save, by name: a field such as `items.0.id`, a header such "
            "as `headers.Retry-After`, the part that a pattern captures, such as "
            "`headers.Location /code=([^&]+)/`, or the whole `response`. Later steps use a value as "
            "`${NAME}`. `${project.ALIAS}` is the id of a project, `${now}` is the world time, and "
            "`${now+10m}` is the time ten minutes later."
        ),
        "collect": (
            "Values to add to lists, by the list's name, from each response of the step. In a path, "
            "`*` stands for every item of a list."
        ),
        "gives_up": (
            "The client closes the connection before it receives the response, like a client that "
            "times out. The service still carries out the request. Default: false."
        ),
        "times": "How many times the step runs. Default: 1.",
        "tries": (
            "The maximum number of attempts. The request is sent again, with the same "
            "Idempotency-Key, until the response is as expected. Default: 1."
        ),
        "pause": (
            "The wait before the next of the `tries`. Default: the time that the response tells "
            "the client to wait."
        ),
        "with": "The values of variables for the part that `use` runs.",
    },
    "ExpectPart": {
        "status": (
            "A status, such as `404`, or a class, such as `4xx`. Default: a success, or an error if "
            "`code` names a problem."
        ),
        "code": "A problem code, or null for a response without a problem.",
        "body": (
            "The expected fields, by name. Fields that are not listed may have any value. To expect "
            "items of a list, use their indexes as names, starting at 0."
        ),
        "absent": "The paths of fields that the response must not have, such as `progress.phase`.",
        "items": "The number of items in the list.",
        "headers": (
            "The expected headers, by name. Numbers are compared numerically. A timestamp also matches "
            "an HTTP date that is the same time, such as the value of `Date`. A header whose value "
            "is null must be absent."
        ),
        "html": "Whether the response must be an HTML page.",
        "lost": (
            "The kind of fault that causes the response to be lost, `true` for any kind, or `false` "
            "if the response must arrive. `[false, true]` allows both. A step that expects a lost "
            "response can have no other expectation."
        ),
        "delayed": "Whether the response must be late or slow.",
        "same_as": "The name of a saved response, whose body must have the same bytes.",
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
        "why": "A sentence that explains the response.",
        "count": (
            "The required number of matching requests. Default: at least one. A condition that every "
            "number satisfies is refused."
        ),
    },
    "Comparison": {
        "at_least": (
            "The value is at least this value. Only numbers, timestamps and ids can be ordered."
        ),
        "at_most": "The value is at most this value.",
        "above": "The value is greater than this value.",
        "below": "The value is less than this value.",
        "not": "The value is present, has the same type as this value, and does not match it.",
        "one_of": "The value matches at least one item of this list.",
        "optional": "The field is absent, or its value matches this value.",
        "same_as": (
            "The value equals this value in every field. Strings are compared literally, not as "
            "patterns."
        ),
        "not_in": "The value equals no item of this list.",
        "has": "At least one item of the list matches this value.",
        "each": "The list is not empty, and every item matches this value.",
        "item_count": (
            "The number of items in the list, or of the items that match, as in "
            "`{of: {status: ready}, is: 1}`."
        ),
        "distinct": (
            "No item occurs twice (`true`), or no two items have the same value of a field "
            "(`distinct: id`)."
        ),
        "sorted_by": (
            "The list is sorted by a field (`created_at`, or `{created_at: descending}`), or by its "
            "plain values (`ascending`)."
        ),
    },
}
