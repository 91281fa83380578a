"""The rules of conduct: what a client of the service must not or should not do.

The rules' texts are written for users. The judges in the `judges` package detect the requests that
break a rule.
"""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator.contract.resources import with_states
from hosting_emulator.messages import ConductRuleRow, Severity


@dataclass(frozen=True, kw_only=True, slots=True)
class ConductRule:
    """One rule.

    `message` is the template for a finding's message. Its placeholders are the finding's first and
    last requests, the time between them, and words that the judge supplies. If the template is
    empty, the judge writes the whole message. `because` quotes the sentence that the client
    violates, and `place` is the source of that sentence. `matters` describes the harm, and
    `instead` the remedy. `exceptions` says when such requests cause no finding, or a finding with a
    different severity.
    """

    id: str
    severity: Severity
    title: str
    message: str = ""
    because: str
    place: str
    matters: str
    instead: str
    exceptions: str = ""

    def row(self) -> ConductRuleRow:
        """Return the rule as a row for lists of rules."""
        return ConductRuleRow(
            id=self.id,
            severity=self.severity,
            title=self.title,
            because=self.because,
            place=self.place,
            matters=self.matters,
            instead=self.instead,
            exceptions=self.exceptions,
        )


#: How requests are judged, regardless of the rule. The reference documentation prints these
#: sentences.
PRINCIPLES = (
    "A client is judged by what it could know when it sent a request. If a fault caused a response "
    "to be lost, the client learned nothing from the response. If the whole response was sent while "
    "the connection was open, the client counts as having received it, even if it was late. A client "
    "that closes its connection before the whole response was sent has given up, and does not know "
    "the result.",
    "A client counts as having waited if either world time or real time has passed. Therefore "
    "both a test that moves a frozen clock and a client that sleeps count as having waited.",
    "Requests with different Authorization headers count as coming from different clients, even if "
    "they are for the same user. Each client polls, waits and is rate limited independently.",
    "Requests on one connection count as coming from one client, unless the connection belongs to a "
    "pool. A pool is detected if two requests are in progress at once, or if a "
    "connection is used again after a different connection was used. The next request may then "
    "come from a different worker. A finding that is valid only for a single client is then "
    "reported as a note, but a finding that the number of requests proves remains a warning.",
    "A client that opens a connection for each request is recognized if it repeats a request "
    "with the same Idempotency-Key, at least a second later, or more than once. Repeats within "
    "50 milliseconds prove this only if there are five of them. A request that arrives on a "
    "different connection within 50 milliseconds of real time after a response is assumed to "
    "have been sent before the response arrived, unless a frozen clock was moved in between, or "
    "the first connection was closed before the second was opened.",
    "Workers that share a token, and whose requests never overlap, cannot be distinguished from one "
    "client. If one worker is reported because of a different worker's poll, give each worker its "
    "own token or its own world. The same applies to tests that share a world.",
    "By default, a note does not make a check fail, because the conduct may be intended, or caused by "
    "a different program.",
    "Requests from the emulator's own pages and tools are not checked. Visits to a page of a dev "
    "origin are checked if they have an Authorization header.",
    "Checking starts again after a reset, after a scenario is loaded and after a state is imported. "
    "After a snapshot is restored or the world is rewound, the findings remain, but earlier requests "
    "no longer count against later requests.",
    "After the first check, no request is missed, even if the log drops it. Requests that left the "
    "log before the first check are reported as not checked. `exec --conduct` starts checking before "
    "it runs the command.",
    "A report lists at most 100 findings for each rule, and only counts further findings. Findings "
    "contain no secrets.",
)

