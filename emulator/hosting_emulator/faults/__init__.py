"""Faults make a call's response go wrong on purpose. This package decides, and the server acts on it."""
