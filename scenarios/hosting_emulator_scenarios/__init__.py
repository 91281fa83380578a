"""The scenario library: YAML as package data, and nothing that runs."""

from pathlib import Path

#: Where the library's files are.
FOLDER = Path(__file__).parent
