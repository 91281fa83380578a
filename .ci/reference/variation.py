"""The page of variation points."""

from __future__ import annotations

from hosting_emulator.messages import VariationPoint
from hosting_emulator.variation.points import list_points
from reference.markdown import codes, join, prose, sentence

INTRODUCTION = """\
With `--vary SEED`, responses vary at points where the contract leaves a choice. This page lists these
points, each with the sentence that leaves the choice open. A client that depends on one of these
choices relies on something that the contract does not promise.

## Rules for all points

- In the same world, the same seed and the same requests produce the same bytes. The seeds 1 to 3, 4 to
  6, and so on complement each other: at each point, one or two of three such seeds vary the responses,
  and exactly one of them omits a given optional field.
- A choice lasts as long as it would in a real service, in most cases for the whole world. A client that
  cannot handle such a choice does not recover with the next response.
- Points are independent. With `--vary-only`, each remaining point varies as before.
- A variation is part of its world. It survives a restart, a fork, an export and a reset.
- An assumption that you set keeps its value, and so does the `status` that a fault sets. Words in open
  sets vary even if you chose them, such as the `code` of an outcome `fail`. What `alter` and `respond`
  write never varies.
- An alternative that contradicts a sentence of the contract is never chosen.
- Whatever a client must know before its first request does not vary: the names of query parameters, the
  path for polling, the roles and permissions that calls require, and the content of a token.
- Whatever a client needs in order to continue is always present: the ids of operations, deployments and
  keys, the state of an operation, its deployment_id once there is one, a key's `value`, a ticket's
  `redeem_url`, `items`, `next_cursor` and `database`.
- A field is null only where the contract says "or null". Any other field without a value is absent.
- A replay is the first response, byte for byte, where the contract says so. Each deployment is listed
  once, whatever the sizes of the pages. A resource in a final state does not change.
- Timestamps are always valid in RFC 3339 and ISO 8601, and always name the same moment. A page is never
  empty while there is a next page. A cursor has 16 to 496 characters.
- Unknown fields have values of every JSON type, and names with another meaning elsewhere, such as
  `error`, `length` or `__proto__`, but never a name that the contract gives to a field of the same
  object.

If the story of a scenario expects one of the emulator's own choices, such as a status that the contract
leaves open, it can fail with `--vary`. In this case, use `--vary-only` with other points."""


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
