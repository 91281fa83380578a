"""Worlds as plain JSON documents, and back: rows, which all files share, the snapshot, and exports.

A snapshot is a whole world as one readable TinyDB file, a table for each kind of record. An export is
the same as one document; nothing in it is a secret, only digests. Nor is its seed, from which each
could be computed, unless it is asked for: what is made of it later is then drawn from another.

Rows from outside are checked to fit together, so that no request can trip over them later. Only an import
and a salvage need this: what the emulator wrote itself is guarded by checksums. It says what is wrong
with the first row that is; it mends nothing.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any
from zlib import crc32

import msgspec
from tinydb import TinyDB
from tinydb.middlewares import CachingMiddleware
from tinydb.storages import Storage

from hosting_emulator.build_id import FULL_VERSION
from hosting_emulator.contract.access import PERMISSIONS
from hosting_emulator.contract.assumption_values import parse_profile
from hosting_emulator.contract.assumptions import DEFAULTS, PHASES
from hosting_emulator.contract.calls import ALL_CALLS
from hosting_emulator.contract.conversion import convert
from hosting_emulator.contract.ids import ULID_PATTERN, is_ulid
from hosting_emulator.contract.timestamps import LATEST_MS
from hosting_emulator.faults.arming import invalid_reason
from hosting_emulator.faults.categories import FAULT, OUTCOME
from hosting_emulator.scenario.document import without_seed
from hosting_emulator.storage import format as f
from hosting_emulator.storage.files import write_atomically
from hosting_emulator.variation.worlds import read_variation
from hosting_emulator.world import clock as clocks
from hosting_emulator.world import lifecycles
from hosting_emulator.world import records as r
from hosting_emulator.world import tables as t
from hosting_emulator.world.fault_records import Fault
from hosting_emulator.world.plans import APPLY_DOMAINS, HELD, INITIALIZE, is_finished, plan_of
from hosting_emulator.world.value import World, apply, empty_world

STATE_KIND = "hosting-emulator state"
Row = tuple[str, str, Any]
_HEADING, _CHECKSUM, _KEY, _VALUE = "heading", "crc32", "_key", "value"
#: So many rows are made ready between two looks at whether to go on: a few milliseconds.
_PIECE = 2_000


def rows_of(world: World) -> Iterator[Row]:
    """Walk all rows as (table, key, plain document): tables in order, keys sorted.

    Answers that expire stand behind the others, in the order they came: which is forgotten first is
    then the same after a restart.
    """
    for name in t.TABLES:
        table = world.tables[name]
        keys = sorted(table)
        if name == t.REMEMBERED.name:
            keys = [key for key in keys if table[key].expires_ms is None]
            keys += world.remembered_in_order()
        for key in keys:
            yield name, key, msgspec.to_builtins(table[key])


def read_row(table: str, key: str, document: Any) -> Any:
    """Return the record of a plain document. Raises StateRefused, naming the row."""
    known = t.TABLES.get(table)
    if known is None:
        raise f.StateRefused(f"there is no table {table!r}; tables are {', '.join(t.TABLES)}")
    try:
        return convert(document, known.kind)
    except msgspec.ValidationError as error:
        raise f.StateRefused(f"table {table}, row {key}: {error}") from None


def _heading(world: World) -> dict[str, Any]:
    return {
        "format": f.FORMAT,
        "written_by": FULL_VERSION,
        "world": world.name,
        "seed": world.seed,
        "commit": world.commit,
        "at_ms": world.at_ms,
    }


class StoredCommit(msgspec.Struct, forbid_unknown_fields=True):
    """A commit as it is kept: its number, its moment, what made it and what it wrote."""

    number: int
    at_ms: int
    title: str
    writes: Mapping[str, Mapping[str, Any]]


class StoredState:
    """A world on its way from disk: heading and rows, which commits of the journal then change."""

    def __init__(self, meta: Mapping[str, Any], rows: Iterable[Row]) -> None:
        """Read plain rows. Raises StateRefused for one that is none, or what the heading lacks."""
        try:
            self.name, self.seed = str(meta["world"]), str(meta["seed"])
            self.commit, self.at_ms = int(meta["commit"]), int(meta["at_ms"])
            self.lineage = str(meta.get("lineage", ""))
        except (KeyError, TypeError, ValueError) as error:
            raise f.StateRefused(f"the heading lacks or garbles {error}") from None
        self.tables: dict[str, dict[str, Any]] = {name: {} for name in t.TABLES}
        for table, key, document in rows:
            record = read_row(table, key, document)
            self.tables[table][key] = record

    def follow(self, commit: StoredCommit) -> None:
        """Take in the next commit; one that is here already is passed over. Raises StateRefused."""
        if commit.number <= self.commit:
            return
        if commit.number != self.commit + 1:
            raise f.StateRefused(
                f"commit {commit.number} follows {self.commit}; what lay between is missing"
            )
        for name, rows in commit.writes.items():
            table = self.tables[name]
            for key, record in rows.items():
                table.pop(key, None)  # what is written again comes last, as in the live world
                if record is not None:
                    table[key] = record
        self.commit, self.at_ms = commit.number, max(self.at_ms, commit.at_ms)

    def world(self) -> World:
        """Return the world. Raises StateRefused when a part is missing."""
        for table in (t.CLOCK, t.ASSUMPTIONS, t.ORIGIN):
            if t.SINGLETON_KEY not in self.tables[table.name]:
                raise f.StateRefused(f"the table {table.name} has no row {t.SINGLETON_KEY!r}")
        # By their operations: their own ids may be in no order.
        deployments = sorted(
            self.tables[t.DEPLOYMENTS.name].items(),
            key=lambda row: (row[1].created_at, row[1].operation_id),
        )
        rows = {**self.tables, t.DEPLOYMENTS.name: dict(deployments)}
        empty = empty_world(self.name, self.seed)
        return apply(empty, rows, commit=self.commit, at_ms=self.at_ms)


_Rows = list[dict[str, Any]]


class SnapshotStopped(Exception):
    """A snapshot was not written because its writer was told to stop; the old one is as it was."""


class AtomicStorage(Storage):
    """A TinyDB storage whose file is replaced in one step. `check` may raise to leave the old one."""

    def __init__(self, path: Path, check: Callable[[], None]) -> None:
        self._path = path
        self._check = check

    def read(self) -> Any:
        """Return the file's tables; None when there is no file. Raises StateRefused."""
        try:
            found = self._path.read_bytes()
            return msgspec.json.decode(found, type=dict[str, dict[int, dict[str, Any]]])
        except FileNotFoundError:
            return None
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            raise f.StateRefused(f"it is not a snapshot: {error}") from None

    def write(self, data: Any) -> None:
        """Replace the file. Raises OSError, leaving the old file."""
        write_atomically(self._path, self._pieces(data))

    def _pieces(self, data: dict[str, Any]) -> Iterator[bytes]:
        """Give the file table by table: the text of a large world is never there whole."""
        before = b"{\n"
        for name, rows in data.items():
            self._check()
            text = msgspec.json.format(msgspec.json.encode({name: rows}), indent=1)
            yield before + text[len(b"{\n") : -len(b"\n}")]
            before = b",\n"
        yield b"\n}"


