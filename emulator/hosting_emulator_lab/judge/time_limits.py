"""The time limits of runs."""

from __future__ import annotations

from dataclasses import dataclass

from hosting_emulator_lab.judge.run_results import CleanRun

#: The shortest default time limit of a run, in real seconds.
SHORTEST_LIMIT_S = 10.0
#: The default time limit of a run, as a multiple of the clean run's duration. The limit is doubled for
#: a lasting effect, because a client may have a time limit for what it waits for.
_LIMIT_FACTOR = 3
_LASTING_FACTOR = 2
#: If a later clean run exceeds the first by more than this share of the time limit, and also by more than
#: this share of the first, the machine may be so slow that another run did not end for this reason.
_SLOWER_LIMIT_SHARE = 1 / 6
_SLOWER_CLEAN_SHARE = 1 / 2


@dataclass(frozen=True, slots=True)
class TimeLimits:
    """The time limits of runs that are compared with a clean run.

    `own_limit_s` is the limit that the user chose, in real seconds. If `own_limit_s` is None, the
    limit depends on the duration of the clean run.
    """

    own_limit_s: float | None = None

    def limit_s(self, clean: CleanRun, *, is_lasting: bool) -> float:
        """Return the time limit of a run in real seconds.

        `is_lasting` means that the run has a lasting effect.
        """
        if self.own_limit_s is not None:
            return self.own_limit_s
        limit_s = max(SHORTEST_LIMIT_S, _LIMIT_FACTOR * clean.end.duration_s)
        if is_lasting:
            limit_s *= _LASTING_FACTOR
        return round(limit_s, 1)

    def longest_clean_s(self, clean: CleanRun) -> float:
        """Return how long another clean run may take on a machine that has not become slow.

        The duration is in real seconds.
        """
        usual_s = clean.end.duration_s
        limit_s = self.limit_s(clean, is_lasting=False)
        tolerance_s = max(_SLOWER_LIMIT_SHARE * limit_s, _SLOWER_CLEAN_SHARE * usual_s)
        return usual_s + tolerance_s
