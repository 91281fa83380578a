"""For a path that no call has, finds the call whose path the client probably meant."""

from __future__ import annotations

import re
from collections.abc import Iterable

from hosting_emulator.contract.calls import CallSpec

#: The minimum similarity, from 0 to 1, of two paths without their ids. With this value, `dns` leads
#: to the suggestion `edge-dns`, but `foo` leads to none.
_CUTOFF = 0.6
#: The similarity between a word and a longer name that contains it, such as `flag` and
#: `powered-by-flag`.
_CONTAINED = 0.8
_SHORTEST_WORD = 3
#: The maximum number of characters to compare: over three times the length of our longest path.
_COMPARED_CHARACTERS = 200


def path_hint(path: str, calls: Iterable[CallSpec]) -> str:
    """Return `; did you mean METHOD PATH?` for the most similar call, or an empty string if there
    is none.
    """
    spec = nearest_call(path, calls)
    if spec is None:
        return ""
    return f"; did you mean {spec.method} {spec.path}?"


def nearest_call(path: str, calls: Iterable[CallSpec]) -> CallSpec | None:
    """Return the call whose path is most similar to `path`, or None if none is similar.

    The version and the ids in the path make no difference.
    """
    text = re.sub(r"^(/v\d+)+(?=/|$)", "", path[:_COMPARED_CHARACTERS])
    segments = [segment for segment in text.split("/") if segment]
    nearest = None
    highest = _CUTOFF
    for spec in calls:
        similarity = _path_similarity(spec, segments)
        if similarity > highest:
            nearest = spec
            highest = similarity
    return nearest


def _path_similarity(spec: CallSpec, segments: list[str]) -> float:
    """Return the similarity, from 0 to 1, between a call's path and the segments of a request's path."""
    own_segments = spec.path.strip("/").split("/")[1:]
    id_indexes = {index for index, segment in enumerate(own_segments) if "{" in segment}
    own_names = [segment for index, segment in enumerate(own_segments) if index not in id_indexes]
    sent_names = [segment for index, segment in enumerate(segments) if index not in id_indexes]
    if not own_names or not sent_names:
        return 0.0
    name = "/".join(own_names[1:])
    if len(segments) == 1 and name:
        return _similarity(segments[0], name)
    if len(segments) < 2 or _similarity(sent_names[0], own_names[0]) < _CUTOFF:
        return 0.0
    return _similarity("/".join(sent_names[1:]), name)


def _similarity(word: str, name: str) -> float:
    # Import difflib here: the import takes a millisecond, and only errors need it.
    from difflib import SequenceMatcher

    if word == name:
        return 1.0
    if len(word) >= _SHORTEST_WORD and word in name:
        return _CONTAINED
    matcher = SequenceMatcher(None, word, name)
    if matcher.real_quick_ratio() < _CUTOFF or matcher.quick_ratio() < _CUTOFF:
        return 0.0
    return matcher.ratio()
