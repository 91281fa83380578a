"""The web page, and the documents in which the emulator describes itself."""
