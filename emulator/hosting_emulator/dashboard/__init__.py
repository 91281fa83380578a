"""The web page, and the emulator's documents about itself."""