_RULES = (
    ConductRule(
        id="missing-idempotency-key",
        severity="error",
        title="A mutation without an Idempotency-Key",
        message="{last.name} was sent without an Idempotency-Key.",
        because=(
            "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
            "header is listed for operations 5 to 8)."
        ),
        place="contract, section Endpoints",
        matters=(
            "The request is refused. Without a key, a lost response cannot be requested again."
        ),
        instead="Create one key per intended change, and send it with every attempt.",
    ),
    ConductRule(
        id="new-key-after-uncertainty",
        severity="error",
        title=(
            "Retried with a new Idempotency-Key while the result of the first attempt was unknown"
        ),
        message=(
            "{first.name} got {result} with the key {first.key!r} (#{first.n}), and was sent "
            "again with the key {last.key!r} (#{last.n})."
        ),
        because=(
            "After any uncertainty the same name and Idempotency-Key are reused rather than "
            "creating another token."
        ),
        place="contract, section Endpoints, operation 3",
        matters=(
            "The first attempt may have succeeded. The second attempt then repeats the change and "
            "leaves two keys or two operations instead of one."
        ),
        instead=(
            "Keep the key of the first attempt and send it with each retry until a response gives "
            "the result."
        ),
        exceptions=(
            "The finding is withdrawn if the first key is sent again, because two workers may each "
            "want to make the change. A request that was sent while the first client was still "
            "waiting counts as a request from a different worker. If the second request comes on a "
            "different connection at least a minute later, or with a different API key, the finding "
            "is a note. A request that comes ten minutes later or more is a new attempt."
        ),
    ),
    ConductRule(
        id="key-reused-for-another-request",
        severity="error",
        title="An Idempotency-Key reused for a different request",
        message=(
            "The key {last.key!r} of {first.name} (#{first.n}) was reused {change} "
            "({last.name}, #{last.n}){unsaid}."
        ),
        because="Same key with a changed request: 409 code idempotency_key_reused.",
        place="contract, section Endpoints, operation 1",
        matters=(
            "The second request is refused, or treated as a replay of the first and never applied."
        ),
        instead="Create a new key for each intended change, for example a random UUID.",
    ),
    ConductRule(
        id="key-outlives-intent",
        severity="warning",
        title="An Idempotency-Key sent again after a later change",
        message=(
            "{last.name} was sent with the key {last.key!r} (#{first.n}), and the flag was then "
            "changed with another key (#{between.n}). The first key was sent again (#{last.n}), but "
            "that request changed nothing."
        ),
        because="Same key and same body: first result returned without switching again.",
        place="contract, section Endpoints, operation 1",
        matters=(
            "The flag has changed since the key was first used. The replayed response says that the "
            "change was made, but the request changed nothing."
        ),
        instead=(
            "Create a new key for each intended change, even one that repeats an earlier change. "
            "Use a key again only to retry the same change."
        ),
    ),
    ConductRule(
        id="sent-twice-at-once",
        severity="note",
        title="The same request sent twice at about the same time, with different keys",
        message=(
            "{last.name} was sent with the key {first.key!r} (#{first.n}) and with the key "
            "{last.key!r} (#{last.n}), and was applied twice."
        ),
        because=(
            "Idempotency-Key (string 1-128 characters; required on operations 1, 2, 3, 4; no such "
            "header is listed for operations 5 to 8)."
        ),
        place="contract, section Endpoints",
        matters=(
            "Each key requests a separate change. Both changes were made, which left two API keys or "
            "two operations."
        ),
        instead=(
            "Create the key where the intent arises, for example in a click handler, and not where "
            "the request is sent."
        ),
        exceptions=(
            "The finding is only a note, because two programs may each want to make the change. The "
            "rule applies only to requests on two connections within one second."
        ),
    ),
    ConductRule(
        id="api-key-value-lost",
        severity="note",
        title="An API key was created, but the client never received its value",
        message=(
            "The client did not get the value of the API key that it created with the "
            "Idempotency-Key {last.key!r}."
        ),
        because=(
            "value | string or null | the full token; returned only by the first creation; null "
            "on an exact replay"
        ),
        place="contract, section Resources, UserApiKeyCreation",
        matters=(
            "The API key is valid for 90 days, but nobody knows its value. Whatever the client stored "
            "in place of the value does not work."
        ),
        instead=(
            "Check that `value` is not null before you store it. If `value` is null, create another "
            "key under a new name, and have the lost key revoked."
        ),
    ),
    ConductRule(
        id="null-as-token",
        severity="error",
        title='A word for "no value" sent as a token',
        message="{last.name} was sent with the token {token!r}.",
        because=(
            "value | string or null | the full token; returned only by the first creation; null "
            "on an exact replay"
        ),
        place="contract, section Resources, UserApiKeyCreation",
        matters=(
            "A null value was stored as if it were a token. The service always refuses a null token."
        ),
        instead=(
            "Check that `value` is not null before you store it. If `value` is null, create another "
            "key under a new name, and have the lost key revoked."
        ),
    ),
    ConductRule(
        id="retried-not-retryable",
        severity="warning",
        title="Retried a non-retryable request unchanged",
        message=(
            "{last.name} was refused with {last.status} {last.entry.code} and `retryable` false "
            "(#{first.n}). The request was sent again unchanged (#{last.n}), and was refused again."
        ),
        because=(
            "All failures return application/problem+json (RFC 9457 Problem Details extended with "
            "recovery fields)"
        ),
        place="contract, section Errors",
        matters=(
            "`retryable` is one of these recovery fields. If it is false, a retry is refused "
            "again, costs time, and may count toward a rate limit."
        ),
        instead=(
            "Check `retryable` before a retry. If `retryable` is false, change the request as "
            "`suggested_action` says, or give up and report the failure."
        ),
        exceptions=(
            "A mutation that is repeated after ten minutes is a new attempt, and so is a read that is "
            "repeated after one minute. If a refused mutation is repeated with a new key on a new "
            "connection, the first repeat is a note, and the second repeat is a warning. If a "
            "connection was opened within 50 milliseconds of a response on a different open "
            "connection, and is used again, the two connections may belong to a pool, and the request "
            "may come from a different worker."
        ),
    ),
    ConductRule(
        id="retried-too-soon",
        severity="warning",
        title="Retried too soon",
        message=(
            "{first.name} got {first.status} with Retry-After: {seconds} (#{first.n}), and was sent again "
            "after {waited} (#{last.n})."
        ),
        because=(
            "retryable | boolean | yes; retry_after_seconds | integer | no | 1 to 86400; for a "
            "rate limit; matches Retry-After"
        ),
        place="contract, section Errors",
        matters=(
            "Early retries add load to a service that is already overloaded. A client that retries "
            "too soon may be blocked for longer."
        ),
        instead=(
            "Wait for the number of seconds in Retry-After (or `retry_after_seconds`) before the "
            "next attempt. If the response contains neither, wait longer after each attempt, and give "
            "up after a few attempts."
        ),
        exceptions=(
            "A different request is not a retry. However, a client that continues to send other "
            "requests is reported if ten of them are refused before the wait is over. If "
            "workers each send the same mutation with their own key and connection, up to eight "
            "such requests are notes. On one connection, an early request with another key is a note "
            "until the third refusal, because a different key stands for a different change. If the "
            "responses contain no Retry-After, ten failed attempts within two seconds are too many. If "
            "there are several workers, five failed attempts per worker are too many."
        ),
    ),
    ConductRule(
        id="polled-too-early",
        severity="warning",
        title="Polled before next_poll_after_seconds had passed",
        message=(
            "Operation {last.entry.operation} should have been polled after {seconds} s "
            "(#{first.n}), but was polled after {waited} (#{last.n})."
        ),
        because=("progress object: [...] next_poll_after_seconds (integer; a value of 60 appears)"),
        place="contract, section Resources, Operation",
        matters=(
            "The operation is not expected to change before next_poll_after_seconds have passed. A "
            "client that polls too early may be rate limited, and then sees the result later than "
            "necessary."
        ),
        instead=(
            "Before the next poll, wait for the number of seconds in the last response's "
            "next_poll_after_seconds."
        ),
        exceptions=(
            "In a world with a skip clock, early polling is not checked, because each poll moves the "
            "clock. The first two early polls of an operation on new connections are notes, because "
            "they may be the first polls of programs that have just started."
        ),
    ),
    ConductRule(
        id="polled-after-end",
        severity="warning",
        title="Polled an operation that has ended",
        message=(
            "Operation {last.entry.operation} had ended (#{first.n}), but was polled again "
            "(#{last.n})."
        ),
        because=with_states("States: {states}."),
        place="contract, section States and transitions, Operation.state",
        matters=(
            "An ended operation does not change. A polling loop that does not notice the end may "
            "never stop."
        ),
        instead=with_states("Stop polling when the state is {ends}."),
        exceptions=(
            "A single further poll is a note. Polls that are at least "
            "half a minute apart, or that come between other requests, are also notes, because "
            "dashboards poll in this way."
        ),
    ),
    ConductRule(
        id="operation-not-followed",
        severity="note",
        title="An operation was started but not polled until it ended",
        message="Operation {id} was last seen in state {state}, and was not polled again.",
        because=(
            "Project mutations that take time are accepted as durable asynchronous operations "
            "that the caller polls."
        ),
        place="contract, section What the service does",
        matters=(
            "An accepted operation can still fail, and this client would not notice the failure."
        ),
        instead=with_states("Poll the operation until its state is {ends}."),
        exceptions=(
            "The finding is only a note, because a different program may poll the operation. The "
            "finding is reported only once the client has finished: `conduct --final --severity note`, or "
            '`assert_clean(at_least="note")` in pytest.'
        ),
    ),
    ConductRule(
        id="first-page-for-all",
        severity="note",
        title="Only the first page of a list was read, although there are more pages",
        message="Only one page of {last.name} was requested, although there are more pages.",
        because="next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -)",
        place="contract, section Resources, Page of deployments",
        matters=(
            "The service decides how many items a page has. The item that the client needs may be on "
            "the next page, and a count of the items may be too low."
        ),
        instead=("Request further pages until a page has no next_cursor, or set the page size."),
        exceptions=("A client that sets the page size is not reported."),
    ),
    ConductRule(
        id="list-not-finished",
        severity="note",
        title="A list was not read to its end",
        message="After {last.name}, the next page of the list was not requested.",
        because="next_cursor (string, opaque continuation cursor, characters A-Z a-z 0-9 _ -)",
        place="contract, section Resources, Page of deployments",
        matters=(
            "A page may have fewer items than its limit, so only a page without next_cursor is the last "
            "page. The items that the client needs may be on a later page."
        ),
        instead=(
            "Request further pages until a page has no next_cursor, however many items the pages have."
        ),
    ),
    ConductRule(
        id="stopped-at-the-unknown",
        severity="warning",
        title="Stopped at an unknown value or field",
        because=(
            "Allowed values of progress.phase, reconciliation.state and error.code beyond those "
            "given above: not shown."
        ),
        place="contract, section Resources, Gaps in this resource",
        matters=(
            "The service may add values at any time. A client that stops at unknown values "
            "would then fail."
        ),
        instead=(
            "Ignore unknown fields, treat unknown values as having no special meaning, and "
            "continue."
        ),
        exceptions=(
            "The finding is a warning only if the same client continued after similar responses "
            "without unknown values, because it polled a different operation or read a list of "
            "several pages to the end. Otherwise the finding is a note. A client that has once "
            "continued after an unknown field is not reported for other unknown fields, and a client "
            "that has continued after an unknown phase is not reported for other unknown phases."
        ),
    ),
    ConductRule(
        id="ticket-redeemed-twice",
        severity="warning",
        title="Tried to redeem a ticket that had been used",
        message="The client tried to redeem ticket {id}, which had already been used.",
        because="A ticket is single use and valid ten minutes.",
        place="contract, section States and transitions, Dev access ticket lifecycle",
        matters=("The second attempt is refused, and the user who follows the link sees an error."),
        instead=(
            "Redeem a ticket once, keep the session it opens, and create a new ticket for a new "
            "session."
        ),
    ),
    ConductRule(
        id="ticket-redeemed-late",
        severity="warning",
        title="Tried to redeem an expired ticket",
        message="The client tried to redeem ticket {id}, which was valid only until {until}.",
        because=(
            "Owner-only issuance of a ten-minute single-use ticket for the immutable dev project "
            "origin."
        ),
        place="contract, section Endpoints, operation 7",
        matters="The request is refused, so tickets that are stored for later do not work.",
        instead="Create a ticket only when it is needed, and check expires_at before using the ticket.",
    ),
    ConductRule(
        id="replaced-ticket-redeemed",
        severity="warning",
        title="Tried to redeem a ticket that a newer ticket had replaced",
        message=(
            "The client tried to redeem ticket {id}, which the newer ticket {newest} had revoked."
        ),
        because=(
            "Issuing a new ticket revokes unused tickets previously issued to the same principal."
        ),
        place="contract, section States and transitions, Dev access ticket lifecycle",
        matters=(
            "The request is refused. Two windows that each create a ticket revoke each other's "
            "tickets."
        ),
        instead="Redeem a ticket before creating the next ticket, or use only the newest ticket.",
    ),
    ConductRule(
        id="ticket-wasted",
        severity="note",
        title="A ticket was replaced before it was used",
        message="This ticket revoked ticket {id}, which nobody had redeemed.",
        because=(
            "Issuing a new ticket revokes unused tickets previously issued to the same principal."
        ),
        place="contract, section States and transitions, Dev access ticket lifecycle",
        matters=(
            "Only the newest ticket of a user works. If the earlier link was given to somebody, it "
            "no longer opens the dev origin."
        ),
        instead=(
            "Create a ticket when it is needed, and redeem it before creating the next one for the "
            "same user."
        ),
    ),
    ConductRule(
        id="key-where-session-needed",
        severity="warning",
        title="An API key where an interactive session is needed",
        message="{last.name} was sent with {credentials}.",
        because="Operation 3 requires a current interactive user session.",
        place="contract, section Authentication, item 4",
        matters=(
            "The service always refuses an API key here, so a program cannot use an API key to create "
            "API keys."
        ),
        instead=(
            "Let the user sign in, and send the request with the access token of the session."
        ),
    ),
    ConductRule(
        id="secret-in-url",
        severity="error",
        title="A token, key or ticket in a URL",
        message="{last.name} had {secret} in its URL.",
        because=(
            "Bearer tokens SHOULD NOT be passed in page URLs (for example, as query string "
            "parameters)."
        ),
        place="RFC 6750, section 5.3",
        matters=(
            "URLs end up in logs, histories and Referer headers. Anyone who reads such a URL can act "
            "as the secret's owner."
        ),
        instead=(
            "Send tokens and keys in the Authorization header. Open a ticket's redeem_url unchanged, "
            "and only once."
        ),
    ),
    ConductRule(
        id="secret-in-referer",
        severity="error",
        title="A token, key or ticket in a Referer header",
        message="{last.name} had {secret} in its Referer header.",
        because=(
            "URIs are intended to be shared, not secured, even when they identify secure resources."
        ),
        place="RFC 9110, section 17.9",
        matters=(
            "The page's own URL contains the secret, and every site that the page links to receives "
            "it."
        ),
        instead=(
            "Keep secrets out of page URLs, and serve pages with Referrer-Policy: no-referrer."
        ),
    ),
    ConductRule(
        id="secret-in-header",
        severity="error",
        title="A token, key or ticket in a header other than Authorization",
        message="{last.name} had {secret} in its {header} header.",
        because=(
            "Every operation takes HTTP bearer authentication: Authorization: Bearer <token>."
        ),
        place="contract, section Authentication, item 1",
        matters=(
            "Many proxies keep the Authorization header out of their logs, but log and forward "
            "other headers."
        ),
        instead="Send tokens and keys only in the Authorization header.",
    ),
    ConductRule(
        id="token-sent-elsewhere",
        severity="error",
        title="A token was sent somewhere other than to the API",
        message="{last.name} was sent to {host} ({route}) with {secret}.",
        because=(
            "Client implementations MUST ensure that bearer tokens are not leaked to unintended "
            "parties, as they will be able to use them to gain access to protected resources."
        ),
        place="RFC 6750, section 5.3",
        matters=(
            "The receiver, such as the project's own code at a dev origin, can act as the token's "
            "owner."
        ),
        instead=(
            "Send the Authorization header only to the API. Open a dev origin with a ticket. "
            "Omit the header when you follow a redirect to another origin."
        ),
    ),
    ConductRule(
        id="made-up-cursor",
        severity="warning",
        title="A cursor that the list did not return",
        message="The cursor {cursor!r} was sent for project {last.entry.project}, but {origin}.",
        because=(
            "a continuation cursor (opaque string from the preceding page's next_cursor, "
            "characters A-Z a-z 0-9 _ -)"
        ),
        place="contract, section Endpoints, operation 6",
        matters=(
            "Only the service can interpret a cursor. A cursor that was invented, changed or "
            "taken from another list is refused, or returns the wrong page."
        ),
        instead=(
            "Request the first page without a cursor. For each further page, send the next_cursor of "
            "the previous page, unchanged, for the same project."
        ),
    ),
    ConductRule(
        id="key-not-listed",
        severity="note",
        title="An Idempotency-Key on a call that does not list this header",
        message="{last.name} was sent with an Idempotency-Key.",
        because="no such header is listed for operations 5 to 8",
        place="contract, section Endpoints",
        matters=(
            "The key has no effect. A repeated request is applied again, so two requests create two "
            "tickets."
        ),
        instead="Send an Idempotency-Key only with operations 1 to 4.",
    ),
    ConductRule(
        id="unread-field",
        severity="warning",
        title="Sent a field or parameter that is not read",
        message="{last.name} was sent with {part}, which the call does not read{hint}.",
        because=("Query: a continuation cursor [...] and a maximum page size (integer 1 to 100)."),
        place="contract, section Endpoints: the body and the query of each call",
        matters=(
            "An unread field or parameter has no effect, and responses do not say so. Another version "
            "of the service may refuse the request."
        ),
        instead="Send only the fields and parameters that the call lists, spelled as listed.",
    ),
)
#: All rules by id, in the order in which the documentation lists them.
RULES = {rule.id: rule.row() for rule in _RULES}
#: The message templates by rule id. If a template is empty, the judge writes the whole message.
MESSAGES = {rule.id: rule.message for rule in _RULES}
