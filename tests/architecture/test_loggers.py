"""Each logger of the product is a child of `hosting_emulator`, so one level and one handler control all."""

from __future__ import annotations

import logging
import pkgutil
from collections.abc import Iterator
from importlib import import_module

import hosting_emulator
from hosting_emulator import logs


def loggers() -> Iterator[tuple[str, logging.Logger]]:
    """Yield the loggers that the modules of the emulator define, with the modules' names."""
    for module_info in pkgutil.walk_packages(hosting_emulator.__path__, "hosting_emulator."):
        if module_info.name.endswith("__main__"):
            continue
        for value in vars(import_module(module_info.name)).values():
            if isinstance(value, logging.Logger):
                yield module_info.name, value


def test_every_logger_belongs_to_the_logger_of_the_product() -> None:
    names = {module: logger.name for module, logger in loggers()}

    assert names[logs.__name__] in ("hosting_emulator.due_events", "hosting_emulator")
    others = {
        module: name
        for module, name in names.items()
        if name.partition(".")[0] != "hosting_emulator"
    }
    assert others == {}
