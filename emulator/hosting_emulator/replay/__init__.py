"""Replaying: a recorded request log or HTTP Archive is sent to a world again, and made shorter.

Stands beside the house, on the control API's client and the handle: it sends over HTTP as any
client does, imports nothing else of the emulator and nothing beyond the standard library.
"""

from hosting_emulator.replay.comparing import Difference
from hosting_emulator.replay.curl import curl_lines
from hosting_emulator.replay.reading import read_record
from hosting_emulator.replay.record import Answered, Record, Recorded, RecordRefused
from hosting_emulator.replay.replay import Options, Replayed, Report, replay, report_document
from hosting_emulator.replay.showing import Shows, code_of
from hosting_emulator.replay.shrinking import NotShown, Shrunk, shrink
from hosting_emulator.replay.worlds import Beginning, like_recorded

__all__ = [
    "Answered",
    "Beginning",
    "Difference",
    "NotShown",
    "Options",
    "Record",
    "RecordRefused",
    "Recorded",
    "Replayed",
    "Report",
    "Shows",
    "Shrunk",
    "code_of",
    "curl_lines",
    "like_recorded",
    "read_record",
    "replay",
    "report_document",
    "shrink",
]
