"""A live world: its time, and how each commit is stored before the world changes."""

import pytest
from multidict import CIMultiDict

from hosting_emulator.contract.timestamps import LATEST_MS, parse_timestamp
from hosting_emulator.engine import access_tokens, sign_ins
from hosting_emulator.engine.driver import run_exchange
from hosting_emulator.engine.effects import run_through
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.exchange import ExchangeContext
from hosting_emulator.engine.keeper import Keeper, StoreFailed
from tests.support.in_process import InProcess, Machine, fresh_world
from tests.support.judged_world import JudgedWorld
from tests.support.small_limits import limit_logs
from tests.support.stories import scenario_world


class Notebook(Keeper):
    """A keeper that records the commits it stores. It fails while `fails` is true."""

    def __init__(self):
        self.commits = []
        self.fails = False

    def append(self, commit):
        if self.fails:
            raise OSError(28, "No space left on device")
        self.commits.append(commit)

    def replace(self, world):
        if self.fails:
            raise OSError(28, "No space left on device")


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def notebook():
    return Notebook()


def live(notebook, machine, **options):
    return Engine(fresh_world(machine=machine, **options), notebook, machine)


def test_a_commit_is_stored_with_its_number_title_and_changed_rows(notebook, machine):
    api = InProcess(fresh_world(machine=machine), notebook, machine)

    api.intervene("set_credits", organization="acme", credits=7)

    organization = api.record("organizations", api.organization_id())
    (commit,) = notebook.commits
    assert organization.credits == 7
    assert (commit.number, commit.title) == (2, "intervention set_credits")
    assert commit.writes == {"organizations": {api.organization_id(): organization}}
    assert api.world.commit == 2


def test_a_change_that_cannot_be_stored_leaves_the_world_unchanged(notebook, machine):
    api = InProcess(fresh_world(machine=machine), notebook, machine)
    before = api.world
    notebook.fails = True

    with pytest.raises(StoreFailed, match="No space left on device"):
        api.intervene("set_credits", organization="acme", credits=7)
    with pytest.raises(StoreFailed):
        api.engine.replace_world(fresh_world(seed="other"))
    with pytest.raises(StoreFailed):
        api.engine.move_by(60_000)

    assert api.world is before


def test_reads_succeed_although_the_last_use_of_a_key_cannot_be_stored(notebook, machine):
    api = InProcess(fresh_world(machine=machine), notebook, machine)
    key = api.create_key("ci").json["value"]
    notebook.fails = True

    assert api.dns(token=key).status == 200
    assert api.apply_domains(token=key).status == 503


class NearlyFull(Keeper):
    """A keeper that can store the changes of calls, but no changed counters."""

    def append(self, commit):
        if commit.title in ("faults counted", "timeline"):
            raise OSError(28, "No space left on device")


@pytest.mark.parametrize(
    "planned",
    [
        "faults: [{latency: {delay_ms: 1}, after_commit: true}]",
        "timeline: [{after_calls: 2, intervene: {set_plan: {organization: acme, plan: free}}}]",
    ],
)
def test_a_stored_change_succeeds_although_its_counters_cannot_be_stored(machine, planned):
    api = InProcess(scenario_world(planned, machine()), NearlyFull(), machine)

    assert api.ticket().status == 201
    assert len(api.world.tables["dev_access_tickets"]) == 1


class Syncing(Keeper):
    """A keeper whose commits must be synced before the response is sent."""

    waits = True


def test_a_request_whose_sync_fails_gets_a_503(machine):
    async def wait(effect):
        raise OSError(5, "Input/output error")

    api = InProcess(fresh_world(machine=machine))
    api.engine.keeper = Syncing()
    headers = [("Authorization", f"Bearer {api.token()}"), ("Idempotency-Key", "k")]
    context = ExchangeContext(
        method="PUT",
        path=f"/v1/projects/{api.project_id()}/domains",
        docs_url=lambda: "http://docs",
        headers=CIMultiDict(headers),
    )

    reply = run_through(run_exchange(api.engine, context, wait=wait))

    assert reply.status == 503
    assert b"could not be written to disk; it may be lost" in reply.body
    assert [entry.status for entry in api.engine.log.newest(2)] == [503, 202]


def test_a_change_without_writes_makes_no_commit(notebook, machine):
    world = live(notebook, machine)
    before = world.world

    world.commit(world.begin_change(), "nothing")

    assert notebook.commits == []
    assert world.world is before


