"""The SDK is cheap to import: it imports only the standard library, msgspec and itself."""

from tests.support.imported_modules import foreign, imported_by


def test_the_sdk_imports_only_the_standard_library_msgspec_and_itself():
    modules = imported_by("hosting_emulator.sdk")

    assert "hosting_emulator.sdk" in modules
    expected = (
        "hosting_emulator.sdk",
        "hosting_emulator.messages",
        "hosting_emulator.build_id",
        "hosting_emulator.contract",
        "msgspec",
        "typing_extensions",
    )
    assert foreign(modules, *expected) == []


def test_the_sdk_does_not_import_rarely_used_modules():
    modules = imported_by("hosting_emulator.sdk")

    assert not {"http.client", "email", "ssl", "asyncio", "difflib"} & modules
