"""The web page, and the documentation that the emulator serves."""