def _database(path: Path, check: Callable[[], None] = lambda: None) -> TinyDB:
    # Cached, because TinyDB reads and writes the whole file at each operation.
    storage: Any = CachingMiddleware(AtomicStorage)  # type: ignore[no-untyped-call]
    return TinyDB(path, check, storage=storage)


def write_snapshot(
    path: Path, world: World, lineage: str = "", stopped: Callable[[], bool] = lambda: False
) -> None:
    """Write a world. It is immutable, so this may run in a thread while the world moves on.

    Raises SnapshotStopped soon after `stopped` says so, and OSError; the old file is then as it was.
    """

    def check() -> None:
        if stopped():
            raise SnapshotStopped

    tables: dict[str, _Rows] = {name: [] for name in t.TABLES}
    for number, (name, key, document) in enumerate(rows_of(world)):
        if number % _PIECE == 0:
            check()
        fields = {_VALUE: document} if name == t.STREAMS.name else document
        tables[name].append({_KEY: key, **fields})
    above = {**_heading(world), "lineage": lineage}
    database = _database(path, check)
    database.drop_tables()
    database.table(_HEADING).insert({**above, _CHECKSUM: _checksum(above, tables)})
    for name, rows in tables.items():
        check()
        database.table(name).insert_multiple(rows)
    database.close()