@pytest.mark.parametrize(("mode", "rate", "passed"), [("real", None, 5_000), ("scaled", 2, 10_000)])
def test_world_time_follows_the_machine_at_the_rate_of_its_clock(
    notebook, machine, mode, rate, passed
):
    world = live(notebook, machine, mode=mode, rate=rate)
    before = world.now_ms()

    machine.at_ms += 5_000

    assert world.now_ms() == before + passed


def test_world_time_stands_still_while_the_machine_clock_goes_back(notebook, machine):
    world = live(notebook, machine, mode="real")
    machine.at_ms += 10_000
    latest_ms = world.now_ms()

    machine.at_ms -= 7_000
    assert world.now_ms() == latest_ms

    machine.at_ms += 8_000
    assert world.now_ms() == latest_ms + 1_000


@pytest.mark.parametrize("at_ms", [0, 1_800_000_000_000])
def test_world_time_is_right_although_the_machine_clock_never_moves(notebook, at_ms):
    # given a machine whose clock stands still, perhaps at the epoch
    world = fresh_world()
    engine = Engine(world, notebook, lambda: at_ms)
    start_ms = engine.now_ms()
    assert start_ms >= world.at_ms

    # when the world is replaced by itself, an hour passes, and it is replaced by itself again
    engine.replace_world(world)
    assert engine.now_ms() == start_ms
    engine.move_by(3_600_000)
    assert engine.now_ms() == start_ms + 3_600_000
    engine.replace_world(world)

    assert engine.now_ms() == start_ms


def test_a_request_first_runs_the_due_events_in_commits_of_their_own(notebook, machine):
    api = InProcess(fresh_world(mode="real", machine=machine), notebook, machine)
    operation = api.apply_domains().json["id"]

    machine.at_ms += 2_000
    running = api.poll(operation).json["state"]
    machine.at_ms += 8_000
    ended = api.poll(operation).json["state"]

    assert [running, ended] == ["running", "succeeded"]
    assert [commit.title for commit in notebook.commits] == [
        "apply_project_domains",
        "due events",
        "due events",
    ]


def test_moving_the_clock_makes_one_commit_for_all_due_events(notebook, machine):
    api = InProcess(fresh_world(machine=machine), notebook, machine)
    api.apply_domains()
    notebook.commits.clear()

    count = api.engine.move_by(60_000)

    assert count == 3
    assert len(notebook.commits) == 1


def test_moving_the_clock_can_change_its_mode_in_the_same_commit(notebook, machine):
    world = live(notebook, machine)
    later = world.now_ms() + 60_000

    world.move_to(later, "scaled", 10.0)
    machine.at_ms += 1_000

    assert world.now_ms() == later + 10_000
    assert len(notebook.commits) == 1


def test_the_clock_refuses_to_go_back_but_accepts_the_present_moment(notebook, machine):
    world = live(notebook, machine)
    now_ms = world.now_ms()

    with pytest.raises(ValueError, match="cannot go back"):
        world.move_to(now_ms - 1)

    assert world.move_to(now_ms) == world.move_by(0) == world.move_up_to(now_ms - 500) == 0
    assert world.now_ms() == now_ms


def test_moving_the_clock_reads_the_machine_clock_once(notebook):
    class Ticking(Machine):
        def __call__(self):
            self.at_ms += 1
            return self.at_ms

    machine = Ticking()
    world = Engine(fresh_world(mode="scaled", rate=1000, machine=machine), notebook, machine)

    world.move_by(0)
    world.move_up_to(world.now_ms())
    world.move_to(None, "frozen")


def test_every_call_works_at_the_last_moment_of_the_year_9999(notebook, machine):
    api = InProcess(fresh_world(machine=machine), notebook, machine)

    with pytest.raises(ValueError, match="1970 and 9999"):
        api.engine.move_by(LATEST_MS)
    api.engine.move_to(parse_timestamp("9999-12-31T23:59:59.999Z"))

    responses = [
        api.create_key(),
        api.ticket(),
        api.apply_domains(),
        api.dns(),
        api.set_flag(True),
        api.compute(),
    ]
    assert all(response.status < 500 for response in responses)


def test_a_waiting_operation_is_due_when_the_operation_before_it_is(notebook, machine):
    api = InProcess(fresh_world(machine=machine), notebook, machine)
    first, second = (api.apply_domains().json["id"] for _ in range(2))

    assert api.engine.due_of(first) == api.engine.due_of(second) == api.engine.now_ms() + 2_000
    assert api.engine.due_of("01JGFJJZ000000000000000000") is None


