"""The client is cheap: it imports the standard library and itself, nothing else."""

from tests.unit.importing import foreign, imported_by


def test_imports_only_the_standard_library_and_itself():
    found = imported_by("hosting_emulator.client")

    assert "hosting_emulator.client" in found
    assert foreign(found, "hosting_emulator.client") == []
