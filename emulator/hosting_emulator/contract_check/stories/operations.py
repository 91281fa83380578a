"""Operations are started. Needs --allow source or --allow domains; `following` polls them."""

from __future__ import annotations

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.contract_check.asking import BLAMES
from hosting_emulator.contract_check.scene import OPERATION, Accepted, Scene, story
from hosting_emulator.contract_check.wire import Answer

#: No project is at a generation like this.
_SURELY_WRONG = 987_654
_MOST_GENERATIONS = 20


@story(
    "the managed source is initialized",
    allow=("source",),
    judges=f"source.call source.accepted operation.deployment_id {OPERATION}",
)
def initialize(scene: Scene) -> None:
    """Find the present generation by asking, start, and ask for the same again."""
    started = _start_source(scene)
    if started is None:
        return
    generation, key, answer = started
    scene.ask.created.append("the initialization of the project's managed source was started")

    def again(about: str) -> Answer:
        return _source(scene, generation, key, about)

    scene.accepted.append(Accepted("initialize_managed_source", answer, again))
    _same_or_another(scene, answer, again("the same key and body"))
    changed = _source(scene, generation + 1, key, "the same key, another generation")
    scene.refused("condition.reused", changed, "idempotency_key_reused")


def _source(
    scene: Scene, generation: int, key: str, about: str = "", token: str | None = None
) -> Answer:
    body = {"expected_source_generation": generation}
    return scene.ask.call("initialize_managed_source", key=key, body=body, about=about, token=token)


def _start_source(scene: Scene) -> tuple[int, str, Answer] | None:
    key = scene.ask.new_key()
    answer = _source(scene, _SURELY_WRONG, key, "a generation that is surely wrong")
    if answer.ok:
        scene.observed.see("source_generation", "ignored")
        return _SURELY_WRONG, key, answer
    if answer.code in ("forbidden", "resource_not_found") or not answer.refused:
        scene.succeeded("source.call", answer)
        return None
    refusal = answer.code
    for generation in range(_MOST_GENERATIONS):
        answer = _source(scene, generation, key, f"generation {generation}")
        if generation == 0:
            kept = answer.code == "idempotency_key_reused"
            scene.observed.see("idempotency_remembers", "all_answers" if kept else "successes")
            if kept:
                key = scene.ask.new_key()
                answer = _source(scene, generation, key, f"generation {generation}")
        if answer.ok:
            scene.observed.see("source_generation", "checked")
            return generation, key, answer
        if answer.code != refusal:
            break
        key = scene.ask.new_key()
    why = f"{answer.said}: no expected_source_generation up to {_MOST_GENERATIONS} is accepted"
    scene.ledger.skips("source.call source.accepted operation.deployment_id", why)
    return None


@story(
    "the project's domains are applied",
    allow=("domains",),
    judges=f"domains.call domains.accepted domains.idempotent domains.reused {OPERATION}",
)
def apply_domains(scene: Scene) -> None:
    """Start, and ask for the same again; then with a key that another call has used."""
    key = scene.ask.new_key()

    def again(about: str) -> Answer:
        return scene.ask.call("apply_project_domains", key=key, about=about)

    answer = again("")
    if not scene.succeeded("domains.call", answer):
        return
    scene.ask.created.append("applying the project's domains was started")
    scene.accepted.append(Accepted("apply_project_domains", answer, again))
    _same_operation(scene, answer, again("the same key"), "domains.idempotent")
    _another_calls_key(scene)


def _another_calls_key(scene: Scene) -> None:
    """A call without a body can only be changed by its path: the key of another call is that."""
    if scene.used_key is None:
        scene.ledger.skips("domains.reused", "--allow flag or --allow keys gives a key to reuse")
        return
    key, call_id = scene.used_key
    answer = scene.ask.call("apply_project_domains", key=key, about=f"the key of {call_id}")
    if answer.ok:
        _note_started(scene, answer)
        scene.observed.see("idempotency_scope", "principal_and_call")
        why = "a key is of one call here, and this call has no body that could change"
        scene.ledger.skips("domains.reused", why)
    elif answer.code in PROBLEMS and answer.code not in BLAMES:
        scene.ledger.skips("domains.reused", answer.said)
    elif scene.refused("domains.reused", answer, "idempotency_key_reused"):
        scene.observed.see("idempotency_scope", "principal")


def _same_operation(scene: Scene, first: Answer, again: Answer, keys: str) -> None:
    if scene.succeeded(keys, again):
        ids = [answer.fields.get("id") for answer in (first, again)]
        if None not in ids:
            scene.ledger.judge(keys, ids[0] == ids[1], again.said, "it is another operation")


def _same_or_another(scene: Scene, first: Answer, again: Answer) -> None:
    """What a retry of this call answers is not shown: a second operation is polled to its end too."""
    if again.ok and again.fields.get("id") not in (None, first.fields.get("id")):
        scene.observed.note("a retry of initialize_managed_source starts another operation")
        _note_started(scene, again)


def _note_started(scene: Scene, answer: Answer) -> Answer:
    found = answer.fields.get("id")
    if answer.ok and isinstance(found, str):
        scene.started.append(found)
    return answer


@story("who may start operations", allow=("source", "domains"))
def roles(scene: Scene) -> None:
    """Try each as those whose tokens were given."""

    def source(token: str, about: str) -> Answer:
        return _note_started(
            scene, _source(scene, _SURELY_WRONG, scene.ask.new_key(), about, token)
        )

    def domains(token: str, about: str) -> Answer:
        key = scene.ask.new_key()
        answer = scene.ask.call("apply_project_domains", key=key, token=token, about=about)
        return _note_started(scene, answer)

    if "source" in scene.options.allow:
        scene.least_role("source_role", source)
    if "domains" in scene.options.allow:
        scene.least_role("domains_role", domains)
