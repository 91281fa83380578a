"""The page of verdicts and causes of the tools that judge clients and servers."""

from __future__ import annotations

from hosting_emulator_lab.contract_check import ALLOWED
from hosting_emulator_lab.judge.cause_texts import CAUSE_TEXTS
from hosting_emulator_lab.judge.fault_points import KINDS
from hosting_emulator_lab.judge.lasting_effects import LASTING_EFFECTS
from hosting_emulator_lab.judge.run_results import VERDICT_MEANINGS
from reference.markdown import code, codes, join, prose, sentence, table

HOW_A_RUN_IS_COMPARED = """\
`explore` runs the command twice without faults. What differs between these two clean runs is not
compared, and the report names it. Then each run meets one fault at one request, in a world of its
own, and is compared with the clean run:

- The state of the world is compared by flags, sources, operations, deployments, API keys, tickets,
  DNS authorizations and databases: which there are, how many, and in which state. Ids and times do
  not count, nor does a ticket that a newer one revoked, nor a key that replaces one whose value was
  lost.
- With a running clock, worlds are compared one hour of world time after they started.
- A verdict rests on the exit code, the requests and the state, never on words that the command
  prints. Its output is only compared with that of the clean run.
- A failed run is repeated, and counts only if it fails again. A run that hung is not repeated.
- A problem whose `retryable` is false stays for the rest of the run, and giving up is right. Every
  other fault acts once, so a client that retries gets the real response.
- Points that look the same to a client are merged, such as the two phases of a read. The report says
  which, and why.
- The failure is protected: no reset, scenario or `fault clear` of the command removes it.

One failure is tried at a time. Requests that match no call, that have no valid token, or on which a
fault of the scenario already acts, meet no other fault."""

STEPS_OF_A_JUDGMENT = """\
1. Three clean runs, which must succeed. In the first, polling moves the time. In the second, the base
   URL has a path, so that a client that drops it is seen. In the third, time passes as on a wall
   clock, so that polling too early is seen. The rules of conduct check all three.
2. Trials, as many as the budget allows, the most informative first. A trial is one run with one
   failure at one request. Three more trials vary responses, and each failure of these is narrowed
   down to its [variation points](variation.md).
3. Confirmation. What a trial shows counts only if it shows it again while no other run is in
   progress. Runs that only wait may go on. Otherwise it is a note.
4. Altered responses, if there is time left. Each part of a response is altered once: a field or a
   header is removed, a boolean inverted, a list reversed, a status replaced. The client depends on a
   part if the altered run has another exit code or sends other requests. It shows a part if only its
   output differs, and otherwise ignores it.

If two clean runs that run side by side disturb each other, the others run one after the other."""


def render() -> str:
    """Return the page without its title."""
    verdicts = [
        [code(meaning.mark), verdict, sentence(meaning.text)]
        for verdict, meaning in VERDICT_MEANINGS.items()
    ]
    effects = [
        [code(word), sentence(effect.description)] for word, effect in LASTING_EFFECTS.items()
    ]
    causes = [
        [code(name), text.severity, prose(sentence(text.title)), prose(text.instead)]
        for name, text in CAUSE_TEXTS.items()
    ]
    return join(
        "`hosting-emulator explore` gives each run of a client a verdict, and `hosting-emulator judge` "
        "reports causes.",
        "## Verdicts of a run",
        table(["mark", "verdict", "meaning"], verdicts),
        HOW_A_RUN_IS_COMPARED,
        "## The steps of a judgment",
        STEPS_OF_A_JUDGMENT,
        "## Causes",
        "A cause is one mistake of a client, however many runs show it. Causes of severity `error` and "
        "`warning` make the exit code 1. `judge` also reports findings of the "
        "[rules of conduct](conduct-rules.md) as causes.",
        table(["cause", "severity", "what the client does", "what to do"], causes),
        "## Faults that explore tries",
        f"Without `--faults`, `explore` tries these kinds: {codes(KINDS)}. "
        "`abort:CODE` is one problem code, `abort:*` is every code, and `gateway_error:504` is one "
        "status.",
        "With `--outcomes`, it tries failures that last from one request on. `refused` stands for the "
        "problems that a call can return and for which a retry cannot help:",
        table(["word", "the request"], effects),
        "## Changes that a contract check may make",
        f"`hosting-emulator contract check --allow` takes these words: {codes(ALLOWED)}.",
    )
