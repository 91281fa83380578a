"""The page of variation points."""

from __future__ import annotations

from hosting_emulator.messages import VariationPoint
from hosting_emulator.variation.points import list_points
from reference.markdown import codes, join, prose, sentence

INTRODUCTION = """\
With `--vary SEED`, responses differ wherever the contract leaves a choice. These are the points at
which they differ, each with the sentence that leaves the choice. A client that depends on one of
them relies on something that the contract does not promise.

## What holds at all points

- The same seed and the same requests give the same bytes. Whole numbers as seeds take turns: of three
  consecutive seeds, one or two vary at each point, and exactly one omits a given optional field.
- A choice lasts as long as a real service's would, so a client that cannot cope does not recover with
  the next response.
- Points are independent. With `--vary-only`, each draws the same as before.
- A variation belongs to its world. A restart, a fork, an export and a reset keep it.
- An assumption that you set stays as you set it, and so does the `status` that a fault sets. Words in
  open sets vary even if you chose them, such as the `code` of an outcome `fail`. What `alter` and
  `respond` write is never varied.
- An alternative that contradicts a sentence of the contract is never drawn.
- What a client must know before its first request does not vary: names of query parameters, where an
  operation is polled, roles and permissions, what a token contains.
- What a client cannot continue without is always there: ids of operations, deployments and keys, the
  state of an operation, its deployment_id once there is one, a key's `value`, a ticket's `redeem_url`,
  `items` and `next_cursor`, and `database`.
- Null comes only where the contract writes "or null". What has no value is absent elsewhere.
- A replay is the first response, byte for byte, where the contract says so. Each deployment is listed
  once, whatever the sizes of the pages. What has ended does not change.
- Timestamps are always valid in RFC 3339 and ISO 8601, and never another moment. A page is never empty
  while there is a next page. A cursor has 16 to 496 characters.
- Unknown fields have values of every JSON type and names that mean something elsewhere, such as
  `error`, `length` or `__proto__`, but no name that the contract gives to a field of the same object.

The story of a scenario that expects one of our choices, such as a status that the contract leaves open,
fails with `--vary`. Use `--vary-only` with other points then."""


def render() -> str:
    """Return the page without its title."""
    return join(INTRODUCTION, *(_section(point) for point in list_points()))


def _section(point: VariationPoint) -> str:
    facts = f"A choice lasts for {point.lasts_for}."
    if point.assumptions:
        links = [f"[`{name}`](assumptions.md#{name})" for name in point.assumptions]
        facts += f" It varies {', '.join(links)}."
    if point.calls:
        facts += f" Calls: {codes(point.calls)}."
    return join(
        f"## {point.id}",
        prose(sentence(point.about)),
        facts,
        f"The contract: “{prose(point.sentence)}”",
    )
