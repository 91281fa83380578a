"""What each field of a scenario file means, for editors, the schema and the reference.

The schema adds these texts to the fields of its definitions. Each text states the default, unless
the field is required.
"""

from __future__ import annotations

_ALIAS = "The name in this file, in commands and in tests. Required."
_ID = "The id, 26 characters of a ULID. Default: generated from the seed and the alias."

#: The text for each field, by the name of the schema's definition.
FIELD_DESCRIPTIONS: dict[str, dict[str, str]] = {
    "ScenarioPart": {
        "name": "The scenario's name in lists and reports. Required.",
        "description": "What the scenario shows. Required.",
        "seed": "The seed of ids, secrets and random draws. Default: the world keeps its own seed.",
        "clock": "The clock with which the world starts. Default: a frozen clock.",
        "assumptions": "Assumptions that differ from the defaults, by name.",
        "vary": "Makes responses vary wherever the contract allows it. Default: no variation.",
        "world": "Organizations, users, projects and keys. Default: the default world.",
        "faults": "Faults that are armed at the start, in the order in which they apply.",
        "outcomes": "Outcomes that are armed at the start, in the order in which they apply.",
        "timeline": "Faults, outcomes and interventions that act later.",
        "parts": "Named lists of steps, which the story includes with `use`.",
        "story": (
            "Requests with the responses that they must receive, and changes of the world between "
            "them."
        ),
    },
    "ClockPart": {
        "mode": "`frozen` (default), `real`, `scaled` or `skip`.",
        "rate": "World seconds per real second, for the mode `scaled`.",
        "at": "The world time at the start, a timestamp. Default: 2026-01-01T00:00:00Z, or now.",
    },
    "VaryPart": {
        "seed": "The seed from which the variations are drawn. Required.",
        "only": "The variation points to which the variation is limited. Default: all points.",
    },
    "WorldPart": {
        "organizations": "The organizations. An alias of the default world replaces that item.",
        "users": "The users, who can sign in.",
        "projects": "The projects.",
        "extends": "`default` keeps the default world and adds to it. Default: only this content.",
        "keys": "API keys with values that you choose, so that a test can hold a constant.",
    },
    "OrganizationPart": {
        "alias": _ALIAS,
        "name": "The displayed name. Default: the alias, capitalized.",
        "plan": "`paid` (default) or `free`.",
        "credits": "The number of credits. Default: 1000.",
        "permissions": "Product permissions, which API keys carry. `[]` is none. Default: all.",
        "id": _ID,
    },
    "UserPart": {
        "alias": f"{_ALIAS} It is also the user name at sign-in.",
        "name": "The displayed name. Default: the alias, capitalized.",
        "organizations": "The role in each organization: `owner` or `member`. Default: in none.",
        "projects": "The role in each project: `owner`, `maintainer` or `reader`. Default: in none.",
        "id": "The user's id, the `sub` of tokens. Default: generated from the seed and the alias.",
        "email": "The email address, also a name at sign-in. Default: `ALIAS@people.example`.",
    },
    "ProjectPart": {
        "alias": _ALIAS,
        "organization": "The alias of the organization that owns the project. Required.",
        "deployments": (
            "A list of deployments, or their number. The deployments of a number are half a day "
            "apart, and some of them failed or were cancelled. Default: 0."
        ),
        "flag": "Whether the powered-by flag is on. Default: false.",
        "domain": "The project's own domain, such as `www.studio.example`. Default: none.",
        "dns": (
            "The DNS authorization: `not_authorized` (default), `pending`, `authorized`, `expired` "
            "or `revoked`."
        ),
        "database": "The databases. Default: both are ready.",
        "source_generation": (
            "The generation of the managed source. Default: 1 if there is a deployment, otherwise 0."
        ),
        "id": _ID,
        "handle": "The first part of the production and mail hostnames. Default: the alias.",
    },
    "DeploymentPart": {
        "status": "`ready` (default), `failed` or `cancelled`.",
        "commit": "The SHA of the commit, 40 hexadecimal digits. Default: generated from the seed.",
        "ago": "How long before the world's start the deployment started, such as `45m`.",
        "at": "The timestamp at which the deployment started, instead of `ago`.",
    },
    "DatabasePart": {
        "data_mode": (
            "`separate` (default), or `shared` if both environments have one database and state."
        ),
        "dev": (
            "The state of the dev database: `absent`, `init`, `ready` (default), `suspended`, "
            "`resizing` or `failed`."
        ),
        "prod": "The state of the prod database, one of the same states.",
    },
    "KeyPart": {
        "user": "The alias of the user who owns the key. Required.",
        "value": (
            "What clients send: the key prefix, such as `phk_`, and 43 letters, digits, _ or -. Or "
            "`sha256:` and the digest of the value, so that the file holds no secret. The emulator "
            "keeps only the digest. Required."
        ),
        "organization": "The alias of the key's organization. Default: the user's first one.",
        "name": "The key's name, 1 to 64 characters. Default: `of the world file`.",
        "permissions": "The key's product permissions. Default: all of its organization.",
    },
    "PlannedPart": {
        "at": "When the entry acts: a duration after the start, or a timestamp that is not earlier.",
        "after_calls": (
            "The entry acts after this many successful calls. A replay counts, and a refused call "
            "does not."
        ),
        "call": "Counts only this call for `after_calls`.",
        "optional": "The story may pass even if the entry never acts. Default: false.",
        "fault": "The fault to arm.",
        "outcome": "The outcome to arm.",
        "intervene": (
            "The intervention to make. If it is impossible at its time, the step during which it is "
            "due fails."
        ),
    },
    "SharedPart": {
        "name": "The name that `use` names. Required.",
        "steps": "The steps. Required.",
    },
    "StepPart": {
        "note": "A remark for the report. A step may consist of only a note.",
        "call": "Sends one of the calls.",
        "poll": "Polls the operation with this id.",
        "redeem": "Opens the URL of a ticket, without a user unless `user` names one.",
        "request": (
            "Sends a method and a path, or a URL of a dev origin, unchanged, such as "
            "`GET /v1/projects/${project.shop}/deployments?limit=1`. A path can also be a page of "
            "the identity provider, such as `POST /_emulator/idp/token`."
        ),
        "sign_in": "Signs a user in, and receives an access token to save and use as `token`.",
        "api_key": (
            "Creates an API key for a user, to save and use as `token`. `body: {permissions: […]}` "
            "limits the key."
        ),
        "together": (
            "Sends several requests that all arrive before the first response is sent, or one "
            "request with `times`. With a latency, a later request can be handled first."
        ),
        "advance": "Moves the clock by a duration.",
        "to": "Moves the clock to a timestamp.",
        "until": "Moves the clock until the operation with this id ends.",
        "intervene": "Makes an intervention.",
        "fault": "Arms a fault. `save: {NAME: id}` keeps its id.",
        "remove_fault": "Removes the fault with this id.",
        "clear_faults": "Removes all faults.",
        "outcome": "Arms an outcome. `save: {NAME: id}` keeps its id.",
        "remove_outcome": "Removes the outcome with this id.",
        "clear_outcomes": "Removes all outcomes.",
        "assume": "Changes assumptions of the running world.",
        "check": (
            "Compares saved or collected values, by name. A check of a list to which nothing was "
            "added fails."
        ),
        "log": "Counts the matching requests so far.",
        "use": "Runs the steps of a part, with the variables in `with`.",
        "user": (
            "The user who sends the request, with a new access token for each request, so that it "
            "never expires. `nobody` sends no credentials. Default: `owner`, or the world's only "
            "user."
        ),
        "token": "The access token or API key of the request, instead of `user`.",
        "interactive": (
            "Whether the user of the token has signed in, which the creation of keys requires. "
            "Default: true."
        ),
        "organization": (
            "The organization on which create_user_api_key acts. Default: `acme`, or the world's "
            "only organization. For other requests, the organization of the token. Default: the "
            "user's own."
        ),
        "project": "The project on which the call acts. Default: `shop`, or the world's only project.",
        "key": "The Idempotency-Key. Default: a new key for each step, at calls 1 to 4.",
        "body": "The JSON body.",
        "text": "A body that is sent unchanged, instead of `body`.",
        "form": "A web form, instead of `body`.",
        "query": "The query parameters.",
        "headers": (
            "More headers. A header that is null is not sent: `{Idempotency-Key: null}` is a client "
            "that forgets the key."
        ),
        "connection": (
            "The name of a simulated connection that steps share. A lost response ends it, and the "
            "next step opens another one."
        ),
        "expect": "What the response must be. Default: a success.",
        "save": (
            "Values of the response to keep, by name: a field such as `items.0.id`, a header such "
            "as `headers.Retry-After`, the part that a pattern captures, such as "
            "`headers.Location /code=([^&]+)/`, or the whole `response`. `${NAME}` uses the value. "
            "`${project.ALIAS}` is an id, `${now}` the world time, and `${now+10m}` ten minutes "
            "later."
        ),
        "collect": (
            "Values to add to lists, by the list's name, from each response of the step. In a path, "
            "`*` stands for every item."
        ),
        "gives_up": (
            "The client closes the connection before it receives the response, like a client that "
            "times out. The service still carries the request out. Default: false."
        ),
        "times": "Repeats the step. Default: 1.",
        "tries": (
            "Sends the request up to this many times, with the same Idempotency-Key, until the "
            "response is as expected. Default: 1."
        ),
        "pause": "The time before the next of the `tries`. Default: as long as the response asks.",
        "with": "The variables of the part that `use` runs.",
    },
    "ExpectPart": {
        "status": (
            "A status, such as `404`, or a class, such as `4xx`. Default: a success, or an error if "
            "`code` names a problem."
        ),
        "code": "A problem code, or null for a response without a problem.",
        "body": (
            "The fields that matter, by name. The other fields may have any value. In a list, the "
            "names are the indexes of items, from 0."
        ),
        "absent": "Paths of fields that the response must not have, such as `progress.phase`.",
        "items": "The number of items in the list.",
        "headers": (
            "Headers by name. Numbers are compared as numbers, and timestamps with the time in "
            "`Date`. Null is a header that the response must not have."
        ),
        "html": "Whether the response is an HTML page.",
        "lost": (
            "The kind of fault that loses the response, `true` for any kind, or `false` if the "
            "response arrives. `[false, true]` allows both. Nothing else can be expected beside a "
            "loss."
        ),
        "delayed": "Whether the response is late or slow.",
        "same_as": "The name of a saved response whose body has the same bytes.",
    },
    "LogPart": {
        "call": "The call, or `none` for requests that match no call.",
        "method": "The HTTP method.",
        "path": "The path. `*` stands for any text, and `{name}` for one segment.",
        "user": "The user who sent the request, by alias or id.",
        "project": "The project, by alias or id.",
        "operation": "The id of the operation.",
        "status": "The status of the response.",
        "code": "The problem code of the response.",
        "key": "The Idempotency-Key.",
        "replayed": "Whether the response is a replay of an earlier one.",
        "lost": "The kind of fault that lost the response.",
        "failed": "Whether the response has an error status or was lost.",
        "fault": "The id or the kind of a fault that acted.",
        "why": "A sentence that explains the response.",
        "count": (
            "The required number of matching requests. Default: at least one. A count that every "
            "number meets is refused."
        ),
    },
    "Comparison": {
        "at_least": "The value is this or more. Only numbers, timestamps and ids have an order.",
        "at_most": "The value is this or less.",
        "above": "The value is more than this.",
        "below": "The value is less than this.",
        "not": "The value is there, has the same type, and does not match this.",
        "one_of": "The value matches one of several.",
        "optional": "The field is absent, or its value matches this.",
        "same_as": "The value equals this one in every field. A text is no pattern here.",
        "not_in": "The value equals none of a list.",
        "has": "An item of the list matches this.",
        "each": "The list has an item, and every item matches this.",
        "item_count": (
            "The number of items in the list, or of those that match: "
            "`{of: {status: ready}, is: 1}`."
        ),
        "distinct": "No item occurs twice (`true`), or no value of a field (`distinct: id`).",
        "sorted_by": (
            "The list is in the order of a field (`created_at`, or `{created_at: descending}`), or of "
            "its plain values (`ascending`)."
        ),
    },
}
