"""Words for dev hosts and handles: short, friendly, lowercase, easy to tell apart."""

from __future__ import annotations

COLOURS = (
    "amber azure bronze cobalt coral crimson emerald golden indigo ivory jade lilac maroon olive "
    "pearl plum ruby saffron sienna silver teal topaz umber violet"
).split()
ANIMALS = (
    "badger beaver crane curlew dolphin falcon finch gecko heron ibis jackal lemur lynx marten "
    "newt otter plover puffin raven seal stork tapir weasel wren"
).split()
PLACES = (
    "bay brook canyon cape cliff cove dale delta fen fjord forest glade grove harbor island lagoon "
    "marsh meadow mesa moor oasis prairie ridge valley"
).split()


def dev_label(randomness: bytes) -> str:
    """Return `dev-<word>-<word>-<word>` from at least three bytes of randomness."""
    lists = (COLOURS, ANIMALS, PLACES)
    words = [words[byte % len(words)] for words, byte in zip(lists, randomness, strict=False)]
    return "-".join(("dev", *words))