def read_snapshot(path: Path, *, complain: Callable[[str], None] | None = None) -> StoredState:
    """Return the world of a snapshot so far. Raises StateRefused, naming file and row, and OSError.

    With `complain` whatever is there, though the checksum may not fit, which is then said.
    """
    with f.found_in(path, f.ADVICE):
        database = _database(path)
        tables: dict[str, _Rows] = {
            name: list(database.table(name).all()) for name in sorted(database.tables())
        }
        headings = tables.pop(_HEADING, [])
        if len(headings) != 1:
            raise f.StateRefused("it is not a snapshot: it has no heading")
        heading = dict(headings[0])
        written = heading.pop(_CHECKSUM, None)
        f.check_format(heading.get("format"), heading.get("written_by"))
    whole = written == _checksum(heading, tables)
    with f.found_in(path):
        if not whole and complain is None:
            raise f.StateRefused(
                f"the checksum does not fit, so the file was changed or damaged; {f.ADVICE} (to change "
                "a world by hand, use export and import)"
            )
        rows = (
            (name, str(row.pop(_KEY, "?")), row.get(_VALUE) if name == t.STREAMS.name else row)
            for name, found in tables.items()
            for row in found
        )
        state = StoredState(heading, rows)
    if not whole and complain is not None:
        complain(
            f"{f.SNAPSHOT}: the checksum does not fit: something in it is not as it was written, and "
            "what is not known; it was taken as it is, as its rows fit together"
        )
    return state


def _checksum(above: dict[str, Any], tables: dict[str, _Rows]) -> str:
    """Return the checksum of all that a snapshot says, however it is laid out."""
    filled = sorted((name, rows) for name, rows in tables.items() if rows)
    return f"{crc32(msgspec.json.encode([above, filled])):08x}"


def export_state(world: World, *, with_seed: bool = False) -> dict[str, Any]:
    """Return the document of a world."""
    head = _heading(world)
    tables: dict[str, dict[str, Any]] = {name: {} for name in t.TABLES}
    for name, key, document in rows_of(world):
        tables[name][key] = document
    if not with_seed:
        del head["seed"]
        for origin in tables[t.ORIGIN.name].values():
            if origin.get("scenario") is not None:
                origin["scenario"] = without_seed(origin["scenario"])
    return {"kind": STATE_KIND, **head, "tables": tables}


def import_state(document: Any, name: str, after_commit: int, seed: str | None = None) -> World:
    """Return the world of a document, under another name and later than `after_commit`.

    It goes on with `seed`, or else the document's, or else a new one. Raises StateRefused, naming the
    table and the row that cannot be used.
    """
    if not isinstance(document, Mapping) or document.get("kind") != STATE_KIND:
        raise f.StateRefused(f'this is not an exported state: it has no "kind": "{STATE_KIND}"')
    tables = document.get("tables")
    if not isinstance(tables, Mapping):
        raise f.StateRefused('"tables" is missing or no object')
    for table, rows in tables.items():
        if not isinstance(rows, Mapping):
            raise f.StateRefused(f"table {table}: it must be an object of rows by key")
    f.check_format(document.get("format"), document.get("written_by"))
    seed = seed if seed is not None else document.get("seed", secrets.token_hex(16))
    if not isinstance(seed, str):
        raise f.StateRefused('"seed" is not text')
    heading: dict[str, Any] = {"world": name, "seed": seed}
    for field, most in (("commit", 2**53), ("at_ms", LATEST_MS)):
        number = heading[field] = document.get(field)
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number <= most:
            raise f.StateRefused(f'"{field}" is missing or no whole number from 0 to {most}')
    heading["commit"] = max(after_commit, heading["commit"]) + 1
    rows = ((table, str(key), row) for table, rows in tables.items() for key, row in rows.items())
    state = StoredState(heading, rows)
    check_integrity(state.tables)
    return state.world()


