"""Operations are started, where that is permitted, and polled to their end, as often as they say."""

from __future__ import annotations

from functools import partial
from itertools import count
from typing import Any

from hosting_emulator.contract.calls import CALLS
from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract_check.checks.access import nobody, others_replay
from hosting_emulator.contract_check.checks.reading import items_of
from hosting_emulator.contract_check.http import Answer
from hosting_emulator.contract_check.run import BLAMES, NOWHERE, Accepted, Run, alike, check
from hosting_emulator.contract_check.values import TERMINAL, moment

#: What all checks judge that start or poll an operation.
_OPERATION = (
    "durable operation.id operation.state operation.times states.operation operation.progress "
    "progress-object operation.result"
)
_SOURCE, _DOMAINS = "initialize_managed_source", "apply_project_domains"
#: No project is at a generation like this.
_SURELY_WRONG = 987_654
_MOST_GENERATIONS = 20
#: How long to wait between polls where the operation does not say.
_POLL_S = 1.0
#: No patience is as long.
_LONGEST_S = 10**9

# --- Starting them -------------------------------------------------------------------------------


@check(
    allow=("source",),
    judges=f"source.call source.accepted operation.deployment_id {_OPERATION}",
)
def initialize(run: Run) -> None:
    """Initialize the source: find its generation by asking, start, and ask for the same again."""
    started = _start_source(run)
    if started is None:
        return
    generation, key, answer = started

    again = partial(_source, run, generation, key)
    run.accept(answer, again)
    others_replay(run, again, run.missing)
    retried = again("the same key and body")
    if retried.code == "idempotency_key_reused":
        run.differs("condition.reused", retried, "the request is the same")
    if retried.ok and retried["id"] not in (None, answer["id"]):
        # What a retry of this call answers is not shown: the second is polled to its end too.
        run.note(f"a retry of {_SOURCE} starts another operation")
    changed = _source(run, generation + 1, key, "the same key, another generation")
    run.refused("condition.reused", changed, "idempotency_key_reused")


def _source(run: Run, generation: int, key: str, about: str, token: str | None = None) -> Answer:
    body = {"expected_source_generation": generation}
    return run.call(_SOURCE, key=key, body=body, about=about, token=token)


def _start_source(run: Run) -> tuple[int, str, Answer] | None:
    key = run.new_key()
    answer = _source(run, _SURELY_WRONG, key, "a wrong generation")
    if answer.ok:
        run.see("source_generation", "ignored")
        return _SURELY_WRONG, key, answer
    if answer.code in ("forbidden", "resource_not_found") or not answer.refused:
        run.succeeded("source.call", answer)
        return None
    refusal = answer.code
    for generation in range(_MOST_GENERATIONS):
        answer = _source(run, generation, key, f"generation {generation}")
        if generation == 0:
            kept = answer.code == "idempotency_key_reused"
            run.see("idempotency_remembers", "all_answers" if kept else "successes")
            if kept:
                key = run.new_key()
                answer = _source(run, generation, key, f"generation {generation}")
        if answer.ok:
            run.see("source_generation", "checked")
            return generation, key, answer
        if answer.code != refusal:
            break
        key = run.new_key()
    why = f"no expected_source_generation up to {_MOST_GENERATIONS} is accepted"
    run.skips("source.call source.accepted operation.deployment_id", f"{answer}: {why}")
    return None


@check(
    allow=("domains",),
    judges=f"domains.call domains.accepted domains.idempotent domains.reused {_OPERATION}",
)
def apply_domains(run: Run) -> None:
    """Apply domains, and ask for the same again; then with a key that another call has used."""
    key = run.new_key()

    def again(about: str, token: str | None = None) -> Answer:
        return run.call(_DOMAINS, key=key, about=about, token=token)

    answer = again("")
    if not run.succeeded("domains.call", answer):
        return
    run.accept(answer, again)
    others_replay(run, again, run.missing)
    retried = again("the same key")
    if run.succeeded("domains.idempotent", retried):
        same = alike(answer["id"], retried["id"])
        run.judge("domains.idempotent", same, retried, "it is another operation")
    # A call without a body can only be changed by its path: the key of another call is that.
    if run.used_key is None:
        run.skips("domains.reused", "a key to reuse needs --allow flag or --allow keys")
        return
    used, call_id = run.used_key
    answer = run.call(_DOMAINS, key=used, about=f"the key of {call_id}")
    if answer.ok:
        run.see("idempotency_scope", "principal_and_call")
        why = "here a key belongs to one call, and this call has no body that could change"
        run.skips("domains.reused", why)
    elif answer.code in PROBLEMS and answer.code not in BLAMES:
        run.skips("domains.reused", answer)
    elif run.refused("domains.reused", answer, "idempotency_key_reused"):
        run.see("idempotency_scope", "principal")


