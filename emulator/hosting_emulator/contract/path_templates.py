"""Compares path templates, such as `/v1/projects/{project_id}/domains`."""

from __future__ import annotations


def overlap(template: str, other: str) -> bool:
    """Return whether any path matches both templates."""
    segments = template.split("/")
    other_segments = other.split("/")
    if len(segments) != len(other_segments):
        return False
    pairs = zip(segments, other_segments, strict=True)
    return all(_segments_overlap(segment, other_segment) for segment, other_segment in pairs)


def _segments_overlap(segment: str, other: str) -> bool:
    if "{" not in segment:
        segment, other = other, segment
    if "{" not in segment:
        return segment == other
    start = segment.partition("{")[0]
    end = segment.rpartition("}")[2]
    if "{" not in other:
        has_room = len(other) > len(start) + len(end)
        return has_room and other.startswith(start) and other.endswith(end)
    other_start = other.partition("{")[0]
    other_end = other.rpartition("}")[2]
    starts_agree = start.startswith(other_start) or other_start.startswith(start)
    ends_agree = end.endswith(other_end) or other_end.endswith(end)
    return starts_agree and ends_agree