# --- whether rows from outside fit together -------------------------------------------------------

Rows = Mapping[str, Mapping[str, Any]]
_TIMESTAMP = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", re.ASCII)
#: Far beyond any real count, and still within what ids and JSON numbers can carry.
_MOST_DRAWS = 2**31
_MOST_MS = 2**53
#: The table that has a row by the name in a field.
_LINKS: dict[str, t.Table[Any]] = {
    **dict.fromkeys(("organization_id", "organization"), t.ORGANIZATIONS),
    **dict.fromkeys(("user_id", "principal", "flag_enabled_by"), t.USERS),
    **dict.fromkeys(("project_id", "project"), t.PROJECTS),
    **dict.fromkeys(
        ("claim", "queue_head", "queue_tail", "next_waiting", "operation_id"), t.OPERATIONS
    ),
    "deployment_id": t.DEPLOYMENTS,
    "event": t.SCHEDULE,
}
#: table -> field -> the words it may have.
_WORDS: dict[str, dict[str, Iterable[str]]] = {
    t.OPERATIONS.name: {
        "state": lifecycles.OPERATION.transitions,
        "phase": PHASES,
        "kind": (INITIALIZE, APPLY_DOMAINS, HELD),
    },
    t.DEPLOYMENTS.name: {"status": lifecycles.DEPLOYMENT.transitions},
    t.DNS.name: {
        "status": lifecycles.DNS_AUTHORIZATION.transitions,
        "scopes": ("dns.write", "zone.read"),
    },
    t.ORGANIZATIONS.name: {"permissions": PERMISSIONS},
    t.API_KEYS.name: {"permissions": PERMISSIONS},
}
_LABEL = "[a-z0-9-]{1,63}"
#: field -> the form of it: the wire shows it, in a header too, or it stands in a path.
_FORMS = {
    **dict.fromkeys(("alias", "handle"), _LABEL),
    **dict.fromkeys(("zone", "custom_domain"), rf"(?=.{{4,253}}\Z)({_LABEL}\.)+[a-z]{{2,63}}"),
    "dev_label": "dev-[a-z]+-[a-z]+-[a-z]+",
    "dev_environment_id": ULID_PATTERN,
}
#: Under which key a row stands, where that is not its id.
_KEYS: dict[str, Callable[[Any], str]] = {
    t.MEMBERSHIPS.name: lambda row: f"{row.organization_id}/{row.user_id}",
    t.GRANTS.name: lambda row: f"{row.project_id}/{row.user_id}",
    t.SCHEDULE.name: lambda row: str(row.sequence),
    t.FAULTS.name: lambda row: f"fault-{row.order + 1}",
    t.OUTCOMES.name: lambda row: f"outcome-{row.order + 1}",
    **{
        table.name: lambda _: t.SINGLETON_KEY
        for table in (t.CLOCK, t.ASSUMPTIONS, t.ORIGIN, t.VARIATION)
    },
}


def _must(sound: object, otherwise: str) -> None:
    if not sound:
        raise ValueError(otherwise)


