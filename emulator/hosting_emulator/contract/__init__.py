"""The wire: what the contract says, as data. Imports nothing else of the emulator."""
