"""Labels of development hosts, such as `dev-amber-otter-cove`, which are easy to tell apart."""

from __future__ import annotations

_COLORS = (
    "amber",
    "azure",
    "bronze",
    "cobalt",
    "coral",
    "crimson",
    "emerald",
    "golden",
    "indigo",
    "ivory",
    "jade",
    "lilac",
    "maroon",
    "olive",
    "pearl",
    "plum",
    "ruby",
    "saffron",
    "sienna",
    "silver",
    "teal",
    "topaz",
    "umber",
    "violet",
)
_ANIMALS = (
    "badger",
    "beaver",
    "crane",
    "curlew",
    "dolphin",
    "falcon",
    "finch",
    "gecko",
    "heron",
    "ibis",
    "jackal",
    "lemur",
    "lynx",
    "marten",
    "newt",
    "otter",
    "plover",
    "puffin",
    "raven",
    "seal",
    "stork",
    "tapir",
    "weasel",
    "wren",
)
_LANDSCAPES = (
    "bay",
    "brook",
    "canyon",
    "cape",
    "cliff",
    "cove",
    "dale",
    "delta",
    "fen",
    "fjord",
    "forest",
    "glade",
    "grove",
    "harbor",
    "island",
    "lagoon",
    "marsh",
    "meadow",
    "mesa",
    "moor",
    "oasis",
    "prairie",
    "ridge",
    "valley",
)


def dev_label(randomness: bytes) -> str:
    """Return the label selected by three random bytes."""
    color, animal, landscape = randomness
    return "-".join(
        [
            "dev",
            _COLORS[color % len(_COLORS)],
            _ANIMALS[animal % len(_ANIMALS)],
            _LANDSCAPES[landscape % len(_LANDSCAPES)],
        ]
    )
