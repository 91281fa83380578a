"""Collects what the runs of a judgment show, and decides what counts.

What a trial shows counts only if the trial shows it again while no other run is in progress. That the
client hangs counts only if a clean run right after this repetition is about as fast as before, because
other programs may have made the machine slow.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hosting_emulator.sdk.text import count_text
from hosting_emulator_lab.judge.cause_texts import CauseText
from hosting_emulator_lab.judge.causes import ClientCause, Symptom, gather_causes
from hosting_emulator_lab.judge.clean_runs import CleanRuns
from hosting_emulator_lab.judge.run_results import CleanRun
from hosting_emulator_lab.judge.symptoms import symptoms_of, waits_endlessly
from hosting_emulator_lab.judge.trial_results import TrialResult
from hosting_emulator_lab.judge.trial_runs import TrialRuns
from hosting_emulator_lab.judge.trials import Trial

#: Is told of a cause, and of a symptom that shows it.
OnCause: TypeAlias = Callable[[CauseText, Symptom], None]

#: At most this many trials are repeated alone because of one cause.
_MOST_CONFIRMATIONS = 3


@dataclass(frozen=True, slots=True)
class _NotCounted:
    """A cause that does not count, and the last trial that was repeated because of it.

    `is_machine_slow` means that the repetition showed the cause again, but on a slow machine.
    Otherwise, the repetition did not show it.
    """

    text: CauseText
    trial: Trial
    is_machine_slow: bool


class CauseEvidence:
    """The symptoms that the runs of a judgment show, and which of their causes count.

    `runs` repeats trials. `on_cause` is told of each new cause. `lock` is held meanwhile, except during
    the clean runs.
    """

    def __init__(self, runs: TrialRuns, on_cause: OnCause, lock: threading.Lock) -> None:
        self._runs = runs
        self._on_cause = on_cause
        self._lock = lock
        #: Whether the client polls its operations to their end in the clean runs.
        self._follows_operations = True
        self._symptoms: list[tuple[CauseText, Symptom]] = []
        #: The ids of the causes that the clean runs show.
        self._clean_ids: set[str] = set()
        #: Whether a run that was alone showed a cause, by the id of the cause.
        self._seen_alone: dict[str, bool] = {}
        #: The causes that do not count, by their ids.
        self._not_counted: dict[str, _NotCounted] = {}
        #: How many trials were repeated alone because of a cause, by the id of the cause.
        self._confirmations: dict[str, int] = {}
        #: Held while a trial is repeated alone: what it shows can spare the next repetition.
        self._repeating = threading.Lock()
        #: The trials in which the client was still waiting for an operation that never ends.
        self._endless_waits: list[TrialResult] = []
        #: The ids of the causes that were announced.
        self._announced: set[str] = set()

    def announce_first(self, clean_runs: CleanRuns) -> None:
        """Announce what the first clean run shows. `add_clean_runs` adds it later."""
        self._follows_operations = _follows_operations(clean_runs)
        self._announce_symptoms(clean_runs.symptoms)

    def announce(self, result: TrialResult) -> None:
        """Announce what a trial shows, without adding it."""
        self._announce_symptoms(self._symptoms_of(result))

    def add_clean_runs(self, clean_runs: CleanRuns) -> None:
        """Add and announce what all clean runs show."""
        self._follows_operations = _follows_operations(clean_runs)
        self._clean_ids = {text.id for text, _ in clean_runs.symptoms}
        self._symptoms += clean_runs.symptoms
        self._announce_symptoms(clean_runs.symptoms)

    def add_alone(self, result: TrialResult) -> None:
        """Add what a trial shows that was alone, so that it need not be repeated."""
        symptoms = self._symptoms_of(result)
        self._symptoms += symptoms
        for text, _ in symptoms:
            self._seen_alone[text.id] = True

    def add(self, result: TrialResult, clean: CleanRun) -> TrialResult:
        """Add what a trial shows. If it shows a new cause, repeat the trial alone.

        Return the result of the repetition or, if there was none, the given result. Raises RunsStopped.
        """
        symptoms = self._symptoms_of(result)
        with self._lock:
            self._symptoms += symptoms
            if waits_endlessly(result):
                self._endless_waits.append(result)
        if not any(self._is_unconfirmed(*pair) for pair in symptoms):
            return result
        with self._repeating:
            new = {text.id: (text, symptom) for text, symptom in symptoms}
            new = {id_: pair for id_, pair in new.items() if self._is_unconfirmed(*pair)}
            if not new:
                # The repetition of another trial has shown these causes in the meantime.
                return result
            for id_ in new:
                self._confirmations[id_] = self._confirmations.get(id_, 0) + 1
                # The repetition may be stopped, and then the cause stays unconfirmed.
                self._seen_alone.setdefault(id_, False)
            repeated = self._runs.trial(result.trial, clean, alone=True)
            repeated_ids = {text.id for text, _ in self._symptoms_of(repeated)}
            slow_ids = self._ids_on_slow_machine(new.keys() & repeated_ids, repeated, clean)
            with self._lock:
                for id_, (text, _) in new.items():
                    self._seen_alone[id_] = id_ in repeated_ids - slow_ids
                    if self._seen_alone[id_]:
                        self._not_counted.pop(id_, None)
                    else:
                        self._not_counted[id_] = _NotCounted(text, result.trial, id_ in slow_ids)
                self._announce_symptoms(
                    [pair for id_, pair in new.items() if self._seen_alone[id_]]
                )
        return repeated

    def _ids_on_slow_machine(
        self, cause_ids: Iterable[str], result: TrialResult, clean: CleanRun
    ) -> set[str]:
        """Return the causes that a result shows only because the client hung on a slow machine.

        Raises RunsStopped.
        """
        hanging_ids = {
            text.id
            for text, symptom in self._symptoms_of(result)
            if text.id in cause_ids and symptom.verdict == "hung"
        }
        if hanging_ids and self._runs.is_machine_slow(clean):
            return hanging_ids
        return set()

    def _symptoms_of(self, result: TrialResult) -> list[tuple[CauseText, Symptom]]:
        return list(symptoms_of(result, follows_operations=self._follows_operations))

    def _is_unconfirmed(self, text: CauseText, symptom: Symptom) -> bool:
        """Return whether a trial that shows a cause must be repeated alone.

        A note is repeated only if the run failed, because chance may have disturbed such a run.
        """
        if self._seen_alone.get(text.id, False):
            return False
        if text.severity == "note" and symptom.verdict != "failed":
            return False
        return self._confirmations.get(text.id, 0) < _MOST_CONFIRMATIONS

    def _announce_symptoms(self, symptoms: Sequence[tuple[CauseText, Symptom]]) -> None:
        """Announce each new cause, except for notes. Announce the better cause if one explains it."""
        new = [pair for pair in symptoms if pair not in self._symptoms]
        causes = gather_causes([*self._symptoms, *new], self._seen_alone)
        for text, symptom in symptoms:
            if text.severity == "note":
                continue
            better = next((cause.text for cause in causes if _explains(cause, symptom)), text)
            if better.id not in self._announced:
                self._announced.add(better.id)
                self._on_cause(better, symptom)

    def causes(self) -> list[ClientCause]:
        """Return the causes that count, the most severe first."""
        # The clean runs need no confirmation: the first of them was alone.
        seen_alone = {**self._seen_alone, **dict.fromkeys(self._clean_ids, True)}
        uncounted_ids = {cause.text.id for cause in self._uncounted_causes()}
        symptoms = [pair for pair in self._symptoms if pair[0].id not in uncounted_ids]
        return gather_causes(symptoms, seen_alone)

    def remarks(self) -> list[str]:
        """Return remarks about what does not count, and about what no trial decided."""
        return [*self._chance_remarks(), *self._wait_remarks()]

    def _uncounted_causes(self) -> list[_NotCounted]:
        return [cause for id_, cause in self._not_counted.items() if id_ not in self._clean_ids]

    def _chance_remarks(self) -> list[str]:
        """Return remarks about the causes that other runs or other programs may explain."""
        not_counted = self._uncounted_causes()
        beside_others = [cause for cause in not_counted if not cause.is_machine_slow]
        when_slow = [cause for cause in not_counted if cause.is_machine_slow]
        remarks = []
        if beside_others:
            remarks.append(
                "Not counted, because a repetition of the trial alone did not show the same: "
                f"{_count_with_example(beside_others)}. The runs may disturb each other, for example "
                "by a file, a port or a database. To prevent this, use --jobs 1."
            )
        if when_slow:
            remarks.append(
                f"Not counted, because the machine was busy: {_count_with_example(when_slow)}. Right "
                "after this trial, a clean run took much longer than the first one, so nobody knows "
                "whether the command would have ended in time. To find out, repeat the trial with "
                "--trial while the machine is idle."
            )
        return remarks

    def _wait_remarks(self) -> list[str]:
        """Return a remark about a client for which no trial shows whether it ever stops waiting."""
        if not self._endless_waits:
            return []
        result = self._endless_waits[0]
        return [
            "Not decided: whether the command ever stops waiting for an operation that never ends. In "
            f"{result.trial}, {result.reasons[-1]}. It needs a deadline, which may be longer than "
            "that. To see one, repeat this trial with a longer --limit."
        ]


def _count_with_example(causes: Sequence[_NotCounted]) -> str:
    """Return the number of causes, and the first of them with its trial."""
    first = causes[0]
    return f"{count_text(len(causes), 'cause')}, such as {first.text.id} in {first.trial}"


def _follows_operations(clean_runs: CleanRuns) -> bool:
    """Return whether a client polls its operations until their end in the clean runs."""
    return not any(text.id == "operation-not-followed" for text, _ in clean_runs.symptoms)


def _explains(cause: ClientCause, symptom: Symptom) -> bool:
    """Return whether a cause, which is more than a note, has a symptom."""
    return symptom in cause.symptoms and cause.severity != "note"
