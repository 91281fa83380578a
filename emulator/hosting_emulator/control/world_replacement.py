"""Checks the names of new worlds, and replaces worlds."""

from __future__ import annotations

from hosting_emulator.contract.shell import command_line
from hosting_emulator.control.handshake_faults import check_handshake_faults
from hosting_emulator.engine.engine import Engine
from hosting_emulator.engine.observers import EndReason
from hosting_emulator.http.endpoint import Context, ControlRefusal
from hosting_emulator.storage.directory import WORLD_NAME
from hosting_emulator.world.value import World


def check_new_name(context: Context, name: str) -> None:
    """Raise ControlRefusal 400 for an invalid world name, or 409 if the name is already in use."""
    if not WORLD_NAME.fullmatch(name):
        message = (
            f"{name[:80]!r} is not a valid world name: use 1 to 63 characters from a-z, 0-9 and -, "
            "and do not start with -"
        )
        raise ControlRefusal(400, "Bad name", message)
    if context.worlds.get(name) is not None:
        raise ControlRefusal(409, "World exists", f"a world named {name!r} already exists")


def new_world_name(context: Context, name: str | None) -> str:
    """Return the name for a new world: the requested one or, if there is none, a generated one.

    Raises ControlRefusal.
    """
    if name is None:
        return context.worlds.new_name()
    check_new_name(context, name)
    return name


def put_world(context: Context, world: World, title: str, reason: EndReason = "replaced") -> Engine:
    """Add a world, or replace the existing world that has the same name.

    `title` is the title of the commit that replaces a world, and `reason` is the reason why the
    replaced world's chapters end. Raises ControlRefusal if the name is invalid or if the world has
    faults that this server cannot inject.
    """
    check_handshake_faults(context, world)
    if context.worlds.get(world.name) is None:
        check_new_name(context, world.name)
        ephemeral = context.facts.data_dir is None
        return context.worlds.add(world, ephemeral=ephemeral, begins=reason == "loaded")
    engine = context.engine(world.name)
    engine.replace_world(world, title, reason=reason)
    return engine


def check_replaceable(context: Context, name: str) -> None:
    """Raise ControlRefusal 409 if a world is stored on disk and has changed since its start."""
    engine = context.worlds.get(name)
    if engine is None or not engine.keeper.is_on_disk:
        return
    engine.run_due()
    if not engine.has_changed:
        return
    base_url = context.base_url
    export = command_line("world export --with-seed --output old.json", base_url, name)
    import_ = command_line("world import old.json --replace", base_url, name)
    rewind = command_line(f"world rewind {engine.world.commit}", base_url, name)
    raise ControlRefusal(
        409,
        "World has changed",
        f"world {name} is stored on disk and has changed since it began. To replace the world, use "
        f'--replace, or "replace": true in the request. To keep a copy of the world, first run '
        f"`{export}`. Then `{import_}` restores the world. While this emulator runs, `{rewind}` also "
        "restores the world.",
    )
