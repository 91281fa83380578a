"""The contract, expressed as data. This package does not import any other part of the emulator."""