@check(allow=("source", "domains"))
def starting_roles(run: Run) -> None:
    """Start operations as those whose tokens were given."""

    def source(token: str, about: str) -> Answer:
        return _source(run, _SURELY_WRONG, run.new_key(), about, token)

    if "source" in run.options.allow:
        run.least_role(_SOURCE, source)
    if "domains" in run.options.allow:
        run.least_role(_DOMAINS)


# --- Polling them --------------------------------------------------------------------------------

#: Where services let operations be polled; an answer's Location comes first.
_PATHS = ("/v1/operations/{operation_id}", "/v1/projects/{project_id}/operations/{operation_id}")


@check(allow=("source", "domains"))
def follow(run: Run) -> None:
    """Poll operations: each once, at once, and then one after the other to its end."""
    if not run.accepted:
        return
    run.operation_path = path = _find_path(run, run.accepted[0])
    if path is None:
        why = "where to poll operations is unknown: set it with --assume operation_path=/v1/…"
        run.skips(_OPERATION, why)
        return
    for found in run.accepted:
        run.states[found.id] = found.answer.text("state") or ""
        _blocking(run, path, found, found.answer)
    at_first = [(found, _poll(run, path, found, 1)) for found in run.accepted]
    for found, answer in at_first:
        if answer.text("state") in TERMINAL and found.waited_s == run.waited_s:
            role = CALLS[found.answer.call_id].role
            run.see(role.replace("_role", "_profile"), "immediate")
    for found, answer in at_first:
        _to_its_end(run, path, found, answer)


def _find_path(run: Run, accepted: Accepted) -> str | None:
    paths, known = [*_PATHS], run.options.assumed.get("operation_path")
    location = accepted.answer.header("Location") or ""
    told = location[location.find("/v1/") :]
    if told.startswith("/v1/") and accepted.id in told and told.isascii() and told.isprintable():
        told = told.replace(accepted.id, "{operation_id}").replace(" ", "")
        paths.insert(0, told.replace(run.options.project_id, "{project_id}"))
    for path in [known] if known else paths:
        answer = run.poll(path, accepted.id, "to find where", judged=False)
        if known or (answer.ok and "state" in answer.fields):
            if "{project_id}" in path:
                run.note(f"operations are polled at {path}")
            else:
                run.see("operation_path", path)
            return path
    return None


def _poll(run: Run, path: str, accepted: Accepted, number: int) -> Answer:
    answer = run.poll(path, accepted.id, f"{accepted.answer.call_id}, poll {number}")
    if run.succeeded("durable", answer):
        same = alike(answer["id"], accepted.id)
        run.judge("durable operation.id", same, answer, "it is another operation")
        made = [each["deployment_id"] for each in (accepted.answer, answer)]
        if made != [None, None]:
            wrong = "it does not name its deployment in every state"
            run.judge("operation.deployment_id", made[0] == made[1], answer, wrong)
        told = alike(*(moment(each["created_at"]) for each in (accepted.answer, answer)))
        run.judge("operation.times", told, answer, "created_at is another")
        _blocking(run, path, accepted, answer)
        _forward(run, accepted, answer)
    return answer


def _blocking(run: Run, path: str, accepted: Accepted, answer: Answer) -> None:
    blocking = answer.text("blocking_operation_id")
    if blocking is None:
        return
    run.judge("states.blocking", blocking != accepted.id, answer, "it waits on itself")
    if blocking not in (*(found.id for found in run.accepted), *run.states):
        run.states[blocking] = ""
        known = run.poll(path, blocking, "which another waits on", judged=False)
        if known.code == "resource_not_found":
            run.differs("operation.blocking_operation_id", answer, "nothing is there that it names")