def check_integrity(rows: Rows) -> None:
    """Raise StateRefused, naming table and row, when rows do not make a world that works."""
    for table, records in rows.items():
        for key, record in records.items():
            try:
                if table == t.STREAMS.name:
                    _must(0 <= record < _MOST_DRAWS, f"{record} is not a number of draws")
                    continue
                right: str | None = getattr(record, "id", None)
                if table in _KEYS:
                    right = _KEYS[table](record)
                elif right is not None:
                    _must(is_ulid(right), "its id is no Ulid")
                _must(right in (None, key), f"it should be under {right!r}")
                _check_fields(rows, table, record)
                if check := _CHECKS.get(table):
                    check(rows, key, record)
            except ValueError as broken:
                raise f.StateRefused(f"table {table}, row {key}: {broken}") from None


def _check_fields(rows: Rows, table: str, record: Any) -> None:
    try:
        msgspec.json.encode(record)
    except (OverflowError, UnicodeEncodeError) as error:
        raise ValueError(f"it cannot be written: {error}") from None
    words = _WORDS.get(table, {})
    for name in record.__struct_fields__:
        value = getattr(record, name)
        if value is None:
            continue
        if name.endswith("_at"):
            _must(_TIMESTAMP.fullmatch(value), f"{name} is not like 2026-01-31T09:30:00.000Z")
        elif name.endswith("_ms"):
            _must(abs(value) <= _MOST_MS, f"{name} is out of range")
        elif name in _LINKS:
            target = _LINKS[name].name
            _must(value in rows[target], f"{name}: there is no {value!r} in {target}")
        elif name in _FORMS:
            _must(re.fullmatch(_FORMS[name], value), f"{name} cannot be {value[:80]!r}")
        elif name in words:
            given = {value} if isinstance(value, str) else {*value}
            _must(given <= {*words[name]}, f"{name} is none of {', '.join(words[name])}")


def _check_of_project(rows: Rows, key: str, record: Any) -> None:
    project_id, _, environment = key.partition("/")
    fits = environment in (("dev", "prod") if isinstance(record, r.Database) else ("",))
    _must(fits and project_id in rows[t.PROJECTS.name], "there is no such project")
    nothing = getattr(record, "status", "") != "not_authorized" or record == r.Dns()
    _must(nothing, "what is not_authorized has no zone, no scopes and no end")
    if placement := getattr(record, "placement", None):
        states = {placement.state, placement.pending_state} - {None}
        _must(states <= {*lifecycles.DATABASE.transitions}, "its state is unknown")


def _check_project(rows: Rows, key: str, project: r.Project) -> None:
    operations = rows[t.OPERATIONS.name]
    claimed = operations.get(project.claim or "")
    _must(
        claimed is None or (not is_finished(claimed) and claimed.project_id == key),
        "its claim is held by an operation that is not its own, or has ended",
    )
    _must(claimed or project.queue_head is None, "operations wait for a claim that nobody holds")
    last, waiting, steps = None, project.queue_head, 0
    while waiting is not None:
        _must(steps <= len(operations), "its queue of operations never ends")
        _must(waiting in operations, "its queue of operations is broken")
        _must(
            operations[waiting].project_id == key and waiting != project.claim,
            "an operation waits in its queue that should not",
        )
        last, waiting, steps = waiting, operations[waiting].next_waiting, steps + 1
    _must(project.queue_tail == last, "its queue has another end")


def _check_operation(rows: Rows, key: str, operation: r.Operation) -> None:
    event = rows[t.SCHEDULE.name].get(operation.event or "")
    _must(
        event is None or (event.kind == "operation_step" and event.subject == key),
        "its event is about something else",
    )
    if told := operation.outcome:
        turns = {*lifecycles.RECONCILIATION.transitions, "stuck", "failed", "cancelled"} - {"none"}
        _must(turns.issuperset(told.steps), "its outcome has a turn that there is not")
        _must(
            0 <= told.steps_taken <= len(told.steps), "its outcome has taken more turns than it has"
        )
        _must(told.failure or "failed" not in told.steps, "its outcome fails without an error")
    parse_profile(operation.profile)
    plan = plan_of(operation)
    _must(0 <= operation.step <= len(plan), "step is out of range")
    if is_finished(operation):
        _must(event is None, "it has ended and still has an event")
        return
    _must(
        operation.step < len(plan) and plan[operation.step].state == operation.state,
        f"step {operation.step} of its plan is not {operation.state}",
    )
    deployment = rows[t.DEPLOYMENTS.name].get(operation.deployment_id or "")
    so_far = {step.deployment for step in plan[: operation.step + 1]}  # some may be passed over
    _must(
        deployment is None or deployment.status in so_far,
        f"its deployment cannot be as it is at step {operation.step}",
    )


