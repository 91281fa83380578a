"""The handle is cheap: it imports the standard library, the client and itself, nothing else."""

from tests.unit.importing import foreign, imported_by


def test_imports_only_the_standard_library_the_client_and_itself():
    found = imported_by("hosting_emulator.handle")

    assert "hosting_emulator.handle" in found
    assert foreign(found, "hosting_emulator.client", "hosting_emulator.handle") == []


def test_does_not_import_what_few_need():
    found = imported_by("hosting_emulator.handle")

    assert not {"http.client", "email", "ssl", "asyncio", "difflib"} & found