def _forward(run: Run, accepted: Accepted, answer: Answer) -> None:
    """Say where a state goes back, and judge that an end is kept."""
    state, before = answer.text("state"), run.states.get(accepted.id)
    run.states[accepted.id] = state or before or ""
    if before in TERMINAL and state is not None:
        run.judge("durable", state == before, answer, f"it had ended as {before}")
    elif before == "running" and state == "queued":
        run.note(f"{answer}: it was running and is queued again; the contract shows no transitions")


def _to_its_end(run: Run, path: str, accepted: Accepted, answer: Answer) -> None:
    for number in count(2):
        if not answer.ok:
            return
        if answer.text("state") in TERMINAL:
            _ended(run, path, accepted, answer)
            return
        if not run.wait(_next_poll_s(answer)):
            why = "an operation had not ended within --patience"
            run.skips("operation.result operation.error error-object", why)
            run.note(why)
            return
        answer = _poll(run, path, accepted, number)


def _next_poll_s(operation: Answer) -> float:
    progress: Any = operation["progress"]
    told = progress.get("next_poll_after_seconds") if isinstance(progress, dict) else None
    return float(min(told, _LONGEST_S)) if type(told) is int and told >= 0 else _POLL_S


def _ended(run: Run, path: str, accepted: Accepted, ended: Answer) -> None:
    """What has ended stays as it ended; and what its replay answers is observed."""
    state, first = ended["state"], accepted.answer
    after = run.poll(path, accepted.id, f"{first.call_id}, after its end")
    if run.succeeded("durable", after):
        keys = "durable operation.reconciliation" if "reconciliation" in after.fields else "durable"
        run.judge(keys, after["state"] == state, after, f"it had ended as {state}")
        for name in ("result", "error"):
            if alike(ended[name], after[name]) is False:
                run.differs("durable", after, f"it had ended with another {name}")
        _deployed(run, accepted)
    if first.text("state") not in TERMINAL:
        replay = accepted.again("the same key, after its end")
        if replay.ok and replay["id"] == accepted.id:
            current = replay["state"] == state
            run.see("operation_replay", "current" if current else "first_response")


def _deployed(run: Run, accepted: Accepted) -> None:
    """Find the deployment that an operation created: it says by which."""
    made, limit = accepted.answer["deployment_id"], run.name_of("limit_parameter")
    if made is None:
        return
    query = f"?{limit}=100" if limit else ""
    page = run.call("list_deployments", query, about="for what was deployed")
    listed = {str(item.get("id")).upper(): item for item in items_of(page)}
    if (found := listed.get(str(made).upper())) is not None:
        same = alike(found.get("operation_id"), accepted.id)
        run.judge("deployment.operation_id", same, page, "it names another operation")
    elif listed and not page["next_cursor"] and "NONE" not in listed:
        run.differs("operation.deployment_id", page, "it does not list the deployment")


@check(allow=("source", "domains"))
def polling_roles(run: Run) -> None:
    """Poll an operation as nobody and as those whose tokens were given, and one that is not there."""
    path, outsider = run.operation_path, run.options.outsider_token
    if path is None:
        return
    poll = partial(run.poll, path, run.accepted[0].id)
    nobody(run, poll)
    if outsider is not None:
        run.missing(poll("as an outsider", token=outsider))
    run.missing(run.poll(path, NOWHERE, "no such operation"))
    run.least_role("get_operation", lambda token, about: poll(about, token=token))


@check(allow=("source", "domains"))
def leave_nothing(run: Run) -> None:
    """Poll whatever else was started, so that the project is free for others, and the next check."""
    path, made = run.operation_path, [*run.made.get(_SOURCE, ()), *run.made.get(_DOMAINS, ())]
    if path is None:
        return
    for operation_id in (one for one in made if run.states.get(one) not in TERMINAL):
        for number in count(1):
            answer = run.poll(path, operation_id, f"the rest, poll {number}")
            ended = not answer.ok or answer.text("state") in TERMINAL
            if ended or not run.wait(_next_poll_s(answer)):
                break
