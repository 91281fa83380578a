"""The web page, and the documents that the emulator serves about itself."""
