"""The scenario library: YAML files as package data, without code."""

from pathlib import Path

#: The folder that contains the library's files.
FOLDER = Path(__file__).parent
