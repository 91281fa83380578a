"""Replay: a recorded request log or HTTP Archive is sent to a world again."""

from hosting_emulator_lab.replay.recording import Recording as Recording
from hosting_emulator_lab.replay.recording import RecordRefused as RecordRefused
from hosting_emulator_lab.replay.recording import read_record as read_record
from hosting_emulator_lab.replay.run import Beginning as Beginning
from hosting_emulator_lab.replay.run import Replayed as Replayed
from hosting_emulator_lab.replay.run import ReplayReport as ReplayReport
from hosting_emulator_lab.replay.run import like_recorded as like_recorded
from hosting_emulator_lab.replay.run import replay as replay
from hosting_emulator_lab.replay.run import report_document as report_document
