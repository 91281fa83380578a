"""Sends the requests of a recording to a world, one after the other, and compares the responses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from contextlib import closing, suppress
from http.client import HTTPException
from urllib.parse import unquote, urlsplit

from hosting_emulator.sdk import ControlClient, HostingEmulator, WorldSummary
from hosting_emulator.sdk.control_connection import connection_to
from hosting_emulator_lab.replay.comparison import Comparison, ReplayTimes
from hosting_emulator_lab.replay.credentials import ReplayCredentials, SenderUnavailable
from hosting_emulator_lab.replay.generated_values import GeneratedValues
from hosting_emulator_lab.replay.moments import moment_ms
from hosting_emulator_lab.replay.recording import RecordedExchange, RecordedResponse, Recording
from hosting_emulator_lab.replay.report import ReplayedExchange, ReplayReport

#: The longest time to wait for a response, in real seconds.
_TIMEOUT_S = 5.0
#: The tolerance for moments if one of the clocks runs by itself, in milliseconds.
_RUNNING_CLOCK_TOLERANCE_MS = 5000
#: A value that may be a cursor: opaque, and not a page size.
_CURSOR = re.compile("(?!\\d+$)[A-Za-z0-9_-]{6,}")
#: Headers that belong to a connection, to another server or to a session, and not to the request.
_HEADERS_NOT_SENT = frozenset(
    {
        "authorization",
        "host",
        "connection",
        "keep-alive",
        "proxy-connection",
        "proxy-authorization",
        "transfer-encoding",
        "content-length",
        "te",
        "trailer",
        "upgrade",
        "expect",
        "accept-encoding",
        "cookie",
        "x-control-token",
    }
)


#: The content codings of a body that a recording may contain in decoded form.
_CONTENT_CODINGS = ("gzip", "x-gzip", "deflate", "br", "zstd")


def replay(
    control: ControlClient,
    record: Recording,
    world: HostingEmulator,
    *,
    user: str | None = None,
    move_time: bool = True,
) -> ReplayReport:
    """Send all requests of a recording to a world, in their order.

    `user` sends all requests as one user. With `move_time`, the world's clock moves between requests
    as it did in the recording, unless it runs by itself. Raises ControlError.
    """
    emulator = HostingEmulator(control, world.name)
    run = _ReplayRun(emulator, record, user=user, move_time=move_time)
    return ReplayReport(world.name, list(run.send(record.requests)), run.notes)


class _ReplayRun:
    """The state of one replay."""

    def __init__(
        self, emulator: HostingEmulator, record: Recording, *, user: str | None, move_time: bool
    ) -> None:
        world = emulator.summary
        self._emulator = emulator
        self._record = record
        #: Sentences about what could not be replayed as recorded.
        self.notes: list[str] = []
        self._values = GeneratedValues()
        self._credentials = ReplayCredentials(
            emulator,
            self._values,
            from_emulator=record.from_emulator,
            user=user,
            note=self._note,
        )
        #: The cursors in new pages for which only a part of the recorded page is known, by the path
        #: of the page.
        self._unpaired_cursors: dict[str, str] = {}
        self._connection = connection_to(world.base_url, _TIMEOUT_S)
        self._path_prefix = urlsplit(world.base_url).path.rstrip("/")
        self._now_ms = moment_ms(world.clock.now)
        start = ReplayTimes(_recorded_start_ms(record, self._now_ms), self._now_ms)
        #: The difference between a moment of the replay and the same moment of the recording.
        self._ahead_ms = start.replayed_ms - start.recorded_ms
        self._is_frozen = world.clock.mode == "frozen"
        self._moves_time = move_time and world.clock.mode in ("frozen", "skip")
        if move_time and not self._moves_time:
            self._note(f"the clock of {world.name} is running, so the replay does not move it")
        has_exact_times = self._is_frozen and self._moves_time and record.from_emulator
        self._comparison = Comparison(
            self._values,
            (record.world.name, world.name),
            start,
            0 if has_exact_times else _RUNNING_CLOCK_TOLERANCE_MS,
        )
        self._pair_ids(world)

    def _note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)

    # --- Ids ---------------------------------------------------------------------------------

    def _pair_ids(self, world: WorldSummary) -> None:
        """Pair the recorded ids of organizations, users and projects with the ids in this world."""
        ids_by_table: dict[str, dict[str, str]] = {}
        for table in ("organizations", "users", "projects"):
            ids = getattr(self._emulator, table)
            ids_by_table[table] = ids
            for alias, recorded_id in getattr(self._record.world, table).items():
                if alias in ids:
                    self._values.pair(recorded_id, ids[alias])
        if not self._record.from_emulator and world.projects:
            self._pair_foreign_ids(world, ids_by_table)

    def _pair_foreign_ids(
        self, world: WorldSummary, ids_by_table: dict[str, dict[str, str]]
    ) -> None:
        """Pair the ids in another tool's recording with the first project and organization of this world.

        Ids that exist in this world are not replaced.
        """
        first_project = world.projects[0]
        substitutes = {
            "projects": (first_project.id, first_project.alias),
            "organizations": (first_project.organization_id, "its organization"),
        }
        for exchange in self._record.requests:
            segments = [*exchange.path.split("/"), "", ""]
            table = segments[2]
            recorded_id = segments[3]
            if table not in substitutes or recorded_id in ids_by_table[table].values():
                continue
            if recorded_id not in self._values:
                new_id, alias = substitutes.pop(table)
                self._values.pair(recorded_id, new_id)
                self._note(f"{recorded_id} is mapped to {alias} of {world.name}")

    # --- Requests ----------------------------------------------------------------------------

    def send(self, exchanges: Iterable[RecordedExchange]) -> Iterator[ReplayedExchange]:
        """Send requests one after the other, and yield the outcome of each."""
        with closing(self._connection):
            for recorded in exchanges:
                if recorded.unsendable is not None:
                    yield ReplayedExchange(recorded, None, skipped=recorded.unsendable)
                    continue
                try:
                    yield self._send(recorded)
                except SenderUnavailable as error:
                    yield ReplayedExchange(recorded, None, skipped=str(error))

    def _send(self, recorded: RecordedExchange) -> ReplayedExchange:
        self._move_time(recorded)
        if recorded.path in self._unpaired_cursors:
            self._pair_cursor(recorded)
        response = self._exchange(recorded)
        now = ReplayTimes(recorded.at_ms, self._now_ms)
        differences = self._comparison.differences(recorded.response, response, now)
        if self._has_unknown_token(recorded):
            # Skip the detail, which says why the token was invalid, because the recording does not
            # say it.
            differences = [
                difference for difference in differences if difference.at != "body.detail"
            ]
        if recorded.response is not None and response is not None:
            self._credentials.learn_key(recorded.response, response)
            cursor = response.members.get("next_cursor")
            if recorded.response.text is None and isinstance(cursor, str):
                self._unpaired_cursors[recorded.path] = cursor
        return ReplayedExchange(recorded, response, tuple(differences))

    def _has_unknown_token(self, recorded: RecordedExchange) -> bool:
        has_token = recorded.authorization is not None
        return self._record.from_emulator and recorded.sender is None and has_token

    def _move_time(self, recorded: RecordedExchange) -> None:
        """Let as much time pass as in the recording."""
        if not self._is_frozen:
            self._now_ms = moment_ms(self._emulator.clock.now)
        wait_ms = recorded.at_ms + self._ahead_ms - self._now_ms
        if self._moves_time and wait_ms > 0:
            self._emulator.clock.advance(f"{wait_ms}ms")
            self._now_ms += wait_ms

    def _pair_cursor(self, recorded: RecordedExchange) -> None:
        """Pair a request's cursor with the cursor in the previous page, which was recorded only in part."""
        for parameter in recorded.target.partition("?")[2].split("&"):
            value = unquote(parameter.partition("=")[2])
            if _CURSOR.fullmatch(value) and self._values.new_value(value) == value:
                self._values.pair(value, self._unpaired_cursors.pop(recorded.path))
                return

    def _exchange(self, recorded: RecordedExchange) -> RecordedResponse | None:
        """Send a request and read its response. Return None if no complete response arrived."""
        target = self._path_prefix + self._values.replace_in_target(recorded.target)
        token = self._credentials.token_for(recorded)
        body = self._body_of(recorded)
        connection = self._connection
        try:
            connection.putrequest(recorded.method, target, skip_accept_encoding=True)
            for name, value in recorded.headers:
                if _is_sent(name, value, body):
                    new_value = self._values.replace_in_text(value)
                    connection.putheader(name, new_value.encode("utf-8", "surrogateescape"))
            if token is not None:
                scheme = _scheme_of(recorded.authorization)
                connection.putheader("Authorization", f"{scheme} {token}")
            if body is not None or recorded.method not in ("GET", "HEAD"):
                connection.putheader("Content-Length", str(len(body or b"")))
            connection.endheaders(body)
            response = connection.getresponse()
            content = response.read()
        except (OSError, HTTPException):
            connection.close()
            return None
        text = None
        with suppress(UnicodeDecodeError):
            text = content.decode()
        headers = [(name, _header_text(value)) for name, value in response.getheaders()]
        return RecordedResponse(response.status, tuple(headers), text)

    def _body_of(self, recorded: RecordedExchange) -> bytes | None:
        """Return the body of a request with the new values. A body that is not text is returned unchanged."""
        if recorded.body is None or not _is_text(recorded.body):
            return recorded.body
        return self._values.replace_in_text(recorded.body.decode()).encode()


