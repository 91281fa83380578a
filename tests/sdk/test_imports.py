"""The SDK is cheap to import: it imports only the standard library, msgspec and itself."""

import pytest

from hosting_emulator import sdk
from tests.support.imported_modules import foreign_modules, modules_imported_by


def test_the_sdk_imports_only_the_standard_library_msgspec_and_itself():
    modules = modules_imported_by("hosting_emulator.sdk.emulator")

    assert "hosting_emulator.sdk.emulator" in modules
    expected = (
        "hosting_emulator.sdk",
        "hosting_emulator.messages",
        "hosting_emulator.build_id",
        "hosting_emulator.contract",
        "hosting_emulator.settings_file",
        "hosting_emulator.variables",
        "msgspec",
        "typing_extensions",
    )
    assert foreign_modules(modules, *expected) == []


def test_importing_the_package_loads_no_part_of_the_sdk_yet():
    modules = modules_imported_by("hosting_emulator.sdk")

    assert "hosting_emulator.sdk" in modules
    assert foreign_modules(modules, "hosting_emulator.sdk") == []
    assert [name for name in modules if name.startswith("hosting_emulator.sdk.")] == []


def test_the_sdk_does_not_import_rarely_used_modules():
    modules = modules_imported_by("hosting_emulator.sdk.emulator")

    assert not {"http.client", "email", "ssl", "asyncio", "difflib"} & modules


def test_an_unknown_name_of_the_sdk_is_refused_with_the_name():
    with pytest.raises(
        AttributeError, match=r"'hosting_emulator\.sdk' has no attribute 'Emulator'"
    ):
        _ = sdk.Emulator
