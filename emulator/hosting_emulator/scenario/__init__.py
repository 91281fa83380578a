"""Scenarios: a YAML document becomes a world, its faults, its timeline and its story."""
