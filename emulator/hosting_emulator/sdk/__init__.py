"""The SDK: a world in a user's hands, for tests and scripts in Python; the pytest plugin gives it too.

    from hosting_emulator.sdk import HostingEmulator

    with HostingEmulator.fresh("http://127.0.0.1:4620") as emulator:
        ...

`ControlClient` is the client of the process beneath it. Importing this loads only msgspec
beside the standard library, and needs no pytest.
"""

from hosting_emulator.messages import ChapterReport as ChapterReport
from hosting_emulator.messages import ClockMode as ClockMode
from hosting_emulator.messages import ClockMove as ClockMove
from hosting_emulator.messages import ClockRequest as ClockRequest
from hosting_emulator.messages import ClockState as ClockState
from hosting_emulator.messages import CommitEntry as CommitEntry
from hosting_emulator.messages import ConductFinding as ConductFinding
from hosting_emulator.messages import ConductReport as ConductReport
from hosting_emulator.messages import ConductRuleRow as ConductRuleRow
from hosting_emulator.messages import Exchange as Exchange
from hosting_emulator.messages import ExchangeSummary as ExchangeSummary
from hosting_emulator.messages import FaultState as FaultState
from hosting_emulator.messages import Info as Info
from hosting_emulator.messages import JsonObject as JsonObject
from hosting_emulator.messages import Message as Message
from hosting_emulator.messages import NewWorldSummary as NewWorldSummary
from hosting_emulator.messages import ObservationReport as ObservationReport
from hosting_emulator.messages import OutcomeState as OutcomeState
from hosting_emulator.messages import WholeExchange as WholeExchange
from hosting_emulator.messages import Why as Why
from hosting_emulator.messages import WorldEvent as WorldEvent
from hosting_emulator.messages import WorldMember as WorldMember
from hosting_emulator.messages import WorldSummary as WorldSummary
from hosting_emulator.sdk.control import ControlClient as ControlClient
from hosting_emulator.sdk.control import ControlError as ControlError
from hosting_emulator.sdk.control import ControlRefused as ControlRefused
from hosting_emulator.sdk.control import EmulatorUnreachable as EmulatorUnreachable
from hosting_emulator.sdk.control import ScenarioChoice as ScenarioChoice
from hosting_emulator.sdk.control import ScenarioLike as ScenarioLike
from hosting_emulator.sdk.control import UnexpectedAnswer as UnexpectedAnswer
from hosting_emulator.sdk.control import UnreadableMessage as UnreadableMessage
from hosting_emulator.sdk.control import WorldOptions as WorldOptions
from hosting_emulator.sdk.control import clock_request as clock_request
from hosting_emulator.sdk.control import find_file as find_file
from hosting_emulator.sdk.control import is_file_name as is_file_name
from hosting_emulator.sdk.emulator import ArmedFault as ArmedFault
from hosting_emulator.sdk.emulator import AssumptionWarning as AssumptionWarning
from hosting_emulator.sdk.emulator import HostingEmulator as HostingEmulator
from hosting_emulator.sdk.emulator import Phase as Phase
from hosting_emulator.sdk.emulator import WorldClock as WorldClock
from hosting_emulator.sdk.emulator import WorldSnapshot as WorldSnapshot
from hosting_emulator.sdk.observation import WorldsObservation as WorldsObservation
from hosting_emulator.sdk.requests import Filters as Filters
from hosting_emulator.sdk.requests import RecordedRequest as RecordedRequest
from hosting_emulator.sdk.requests import Requests as Requests
from hosting_emulator.sdk.requests import known_call as known_call
from hosting_emulator.sdk.text import Aliases as Aliases
from hosting_emulator.sdk.text import NoSuchName as NoSuchName
