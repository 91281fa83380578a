"""The scenario library: YAML as package data, and nothing that runs."""
