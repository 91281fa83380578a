"""What the emulator says is what it said: a walk of a thousand requests, held byte for byte.

Whoever means to change an answer writes the record anew with `make record`.
"""

from __future__ import annotations

import difflib

from tests.golden.walk import RECORD, Walk, record

_SHOWN = 60


def test_each_answer_of_the_walk_is_the_one_on_record(tmp_path):
    kept = RECORD.read_text("utf-8").splitlines()

    walk = record()

    if walk.lines != kept:
        whole = tmp_path / "walk.txt"
        whole.write_text("\n".join(walk.lines), "utf-8")
        raise AssertionError(_difference(kept, walk) + f"\n\nThe whole walk: {whole}")


def _difference(kept: list[str], walk: Walk) -> str:
    """Return the first lines that differ, and the whole answer of the first of them."""
    lines = list(difflib.unified_diff(kept, walk.lines, "on record", "now", n=1, lineterm=""))
    first = next((n for n, (a, b) in enumerate(zip(kept, walk.lines, strict=False)) if a != b), 0)
    answer = walk.whole.get(first, "")
    return "\n".join([*lines[:_SHOWN], "", "The first answer that differs, whole:", answer[:4000]])
