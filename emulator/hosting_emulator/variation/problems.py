"""Problems in other words: what they mean, their code and what the contract fixes stay."""

from __future__ import annotations

from typing import Any

from hosting_emulator.contract.problems import PROBLEMS
from hosting_emulator.variation.drawing import Draws

_TITLES = ("Request not completed", "The request was not carried out", "Problem")
_DETAILS = (
    None,
    "",
    "See the documentation of this code.",
    "Die Anfrage schlug fehl: größer als 0.",
)
_ACTIONS = ("Follow the documentation of this code.", "See `type`.")


def vary_problem(draws: Draws, document: dict[str, Any]) -> None:
    """Vary a problem document: its words, an instance, a member that nobody knows."""
    if draws.wants("problem-wording"):
        _reword(draws, document)
        draws.note("problem-wording")
    if draws.wants("problem-extras", draws.what, "instance", one_in=3):
        document["instance"] = f"/problems/{document['request_id'].encode().hex()[:24]}"
        draws.note("problem-extras")


def _reword(draws: Draws, document: dict[str, Any]) -> None:
    document["title"] = draws.pick("problem-wording", _TITLES, draws.what, "title")
    detail = draws.pick("problem-wording", _DETAILS, draws.what, "detail")
    if detail is None:
        document.pop("detail", None)
    else:
        document["detail"] = detail
    if "suggested_action" not in PROBLEMS[document["code"]].specified:
        document["suggested_action"] = draws.pick("problem-wording", _ACTIONS, draws.what, "action")
