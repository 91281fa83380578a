"""The worlds of one process: each is independent, and the next process finds each again."""

import pytest

from hosting_emulator.engine.keeper import Keeper, StoreFailed
from hosting_emulator.engine.worlds import Worlds
from tests.support.in_process import InProcess, Machine, new_worlds, world_origin
from tests.support.worlds_on_disk import open_directory, world_content


@pytest.fixture
def machine():
    return Machine()


@pytest.fixture
def worlds(machine):
    worlds = new_worlds(machine)
    worlds.open("seed", world_origin())
    worlds.create_default()
    return worlds


def default(worlds):
    engine = worlds.get("default")
    assert engine is not None
    return engine


def flag(engine, alias="shop"):
    api = api_of(engine)
    return api.record("projects", api.project_id(alias)).flag_enabled


def api_of(engine):
    api = InProcess(engine.world)
    api.engine = engine
    return api


def test_a_world_on_disk_has_changed_from_its_first_change_until_its_reset(tmp_path, machine):
    directory = open_directory(tmp_path / "data")
    worlds = Worlds(directory, machine)
    worlds.open("seed", world_origin())
    worlds.create_default()
    engine = default(worlds)
    seen = [engine.has_changed]
    api_of(engine).set_flag(False)
    seen.append(engine.has_changed)
    worlds.reset(engine)
    seen.append(engine.has_changed)

    directory.close()
    assert seen == [False, True, False]


def test_the_default_world_is_created_only_once(tmp_path, machine):
    directory = open_directory(tmp_path)
    worlds = Worlds(directory, machine)
    is_stored_at_first = worlds.open("seed", world_origin())
    worlds.create_default()
    directory.close()
    directory = open_directory(tmp_path)
    reopened = Worlds(directory, machine)
    is_stored_later = reopened.open("another seed", world_origin("real"))
    reopened.create_default()
    directory.close()

    assert (is_stored_at_first, is_stored_later) == (False, True)
    assert default(reopened).world.seed == "seed"


def test_a_change_of_one_world_leaves_the_others_unchanged(worlds):
    other = worlds.create("one", "seed", world_origin(), ephemeral=True)

    api_of(other).set_flag(False)

    assert [flag(engine) for engine in worlds] == [True, False]


def test_worlds_with_the_same_seed_refuse_tokens_of_each_other(worlds):
    other = worlds.create("one", "seed", world_origin(), ephemeral=True)
    token = api_of(other).token("owner")

    assert api_of(other).dns(token=token).status == 200
    assert api_of(worlds.get("default")).dns(token=token).status == 401


def test_a_fork_begins_as_its_source_and_then_changes_independently(worlds):
    source = worlds.get("default")
    api = api_of(source)
    api.set_flag(False)
    operation = api.apply_domains().json["id"]

    fork = worlds.fork(source, "fork", ephemeral=True)
    api_of(fork).engine.move_by(60_000)

    assert world_content(fork.world)[1:2] == world_content(source.world)[1:2]
    assert flag(fork) is False
    assert api_of(fork).poll(operation).json["state"] == "succeeded"
    assert api.poll(operation).json["state"] == "queued"


def test_a_fork_of_a_commit_begins_at_the_moment_of_that_commit(worlds, machine):
    source = worlds.create("one", "seed", world_origin("scaled", 60, 5_000_000), ephemeral=True)
    api_of(source).set_flag(False)
    state = source.world
    machine.at_ms += 10_000

    fork = worlds.fork(source, "fork", ephemeral=True, state=state)

    assert fork.now_ms() == state.at_ms
    assert source.now_ms() == state.at_ms + 600_000
    machine.at_ms += 1_000
    assert fork.now_ms() == state.at_ms + 60_000


def test_a_fork_draws_the_same_ids_as_its_source(worlds):
    source = worlds.get("default")
    fork = worlds.fork(source, "fork", ephemeral=True)

    ids = [api_of(engine).ticket().json["ticket_id"] for engine in (source, fork)]

    assert ids[0] == ids[1]


