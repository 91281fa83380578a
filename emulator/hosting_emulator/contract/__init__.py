"""The contract as data. This package imports no other part of the emulator."""
