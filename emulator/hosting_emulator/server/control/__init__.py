"""The control API under `/_emulator`: worlds, clocks, tokens, documents. For whoever runs the emulator."""
