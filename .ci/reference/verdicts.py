"""The page of verdicts and causes of the tools that judge clients and servers."""

from __future__ import annotations

from hosting_emulator_lab.contract_check import ALLOWED
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.fault_points import KINDS
from hosting_emulator_lab.judge.lasting_effects import LASTING_EFFECTS
from hosting_emulator_lab.judge.run_results import VERDICT_MEANINGS
from hosting_emulator_lab.judge.variation_causes import VARIATION_CAUSES
from reference.markdown import code, codes, join, prose, sentence, table

HOW_A_RUN_IS_COMPARED = """\
`explore` runs the command twice without faults. Differences between these two clean runs are ignored
later, and the report names them. Each further run has one fault at one request, in a fresh world, and
is compared with the clean run:

- The compared state consists of flags, sources, operations, deployments, API keys, tickets, DNS
  authorizations and databases: which of them exist, how many, and in which state. Ids and times are
  ignored, and so are a ticket that a newer ticket revoked, and a key that replaces a key whose value
  was lost.
- If the clock is running, worlds are compared one hour of world time after they started.
- A verdict depends on the exit code, the requests and the state, never on the words that the command
  prints. Its output is only compared with that of the clean run.
- A failed run is repeated, and counts only if it fails again. A run that hung is not repeated.
- A problem whose `retryable` is false persists for the rest of the run, and giving up is correct. Every
  other fault acts once, so a client that retries gets the real response.
- Points that look the same to a client are merged, such as the two phases of a read. The report says
  which points, and why.
- The command cannot remove the failure by a reset, a scenario or `fault clear`.

Each run has a single failure. `explore` injects no fault into a request that matches no call, that has
no valid token or API key, or on which a fault of the scenario already acts."""

STEPS_OF_A_JUDGMENT = """\
1. Clean runs. Three runs without failures must succeed. In the first, polling advances the time. In the
   second, the base URL has a path, which reveals a client that drops it. If the command fails only because
   of the path, a run without a path replaces this run. In the third, time passes by itself, which reveals
   polling that is too early. The rules of conduct are checked in all three runs. If the service refuses a
   request that breaks a rule, a further run accepts it. If the command then fails, it is testing the
   refusal, so the finding is a note.
2. Trials. `judge` makes as many as the budget allows, starting with the most informative. A trial is one
   run with one failure at one request. If a test of the command injects a fault at a request, only
   failures that persist are tried there, because any other failure would replace the test's fault. In
   three more trials, responses vary. If the command fails in one of them, one more run follows, `phases`,
   in which operations last as long, but responses do not vary. A failure that this run also shows is not
   due to the variation. Every other failure is narrowed down to its [variation points](variation.md).
3. Confirmation. A mistake in a trial counts only if a second run of the same trial shows it, too, while
   no other run is in progress (except runs that only wait). If the second run does not show the mistake,
   the mistake does not count. If there is no time for a second run, the mistake is a note. If the command
   hangs in both runs, a clean run follows. If it is much slower than the first one, the machine was busy,
   and the hang does not count. The report says how many mistakes do not count, and why. A run that sends
   more than 5,000 requests to one world is stopped early, and counts as a run that hangs.
4. Altered responses, if there is time left. Parts of responses are altered one at a time: a field or a
   header is removed, a boolean is inverted, an authorization is revoked, a list is reversed, a status is
   replaced. The client depends on a part if the altered run has another exit code or sends other
   requests. It shows a part if only its output differs, and otherwise ignores the part.

If two simultaneous clean runs interfere with each other, all other runs are made one after the other."""


def render() -> str:
    """Return the page without its title."""
    verdicts = [
        [code(meaning.mark), verdict, sentence(meaning.text)]
        for verdict, meaning in VERDICT_MEANINGS.items()
    ]
    effects = [
        [code(word), sentence(effect.description)] for word, effect in LASTING_EFFECTS.items()
    ]
    texts = [*CAUSE_TEXTS.values(), *(cause.text for cause in VARIATION_CAUSES.values())]
    causes = [
        [code(text.id), text.severity, prose(sentence(text.title)), prose(text.instead)]
        for text in texts
    ]
    return join(
        "`hosting-emulator explore` reports a verdict for each run of a client, and "
        "`hosting-emulator judge` reports causes.",
        "## Verdicts of a run",
        table(["mark", "verdict", "meaning"], verdicts),
        HOW_A_RUN_IS_COMPARED,
        "## The steps of a judgment",
        STEPS_OF_A_JUDGMENT,
        "## Causes",
        "A cause is one mistake of a client, however many runs reveal it. By default, a cause of "
        "severity `error` or `warning` makes the exit code 1. The report lists the most severe causes "
        "first. `judge` also reports findings of the [rules of conduct](conduct-rules.md) as causes.",
        table(["cause", "severity", "what the client does", "what to do"], causes),
        "## Faults that explore tries",
        f"Without `--faults` and `--outcomes`, `explore` tries these kinds: {codes(KINDS)}. "
        "`--faults` also accepts `stalled_response`. `abort:CODE` is one problem code, `abort:*` is "
        "every code, and `gateway_error:504` is one status.",
        "With `--outcomes`, it tries effects that begin with one request and persist. `refused` stands "
        "for the problems that a call can return and for which a retry cannot help. `long_limit` makes "
        "a client wait, so `explore` tries it only if `--faults` names it, but `judge` tries it, too.",
        table(["word", "the request"], effects),
        "## Changes that a contract check may make",
        f"`hosting-emulator contract check --allow` takes these words: {codes(ALLOWED)}.",
    )