def _check_event(rows: Rows, key: str, event: r.ScheduledEvent) -> None:
    drawn = rows[t.STREAMS.name].get("schedule", 0)
    _must(event.sequence < drawn, "its sequence was not drawn yet")
    if event.kind == "operation_step":
        operation = rows[t.OPERATIONS.name].get(event.subject)
        _must(operation and operation.event == key, "no operation waits for it")
        return
    table = t.PROJECTS if event.kind == "dns_expiry" else t.TIMELINE
    _must(
        event.subject in rows[table.name],
        f"there is no {event.subject!r} in {table.name}",
    )


def _check_fault(rows: Rows, key: str, fault: Fault) -> None:
    family = OUTCOME if key.startswith(OUTCOME.noun) else FAULT
    drawn = rows[t.STREAMS.name].get(f"{family.noun} order", 0)
    _must(0 <= fault.order < drawn and fault.id == key, "its order was not drawn yet")
    _check_fields(rows, "", fault.rule)
    wrong = invalid_reason(fault, family)
    _must(not wrong, str(wrong))


def _check_answer(rows: Rows, key: str, answer: r.RememberedResponse) -> None:
    _must(200 <= answer.status <= 599, f"{answer.status} is no status")
    if answer.status >= 400:
        _must('"request_id":' in answer.body, "its body is no problem document")
        return
    spec = ALL_CALLS.get(answer.call_id)
    _must(spec and spec.idempotent, f"no call {answer.call_id!r} remembers answers")
    # What the first answer to an idempotent call was about, by its resource; others: the project.
    about: dict[str, t.Table[Any]]
    about = {"Operation": t.OPERATIONS, "UserApiKeyCreation": t.API_KEYS}
    target = about.get(spec.response if spec else "", t.PROJECTS)
    _must(answer.subject in rows[target.name], f"there is no {answer.subject!r} that it is about")


def _check_clock(_: Rows, key: str, clock: r.ClockRecord) -> None:
    rate = None if clock.mode != "scaled" and clock.rate == 1.0 else clock.rate
    clocks.start(clock.mode, rate, clock.world_ms, 0)


def _check_wait(_: Rows, key: str, wait: r.RetryWait) -> None:
    _must(0 <= wait.due_ms <= LATEST_MS, "due_ms is no moment of world time")


def _check_variation(_: Rows, key: str, variation: r.Variation) -> None:
    read_variation(variation.seed, variation.only)
    DEFAULTS.changed(variation.assumed)


def _check_origin(rows: Rows, key: str, origin: r.WorldSource) -> None:
    if origin.variation is not None:
        _check_variation(rows, key, origin.variation)
    clocks.start(origin.mode, origin.rate, origin.at_ms, 0)


_CHECKS: dict[str, Callable[[Rows, str, Any], None]] = {
    t.PROJECTS.name: _check_project,
    t.OPERATIONS.name: _check_operation,
    t.SCHEDULE.name: _check_event,
    t.DNS.name: _check_of_project,
    t.DATABASES.name: _check_of_project,
    t.FAULTS.name: _check_fault,
    t.OUTCOMES.name: _check_fault,
    t.REMEMBERED.name: _check_answer,
    t.CLOCK.name: _check_clock,
    t.ORIGIN.name: _check_origin,
    t.VARIATION.name: _check_variation,
    t.RETRY_WAITS.name: _check_wait,
}