@pytest.mark.parametrize(("replaces", "status"), [(False, 503), (True, 202)])
def test_a_key_in_use_is_free_again_after_the_world_was_replaced(replaces: bool, status: int):
    api = JudgedWorld(idempotency_in_flight="refuse")
    statuses = []

    def send_key_again() -> None:
        if replaces:
            world = fresh_world(machine=api.machine, idempotency_in_flight="refuse")
            api.engine.replace_world(world, "reset", reason="reset")
            api.forget_tokens()
        statuses.append(api.apply_domains(key="key-1").status)

    path = f"/v1/projects/{api.project_id()}/domains"
    api.send_delayed(50, "PUT", path, key="key-1", between=send_key_again, after_commit=True)

    assert statuses == [status]


def test_a_request_whose_faults_cannot_be_counted_is_refused_without_a_commit(notebook, machine):
    api = InProcess(fresh_world(machine=machine), notebook, machine)
    api.add_fault(abort={"code": "rate_limited"})
    before = api.world
    notebook.fails = True

    response = api.dns()

    assert (response.status, response.json["code"]) == (503, "service_unavailable")
    assert response.json["detail"].endswith("could not be saved: No space left on device.")
    assert api.world is before


def test_a_fault_after_a_commit_does_not_act_if_it_cannot_be_counted(notebook, machine):
    api = InProcess(fresh_world(machine=machine), notebook, machine)
    api.add_fault(connection_reset={}, after_commit=True)
    append = notebook.append

    def fail_after_one_commit(commit):
        append(commit)
        notebook.fails = True

    notebook.append = fail_after_one_commit

    assert api.apply_domains().status == 202
    [entry] = api.engine.log.after(0)
    assert entry.lost is None


class BrokenObserver:
    """An observer that fails whenever the log drops an exchange."""

    def __init__(self):
        self.errors = []

    def on_evict(self, entry):
        raise ValueError("broken")

    def on_end(self, reason):
        raise ValueError("broken")

    def on_error(self, error):
        self.errors.append(str(error))


def test_a_failing_observer_affects_neither_the_request_nor_other_observers(monkeypatch, caplog):
    limit_logs(monkeypatch, 1)
    api = InProcess()
    observers = [BrokenObserver(), BrokenObserver()]
    api.engine.log.observers.extend(observers)

    statuses = [api.dns().status for _ in range(2)]
    api.engine.log.end("reset")

    assert statuses == [200, 200]
    assert [observer.errors for observer in observers] == [["broken", "broken"]] * 2
    assert {record.getMessage() for record in caplog.records} == {"an observer of requests failed"}


def test_a_failing_listener_of_the_log_does_not_affect_the_request(caplog):
    def fail(*_):
        raise ValueError("broken")

    api = InProcess()
    api.engine.tally.listener = fail
    api.engine.tally.commit_listener = fail

    assert api.apply_domains().status == 202
    assert [record.getMessage() for record in caplog.records] == [
        "a commit could not be logged",
        "a request could not be logged",
    ]
    assert api.engine.tally.exchanges["apply_project_domains", 202].requests == 1


def test_a_repeated_stale_read_moves_a_skip_clock_until_it_is_fresh():
    api = InProcess(fresh_world(mode="skip"))
    api.add_fault(stale_read={"age": "30s"}, call="get_dns_authorization")
    api.intervene("move_dns", project="shop", to="revoked")
    began_ms = api.engine.now_ms()

    states = [api.dns().json["status"] for _ in range(2)]

    assert states == ["authorized", "revoked"]
    assert api.engine.now_ms() == began_ms + 30_000


def test_expired_authorization_codes_are_deleted_from_time_to_time(monkeypatch):
    monkeypatch.setattr(sign_ins, "_CODES_BETWEEN_DELETIONS", 3)
    api = InProcess()
    counts = []
    for _ in range(4):
        api.issue_authorization_code("owner")
        counts.append(len(api.records("authorization_grants")))
        api.advance("25s")

    # When the fourth code is issued, only the first is older than a minute.
    assert counts == [1, 2, 3, 3]


def test_tokens_stay_valid_when_the_cache_of_tokens_is_full(monkeypatch):
    monkeypatch.setattr(access_tokens, "_CACHE_SIZE", 2)
    api = InProcess()

    statuses = [api.dns(user=user).status for user in ("owner", "member", "reader") * 2]

    assert statuses == [200] * 6
    assert len(vars(api.engine.access_tokens)["_verified"]) <= 2
