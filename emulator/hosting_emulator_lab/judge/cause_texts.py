"""The texts in reports about the causes that no conduct rule describes.

A cause is one mistake in a client. The texts are written for the client's developer.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from hosting_emulator.messages import Severity
from hosting_emulator_lab.judge.retry_quotes import FLAG_RETRY, KEY_RETRY, RETRYABLE


@dataclass(frozen=True, slots=True, kw_only=True)
class CauseText:
    """The texts about one cause.

    `title` says what the client does, in one sentence. `matters` describes the harm, `because`
    quotes the sentence of the contract or of a standard on which the cause is based, `place` is the
    source of that sentence, and `instead` is the remedy. `is_expected` means that the client seems to
    do it on purpose, as a test of a refusal does. It is then no mistake, and explains no other cause.
    """

    id: str
    severity: Severity
    title: str
    matters: str
    because: str
    place: str
    instead: str
    is_expected: bool = False


_POLLED = (
    "Project mutations that take time are accepted as durable asynchronous operations that the "
    "caller polls."
)
_PROBLEMS = (
    "All failures return application/problem+json (RFC 9457 Problem Details extended with recovery "
    "fields)"
)
_NO_DATABASE = (
    "database | object or null | null means the owned environment has no confirmed managed "
    "placement"
)
_OPERATION_STATES = "state | enum queued, running, succeeded, failed, cancelled"

#: The evidence that a client prints its token.
TOKEN_IN_OUTPUT = "the output contains the token that the command gets in HOSTING_TOKEN"
_TEXTS = (
    CauseText(
        id="needs-plain-base-url",
        severity="note",
        title="It fails if its base URL has a path.",
        matters=(
            "The base URL of an emulated world, or of a service behind a proxy, can have a path, such as "
            "/worlds/world-1. If the service's base URL has no path, nothing is wrong there."
        ),
        because="All paths are relative to {base_url} (or {dev_base_url}).",
        place="contract, section Endpoints",
        instead=(
            "Append the path of each request to the base URL. With aiohttp, end the base_url of a "
            "ClientSession with a slash, and begin the paths of requests without one."
        ),
    ),
    CauseText(
        id="drops-base-path",
        severity="error",
        title="It drops the path of its base URL.",
        matters=(
            "A base URL may have a path, for example behind a gateway. The client sends its requests "
            "to a different path, where they are refused or reach the wrong service."
        ),
        because="All paths are relative to {base_url} (or {dev_base_url}).",
        place="contract, section Endpoints",
        instead=(
            "Append `/v1/...` to the base URL as text. Functions such as `new URL('/v1/...', base)` "
            "and `urljoin` replace the path of the base URL."
        ),
    ),
    CauseText(
        id="prints-token",
        severity="warning",
        title="It prints its token.",
        matters=(
            "Build servers store what a command prints, and often show it to everybody. Anyone who reads "
            "the token can act as its owner until it expires."
        ),
        because=(
            "Client implementations MUST ensure that bearer tokens are not leaked to unintended parties, "
            "as they will be able to use them to gain access to protected resources."
        ),
        place="RFC 6750, section 5.3",
        instead=(
            "Leave tokens out of the output. In a shell, `set -x` also prints them: switch it off with "
            "`set +x` where a command uses a token."
        ),
    ),
    CauseText(
        id="key-of-process-id",
        severity="warning",
        title="It uses the id of its process as its Idempotency-Key.",
        matters=(
            "Process ids repeat, and in containers they are often the same in each run. A later run then "
            "gets the result of an earlier run, and its change is never made."
        ),
        because="Same key and same body: first result returned without switching again.",
        place="contract, section Endpoints, operation 1",
        instead="Create a random UUID for each intended change, and send it with every attempt.",
    ),
    CauseText(
        id="gives-up-at-passing-failure",
        severity="warning",
        title="It gives up after a transient failure.",
        matters=(
            "On any day, a connection can break, or the service can refuse a request for a moment. "
            "A retry would have succeeded."
        ),
        because=FLAG_RETRY.sentence,
        place=FLAG_RETRY.place,
        instead=(
            "Retry the request a few times, with the same Idempotency-Key if it has one. Wait longer "
            "each time, or as long as Retry-After says. Then give up with a clear message."
        ),
    ),
    CauseText(
        id="sends-invalid-request",
        severity="warning",
        title="It sends an invalid request after a failure, or when it sends more requests than usual.",
        matters=(
            "The service refuses the request, however often it is sent, so the client fails where a "
            "correct request would have succeeded."
        ),
        because=_PROBLEMS,
        place="contract, section Errors",
        instead=(
            "Build each attempt from the same parts. Do not extend a header with parts of earlier "
            "attempts, and keep to the limits that the contract gives."
        ),
    ),
    CauseText(
        id="fails-after-recovery",
        severity="note",
        title="It fails although all its requests succeed in the end.",
        matters=(
            "The client overcame a transient failure, but the command fails nevertheless. If a test "
            "only counts requests or measures time, nothing is wrong with the client."
        ),
        because=FLAG_RETRY.sentence,
        place=FLAG_RETRY.place,
        instead=(
            "Read the command's output. If a test expects an exact number of requests, let it allow "
            "retries. If the client reports the failure that it overcame, let it report the last "
            "response."
        ),
    ),
    CauseText(
        id="gives-up-at-unreadable-response",
        severity="note",
        title="It gives up at a response whose body is not JSON.",
        matters=(
            "A proxy or a broken connection can damage a response. A retry would have succeeded."
        ),
        because="All bodies are JSON.",
        place="contract, introduction",
        instead="Treat a body that cannot be parsed like a lost response, and retry the request.",
    ),
    CauseText(
        id="waits-without-limit",
        severity="warning",
        title="It waits very long for a response, perhaps without a time limit.",
        matters=(
            "A response that is lost in transit never arrives. Without a time limit, a client then "
            "hangs until somebody kills it."
        ),
        because=KEY_RETRY.sentence,
        place=KEY_RETRY.place,
        instead=(
            "Set a time limit for each request. When the limit is reached, retry the request, with "
            "the same Idempotency-Key if it has one."
        ),
    ),
    CauseText(
        id="reads-body-without-limit",
        severity="warning",
        title="It waits very long for the rest of a response, perhaps without a time limit.",
        matters=(
            "A connection can fall silent in the middle of a body. A client whose time limit covers "
            "only the first bytes then hangs until somebody kills it."
        ),
        because=KEY_RETRY.sentence,
        place=KEY_RETRY.place,
        instead=(
            "Let the time limit of a request end when the whole body has been read, not when the "
            "headers have arrived. With fetch, abort an AbortController with `setTimeout`, and clear "
            "the timer only after `response.text()`. Node 20 may forget an `AbortSignal.timeout` "
            "while it reads a body."
        ),
    ),
    CauseText(
        id="done-twice",
        severity="error",
        title="It makes a change twice after a failure.",
        matters=(
            "The first attempt had already made the change. Now there are two keys, tickets or "
            "operations instead of one."
        ),
        because=KEY_RETRY.sentence,
        place=KEY_RETRY.place,
        instead=(
            "Create one Idempotency-Key per intended change, and send it with every attempt. Check "
            "what already exists before you start again."
        ),
    ),
    CauseText(
        id="starts-again-when-queued",
        severity="error",
        title="It starts an operation again that only has to wait for another one.",
        matters=(
            "The service has already accepted the operation, and makes the change as soon as the other "
            "operation has ended. Now the change is made twice."
        ),
        because=(
            "A queued operation may name the active operation holding the project mutation claim in "
            "blocking_operation_id."
        ),
        place="contract, section States and transitions, Operation.state",
        instead=(
            "Poll the operation that the response describes until it has ended. Send the request again "
            "only if that operation has failed or was cancelled."
        ),
    ),
    CauseText(
        id="result-differs",
        severity="warning",
        title="It reports success, but leaves a different result after a failure.",
        matters="The requested change is missing or different, and the user is not told.",
        because=_POLLED,
        place="contract, section What the service does",
        instead="Compare the result with the requested change before you report success.",
    ),
    CauseText(
        id="counts-items-twice",
        severity="warning",
        title="It counts items twice after a failure in the middle of a list.",
        matters="The client reports success, but its numbers are wrong, and the user is not told.",
        because=(
            "Query: a continuation cursor (opaque string from the preceding page's next_cursor, "
            "characters A-Z a-z 0-9 _ -) and a maximum page size (integer 1 to 100)."
        ),
        place="contract, section Endpoints, operation 6",
        instead=(
            "Request the page that failed again, with the same cursor. If you start the list again, "
            "first discard the items that you have collected."
        ),
    ),
    CauseText(
        id="failed-page-ends-list",
        severity="warning",
        title="It treats a page that it could not read as the end of the list.",
        matters="The client reports a part of the list as the whole, and the user is not told.",
        because=_PROBLEMS,
        place="contract, section Errors",
        instead=(
            "A list ends with a page without `next_cursor`. If a page fails, report the failure, or say "
            "that the list is incomplete."
        ),
    ),
    CauseText(
        id="ends-in-the-middle",
        severity="warning",
        title="It ends silently, with exit code 0, where a failure interrupts its work.",
        matters=(
            "The rest of the work is not done, and nobody learns of it. Node.js ends like this if "
            "nothing is left to wait for, for example if a promise is never settled."
        ),
        because=_PROBLEMS,
        place="contract, section Errors",
        instead=(
            "Handle each way in which a response can end, including an end in the middle of its body. "
            "Either try again, or report the failure and exit with a code other than 0."
        ),
    ),
    CauseText(
        id="accepted-is-done",
        severity="warning",
        title="It treats an accepted operation as finished.",
        matters=(
            "The operation can still fail. The client has then reported success for something that "
            "never happened."
        ),
        because=_POLLED,
        place="contract, section What the service does",
        instead=(
            "Poll the operation until its state is succeeded, failed or cancelled, and report "
            "success only for succeeded."
        ),
    ),
    CauseText(
        id="failed-operation-is-success",
        severity="error",
        title="It reports success although the operation failed or was cancelled.",
        matters="Everything that relies on the result continues as if the change had been made.",
        because=_OPERATION_STATES,
        place="contract, section Resources, Operation",
        instead=(
            "Treat every final state except succeeded as a failure: show error.message and "
            "error.suggested_action, and exit with a code other than 0."
        ),
    ),
    CauseText(
        id="unfinished-operation-is-success",
        severity="error",
        title="It reports success although the operation has not ended.",
        matters="The operation can still fail, or never end.",
        because=_OPERATION_STATES,
        place="contract, section Resources, Operation",
        instead=(
            "Report success only when the state is succeeded. When you stop waiting, say that the "
            "result is unknown, and exit with a code other than 0."
        ),
    ),
    CauseText(
        id="expects-certain-states",
        severity="warning",
        title="It expects an operation to be seen in certain states before it ends.",
        matters=(
            "An operation can be running from the beginning, and can end before the client polls it. "
            "A client that expects to see another state before the end fails when the service is fast."
        ),
        because=_OPERATION_STATES,
        place="contract, section Resources, Operation",
        instead="Accept the end of an operation, whichever states were seen before it.",
    ),
    CauseText(
        id="expects-short-operation",
        severity="warning",
        title="It fails if an operation has to be polled more than once.",
        matters=(
            "An operation can stay queued or running for several polls. A client that expects its end "
            "at the first poll fails on an ordinary day."
        ),
        because=_OPERATION_STATES,
        place="contract, section Resources, Operation",
        instead="Poll until the state is succeeded, failed or cancelled, or until a deadline has passed.",
    ),
    CauseText(
        id="reads-nested-state",
        severity="error",
        title="It mistakes the state of a nested object for the state of the operation.",
        matters=(
            "A part of an operation can have succeeded while the operation is still running, and can "
            "still fail."
        ),
        because=("a completed reconciliation attempt alone does not mean the operation succeeded"),
        place="contract, section Resources, Operation",
        instead=(
            "Parse the JSON of the response, and read only the member `state` of the outermost object. "
            'A search for text such as `"state": "succeeded"` also matches nested objects.'
        ),
    ),
    CauseText(
        id="refusal-is-success",
        severity="error",
        title="It reports success although the service refused the request.",
        matters="The change was not made, or the data is missing, and the user is not told.",
        because=_PROBLEMS,
        place="contract, section Errors",
        instead=(
            "Check the status of every response. For a problem that is not retryable, show its code "
            "and suggested_action, and exit with a code other than 0."
        ),
    ),
    CauseText(
        id="success-whatever-happens",
        severity="error",
        title="It reports success whatever happens.",
        matters=(
            "Refused requests, failed operations and unfinished operations all look like success. "
            "Everything that relies on the exit code continues as if the work were done."
        ),
        because=_PROBLEMS,
        place="contract, section Errors",
        instead=(
            "Let errors end the client: do not catch what you cannot handle, and exit with a code "
            "other than 0 if the work is not done."
        ),
    ),
    CauseText(
        id="key-value-lost",
        severity="error",
        title="It reports success without the value of the API key that it created.",
        matters=(
            "The response with the value was lost, and the value is never sent again. Whatever the "
            "client uses in its place does not work."
        ),
        because=(
            "Only the first creation returns the full value. An exact replay (same name and "
            "Idempotency-Key) returns metadata and value null."
        ),
        place="contract, section Endpoints, operation 3",
        instead=(
            "Check that `value` is not null. If it is null, create another key under a new name and "
            "with a new Idempotency-Key, and have the lost key revoked."
        ),
    ),
    CauseText(
        id="absence-ignored",
        severity="warning",
        title="It does not notice that an optional value is absent.",
        matters=(
            "The contract allows null and empty lists. The client continues with a value that does "
            "not exist, such as a host named None."
        ),
        because=_NO_DATABASE,
        place="contract, section Resources, DatabaseCompute",
        instead="Check for null and for empty lists before you use a value.",
    ),
    CauseText(
        id="crashes-at-absent-value",
        severity="warning",
        title="It crashes if an optional value is absent.",
        matters=(
            "The contract allows null and empty lists. The client stops in the middle of its work, and "
            "does not say which value is missing."
        ),
        because=_NO_DATABASE,
        place="contract, section Resources, DatabaseCompute",
        instead="Check for null and for empty lists before you use a value.",
    ),
    CauseText(
        id="rejects-documented-value",
        severity="warning",
        title="It cannot read a value that the contract documents.",
        matters="The client fails at a correct response, as soon as the service has such a value.",
        because=(
            "suspend_timeout_seconds (integer: 0 means provider default, -1 means never suspend, "
            "otherwise the configured provider value)"
        ),
        place="contract, section Resources, DatabaseCompute",
        instead="Read numbers into a type that holds all documented values, such as a signed integer.",
    ),
    CauseText(
        id="crashes",
        severity="warning",
        title="It crashes at a response that the contract allows.",
        matters="The client stops in the middle of its work, without a useful message.",
        because=_PROBLEMS,
        place="contract, section Errors",
        instead=(
            "Handle every status and every null that the contract allows, and report the failure."
        ),
    ),
    CauseText(
        id="retries-in-vain",
        severity="warning",
        title="It retries a request that cannot succeed, or retries without a pause.",
        matters=(
            "A request whose problem is not retryable is refused each time. Retries without a pause "
            "load a service that is already in trouble, and count toward rate limits."
        ),
        because=RETRYABLE.sentence,
        place=RETRYABLE.place,
        instead=(
            "Check `retryable` before a retry, wait between attempts, wait longer each time, and "
            "stop after a few."
        ),
    ),
    CauseText(
        id="failed-operation-replayed",
        severity="warning",
        title="It retries a failed operation with the old Idempotency-Key.",
        matters="The request is a replay: it returns the failed operation, and starts no new operation.",
        because="Same key and same body: first result returned without switching again.",
        place="contract, section Endpoints, operation 1",
        instead=(
            "Create a new Idempotency-Key for each new attempt at an operation that has failed. Keep "
            "the key only as long as the result of a request is unknown."
        ),
    ),
    CauseText(
        id="retries-without-pause",
        severity="warning",
        title="It retries without a pause.",
        matters=(
            "Immediate retries meet the same failure, are used up in a moment, and load a service "
            "that is already in trouble."
        ),
        because=(
            "retry_after_seconds | integer | no | 1 to 86400; for a rate limit; matches Retry-After"
        ),
        place="contract, section Errors",
        instead="Wait before each retry, and longer each time, for example 0.2, 0.5 and 1 s.",
    ),
    CauseText(
        id="never-gives-up",
        severity="warning",
        title="It never stops sending requests when an awaited result does not arrive.",
        matters=(
            "The client never ends, and the user is not told. A job that runs the client hangs until "
            "somebody kills it."
        ),
        because=_OPERATION_STATES,
        place="contract, section Resources, Operation",
        instead=(
            "Set a deadline for the whole wait. After the deadline, report that the result is "
            "unknown, and exit with a code other than 0."
        ),
    ),
    CauseText(
        id="still-polling",
        severity="note",
        title="It was still polling an operation that never ends when the trial was over.",
        matters=(
            "If the client has no deadline, it never ends, and the user is not told. If it has a "
            "longer deadline than the trial, nothing is wrong."
        ),
        because=_OPERATION_STATES,
        place="contract, section Resources, Operation",
        instead=(
            "Set a deadline for the whole wait. After the deadline, report that the result is "
            "unknown, and exit with a code other than 0."
        ),
    ),
    CauseText(
        id="hangs",
        severity="warning",
        title="It hangs after a failure.",
        matters="A job that runs the client hangs until somebody kills it.",
        because=_PROBLEMS,
        place="contract, section Errors",
        instead="Set a time limit for each request and for the whole work, and report the failure.",
    ),
    CauseText(
        id="restarts-failed-operation",
        severity="warning",
        title="It starts an operation again although its failure is not retryable.",
        matters=(
            "The operation fails again in the same way. Each attempt does part of the work again, and "
            "the user learns of the failure late."
        ),
        because=(
            "error object: code (string; a value such as operation_failed appears), message (string), "
            "retryable (boolean), suggested_action (string)."
        ),
        place="contract, section Resources, Operation",
        instead=(
            "Start a failed operation again only if its error.retryable is true. Otherwise, report its "
            "code and message, and exit with a code other than 0."
        ),
    ),
    CauseText(
        id="hides-expired-token",
        severity="warning",
        title="It ends with exit code 0 although its token has expired.",
        matters=(
            "The service refuses every request with an expired token. A script or a build server reads "
            "only the exit code, so nobody learns that the command did nothing."
        ),
        because="Unauthenticated requests fail with code unauthenticated",
        place="contract, section Authentication",
        instead="If a response has status 401, say so, and exit with a code other than 0.",
    ),
    CauseText(
        id="picks-by-position",
        severity="note",
        title="It shows different items if a list arrives in a different order.",
        matters=(
            "A client that takes the first item for the latest, for example, may show the wrong item. If "
            "the client only shortens a long list, nothing is wrong."
        ),
        because=(
            "Query parameter names for the cursor and the page size, default page size and "
            "ordering: not shown."
        ),
        place="contract, section Endpoints, operation 6",
        instead="Sort or search by the fields that you need, such as created_at.",
    ),
    CauseText(
        id="ignores-revocation",
        severity="note",
        title="It does the same whether a DNS authorization is valid or revoked.",
        matters=(
            "A revoked authorization still names a zone and scopes, which the client may no longer use. "
            "This is only a note, because a client may not need the status."
        ),
        because="States: not_authorized, pending, authorized, expired, revoked.",
        place="contract, section DnsAuthorization.status",
        instead="Use the zone only if the status is authorized.",
    ),
    CauseText(
        id="may-hide-failure",
        severity="note",
        title="It ends with exit code 0 although a request failed.",
        matters=(
            "A script or a build server reads only the exit code. If the client needed the response, "
            "it cannot see the failure."
        ),
        because=_PROBLEMS,
        place="contract, section Errors",
        instead=(
            "If the client did not do what it was asked for, let it exit with a code other than 0."
        ),
    ),
)

#: The texts by the id of their cause, in the order in which a report lists causes of one severity.
CAUSE_TEXTS: Mapping[str, CauseText] = {text.id: text for text in _TEXTS}
