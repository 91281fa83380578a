"""The causes that a judge found: what the client does wrong, with the trials that show it.

Several tools may notice the same mistake. A trial with a lost response shows a change that is made
twice, and the conduct rules show the new Idempotency-Key with which it was made. `gather_causes`
reports such a mistake once, under the cause that says most about it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from hosting_emulator.messages import ConductFinding, Severity
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS, CauseText
from hosting_emulator_lab.judge.run_results import Verdict

#: The severities, highest first.
SEVERITIES: tuple[Severity, ...] = ("error", "warning", "note")

#: Causes whose symptoms a better cause explains: pairs of the id of the cause and the id of the
#: better cause. If both are found, only the better cause is reported, with the symptoms of both.
_EXPLAINED_BY: tuple[tuple[str, str], ...] = (
    ("done-twice", "new-key-after-uncertainty"),
    ("done-twice", "missing-idempotency-key"),
    ("starts-again-when-queued", "done-twice"),
    ("result-differs", "new-key-after-uncertainty"),
    ("result-differs", "key-outlives-intent"),
    ("result-differs", "key-reused-for-another-request"),
    ("retries-in-vain", "retried-not-retryable"),
    ("retries-in-vain", "retried-too-soon"),
    ("never-gives-up", "retried-not-retryable"),
    ("retries-in-vain", "retries-without-pause"),
    ("retries-without-pause", "retried-too-soon"),
    ("api-key-value-lost", "key-value-lost"),
    ("null-as-token", "key-value-lost"),
    ("operation-not-followed", "accepted-is-done"),
    ("operation-not-followed", "unfinished-operation-is-success"),
    ("result-differs", "accepted-is-done"),
    ("result-differs", "unfinished-operation-is-success"),
    ("reads-nested-state", "success-whatever-happens"),
    ("reads-nested-state", "accepted-is-done"),
    ("reads-nested-state", "failed-operation-is-success"),
    ("reads-nested-state", "unfinished-operation-is-success"),
    ("operation-not-followed", "reads-nested-state"),
    ("rejects-unknown-field", "reads-nested-state"),
    ("operation-not-followed", "rejects-unknown-value"),
    ("expects-queued-operation", "expects-certain-states"),
    ("operation-not-followed", "stopped-at-the-unknown"),
    ("stopped-at-the-unknown", "rejects-unknown-value"),
    ("stopped-at-the-unknown", "rejects-unknown-field"),
    ("expects-full-pages", "first-page-for-all"),
    ("expects-exact-page-size", "expects-full-pages"),
    ("list-not-finished", "expects-full-pages"),
    ("list-not-finished", "first-page-for-all"),
    ("picks-by-position", "depends-on-order"),
    ("gives-up-at-unreadable-response", "gives-up-at-passing-failure"),
    ("fails-after-recovery", "gives-up-at-passing-failure"),
    ("gives-up-at-passing-failure", "key-reused-for-another-request"),
    ("done-twice", "key-reused-for-another-request"),
    ("sends-invalid-request", "key-reused-for-another-request"),
    ("gives-up-at-passing-failure", "null-as-token"),
    ("still-polling", "never-gives-up"),
    ("may-hide-failure", "refusal-is-success"),
    ("hides-expired-token", "refusal-is-success"),
    ("hides-expired-token", "success-whatever-happens"),
    ("result-differs", "success-whatever-happens"),
    ("operation-not-followed", "success-whatever-happens"),
    ("may-hide-failure", "hides-expired-token"),
    ("may-hide-failure", "failed-page-ends-list"),
    ("reads-body-without-limit", "waits-without-limit"),
    ("waits-without-limit", "hangs"),
    ("reads-body-without-limit", "hangs"),
    ("sends-what-may-be-refused", "unread-field"),
    ("sends-what-may-be-refused", "secret-in-url"),
    ("unread-field", "secret-in-url"),
    ("needs-optional-problem-field", "depends-on-wording"),
)
#: Pairs as in `_EXPLAINED_BY`. The better cause explains only the symptoms at its own requests. A
#: client that retries a change under a new name makes it twice if the first request took effect,
#: and leaves another result if it did not.
_EXPLAINED_AT_SAME_REQUEST: tuple[tuple[str, str], ...] = (("result-differs", "done-twice"),)
#: Pairs as in `_EXPLAINED_BY`. The better cause explains only the symptoms of trials that show both. A
#: retry that takes the key of another change has a new key, too.
_EXPLAINED_IN_SAME_TRIAL: tuple[tuple[str, str], ...] = (
    ("new-key-after-uncertainty", "key-reused-for-another-request"),
)
#: Claims of success under different failures. A client with several of these causes always claims
#: success.
_CLAIMS = frozenset(
    {
        "failed-operation-is-success",
        "refusal-is-success",
        "unfinished-operation-is-success",
        "accepted-is-done",
    }
)


#: The causes of clients that do not wait for the end of their operation. The result of such a client
#: depends on time, so it may differ by chance when responses vary.
_DOES_NOT_WAIT = (
    "success-whatever-happens",
    "unfinished-operation-is-success",
    "accepted-is-done",
)


@dataclass(frozen=True, slots=True)
class Symptom:
    """The evidence of a cause in one trial.

    `trial` is the trial's text, which `judge --trial` accepts. `message` says in one sentence what
    happened, and `output` holds the last lines that the command printed. `request` names the request
    at which it happened, such as `create_user_api_key#1`. It is empty if there is no such request.
    `failed_tests` names the tests that failed, if the command is a test suite whose output names them.
    `verdict` is the verdict on the trial, or None if something else shows the cause, such as a broken
    rule of conduct.
    """

    trial: str
    message: str
    output: tuple[str, ...] = ()
    request: str = ""
    failed_tests: tuple[str, ...] = ()
    verdict: Verdict | None = None


@dataclass(frozen=True, slots=True)
class ClientCause:
    """One mistake in a client, and the symptoms that show it.

    `seen_alone` tells whether a trial showed the cause again when it ran alone. It is False if there
    was no time for that. The cause is then only a note, because other runs may have disturbed the
    trial.
    """

    text: CauseText
    symptoms: tuple[Symptom, ...]
    seen_alone: bool = True

    @property
    def id(self) -> str:
        """The id of the cause, such as `done-twice` or the id of a conduct rule."""
        return self.text.id

    @property
    def severity(self) -> Severity:
        """The severity of the cause."""
        return self.text.severity if self.seen_alone else "note"

    def counts(self, lowest: Severity) -> bool:
        """Return whether the severity of the cause is `lowest` or higher."""
        return SEVERITIES.index(self.severity) <= SEVERITIES.index(lowest)


def rule_cause(finding: ConductFinding) -> CauseText:
    """Return the texts of the conduct rule that a finding is about."""
    return CauseText(
        id=finding.rule,
        severity=finding.severity,
        title=f"{finding.title}.",
        matters=finding.matters,
        because=finding.because,
        place=finding.place,
        instead=finding.instead,
    )


def gather_causes(
    symptoms: Iterable[tuple[CauseText, Symptom]], seen_alone: Mapping[str, bool]
) -> list[ClientCause]:
    """Group symptoms by cause, and merge causes that one mistake explains.

    The most severe causes come first.

    `seen_alone` maps the id of a cause to whether a trial that ran alone showed the cause. A cause
    that is missing from `seen_alone` needs no such trial.
    """
    texts: dict[str, CauseText] = {}
    symptoms_by_cause: dict[str, list[Symptom]] = {}
    for text, symptom in symptoms:
        texts[text.id] = _more_severe(texts.get(text.id), text)
        symptoms_by_cause.setdefault(text.id, []).append(symptom)
    # Only a client that also ignores refusals claims success whatever happens.
    if "refusal-is-success" in texts and len(_CLAIMS & texts.keys()) > 1:
        for claim in (*_CLAIMS, "may-hide-failure"):
            _merge(texts, symptoms_by_cause, claim, CAUSE_TEXTS["success-whatever-happens"])
    for explained, better in _EXPLAINED_BY:
        # A cause that may be chance explains nothing that was seen alone.
        is_certain = seen_alone.get(better, True) or not seen_alone.get(explained, True)
        if better in texts and is_certain and not texts[better].is_expected:
            _merge(texts, symptoms_by_cause, explained, texts[better])
    for better in _DOES_NOT_WAIT:
        if better in texts and seen_alone.get(better, True):
            for explained in [id_ for id_ in texts if _is_timing(id_, symptoms_by_cause[id_])]:
                _merge(texts, symptoms_by_cause, explained, texts[better])
    for explained, better in _EXPLAINED_AT_SAME_REQUEST:
        _merge_equal(texts, symptoms_by_cause, explained, better, lambda symptom: symptom.request)
    for explained, better in _EXPLAINED_IN_SAME_TRIAL:
        _merge_equal(texts, symptoms_by_cause, explained, better, lambda symptom: symptom.trial)
    causes = [
        ClientCause(text, tuple(dict.fromkeys(symptoms_by_cause[id_])), seen_alone.get(id_, True))
        for id_, text in texts.items()
    ]
    return sorted(causes, key=_rank)


def _is_timing(cause_id: str, symptoms: Sequence[Symptom]) -> bool:
    """Return whether the only symptoms of a cause are different results when responses differ."""
    return cause_id not in _DOES_NOT_WAIT and all(
        symptom.verdict == "differs" and symptom.trial.startswith(("vary/", "alter/"))
        for symptom in symptoms
    )


def _merge(
    texts: dict[str, CauseText],
    symptoms_by_cause: dict[str, list[Symptom]],
    explained: str,
    better: CauseText,
) -> None:
    """Move the symptoms of a cause to the better cause that explains them, if both were found."""
    text = texts.pop(explained, None)
    if text is None:
        return
    severity = _more_severe(text, texts.get(better.id, better)).severity
    texts[better.id] = replace(better, severity=severity)
    symptoms_by_cause.setdefault(better.id, []).extend(symptoms_by_cause.pop(explained))


def _merge_equal(
    texts: dict[str, CauseText],
    symptoms_by_cause: dict[str, list[Symptom]],
    explained: str,
    better: str,
    key: Callable[[Symptom], str],
) -> None:
    """Move the symptoms of a cause that have the same key as a symptom of the better cause."""
    if explained not in texts or better not in texts:
        return
    keys = {key(symptom) for symptom in symptoms_by_cause[better]}
    symptoms = symptoms_by_cause[explained]
    remaining = [symptom for symptom in symptoms if key(symptom) not in keys]
    symptoms_by_cause[better].extend(symptom for symptom in symptoms if key(symptom) in keys)
    symptoms_by_cause[explained] = remaining
    if not remaining:
        del texts[explained]


def _more_severe(first: CauseText | None, second: CauseText) -> CauseText:
    """Return the text with the higher severity, or the first text if both are the same.

    The first text fits the first symptom, which every report shows.
    """
    if first is None:
        return second
    if SEVERITIES.index(second.severity) < SEVERITIES.index(first.severity):
        return second
    return first


def _rank(cause: ClientCause) -> tuple[int, int]:
    order = list(CAUSE_TEXTS)
    place = order.index(cause.id) if cause.id in CAUSE_TEXTS else len(order)
    return SEVERITIES.index(cause.severity), place