def _is_sent(name: str, value: str, body: bytes | None) -> bool:
    """Return whether a replay sends a recorded header.

    The emulator and some other tools record a compressed body in decoded form, together with its
    Content-Encoding. The replay sends such a body as it was recorded, so without this header.
    """
    name = name.lower()
    if name == "content-encoding" and value.lower() in _CONTENT_CODINGS:
        return body is not None and not _is_text(body)
    return name not in _HEADERS_NOT_SENT


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True


def _header_text(value: str) -> str:
    """Return a header value as UTF-8 text, which `http.client` has decoded as Latin-1."""
    with suppress(UnicodeDecodeError):
        return value.encode("latin-1").decode()
    return value


def _scheme_of(authorization: str | None) -> str:
    if authorization is not None and " " in authorization:
        return authorization.partition(" ")[0]
    return "Bearer"


def _recorded_start_ms(record: Recording, now_ms: int) -> int:
    """Return the moment of the recording that is the start of the replay.

    This is the world's time, if the recorded world began at this time or had this time at its first
    request.
    """
    start_moments = [
        moment_ms(timestamp)
        for timestamp in (record.world.at, record.world.began_at)
        if timestamp is not None
    ]
    if not start_moments:
        start_moments = [record.requests[0].at_ms]
    if now_ms in start_moments:
        return now_ms
    return start_moments[0]
