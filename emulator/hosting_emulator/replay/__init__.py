"""Replay: a recorded request log or HTTP Archive is sent to a world again, and made shorter.

Stands beside the house, on the SDK: it sends over HTTP as any client does, and knows of the emulator
no more than the table of calls.
"""

from hosting_emulator.replay.comparison import AnswerDifference
from hosting_emulator.replay.curl import curl_lines
from hosting_emulator.replay.recording import (
    RecordedAnswer,
    RecordedCall,
    Recording,
    RecordRefused,
    read_record,
)
from hosting_emulator.replay.run import (
    Beginning,
    Replayed,
    ReplayOptions,
    ReplayReport,
    like_recorded,
    replay,
    report_document,
)
from hosting_emulator.replay.shrink import NotShown, Shows, Shrunk, shrink

__all__ = [
    "AnswerDifference",
    "Beginning",
    "NotShown",
    "RecordRefused",
    "RecordedAnswer",
    "RecordedCall",
    "Recording",
    "ReplayOptions",
    "ReplayReport",
    "Replayed",
    "Shows",
    "Shrunk",
    "curl_lines",
    "like_recorded",
    "read_record",
    "replay",
    "report_document",
    "shrink",
]