def test_a_reset_returns_to_the_origin_with_a_later_commit(worlds):
    engine = worlds.create(
        "one", "own seed", world_origin("frozen", None, 5_000_000), ephemeral=True
    )
    before = world_content(engine.world)
    api = api_of(engine)
    api.set_flag(False)
    engine.move_to(None, "skip")
    commit = engine.world.commit

    worlds.reset(engine)

    assert world_content(engine.world)[:2] == before[:2]
    assert world_content(engine.world)[3:] == before[3:]
    assert engine.world.commit > commit
    assert len(engine.log) == 0


def test_a_deleted_world_is_gone_and_its_name_is_free(worlds):
    worlds.create("one", "seed", world_origin(), ephemeral=True)

    worlds.delete("one")

    assert worlds.get("one") is None
    assert len(worlds) == 1
    assert not worlds.create("one", "seed", world_origin(), ephemeral=False).ephemeral


def test_a_new_world_name_is_one_that_no_world_has(worlds):
    worlds.create("world-1", "seed", world_origin(), ephemeral=True)

    names = [worlds.new_name() for _ in range(3)]

    assert names == ["world-2", "world-3", "world-4"]


@pytest.mark.parametrize(("mode", "rate"), [("scaled", 60.0), ("real", None), ("frozen", None)])
def test_a_scaled_clock_stands_still_while_no_process_runs(tmp_path, machine, mode, rate):
    directory = open_directory(tmp_path)
    worlds = Worlds(directory, machine)
    worlds.open("seed", world_origin(mode, rate))
    worlds.create_default()
    machine.at_ms += 1_000
    worlds.rest()
    stopped_ms = default(worlds).now_ms()
    directory.close()

    machine.at_ms += 3_600_000
    directory = open_directory(tmp_path)
    reopened = Worlds(directory, machine)
    reopened.open("seed", world_origin("real"))
    started_ms = default(reopened).now_ms()
    machine.at_ms += 1_000
    later_ms = default(reopened).now_ms()
    directory.close()

    slept = {"scaled": 0, "real": 3_600_000, "frozen": 0}[mode]
    assert started_ms - stopped_ms == slept
    assert later_ms - started_ms == {"scaled": 60_000, "real": 1_000, "frozen": 0}[mode]


class FullLibrary:
    def __init__(self):
        self.full = False

    def load(self, name):
        return None

    def worlds(self):
        return []

    def keep(self, world, *, fresh):
        if self.full:
            raise OSError(28, "No space left on device")
        return Keeper()

    def forget(self, name):
        if self.full:
            raise OSError(30, "Read-only file system")


def test_a_world_that_cannot_be_stored_is_neither_created_nor_deleted(machine):
    library = FullLibrary()
    worlds = Worlds(library, machine)
    worlds.open("seed", world_origin())
    worlds.create_default()
    worlds.create("one", "seed", world_origin(), ephemeral=False)
    library.full = True

    with pytest.raises(StoreFailed, match="No space left"):
        worlds.create("two", "seed", world_origin(), ephemeral=False)
    with pytest.raises(StoreFailed, match="Read-only"):
        worlds.delete("one")

    assert [engine.world.name for engine in worlds] == ["default", "one"]


class Failing(Keeper):
    def append(self, commit):
        raise OSError(28, "No space left on device")


def test_a_world_that_cannot_be_saved_does_not_prevent_saving_the_others(worlds, machine):
    names = ("one", "two", "three")
    engines = [
        worlds.create(name, "seed", world_origin("scaled", 1.0), ephemeral=True) for name in names
    ]
    engines[0].keeper = Failing()
    machine.at_ms += 5_000

    with pytest.raises(StoreFailed):
        worlds.rest()

    assert [engine.world.clock.machine_ms for engine in engines[1:]] == [machine.at_ms] * 2


def test_a_scaled_clock_is_stored_with_its_current_time_before_the_process_ends():
    machine = Machine()
    worlds = new_worlds(machine)
    engine = worlds.create("scaled", "seed", world_origin("scaled", 60), ephemeral=True)
    began_ms = engine.now_ms()
    machine.at_ms += 1000

    worlds.rest()

    clock = engine.world.clock
    assert (clock.world_ms, clock.machine_ms) == (began_ms + 60_000, machine.at_ms)
