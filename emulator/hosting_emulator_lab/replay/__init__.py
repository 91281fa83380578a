"""Replay sends the requests of a recording to a world again, and compares the responses."""

from hosting_emulator_lab.replay.record_reading import read_record as read_record
from hosting_emulator_lab.replay.recording import Recording as Recording
from hosting_emulator_lab.replay.recording import RecordRefused as RecordRefused
from hosting_emulator_lab.replay.replay_run import replay as replay
from hosting_emulator_lab.replay.report import ReplayedExchange as ReplayedExchange
from hosting_emulator_lab.replay.report import ReplayReport as ReplayReport
from hosting_emulator_lab.replay.report import report_document as report_document
from hosting_emulator_lab.replay.temporary_world import Beginning as Beginning
from hosting_emulator_lab.replay.temporary_world import temporary_world as temporary_world
