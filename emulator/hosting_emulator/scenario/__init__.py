"""Scenarios: builds a world, its faults, its timeline and its story from a YAML document."""
