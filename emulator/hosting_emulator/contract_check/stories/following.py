"""Operations that were started are polled to their end, as often as they say."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

from hosting_emulator.contract_check.scene import OPERATION, Accepted, Scene, story
from hosting_emulator.contract_check.wire import Answer

#: Where services let operations be polled; an answer's Location comes first.
PATHS = ("/v1/operations/{operation_id}", "/v1/projects/{project_id}/operations/{operation_id}")
_PROFILES = {
    "initialize_managed_source": "source_profile",
    "apply_project_domains": "domains_profile",
}
_TERMINAL = ("succeeded", "failed", "cancelled")
#: How long to wait between polls where the operation does not say.
_POLL_S = 1.0


@story("operations are polled to their end", allow=("source", "domains"))
def follow(scene: Scene) -> None:
    """Look at each once, at once, and then follow one after the other."""
    accepted = [found for found in scene.accepted if found.id]
    for found in accepted:
        _blocking(scene, found, found.answer)
    if not accepted:
        return
    scene.operation_path = path = _find_path(scene, accepted[0])
    if path is None:
        why = "where operations are polled is not known: --assume operation_path=/v1/… says it"
        scene.ledger.skips(OPERATION, why)
        return
    at_first = [(found, _poll(scene, path, found, 1)) for found in accepted]
    for found, answer in at_first:
        if answer.fields.get("state") in _TERMINAL:
            scene.observed.see(_PROFILES[found.call_id], "immediate")
    for found, answer in at_first:
        _to_its_end(scene, path, found, answer)


def _find_path(scene: Scene, accepted: Accepted) -> str | None:
    for path in _paths(scene, accepted):
        answer = scene.ask.poll(path, accepted.id, "to find where", judged=False)
        if answer.ok and "state" in answer.fields:
            if "{project_id}" in path:
                scene.observed.note(f"operations are polled at {path}")
            else:
                scene.observed.see("operation_path", path)
            return path
    return None


def _paths(scene: Scene, accepted: Accepted) -> Iterator[str]:
    known = scene.options.assumed.get("operation_path")
    if known:
        yield known
        return
    location = accepted.answer.header("Location") or ""
    told = location[location.find("/v1/") :]
    if told.startswith("/v1/") and accepted.id in told and told.isascii() and told.isprintable():
        told = told.replace(accepted.id, "{operation_id}").replace(" ", "")
        yield told.replace(scene.options.project_id, "{project_id}")
    yield from PATHS


# --- Polling ------------------------------------------------------------------------------------


def _poll(scene: Scene, path: str, accepted: Accepted, number: int) -> Answer:
    answer = scene.ask.poll(path, accepted.id, f"{accepted.call_id}, poll {number}")
    if scene.succeeded("durable", answer):
        found = answer.fields.get("id")
        if found is not None:
            same = found == accepted.id
            scene.ledger.judge("durable operation.id", same, answer.said, "it is another operation")
        _deployment(scene, accepted, answer)
        _blocking(scene, accepted, answer)
    return answer


def _to_its_end(scene: Scene, path: str, accepted: Accepted, answer: Answer) -> None:
    for number in count(2):
        if not answer.ok:
            return
        if answer.fields.get("state") in _TERMINAL:
            _ended(scene, path, accepted, answer)
            return
        if not scene.ask.wait(_next_poll_s(answer.fields)):
            why = "an operation had not ended when patience was at its end: --patience gives more"
            scene.ledger.skips("operation.result operation.error error-object", why)
            scene.observed.note(why)
            return
        answer = _poll(scene, path, accepted, number)


def _next_poll_s(operation: dict[str, Any]) -> float:
    progress = operation.get("progress")
    told = progress.get("next_poll_after_seconds") if isinstance(progress, dict) else None
    right = isinstance(told, int) and not isinstance(told, bool) and told >= 0
    return float(told) if right and told is not None else _POLL_S


def _deployment(scene: Scene, accepted: Accepted, answer: Answer) -> None:
    at_first, now = (found.fields.get("deployment_id") for found in (accepted.answer, answer))
    if at_first is not None or now is not None:
        wrong = "it does not name its deployment in every state"
        scene.ledger.judge("operation.deployment_id", now == at_first, answer.said, wrong)


def _blocking(scene: Scene, accepted: Accepted, answer: Answer) -> None:
    blocking = answer.fields.get("blocking_operation_id")
    if isinstance(blocking, str):
        right = blocking != accepted.id
        scene.ledger.judge("states.blocking", right, answer.said, "it waits on itself")


def _ended(scene: Scene, path: str, accepted: Accepted, ended: Answer) -> None:
    """What has ended stays as it ended; and what its replay answers is observed."""
    state, first = ended.fields.get("state"), accepted.answer.fields
    after = scene.ask.poll(path, accepted.id, f"{accepted.call_id}, after its end")
    if after.ok:
        same = after.fields.get("state") == state
        keys = "durable operation.reconciliation" if "reconciliation" in after.fields else "durable"
        scene.ledger.judge(keys, same, after.said, f"it had ended as {state}")
    if accepted.call_id == "initialize_managed_source":
        made = ended.fields.get("deployment_id") or first.get("deployment_id")
        scene.observed.see("source_creates_deployment", made is not None)
    if first.get("state") not in _TERMINAL:
        replay = accepted.again("the same key, after its end")
        if replay.ok and replay.fields.get("id") == accepted.id:
            current = replay.fields.get("state") == state
            scene.observed.see("operation_replay", "current" if current else "first_response")


# --- The rest -----------------------------------------------------------------------------------


@story("who may poll operations", allow=("source", "domains"))
def roles(scene: Scene) -> None:
    """Try it as those whose tokens were given."""
    path = scene.operation_path

    def poll(token: str, about: str) -> Answer:
        return scene.ask.poll(str(path), scene.accepted[0].id, about, token=token)

    if path is not None and scene.accepted[0].id:
        scene.least_role("operation_role", poll)


@story("whatever else was started comes to its end", allow=("source", "domains"))
def leave_nothing(scene: Scene) -> None:
    """Poll it too, so that the project is free for others, and for the next check."""
    path = scene.operation_path
    for operation_id in scene.started if path is not None else ():
        for number in count(1):
            answer = scene.ask.poll(str(path), operation_id, f"the rest, poll {number}")
            ended = not answer.ok or answer.fields.get("state") in _TERMINAL
            if ended or not scene.ask.wait(_next_poll_s(answer.fields)):
                break
